//! The built binary as a person or a script meets it: words, exit codes, files.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Output};

use insta::assert_snapshot;
use tempfile::TempDir;

/// A folder to work in; nothing of the machine's environment reaches the binary.
struct Desk(TempDir);

impl Desk {
    fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    fn with(config: &str) -> Self {
        let desk = Self::new();
        fs::write(desk.path().join("config.yaml"), config).unwrap();
        desk
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn selkie(&self, line: &[&str]) -> Said {
        self.selkie_in::<&str, &str>(line, &[])
    }

    fn selkie_in<N, V>(&self, line: &[&str], env: &[(N, V)]) -> Said
    where
        N: AsRef<OsStr> + Copy,
        V: AsRef<OsStr> + Copy,
    {
        let mut command = Command::new(env!("CARGO_BIN_EXE_selkie"));
        command.args(line).current_dir(self.path()).env_clear().envs(env.iter().copied());
        command.env("HOME", self.path());
        Said::of(command.output().unwrap(), self.path())
    }

    /// Runs a line of a shell that finds the binary.
    fn shell(&self, line: &str) -> Said {
        let programs = Path::new(env!("CARGO_BIN_EXE_selkie")).parent().unwrap();
        let mut shell = Command::new("sh");
        shell.args(["-c", line]).current_dir(self.path()).env_clear();
        shell.env("HOME", self.path()).env("PATH", format!("{}:/usr/bin:/bin", programs.display()));
        Said::of(shell.output().unwrap(), self.path())
    }
}

/// A config with which everything but a platform is there.
const WHOLE: &str = r#"owners: ["tg:4711"]
telegram: { bot_token: "110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw1", base_url: "http://127.0.0.1:9" }
llm: { provider: offline }
"#;

/// The words of a text on one line, however many lines they take at a terminal.
fn joined(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What the binary said.
struct Said {
    code: i32,
    out: String,
    err: String,
}

impl Said {
    fn of(output: Output, folder: &Path) -> Self {
        let text = |bytes: Vec<u8>| {
            String::from_utf8(bytes).unwrap().replace(&folder.display().to_string(), "<folder>")
        };
        Self {
            code: output.status.code().unwrap_or(-1),
            out: text(output.stdout),
            err: text(output.stderr),
        }
    }
}

#[test]
fn help_shows_examples_and_exit_codes() {
    let said = Desk::new().selkie(&["--help"]);
    assert_eq!(said.code, 0);
    assert!(said.out.contains("selkie demo --say"), "{}", said.out);
    assert!(said.out.contains("selkie slack manifest"), "{}", said.out);
    assert!(said.out.contains("Exit codes: 0 success · 1 failure · 2"), "{}", said.out);
}

/// `-V` is the first line of what `--version` says of this build.
#[test]
fn the_version_names_what_is_built_in() {
    let desk = Desk::new();
    let first = format!("selkie {}\n", env!("CARGO_PKG_VERSION"));
    let short = desk.selkie(&["-V"]);
    assert_eq!((short.code, &short.out), (0, &first));
    let long = desk.selkie(&["--version"]);
    assert!(long.code == 0 && long.out.starts_with(&first), "{}", long.out);
    for (feature, line) in
        [(cfg!(feature = "postgres"), "stores: sqlite, postgres\n"), (true, "channels: ")]
    {
        assert_eq!(long.out.contains(line), feature, "{}", long.out);
    }
    assert_eq!(long.out.contains("demo: built in"), cfg!(feature = "playground"), "{}", long.out);
}

/// Each shell reads what is written for it, where the shell is there.
#[test]
fn completions_are_written_for_three_shells() {
    let desk = Desk::new();
    for (shell, holds) in
        [("bash", "_selkie()"), ("zsh", "#compdef selkie"), ("fish", "complete -c selkie")]
    {
        let said = desk.selkie(&["completions", shell]);
        assert_eq!(said.code, 0, "{}", said.err);
        assert!(said.out.contains(holds) && said.out.contains("trace"), "{}", said.out);
        let script = desk.path().join(shell);
        fs::write(&script, &said.out).unwrap();
        if let Ok(read) = Command::new(shell).arg("-n").arg(&script).output() {
            assert!(read.status.success(), "{shell}: {}", String::from_utf8_lossy(&read.stderr));
        }
    }
    let said = desk.selkie(&["completions", "tcsh"]);
    assert_eq!(said.code, 2);
    assert!(said.err.contains("possible values: bash, zsh, fish"), "{}", said.err);
}

/// The book's commands, as a shell runs them.
#[test]
fn completions_and_pages_are_installed_as_the_book_says() {
    let desk = Desk::new();
    let page = include_str!("../src/docs/command-line.md");
    let (_, block) = page.split_once("come from the binary itself").unwrap();
    let (_, block) = block.split_once("```sh\n").unwrap();
    let (commands, _) = block.split_once("```").unwrap();
    let said = desk.shell(&format!("set -eu\n{commands}"));
    assert_eq!(said.code, 0, "{}", said.err);
    let share = desk.path().join(".local/share");
    assert!(share.join("bash-completion/completions/selkie").exists(), "{}", said.out);
    assert!(share.join("man/man1/selkie-trace.1").exists(), "{}", said.out);
}

#[test]
fn every_command_has_a_manual_page() {
    let desk = Desk::new();
    let main = desk.selkie(&["man"]);
    assert!(main.code == 0 && main.out.contains(".TH selkie 1"), "{}", main.out);
    let said = desk.selkie(&["man", "share/man1"]);
    assert_eq!(said.code, 0, "{}", said.err);
    let folder = desk.path().join("share/man1");
    assert_eq!(fs::read_to_string(folder.join("selkie.1")).unwrap(), main.out);
    for page in
        ["selkie-trace.1", "selkie-run.1", "selkie-tools-why.1", "selkie-channel-manifest.1"]
    {
        let text = fs::read_to_string(folder.join(page)).unwrap_or_default();
        assert!(text.contains(".SH SYNOPSIS"), "{page}: {text}");
    }
    fs::write(desk.path().join("file"), "").unwrap();
    let said = desk.selkie(&["man", "file/man1"]);
    assert_eq!(said.code, 1);
    assert!(said.err.contains("name a folder that you may write to"), "{}", said.err);
}

#[test]
fn an_unknown_command_is_a_matter_of_usage() {
    let said = Desk::new().selkie(&["rnu"]);
    assert_eq!(said.code, 2);
    assert!(said.err.contains("unrecognized subcommand 'rnu'"), "{}", said.err);
}

#[test]
fn a_variable_of_ours_that_is_no_text_is_a_mistake_and_one_of_others_is_not() {
    let desk = Desk::with("");
    let broken = OsStr::from_bytes(b"4\xff");
    let name = OsStr::from_bytes(b"SELKIE__OWN\xffRS");
    let others = [(OsStr::new("LESSCHARSET"), broken), (OsStr::from_bytes(b"A\xff"), broken)];
    let said = desk.selkie_in(&["config", "check"], &others);
    assert_eq!(said.code, 0, "{}", said.err);
    let variable = OsStr::new("SELKIE__WORKER__MAX_CONCURRENCY");
    let said = desk.selkie_in(&["config", "check"], &[(variable, broken), (name, broken)]);
    assert_eq!((said.code, said.out.as_str()), (2, ""));
    assert!(
        said.err.contains("SELKIE__WORKER__MAX_CONCURRENCY: is not read: its name or its value"),
        "{}",
        said.err
    );
    assert!(said.err.contains("SELKIE__OWN\u{fffd}RS: is not read"), "{}", said.err);
}

#[test]
fn every_problem_of_the_config_is_told_at_once() {
    let desk = Desk::with("worker:\n  max: 3\nlogging:\n  level: loud\n");
    let said = desk.selkie_in(&["config", "check"], &[("SELKIE__RECORD_UNTRIGGERED", "maybe")]);
    assert_eq!((said.code, said.out.as_str()), (2, ""));
    assert_snapshot!(said.err, @r#"
    SELKIE__RECORD_UNTRIGGERED: record_untriggered takes true or false, not "maybe"
    config.yaml:2: worker.max is not a key (takes max_concurrency)
    config.yaml:4: logging.level takes error, warn, info, debug or trace, not loud
    "#);
}

#[test]
fn a_config_that_is_right_says_what_it_comes_to() {
    let said = Desk::with("llm:\n  provider: offline\n").selkie(&["config", "check"]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(said.out.contains("no mistakes"), "{}", said.out);
    assert!(said.out.contains("<folder>/.local/state/selkie"), "{}", said.out);
}

#[test]
fn a_schedule_of_the_config_that_is_over_is_noted() {
    let desk = Desk::with(
        "llm: {provider: offline}\nowners: ['tg:1']\n\
         schedules:\n  - {id: gone, at: 2020-12-24 18:00, say: x}\n\
         \x20 - {id: ended, cron: '@daily', until: '2021-01-01T00:00:00Z', say: x}\n\
         \x20 - {id: ahead, cron: '@daily', say: x}\n",
    );
    let said = desk.selkie(&["config", "check"]);
    assert_eq!(said.code, 0, "{}", said.err);
    let notes: Vec<&str> = said.out.lines().filter(|line| line.contains("schedules[")).collect();
    assert_eq!(
        notes,
        [
            "note: schedules[0] (gone) will not come due: all its times are in the past",
            "note: schedules[1] (ended) will not come due: all its times are in the past",
        ]
    );
}

#[test]
fn what_everybody_can_read_is_noted_and_a_variable_is_not_its_value() {
    let desk = Desk::with("llm: {provider: openai, model: gpt-5-mini, api_key: sk-1}\n");
    let everybody = std::fs::Permissions::from_mode(0o644);
    std::fs::set_permissions(desk.path().join("config.yaml"), everybody).unwrap();
    let said = desk.selkie(&["config", "check"]);
    assert!(said.out.contains("config.yaml holds a secret, and every user"), "{}", said.out);
    let desk = Desk::with(
        "llm: {provider: openai, api_key: '${OPENAI_API_KEY}'}\nagent: {max_cost_usd: -1}\n",
    );
    insta::assert_snapshot!(desk.selkie(&["config", "check"]).err, @r"
    config.yaml:1: llm.api_key is the name of a variable, whose value is not put there: write it, name a file in api_key_file, or set SELKIE__LLM__API_KEY
    config.yaml:2: agent.max_cost_usd takes US dollars, 0 or more (0 lifts the limit), not -1
    ");
}

#[test]
fn a_variable_outranks_a_file_that_cannot_be_read() {
    let desk = Desk::with("llm: {provider: openai, model: gpt-5-mini, api_key_file: none.key}\n");
    assert_eq!(desk.selkie(&["config", "check"]).code, 2);
    let said = desk.selkie_in(&["config", "check"], &[("SELKIE__LLM__API_KEY", "sk-1")]);
    assert_eq!(said.code, 0, "{}", said.err);
}

#[test]
fn a_model_without_a_price_is_noted() {
    let config = "llm: {provider: openai, model: MODEL, api_key: sk-1}\n";
    let check =
        |model| Desk::with(&config.replace("MODEL", model)).selkie(&["config", "check"]).out;
    let said = check("my-own");
    let note = "note: llm.prices has no price for my-own: its calls count as $0, and no limit in dollars holds them";
    assert!(joined(&said).contains(note), "{said}");
    assert!(!check("gpt-5-mini").contains("llm.prices"), "its price is known");
}

#[test]
fn a_named_file_that_is_missing_is_a_problem() {
    let said = Desk::new().selkie(&["config", "check", "--config", "mine.yaml"]);
    assert_eq!(said.code, 2);
    assert!(said.err.starts_with("mine.yaml: "), "{}", said.err);
}

#[test]
fn show_names_where_every_value_comes_from_and_hides_secrets() {
    let desk = Desk::with("llm:\n  provider: openai\nworker: {max_concurrency: 3}\n");
    let line = ["config", "show", "--state", "s"];
    let said = desk.selkie_in(&line, &[("OPENAI_API_KEY", "sk-very-secret")]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(!said.out.contains("very-secret"));
    let line = |key: &str| {
        let line = said.out.lines().find(|l| l.split_whitespace().next() == Some(key)).unwrap();
        line.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(line("llm.api_key"), "llm.api_key \"[set]\" OPENAI_API_KEY");
    assert_eq!(line("worker.max_concurrency"), "worker.max_concurrency 3 config.yaml:3");
    assert!(line("file_state_dir").ends_with("/s\" --state"));
    assert_eq!(line("logging.level"), "logging.level \"info\" default");
    let json = desk.selkie(&["config", "show", "--json"]).out;
    let lines: Vec<serde_json::Value> = serde_json::from_str(&json).unwrap();
    assert!(lines.iter().any(|l| l["key"] == "worker.max_concurrency" && l["value"] == 3));
}

#[test]
fn the_example_is_a_config_to_begin_with() {
    let desk = Desk::new();
    let example = desk.selkie(&["config", "example"]).out;
    fs::write(desk.path().join("config.yaml"), example).unwrap();
    let said = desk.selkie(&["config", "check"]);
    assert_eq!(said.code, 0, "{}", said.err);
}

/// The example with every key taken in: `##` are words, `# ` hides a key.
fn whole_example() -> serde_json::Value {
    let example = Desk::new().selkie(&["config", "example"]).out;
    let lines = example.lines().filter(|l| !l.trim_start().starts_with("##"));
    let keys = lines.map(|l| l.replacen("# ", "", usize::from(l.trim_start().starts_with("# "))));
    serde_saphyr::from_str(&keys.collect::<Vec<_>>().join("\n")).unwrap()
}

/// Lists the keys of a schema that a value does not hold; where any name may stand, one must.
fn missing(
    schema: &serde_json::Value,
    at: &serde_json::Value,
    value: &serde_json::Value,
) -> Vec<String> {
    let target = at["$ref"].as_str().and_then(|r| schema.pointer(r.strip_prefix('#')?));
    let at = target.unwrap_or(at);
    let mut out = Vec::new();
    for (key, inner) in at["properties"].as_object().into_iter().flatten() {
        // `api_key_file` is another spelling of `api_key`, told once at the top.
        let twin = key.strip_suffix("_file").is_some_and(|k| !at["properties"][k].is_null());
        match value.get(key) {
            _ if twin => {}
            None => out.push(key.clone()),
            Some(value) => {
                out.extend(missing(schema, inner, value).iter().map(|k| format!("{key}.{k}")))
            }
        }
    }
    if at["additionalProperties"].is_object() {
        let values = value.as_object().into_iter().flat_map(|map| map.values());
        let each: Vec<Vec<String>> =
            values.map(|value| missing(schema, &at["additionalProperties"], value)).collect();
        match each.first() {
            None => out.push("*".to_owned()),
            // What one of them shows is shown.
            Some(first) => {
                let in_all = |gap: &&String| each.iter().all(|gaps| gaps.contains(gap));
                out.extend(first.iter().filter(in_all).cloned());
            }
        }
    }
    out
}

#[test]
fn the_example_holds_every_key_of_every_channel_of_this_build() {
    let schema = Desk::new().selkie(&["config", "schema"]).out;
    let schema: serde_json::Value = serde_json::from_str(&schema).unwrap();
    assert!(schema["properties"]["telegram"]["properties"]["pace"].is_object());
    let gaps = missing(&schema, &schema, &whole_example());
    assert!(gaps.is_empty(), "not in config.example.yaml: {gaps:?}");
}

#[test]
fn show_tells_which_model_answers_when_nobody_wrote_one() {
    let shown = |yaml: &str| {
        let out = Desk::with(yaml).selkie(&["config", "show"]).out;
        let lines = out
            .lines()
            .filter(|l| l.starts_with("llm."))
            .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
        lines.collect::<Vec<_>>().join("\n")
    };
    assert_snapshot!(shown("{}"), @r#"
    llm.profiles {} default
    llm.provider "offline" default
    llm.endpoint null default
    llm.api null default
    llm.api_key null default
    llm.model "stand-in" default
    llm.headers {} default
    llm.context null default
    llm.sees_images null default
    llm.effort null default
    llm.routes.main "offline" default
    llm.routes.small "offline" default
    llm.routes.decision "offline" default
    llm.routes.heartbeat "offline" default
    llm.efforts.main null default
    llm.efforts.small null default
    llm.efforts.decision null default
    llm.efforts.heartbeat null default
    llm.prices {} default
    "#);
    assert_snapshot!(shown("llm: {provider: openai, api_key: sk-x}"), @r#"
    llm.profiles {} default
    llm.provider "openai" config.yaml:1
    llm.endpoint "https://api.openai.com/v1" default
    llm.api "auto" default
    llm.api_key "[set]" config.yaml:1
    llm.model "gpt-6.2-sol" default
    llm.headers {} default
    llm.context 128000 default
    llm.sees_images true default
    llm.effort null default
    llm.routes.main "default" default
    llm.routes.small "default" default
    llm.routes.decision "default" default
    llm.routes.heartbeat "default" default
    llm.efforts.main null default
    llm.efforts.small null default
    llm.efforts.decision null default
    llm.efforts.heartbeat null default
    llm.prices {} default
    "#);
}

#[test]
fn the_schema_is_json_and_closed() {
    let said = Desk::new().selkie(&["config", "schema"]);
    let schema: serde_json::Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(schema["additionalProperties"], false);
    assert!(schema["properties"]["worker"].is_object());
}

#[test]
fn running_without_a_channel_says_what_to_write() {
    let said = Desk::new().selkie(&["run"]);
    assert_eq!(said.code, 2);
    assert_snapshot!(said.err, @r"
    selkie: no config was found: there is no config.yaml here (<folder>), no <folder>/.config/selkie/config.yaml and no /etc/selkie/config.yaml; --config names another
    no channel is configured: run `selkie init`, or write a section with its token in config.yaml (see `selkie config example`); `selkie demo` needs none
    ");
}

#[test]
fn where_no_config_is_found_it_is_said_where_one_was_looked_for() {
    let looked = "selkie: no config was found: there is no config.yaml here (<folder>), no <folder>/.config/selkie/config.yaml and no \
        /etc/selkie/config.yaml";
    let add = ["schedules", "add", "--every", "2h", "--say", "tea"];
    for (line, code) in [
        (&["ask", "hi"][..], 2),
        (&["say", "--to", "tg:4711", "hi"], 2),
        (&add, 2),
        (&["pair"], 1),
        (&["run"], 2),
    ] {
        let said = Desk::new().selkie(line);
        assert_eq!(said.code, code, "{line:?}: {}{}", said.out, said.err);
        assert_eq!(said.err.matches(looked).count(), 1, "{line:?}: {}", said.err);
        let named = Desk::with("timezone: UTC").selkie(line);
        assert!(!named.err.contains("no config was found"), "{line:?}: {}", named.err);
    }
}

#[test]
fn without_a_model_ask_says_what_to_do_and_the_stand_in_answers_where_it_is_asked_for() {
    for desk in [Desk::new(), Desk::with("timezone: UTC")] {
        let said = desk.selkie(&["ask", "hello"]);
        assert_eq!((said.code, said.out.as_str()), (2, ""));
        assert!(
            said.err.contains("no language model is configured: run `selkie init`"),
            "{}",
            said.err
        );
        let said = desk.selkie(&["ask", "note: milk", "--offline"]);
        assert!(said.code == 0 && said.out.contains("milk"), "{}{}", said.out, said.err);
    }
    let key = [("OPENAI_API_KEY", "sk-none")];
    let said = Desk::new().selkie_in(&["ask", "note: milk", "--offline"], &key);
    assert!(said.code == 0 && said.out.contains("milk"), "{}{}", said.out, said.err);
    let said = Desk::with("llm: {provider: offline}").selkie(&["ask", "note: milk"]);
    assert!(said.code == 0 && said.out.contains("milk"), "{}{}", said.out, said.err);
}

#[test]
fn a_config_is_found_here_then_at_home() {
    let desk = Desk::new();
    let put = |path: &str, zone: &str| {
        let path = desk.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, format!("timezone: {zone}")).unwrap();
    };
    let read = |env: &[(&str, &str)]| {
        let said = desk.selkie_in(&["config", "show", "--json"], env);
        let shown: serde_json::Value = serde_json::from_str(&said.out).unwrap();
        let all = shown.as_array().unwrap();
        all.iter().find(|line| line["key"] == "timezone").unwrap()["from"].clone()
    };
    put(".config/selkie/config.yaml", "Europe/London");
    assert_eq!(read(&[]), "<folder>/.config/selkie/config.yaml:1");
    put("xdg/selkie/config.yaml", "Europe/Paris");
    let configs = desk.path().join("xdg").display().to_string();
    assert_eq!(read(&[("XDG_CONFIG_HOME", &configs)]), "<folder>/xdg/selkie/config.yaml:1");
    assert_eq!(read(&[("XDG_CONFIG_HOME", "xdg")]), "<folder>/.config/selkie/config.yaml:1");
    let said = desk.selkie(&["doctor"]);
    assert!(said.out.contains(".config/selkie/config.yaml has no mistakes"), "{}", said.out);
    put("config.yaml", "Europe/Rome");
    assert_eq!(read(&[]), "config.yaml:1");
}

#[test]
fn a_code_that_nobody_could_send_is_not_printed() {
    for desk in [Desk::new(), Desk::with("timezone: UTC")] {
        let said = desk.selkie(&["pair"]);
        assert_eq!((said.code, said.out.as_str()), (1, ""));
        assert!(said.err.contains("run selkie init first"), "{}", said.err);
    }
    let said = Desk::with(WHOLE).selkie(&["pair"]);
    assert!(said.code == 0 && said.out.contains("\n  pair "), "{}", said.err);
}

#[test]
fn an_unknown_setting_lists_what_is_taken() {
    let said = Desk::new().selkie(&["tools", "list", "--in", "nowhere"]);
    assert_eq!(said.code, 2);
    assert!(said.err.starts_with("--in takes cli"), "{}", said.err);
}

#[test]
fn a_setting_is_asked_for_in_full() {
    let desk = Desk::new();
    let why = |line: &str| {
        let words: Vec<&str> = ["tools", "why"].into_iter().chain(line.split(' ')).collect();
        let said = desk.selkie(&words);
        assert_eq!(said.code, 0, "{}", said.err);
        said.out
    };
    let files = why("write_file --in telegram:group --as allowed");
    assert!(files.contains("write_file in telegram:group: only this chat's own folder"), "{files}");
    let plan = why("write_file --in telegram:private --mode plan");
    assert!(
        plan.contains("owner · asked · plan") && plan.contains("hidden in plan mode"),
        "{plan}"
    );
    assert!(why("ask_user --occasion heartbeat").contains("hidden in scheduled tasks"));
    let tainted = why("bash --in telegram:private --tainted");
    assert!(
        tainted.contains("asks first while the task holds other people's words")
            && tainted.contains("an owner is asked in private"),
        "{tainted}"
    );
    assert!(why("bash --tainted").contains("you are asked before each call"), "at the terminal");
    let list = desk.selkie(&["tools", "list", "--as", "stranger"]).out;
    assert!(list.starts_with("cli · stranger · asked · normal"), "{list}");
    assert_eq!(desk.selkie(&["tools", "list", "--as", "friend"]).code, 2);
}

#[test]
fn arguments_of_a_call_must_be_json() {
    let said = Desk::new().selkie(&["tools", "call", "think", "{thought}"]);
    assert_eq!(said.code, 2);
    assert!(said.err.contains("the arguments of think are not JSON"), "{}", said.err);
    for line in [&["list_files"][..], &["think", "{}", "list_files"]] {
        let said = Desk::new().selkie(&[&["tools", "call"], line].concat());
        assert_eq!(said.code, 2, "{}", said.err);
        assert!(
            said.err.contains("list_files needs its arguments as JSON, such as '{}'"),
            "{}",
            said.err
        );
    }
}

#[test]
fn a_word_in_the_place_of_a_number_says_what_is_taken() {
    for (line, takes) in [
        (&["schedules", "show", "abc"][..], "takes a number, such as 3"),
        (&["schedules", "history", "1", "--limit", "x"], "takes a number, such as 3"),
        (&["memory", "search", "tea", "--min-score", "x"], "takes a number, such as 0.5"),
        (&["logs", "-n", "x"], "takes a number from 1 to 1000000"),
        (&["trace", "--limit", "501"], "takes a number from 1 to 500"),
        (&["sessions", "list", "--limit", "x"], "takes a number from 1 to 500"),
    ] {
        let said = Desk::new().selkie(line);
        assert_eq!(said.code, 2, "{line:?}: {}", said.err);
        assert!(said.err.contains(takes), "{line:?}: {}", said.err);
        assert!(!said.err.contains("invalid digit"), "{line:?}: {}", said.err);
    }
}

/// `UPDATE_GOLDEN=1 cargo test --test cli` writes the page anew.
#[test]
fn the_page_of_tools_is_what_the_binary_prints() {
    let said = Desk::new().selkie(&["tools", "docs"]);
    assert_eq!(said.code, 0, "{}", said.err);
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/src/docs/tools.md");
    if option_env!("UPDATE_GOLDEN").is_some() {
        fs::write(page, &said.out).unwrap();
    }
    let then = fs::read_to_string(page).unwrap();
    assert!(then == said.out, "src/docs/tools.md is old: UPDATE_GOLDEN=1 cargo test --test cli");
}

#[test]
fn the_list_for_programs_says_everything_about_a_tool() {
    let said = Desk::new().selkie(&["tools", "list", "--json"]);
    let all: serde_json::Value = serde_json::from_str(&said.out).unwrap();
    let edit = all.as_array().unwrap().iter().find(|t| t["name"] == "edit_file").unwrap();
    assert_eq!((&edit["group"], &edit["risk"]), (&"files".into(), &"write".into()));
    assert_eq!(edit["aliases"], serde_json::json!(["file_edit", "edit"]));
    assert_eq!(edit["parameter_aliases"]["old_text"], "old_string");
    assert_eq!(edit["sources"], serde_json::json!(["S0", "S2", "S4"]));
    assert_eq!(edit["schema"]["required"], serde_json::json!(["path", "old_string", "new_string"]));
    assert!(!said.out.contains("\"name\": \"file_edit\""), "other names are never listed");
}

#[test]
fn tools_are_listed_by_where_they_come_from() {
    let listed = Desk::new().selkie(&["tools", "list"]).out;
    let at = |part: &str| listed.find(part).unwrap_or_else(|| panic!("{part}: {listed}"));
    let parts = [
        "Core\n\n",
        "\nwrite_file ",
        "\nExtra\n\n",
        "\ntodo_update ",
        "\ntelegram\n\n",
        "\ntelegram_send_file ",
        "\nslack\n\n",
        "\nx\n\n",
        "\ntwitter_post ",
    ];
    let places = parts.map(at);
    assert!(places.is_sorted(), "{parts:?} at {places:?}");
}

#[test]
fn a_tool_that_no_task_has_is_shown_with_why() {
    let desk = Desk::new();
    for (name, why) in [("twitter_post", "account"), ("powershell", "powershell tool is disabled")]
    {
        let said = desk.selkie(&["tools", "show", name]);
        assert_eq!(said.code, 0, "{}", said.err);
        let shown: serde_json::Value = serde_json::from_str(&said.out).unwrap();
        assert_eq!(shown["name"], name);
        assert!(shown["parameters"]["properties"].is_object(), "{shown}");
        assert!(shown["hidden"][0].as_str().unwrap().contains(why), "{shown}");
    }
    let there = desk.selkie(&["tools", "show", "bash"]).out;
    assert!(!there.contains("\"hidden\""), "{there}");
}

#[test]
fn another_name_of_a_tool_is_understood() {
    let desk = Desk::new();
    let shown: serde_json::Value =
        serde_json::from_str(&desk.selkie(&["tools", "show", "exec"]).out).unwrap();
    assert_eq!(shown["name"], "bash");
    assert_snapshot!(desk.selkie(&["tools", "why", "patch_apply"]).out, @r"
    apply_patch is available here (cli · owner · asked · normal)
      patch_apply is another name of apply_patch
      no rule hides it
      apply_patch in cli: the workspace, this chat's own folder (file_cache_dir), and the owner's files of file_state_dir but HEARTBEAT.md, persona, skills and policy
    ");
    let missing = desk.selkie(&["tools", "show", "recal"]);
    let says = "there is no tool recal: did you mean recall? (see `selkie tools list`)";
    assert_eq!((missing.code, missing.err.trim()), (2, says));
}

#[test]
fn a_tool_that_is_not_there_is_a_mistake_and_the_nearest_is_named() {
    let desk = Desk::new();
    for args in [
        &["tools", "show", "bsah"][..],
        &["tools", "why", "bsah"],
        &["tools", "why", "bsah", "--json"],
    ] {
        let said = desk.selkie(args);
        assert_eq!((said.code, said.out.as_str()), (2, ""));
        assert_eq!(
            said.err.trim(),
            "there is no tool bsah: did you mean bash? (see `selkie tools list`)"
        );
    }
}

#[test]
fn a_preview_tells_what_would_be_refused() {
    let desk = Desk::new();
    let preview = |args: &str| desk.selkie(&["tools", "call", "--preview", "bash", args]);
    let real = desk.selkie(&["tools", "call", "bash", r#"{"cmd":"rm x"}"#]);
    assert!(real.out.contains("needs approval") && real.code == 1, "{}", real.out);
    let shown = preview(r#"{"cmd":"rm x"}"#);
    assert_eq!(shown.code, 0, "{}", shown.out);
    assert!(
        shown.out.starts_with("needs approval, which you give by calling it at a terminal: asks"),
        "{}",
        shown.out
    );
    // The desk's folder holds the state folder: where there is a sandbox, it cannot hold commands here, and that is said.
    let (_, run) = shown.out.split_once('\n').unwrap();
    assert!(run.starts_with("run") && run.ends_with(":\nrm x\n"), "{run}");
    let free = preview(r#"{"cmd":"true"}"#);
    assert!(free.out.starts_with("run") && free.out.ends_with(":\ntrue\n"), "{}", free.out);
    let both = preview(r#"{"cmd":"true","command":"false"}"#);
    assert!(both.code == 1 && both.out.contains("are the same parameter"), "{}", both.out);
    for args in
        [&["tools", "call", "--preview", "bsah", "{}"][..], &["tools", "call", "bsah", "{}"]]
    {
        let none = desk.selkie(args);
        assert_eq!((none.code, none.out.as_str()), (2, ""));
        assert!(none.err.contains("there is no tool bsah: did you mean bash?"), "{}", none.err);
    }
}

#[test]
fn a_scheduled_task_has_the_reaction_and_names_its_message() {
    let desk = Desk::new();
    for place in ["telegram:private", "slack:dm"] {
        let args = ["tools", "why", "message_react", "--in", place, "--trigger", "scheduled"];
        let said = desk.selkie(&args);
        assert!(
            said.out.starts_with("message_react is available here"),
            "{}{}",
            said.out,
            said.err
        );
    }
    let said = desk.selkie(&["tools", "why", "message_react", "--in", "line:user"]);
    assert!(said.out.starts_with("message_react is not available here"), "{}", said.out);
}

#[test]
fn a_channels_manifest_is_printed_by_either_spelling() {
    let desk = Desk::new();
    let short = desk.selkie(&["slack", "manifest"]);
    assert_eq!((short.code, short.err.as_str()), (0, ""));
    assert!(short.out.contains("socket_mode_enabled: true"), "{}", short.out);
    assert_eq!(desk.selkie(&["channel", "manifest", "slack"]).out, short.out);
    for options in [&["--config", "mine.yaml"][..], &["--state=here", "--config=mine.yaml"]] {
        let line = [options, &["slack", "manifest"]].concat();
        assert_eq!(desk.selkie(&line).out, short.out, "{line:?}");
    }
    let none = desk.selkie(&["telegram", "manifest"]);
    assert_eq!(none.code, 2);
    assert!(none.err.contains("channels that have one: slack"), "{}", none.err);
    assert_eq!(desk.selkie(&["slack", "run"]).code, 2);
    for line in [&["slack"][..], &["slack", "--help"]] {
        let help = desk.selkie(line);
        assert_eq!(help.code, 0, "{}", help.err);
        assert!(help.out.contains("selkie slack manifest"), "{}", help.out);
    }
}

/// What cannot be written is a failure for who reads the exit code; a reader that has gone is none.
#[test]
fn an_output_that_cannot_be_written_fails_and_a_closed_pipe_does_not() {
    let desk = Desk::with(WHOLE);
    for line in
        ["--help", "help status", "--version", "help errors", "config example", "tools list"]
    {
        let full = desk.shell(&format!("selkie {line} >/dev/full"));
        assert_eq!(full.code, 1, "{line}: {}", full.err);
        assert!(full.err.contains("No space left"), "{line}: {}", full.err);
        let gone = desk.shell(&format!("(selkie {line}; echo $? >code) | true; cat code"));
        assert_eq!((gone.code, gone.out.trim(), gone.err.as_str()), (0, "0", ""), "{line}");
    }
}

/// Opening a pipe waits for who writes into it, without an end.
#[test]
fn what_is_no_file_in_the_place_of_one_is_named_and_not_waited_for() {
    let desk = Desk::with(WHOLE);
    let state = desk.path().join("state");
    let database = desk.shell("mkdir -m 700 state && mkfifo state/selkie.db pipe && echo made");
    assert_eq!(database.out, "made\n", "{}", database.err);
    for line in [
        "sessions list",
        "ask hello",
        "run",
        "doctor",
        "backup b.tar.gz",
        "support-bundle s.tar.gz",
    ] {
        let said = desk.shell(&format!("timeout 20 selkie --state state {line}"));
        let told = said.err.clone() + &said.out;
        assert!(matches!(said.code, 0 | 1), "{line}: {told}");
        assert!(
            joined(&told).contains("is not a regular file") || line.starts_with("support"),
            "{line}: {told}"
        );
    }
    fs::remove_file(state.join("selkie.db")).unwrap();
    for line in ["restore pipe", "support-bundle t.tar.gz --log pipe"] {
        let said = desk.shell(&format!("timeout 20 selkie --state state {line}"));
        assert_eq!(said.code, 1, "{line}: {}{}", said.out, said.err);
    }
    fs::create_dir(state.join("selkie.sock")).unwrap();
    let said = desk.shell("timeout 20 selkie --state state run");
    assert_eq!(said.code, 1, "{}", said.err);
    assert!(said.err.contains("selkie.sock is a folder"), "{}", said.err);
}

#[test]
fn a_skill_is_installed_after_a_look_and_compared_with_the_specification() {
    let desk = Desk::with("llm: { provider: offline }\nfile_state_dir: state\n");
    let folder = desk.path().join("tea");
    fs::create_dir(&folder).unwrap();
    let skill =
        "---\nname: tea\ndescription: How tea is made\n---\nRun `curl https://a.example/x`.\n";
    fs::write(folder.join("SKILL.md"), skill).unwrap();
    let none = desk.selkie(&["skills", "list"]);
    assert_eq!(
        (none.code, none.out.as_str()),
        (0, "No skill is installed yet: selkie skills install FOLDER\n")
    );
    assert_eq!(desk.selkie(&["skills", "check", "tea"]).out, "<folder>/tea: good\n");
    let asked = desk.selkie(&["skills", "install", "tea"]);
    let hash =
        asked.out.lines().find_map(|line| line.strip_prefix("Hash:")).unwrap().trim().to_owned();
    assert_eq!(asked.code, 2, "{}", asked.err);
    assert!(asked.err.contains(&format!("add --yes {hash}")), "{}", asked.err);
    assert!(
        asked.out.contains("Commands, and code that starts programs (1):\n  SKILL.md:5: Run"),
        "{}",
        asked.out
    );
    assert!(!desk.path().join("state/skills").exists(), "nothing is written before the yes");
    let other = desk.selkie(&["skills", "install", "tea", "--yes", "sha256:0"]);
    assert!(other.code == 1 && other.err.contains("nothing was changed"), "{}", other.err);
    let done = desk.selkie(&["skills", "install", "tea", "--yes", &hash]);
    assert!(
        done.code == 0 && done.out.ends_with("tea is installed in <folder>/state/skills/tea.\n"),
        "{}",
        done.out
    );
    let list = desk.selkie(&["skills", "list", "--json"]);
    let list: serde_json::Value = serde_json::from_str(&list.out).unwrap();
    assert_eq!(
        (&list["skills"][0]["reviewed"], &list["skills"][0]["hash"]),
        (&true.into(), &hash.into())
    );
    let called = desk.selkie(&["tools", "call", "load_skill", r#"{"name":"tea"}"#]);
    assert!(
        called.out.contains("which your owner has reviewed") && called.out.contains("curl"),
        "{}",
        called.out
    );
    fs::write(desk.path().join("state/skills/tea/more.md"), "x").unwrap();
    assert!(desk.selkie(&["skills", "list"]).out.contains("not reviewed"));
    fs::write(folder.join("SKILL.md"), skill.replace("name: tea", "name: Tea")).unwrap();
    let wrong = desk.selkie(&["skills", "check", "tea"]);
    assert!(wrong.code == 1 && wrong.out.contains("error: name takes a to z"), "{}", wrong.out);
    let gone = desk.selkie(&["skills", "remove", "tea", "--yes"]);
    assert!(gone.code == 0 && !desk.path().join("state/skills/tea").exists(), "{}", gone.err);
}
