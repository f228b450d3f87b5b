//! `selkie init`: from an empty folder to a bot that answers, at a terminal and by flags. What is refused is asked again,
//! what is broken off leaves nothing, and no secret is shown.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rustix::process::Signal;
use selkie_playground::Turn;
use selkie_playground::slack;
use selkie_playground::telegram::{ADA, TOKEN};
use serde_json::json;

use crate::support::terminal::AtTerminal;
use crate::support::world::World;

const KEY: &str = "sk-playground-key-1234567890";
const MISTYPED: &str = "sk-mistyped-key-1234567890";
const WRONG: &str = "110201543:AAwrong-wrong-wrong-wrong-wrong-wro";

/// A world, and an empty folder beside its own home.
struct Empty {
    world: World,
    folder: PathBuf,
}

impl Empty {
    async fn start() -> Self {
        let world = World::with(json!({})).await;
        let folder = world.home.folder().join("empty");
        fs::create_dir(&folder).expect("a folder");
        Self { world, folder }
    }

    /// A command in the folder; the platform is the playground, by the environment.
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_selkie"));
        command.args(arguments).env_clear().env("PATH", "/usr/bin:/bin");
        command.env("HOME", &self.folder).current_dir(&self.folder);
        command.env("SELKIE__TELEGRAM__BASE_URL", self.world.playground.telegram_base_url());
        command
    }

    /// Runs it to its end, without a terminal.
    fn run(&self, arguments: &[&str]) -> (i32, String) {
        let mut command = self.command(arguments);
        command.env("MODEL_KEY", KEY).stdin(Stdio::null());
        let out = command.output().expect("selkie runs");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let all = text(&out.stdout) + &text(&out.stderr);
        is_silent(&all);
        (out.status.code().unwrap_or(-1), all)
    }

    /// The flags that stand for the answers at a terminal.
    fn flags(&self) -> Vec<String> {
        let endpoint = format!("llm.endpoint={}", self.world.playground.model_endpoint());
        let owner = format!("tg:{ADA}");
        let flags = [
            "init",
            "--yes",
            "--owner",
            &owner,
            "--secret-file",
            "telegram.bot_token=token.txt",
            "--secret-env",
            "llm.api_key=MODEL_KEY",
            "--set",
            "llm.provider=openai",
            "--set",
            &endpoint,
            "--set",
            "llm.model=playground",
        ];
        flags.map(str::to_owned).into()
    }

    fn by_flags(&self, more: &[&str]) -> (i32, String) {
        let flags = self.flags();
        let all: Vec<&str> = flags.iter().map(String::as_str).chain(more.iter().copied()).collect();
        self.run(&all)
    }

    /// Everything in the folder.
    fn names(&self) -> Vec<String> {
        names(&self.folder)
    }
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry"));
    let mut names: Vec<String> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

fn mode(path: &Path) -> u32 {
    path.metadata().expect("a file").permissions().mode() & 0o777
}

fn is_silent(shown: &str) {
    let secret = TOKEN.split_once(':').expect("a token").1;
    for secret in [secret, KEY, WRONG, MISTYPED] {
        assert!(!shown.contains(secret), "{shown}");
    }
}

/// Answers the questions up to the owner's; the first token is a wrong one.
async fn up_to_the_owner(empty: &Empty, terminal: &mut AtTerminal) -> String {
    let world = &empty.world;
    world.within("a question", terminal.shows("Set up Telegram? [Y/n]: ")).await;
    terminal.types("\n");
    world.within("the token's question", terminal.shows("Bot token (not shown)")).await;
    terminal.types(&format!("{WRONG}\n"));
    let shown = world.within("a refusal", terminal.shows("Enter it again.")).await;
    assert!(shown.contains("rejects the bot's token"), "{shown}");
    assert!(!shown.contains("into telegram."), "there is no config yet: {shown}");
    world.within("the question again", terminal.shows_times("Bot token (not shown)", 2)).await;
    terminal.types(&format!("{TOKEN}\n"));
    world.within("the bot", terminal.shows("the token works: the bot is @selkie_demo_bot")).await;
    for title in ["Slack", "LINE"] {
        world.within("a question", terminal.shows(&format!("Set up {title}? [y/N]: "))).await;
        terminal.types("\n");
    }
    world.within("a question", terminal.shows("Provider [openai]: ")).await;
    terminal.types("\n");
    world.within("a question", terminal.shows("Endpoint [https://api.openai.com/v1]: ")).await;
    terminal.types(&format!("{}\n", world.playground.model_endpoint()));
    world.within("a question", terminal.shows("API key (not shown) [Enter: none]: ")).await;
    terminal.types(&format!("{MISTYPED}\n"));
    world.within("a question", terminal.shows("Model [playground]: ")).await;
    world.playground.model().script(vec![refused()]);
    terminal.types("\n");
    world.within("the key's question", terminal.shows("API key once more (not shown)")).await;
    terminal.types(&format!("{KEY}\n"));
    world.within("a code", terminal.shows("Waiting for it.")).await
}

