//! One config file with mistakes of every kind: the first run tells them all.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

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
