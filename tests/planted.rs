//! One config file with mistakes of every kind: the first run tells them all.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::process::{Command, Output};

use tempfile::TempDir;

/// Each mistake by the key that has to be named, with the line that makes it.
const PLANTED: &str = r#"
owners: [4711, "nobody:1"]
while_busy: quue
debounce: 4
record_untriggered: maybe
group_trigger_mode: loud
gate:
  confidence: 2
  interject: -1
  quote_above: high
  most_lines: 0
  oldest: soon
  timeot: 30s
telegram:
  bot_token: "not a token"
  allowed_chat_id: []
  base_url: nowhere
  poll_timeout: 5h
  pace: quick
  max_download_bytes: -1
line:
  channel_access_token: ""
  allowed_ids: [4711]
  webhook_listen: 18080
  webhook_path: hook
  reply_deadline: 10m
  push: always
slack:
  bot_token: xapp-1
  app_token: xoxb-1
  allowed_channel_ids: [general]
  max_sockets: 0
x:
  base_url: ftp://x
  numbering: perhaps
llm:
  model: 7
  routes: {main: nobody, small: []}
  prices: {m: {input: -1, output: 0}}
  profiles:
    quick: {provider: opnai}
    slow: {endpoint: "http://127.0.0.1:1/v1", request_timeout: 0s, context: 0}
agent:
  max_steps: -1
  max_cost_usd: cheap
  timeout: 5
tools:
  bash: {timeout: 20m, max_timeout: 10m, deny_paths: all}
  web_search: {provider: brave, max_results: 21}
  ask_user: {timeout: tomorrow}
  raed_file: {}
  url_fetch: {max_bytes: 0}
guard: {network: {allow_private: "*"}}
worker: {max_concurrency: 0}
progress: {status: always, after: 1y}
outbox: {unclear_after: 30}
console: {listen: "0.0.0.0:7780"}
logging: {level: loud, format: xml}
debug: {crash_at: after_clam}
file_state_dir: /proc/nowhere/state
loging: {}
"#;

const NAMED: [&str; 60] = [
    "owners[0]",
    "owners[1]",
    "while_busy",
    "debounce",
    "record_untriggered",
    "group_trigger_mode",
    "gate.confidence",
    "gate.interject",
    "gate.quote_above",
    "gate.most_lines",
    "gate.oldest",
    "gate.timeot",
    "telegram.bot_token",
    "telegram.allowed_chat_id",
    "telegram.base_url",
    "telegram.poll_timeout",
    "telegram.pace",
    "telegram.max_download_bytes",
    "line.channel_access_token",
    "line.channel_secret",
    "line.allowed_ids[0]",
    "line.webhook_listen",
    "line.webhook_path",
    "line.reply_deadline",
    "line.push",
    "slack.bot_token",
    "slack.app_token",
    "slack.allowed_channel_ids",
    "slack.max_sockets",
    "x.base_url",
    "x.numbering",
    "llm.model",
    "llm.routes.main",
    "llm.routes.small",
    "llm.prices.m",
    "llm.profiles.quick.provider",
    "llm.profiles.slow.request_timeout",
    "llm.profiles.slow.context",
    "agent.max_steps",
    "agent.max_cost_usd",
    "agent.timeout",
    "tools.bash.timeout",
    "tools.bash.deny_paths",
    "tools.web_search.provider",
    "tools.web_search.max_results",
    "tools.ask_user.timeout",
    "tools.raed_file",
    "tools.url_fetch.max_bytes",
    "guard.network.allow_private",
    "worker.max_concurrency",
    "progress.status",
    "progress.after",
    "outbox.unclear_after",
    "console.listen",
    "logging.level",
    "logging.format",
    "debug.crash_at",
    "file_state_dir",
    "loging",
    "x",
];

#[test]
fn one_run_tells_every_mistake_of_a_file_by_its_key_and_line() {
    let folder = tempfile::tempdir().expect("folder");
    fs::write(folder.path().join("config.yaml"), PLANTED).expect("written");
    let output = Command::new(env!("CARGO_BIN_EXE_selkie"))
        .args(["config", "check"])
        .current_dir(folder.path())
        .env_clear()
        .env("HOME", folder.path())
        .output()
        .expect("selkie runs");
    let said = String::from_utf8(output.stderr).expect("words");
    assert_eq!(output.status.code(), Some(2), "{said}");
    let told: BTreeSet<&str> = said
        .lines()
        .filter_map(|line| line.strip_prefix("config.yaml:")?.split_once(": ")?.1.split(' ').next())
        .collect();
    let silent: Vec<&&str> = NAMED.iter().filter(|key| !told.contains(**key)).collect();
    assert!(silent.is_empty(), "not told: {silent:?}\n{said}");
    let doubled = said.lines().count() - said.lines().collect::<BTreeSet<_>>().len();
    assert_eq!(doubled, 0, "{said}");
}