fn refused() -> Turn {
    Turn::Refuse {
        status: 401,
        message: "Incorrect API key".to_owned(),
        code: None,
        retry_after: None,
    }
}

fn code(shown: &str) -> String {
    let line = shown.lines().find_map(|line| line.trim().strip_prefix("pair "));
    line.expect("a line with the code").to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_has_a_bot_that_answers() {
    let empty = Empty::start().await;
    let world = &empty.world;
    let mut terminal = AtTerminal::start(empty.command(&["init"]));
    let shown = up_to_the_owner(&empty, &mut terminal).await;
    assert!(shown.contains("answers (") && !empty.folder.join("config.yaml").exists(), "{shown}");
    let paired = world.ask(&format!("pair {}", code(&shown))).await;
    assert!(paired.contains("You are paired"), "{paired}");
    world.within("the owner", terminal.shows("✓ tg:4711 owns the bot.")).await;
    let shown = world.within("the end", terminal.shows("Start the bot now? [Y/n]: ")).await;
    assert!(shown.contains("2 secrets") && shown.contains("selkie run"), "{shown}");
    assert_eq!(names(&empty.folder.join("secrets")), ["llm.api_key", "telegram.bot_token"]);
    let files = ["config.yaml", "secrets/llm.api_key", "secrets/telegram.bot_token"];
    assert_eq!(files.map(|file| mode(&empty.folder.join(file))), [0o600; 3]);
    let config = fs::read_to_string(empty.folder.join("config.yaml")).expect("a config");
    assert!(config.contains("owners: [\"tg:4711\"]") && config.contains("# Telegram."), "{config}");
    is_silent(&config);
    terminal.types("\n");
    assert!(world.ask("hello").await.ends_with("hello"));
    terminal.signal(Signal::TERM);
    let (status, shown) = world.within("its end", terminal.ended()).await;
    assert!(status.success(), "{shown}");
    is_silent(&shown);
    let (checked, says) = empty.run(&["config", "check"]);
    assert_eq!(checked, 0, "{says}");
    let (listed, says) = empty.run(&["pair", "list"]);
    assert!(listed == 0 && says.contains("tg:4711") && says.contains("config"), "{says}");
    let (_, says) = empty.run(&["pair", "list", "--json"]);
    assert!(says.contains("\"paired\": []"), "the config alone names the owner: {says}");
}

/// Answers the questions about the channels: none is set up.
async fn no_channel(empty: &Empty, terminal: &mut AtTerminal) {
    for title in ["Telegram?", "Slack?", "LINE?"] {
        empty.world.within("a question", terminal.shows(&format!("Set up {title}"))).await;
        terminal.types("n\n");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_on_this_machine_takes_two_questions() {
    let empty = Empty::start().await;
    let world = &empty.world;
    let endpoint = format!("llm.endpoint={}", world.playground.model_endpoint());
    let mut command = empty.command(&["init", "--set", &endpoint]);
    command.env_remove("SELKIE__TELEGRAM__BASE_URL");
    let mut terminal = AtTerminal::start(command);
    no_channel(&empty, &mut terminal).await;
    world.within("a question", terminal.shows("Provider [openai]: ")).await;
    terminal.types("Olama\n");
    world.within("a question", terminal.shows("Did you mean ollama? [Y/n]: ")).await;
    terminal.types("\n");
    world.within("the models", terminal.shows("1  playground")).await;
    world.within("a question", terminal.shows("Model [playground]: ")).await;
    terminal.types("1\n");
    let (status, shown) = world.within("its end", terminal.ended()).await;
    assert!(status.success() && shown.contains("playground via ollama answers"), "{shown}");
    assert!(!shown.contains("API key") && !shown.contains("Endpoint"), "{shown}");
    let config = fs::read_to_string(empty.folder.join("config.yaml")).expect("a config");
    assert!(
        config.contains("provider: ollama") && config.contains("model: playground"),
        "{config}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_is_tried_when_it_is_typed_and_earlier_answers_stay() {
    let empty = Empty::start().await;
    let world = &empty.world;
    let mut command = empty.command(&["init"]);
    command.env_remove("SELKIE__TELEGRAM__BASE_URL");
    let mut terminal = AtTerminal::start(command);
    no_channel(&empty, &mut terminal).await;
    world.within("a question", terminal.shows("Provider [openai]: ")).await;
    terminal.types("\n");
    world.within("a question", terminal.shows("Endpoint [https://api.openai.com/v1]: ")).await;
    let closed = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let host = closed.local_addr().expect("an address").to_string();
    drop(closed);
    terminal.types(&format!("{host}/v1\n"));
    world.within("what is wrong", terminal.shows(&format!("nothing listens at {host}"))).await;
    world.within("a question", terminal.shows(&format!("Endpoint [http://{host}/v1]: "))).await;
    let endpoint = world.playground.model_endpoint();
    let bare = endpoint.trim_start_matches("http://").trim_end_matches("/v1");
    terminal.types(&format!("{bare}\n"));
    let question = format!("/v1 is missing there: use {endpoint}? [Y/n]: ");
    world.within("a question", terminal.shows(&question)).await;
    terminal.types("\n");
    world.within("a question", terminal.shows("API key (not shown) [Enter: none]: ")).await;
    terminal.types("\n");
    world.within("a question", terminal.shows("Model [playground]: ")).await;
    world.playground.model().script(vec![Turn::Refuse {
        status: 404,
        message: "no such model".to_owned(),
        code: None,
        retry_after: None,
    }]);
    terminal.types("nonsense-of-another-kind\n");
    world.within("a question", terminal.shows("Keep it as it is? [y/N]: ")).await;
    terminal.types("\n");
    world.within("a question", terminal.shows_times("Provider [openai]: ", 2)).await;
    terminal.types("\n");
    world.within("a question", terminal.shows(&format!("Endpoint [{endpoint}]: "))).await;
    terminal.types("\n");
    world
        .within("a question", terminal.shows_times("API key (not shown) [Enter: none]: ", 2))
        .await;
    terminal.types("\n");
    world.within("a question", terminal.shows_times("Model [playground]: ", 2)).await;
    terminal.types("\n");
    let (status, shown) = world.within("its end", terminal.ended()).await;
    assert!(status.success() && shown.contains("playground via openai answers"), "{shown}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_broken_off_leaves_no_config() {
    let empty = Empty::start().await;
    let world = &empty.world;
    let mut terminal = AtTerminal::start(empty.command(&["init"]));
    world.within("a question", terminal.shows("Set up Telegram? [Y/n]: ")).await;
    terminal.types("\n");
    world.within("the token's question", terminal.shows("Bot token (not shown)")).await;
    terminal.types(&format!("{TOKEN}\n"));
    world.within("the next question", terminal.shows("Set up Slack? [y/N]: ")).await;
    terminal.signal(Signal::INT);
    let (status, shown) = world.within("its end", terminal.ended()).await;
    assert_eq!(status.code(), Some(1), "{shown}");
    assert!(shown.contains("Stopped: no config was written."), "{shown}");
    is_silent(&shown);
    assert_eq!(empty.names(), [""; 0]);

    let mut terminal = AtTerminal::start(empty.command(&["init"]));
    up_to_the_owner(&empty, &mut terminal).await;
    terminal.signal(Signal::INT);
    let (status, shown) = world.within("its end", terminal.ended()).await;
    assert_eq!(status.code(), Some(1), "{shown}");
    assert!(shown.contains("Stopped: no config was written."), "{shown}");
    let left = empty.names();
    assert!(!left.iter().any(|name| name.contains("config") || name == "secrets"), "{left:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_script_sets_it_up_by_flags_and_a_config_that_is_there_stays() {
    let empty = Empty::start().await;
    let token = |text: &str| fs::write(empty.folder.join("token.txt"), text).expect("a file");
    token(WRONG);
    let (status, says) = empty.by_flags(&[]);
    assert!(status == 1 && says.contains("rejects the bot's token"), "{says}");
    assert_eq!(empty.names(), ["token.txt"], "nothing is written");
    token(TOKEN);
    let (status, says) = empty.by_flags(&[]);
    assert!(status == 0 && says.contains("Written: "), "{says}");
    let variables = "Used from your environment, and not in the file: SELKIE__TELEGRAM__BASE_URL.";
    assert!(says.contains(variables), "{says}");
    assert!(!says.contains(&empty.world.playground.telegram_base_url()), "{says}");
    let config = || fs::read_to_string(empty.folder.join("config.yaml")).expect("a config");
    let first = config();
    assert_eq!(empty.run(&["config", "check"]).0, 0);
    let (status, says) = empty.by_flags(&["--set", "llm.model=other"]);
    assert!(status == 1 && says.contains("already exists") && says.contains("--force"), "{says}");
    assert_eq!(config(), first);
    let (status, says) = empty.by_flags(&["--force", "--untested", "--set", "debounce=2s"]);
    assert!(status == 0 && says.contains("config.yaml.old"), "{says}");
    assert!(says.contains("checks everything\n"), "nothing was checked before: {says}");
    assert!(config().contains("debounce: \"2s\""), "{}", config());
    let old = fs::read_to_string(empty.folder.join("config.yaml.old")).expect("the one before");
    assert_eq!(old, first);
    let (status, says) = empty.by_flags(&["--force", "--untested"]);
    assert!(status == 0 && says.contains("config.yaml.old.2"), "{says}");
    let old = fs::read_to_string(empty.folder.join("config.yaml.old")).expect("the first one");
    assert_eq!(old, first, "it is kept");
    assert_eq!(names(&empty.folder.join("secrets")), ["llm.api_key", "telegram.bot_token"]);
    let daemon = empty.command(&["run"]);
    let daemon = empty.world.home.start_as(daemon);
    assert!(empty.world.ask("hello").await.ends_with("hello"));
    assert!(daemon.stop().await.success());
}

#[tokio::test(flavor = "multi_thread")]
async fn flags_that_cannot_be_taken_say_what_can() {
    let empty = Empty::start().await;
    let set = format!("telegram.bot_token={TOKEN}");
    for (flags, wanted) in [
        (["--set", &set], "--secret-file telegram.bot_token=FILE"),
        (["--set", "llm.model"], "takes KEY=VALUE"),
        (["--secret-file", "telegram.bot_token=none.txt"], "none.txt cannot be read"),
        (["--secret-env", "llm.api_key=NOT_SET"], "the variable NOT_SET is not set"),
        (["--secret-file", "llm.model=token.txt"], "is not a secret: use --set"),
        (["--owner", "ada"], "tg:4711"),
    ] {
        let (status, says) = empty.run(&[&["init", "--yes"], flags.as_slice()].concat());
        assert!(status == 2 && says.contains(wanted), "{flags:?}: {says}");
    }
    let (status, says) = empty.run(&["init", "--yes", "--set", "llm.provider=frob", "--untested"]);
    assert!(status == 2 && says.contains("llm.provider"), "{says}");
    let (status, says) = empty.run(&["init", "--yes", "--set", "llm.frob=1"]);
    assert!(status == 2 && says.contains("the command line: llm.frob"), "{says}");
    assert!(!says.contains("your answers"), "{says}");
    for nothing in [&[][..], &["--owner", "tg:4711"], &["--set", "debounce=2s"]] {
        let mut command = empty.command(&[&["init", "--yes"], nothing].concat());
        // Nothing in the environment names a channel either.
        let out = command.env_remove("SELKIE__TELEGRAM__BASE_URL").output().expect("selkie runs");
        let says = String::from_utf8_lossy(&out.stderr);
        assert_eq!(out.status.code(), Some(2), "{nothing:?}: {says}");
        assert!(says.contains("takes flags for a channel"), "{nothing:?}: {says}");
    }
    let (status, says) = empty.run(&["init"]);
    assert!(status == 2 && says.contains("--yes"), "it asks nobody: {says}");
    assert_eq!(empty.names(), [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_that_only_listening_tries_is_told_as_refused() {
    let empty = Empty::start().await;
    let mut command = empty.command(&[
        "init",
        "--secret-env",
        "slack.bot_token=BOT",
        "--secret-env",
        "slack.app_token=APP",
        "--set",
        "llm.provider=offline",
    ]);
    command.env_remove("SELKIE__TELEGRAM__BASE_URL");
    command.env("SELKIE__SLACK__BASE_URL", empty.world.playground.slack_base_url());
    command.env("BOT", slack::BOT_TOKEN).env("APP", "xapp-1-wrong-wrong-wrong");
    let (world, mut terminal) = (&empty.world, AtTerminal::start(command));
    world.within("a question", terminal.shows("Set up Telegram? [y/N]: ")).await;
    terminal.types("\n");
    world.within("the bot", terminal.shows("the bot's token works")).await;
    world.within("a question", terminal.shows("Set up LINE? [y/N]: ")).await;
    terminal.types("\n");
    world.within("a refusal", terminal.shows("The bot could not be started")).await;
    world.within("a question", terminal.shows("Your id (such as slack:")).await;
    terminal.types("ada\n");
    world.within("what is taken", terminal.shows("\"ada\" is not an id")).await;
    terminal.types("\n");
    world.within("the end", terminal.shows("Start the bot now? [Y/n]: ")).await;
    terminal.types("n\n");
    let (status, shown) = world.within("its end", terminal.ended()).await;
    assert!(status.success() && shown.contains("selkie pair"), "{shown}");
    assert!(!shown.contains("wrong-wrong") && !shown.contains(slack::BOT_TOKEN), "{shown}");
}