/// Mistakes that have the right type.
const LIKELY: &str = r#"
owners: ["tg: 4711", "tg:abc", "slack:bob", "tg:-100123", "tg:4711"]
debounce: 1000d
store: {retention: {transcripts: 1h, keys: 0s}}
guard: {network: {allow_private: ["http://foo/bar", "300.1.1.1", "", "10.0.0.0/8"]}}
file_cache_dir: "~ada/cache"
tools:
  bash: {timeout: 0s, injected_env_vars: ["A B", "A=B", ""], rewrite: {enabled: true}}
  patch: {validate: [{glob: "["}, {glob: "a/*.yaml", schema: nowhere}]}
  web_search: {duckduckgo: {base_url: x}, brave: {base_url: y}}
telegram: {bot_token: "1:a", base_url: "https://api.telegram.org/bot"}
slack: {bot_token: xyz, app_token_file: slack.key}
line: {channel_access_token: a, channel_secret: b, webhook_listen: "127.0.0.1:7780"}
x: {bearer_token_file: x.key, numbering: true}
console: {listen: "localhost:7780", allow_origin: foo, allow_hosts: ["http://x"]}
llm: {provider: openai, api_key_file: nowhere.key, context: 5, model: ""}
worker: {max_concurrency: 100000}
progress: {every: 0s}
groups: {"tg: -100": {}}
"#;

const TOLD: [&str; 33] = [
    "owners[0]",
    "owners[1]",
    "owners[2]",
    "owners[3]",
    "debounce",
    "store.retention.transcripts",
    "store.retention.keys",
    "guard.network.allow_private[0]",
    "guard.network.allow_private[1]",
    "guard.network.allow_private[2]",
    "file_cache_dir",
    "tools.bash.timeout",
    "tools.bash.injected_env_vars[0]",
    "tools.bash.injected_env_vars[1]",
    "tools.bash.injected_env_vars[2]",
    "tools.bash.rewrite.binary",
    "tools.patch.validate[0].glob",
    "tools.patch.validate[1].schema",
    "tools.web_search.duckduckgo.base_url",
    "tools.web_search.brave.base_url",
    "telegram.base_url",
    "slack.bot_token",
    "slack.app_token_file",
    "line.webhook_listen",
    "x.bearer_token_file",
    "console.allow_origin",
    "console.allow_hosts[0]",
    "llm.api_key_file",
    "llm.context",
    "llm.model",
    "worker.max_concurrency",
    "progress.every",
    "groups.tg:",
];

/// A folder with a config.
fn home(config: &str) -> TempDir {
    let home = tempfile::tempdir().expect("folder");
    fs::write(home.path().join("config.yaml"), config).expect("written");
    home
}

fn selkie(home: &TempDir, line: &[&str], env: &[(&str, String)]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_selkie"))
        .args(line)
        .current_dir(home.path())
        .env_clear()
        .env("HOME", home.path())
        .envs(env.iter().map(|(name, value)| (name, value)))
        .output()
        .expect("selkie runs")
}

/// What `config check` tells, `run` tells with the same words and the same exit code.
fn told(home: &TempDir, env: &[(&str, String)]) -> String {
    let check = selkie(home, &["config", "check"], env);
    let said = String::from_utf8(check.stderr).expect("words");
    assert_eq!(check.status.code(), Some(2), "{said}");
    let run = selkie(home, &["run"], env);
    assert_eq!(run.status.code(), Some(2), "{said}");
    assert_eq!(String::from_utf8(run.stderr).expect("words"), said);
    said
}

#[test]
fn what_is_right_by_its_type_and_cannot_be_meant_is_told_once_each() {
    let said = told(&home(LIKELY), &[]);
    let keys: Vec<&str> = said
        .lines()
        .filter_map(|line| line.strip_prefix("config.yaml:")?.split_once(": ")?.1.split(' ').next())
        .collect();
    let all: BTreeSet<&str> = keys.iter().copied().collect();
    assert_eq!(all, BTreeSet::from(TOLD), "{said}");
    assert_eq!(keys.len(), TOLD.len(), "{said}");
    assert!(!said.contains("cannot be taken"), "{said}");
}

#[test]
fn every_single_mistake_ends_a_start_with_the_words_of_the_check() {
    let large = "debounce: 340282366920938463463374607431768211455";
    let inside = "file_cache_dir: c\nfile_state_dir: c/s";
    let rewrite = "tools: {bash: {rewrite: {enabled: true, binary: no-such-program}}}";
    for (config, (name, value), words) in [
        ("file_state_dir: ''", ("", ""), "config.yaml:1: file_state_dir takes a folder"),
        ("file_state_dir: /dev/null/x", ("", ""), "config.yaml:1: file_state_dir is /dev/null/x"),
        ("file_state_dir: '~ada/x'", ("", ""), "config.yaml:1: file_state_dir takes a path"),
        (inside, ("", ""), "config.yaml:2: file_state_dir is "),
        (rewrite, ("", ""), "tools.bash.rewrite.binary is no-such-program, which does not exist"),
        (large, ("", ""), "config.yaml:1: 340282366920938463463374607431768211455 is a number"),
        ("a: 1\n---\nb: 2", ("", ""), "config.yaml:2: begins a second document"),
        ("llm: {endpoint: 'ftp://h/v1'}", ("", ""), "not \"ftp://h/v1\""),
        ("", ("SELKIE_CONFIG", "x"), "SELKIE_CONFIG: is not read: name the file with --config"),
        ("", ("selkie__debounce", "1s"), "selkie__debounce: is not read: write SELKIE__DEBOUNCE"),
        ("", ("CACHE_DIRECTORY", "/dev/null"), "CACHE_DIRECTORY: file_cache_dir is /dev/null"),
    ] {
        let env = [(name, value.to_owned())];
        let said = told(&home(config), if name.is_empty() { &[] } else { &env });
        assert!(said.contains(words), "{config} {name}: {said}");
        assert_eq!(said.lines().count(), 1, "{config} {name}: {said}");
    }
}

#[test]
fn a_mistake_of_a_first_config_says_what_to_write() {
    for (config, words) in [
        ("bot_token: \"1:a\"\n", "; it belongs under telegram: or slack:"),
        ("owners: \"*\"\n", "owners takes an array of strings, not \"*\": write [\"*\"]"),
        (
            "approvals:\n  policy:\n    - {ask: exec}\n",
            "policy[0].ask takes an array of strings, not \"exec\": write [\"exec\"]",
        ),
        (
            "approvals:\n  timeout: 5m\n   policy: []\n",
            ": its indentation, or that of a line before it, fits no section",
        ),
    ] {
        let said = told(&home(config), &[]);
        assert!(said.contains(words), "{config}: {said}");
        assert_eq!(said.lines().count(), 1, "{config}: {said}");
    }
}

#[test]
fn a_credential_without_a_key_and_a_config_that_is_no_file_are_told() {
    let desk = home("");
    let credentials = desk.path().join("credentials");
    fs::create_dir(&credentials).expect("folder");
    fs::write(credentials.join("telegram.bot_tokn"), "1:a").expect("written");
    fs::write(credentials.join("somebody-elses"), "x").expect("written");
    let env = [("CREDENTIALS_DIRECTORY", credentials.display().to_string())];
    let said = told(&desk, &env);
    let words = "credential telegram.bot_tokn: is not read: no secret has this name (did you mean telegram.bot_token?";
    assert!(said.starts_with(words) && said.lines().count() == 1, "{said}");
    fs::write(credentials.join("foo.bar"), "x").expect("written");
    let strange = told(&desk, &env);
    assert!(
        strange.contains("credential foo.bar: is not read: no secret has this name"),
        "{strange}"
    );
    fs::remove_file(credentials.join("foo.bar")).expect("removed");
    let odd = OsStr::from_bytes(b"telegram.bot_token\xff");
    fs::write(credentials.join(odd), "1:a").expect("written");
    let said = told(&desk, &env);
    assert!(said.contains("credential telegram.bot_token\u{fffd}: is not read"), "{said}");
    let nowhere = [("CREDENTIALS_DIRECTORY", desk.path().join("nowhere").display().to_string())];
    let said = told(&desk, &nowhere);
    assert!(
        said.starts_with("CREDENTIALS_DIRECTORY: names a folder that cannot be read"),
        "{said}"
    );

    let (pipe, mode) = (desk.path().join("pipe"), rustix::fs::Mode::RWXU);
    let kind = rustix::fs::FileType::Fifo;
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, kind, mode, 0).expect("a pipe");
    let output = selkie(&desk, &["config", "check", "--config", "pipe"], &[]);
    let said = String::from_utf8(output.stderr).expect("words");
    assert_eq!(said, "pipe: the config file is not a regular file: nothing else is read\n");

    fs::write(desk.path().join("marked.yaml"), "\u{feff}debounce: 1s\n").expect("written");
    let output = selkie(&desk, &["config", "check", "--config", "marked.yaml"], &[]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn what_may_not_be_meant_is_noted() {
    let config = "llm: {provider: anthropic, api_key: k, model: gpt-6.2-sol}\n";
    let env = [("HOME", String::new()), ("SELKIE__DEBOUNCE", String::new())];
    let output = selkie(&home(config), &["config", "check"], &env);
    let said = String::from_utf8(output.stdout).expect("words");
    for words in [
        "note: SELKIE__DEBOUNCE is empty and counts as not set",
        "note: HOME is not set, so the state lies in ",
        "note: llm: the profile default asks anthropic for gpt-6.2-sol",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
}
