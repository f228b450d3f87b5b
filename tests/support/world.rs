//! A playground, a home for daemons, and the config that joins them.

use std::time::Duration;

use selkie_playground::telegram::{ADA, GROUP, TOKEN};
use selkie_playground::{Behaviour, Options, Pace, Playground, Slack, Telegram, slack};
use serde_json::{Value, json};

use crate::support::daemon::{Daemon, Home, tail};

/// How long a test waits for an event before it fails. Not a timing: only an end to waiting.
pub const TIMEOUT: Duration = Duration::from_secs(180);

/// A world to test in.
pub struct World {
    /// The platforms and the model server.
    pub playground: Playground,
    /// The daemon's folders and config.
    pub home: Home,
}

impl World {
    /// Starts a playground without pace, and a home whose owner is Ada; the Tea room is allowed, the
    /// model is the playground's, which repeats what it is told.
    pub async fn start() -> Self {
        Self::with(json!({})).await
    }

    /// The same, with these sections in place of the usual ones.
    pub async fn with(sections: Value) -> Self {
        let options =
            Options { pace: Pace::Lifted, behaviour: Behaviour::Echo, ..Options::default() };
        let playground = Playground::start(options).await.expect("a free port");
        let mut config = json!({
            "owners": [format!("tg:{ADA}"), format!("slack:{}:{}", slack::TEAM, slack::ADA)],
            "telegram": {
                "bot_token": TOKEN,
                "base_url": playground.telegram_base_url(),
                "allowed_chat_ids": [GROUP.chat],
                "pace": "lifted",
            },
            "llm": {
                "provider": "openai",
                "endpoint": playground.model_endpoint(),
                "model": "playground",
                "api_key": "sk-playground-key-1234567890",
            },
            // Stories write faster than people: what one person sends at once is a story of its own (`at_once`).
            "join_within": "0s",
            "outbox": { "unclear_after": "300ms" },
            // On a busy machine any task may be a long one: only stories about it have a status message,
            // or an answer that is shown while it is written.
            "progress": { "status": "off", "stream": "off" },
            "logging": { "level": "debug" },
        });
        for (section, value) in sections.as_object().into_iter().flatten() {
            config[section] = value.clone();
        }
        Self { home: Home::new(config), playground }
    }

    /// The same, with Slack beside Telegram.
    pub async fn with_slack() -> Self {
        let mut world = Self::start().await;
        world.add_slack();
        world
    }

    /// Puts Slack into the config.
    pub fn add_slack(&mut self) {
        let slack = json!({
            "bot_token": slack::BOT_TOKEN,
            "app_token": slack::APP_TOKEN,
            "base_url": self.playground.slack_base_url(),
            "allowed_channel_ids": [slack::CHANNEL],
            "pace": "lifted",
        });
        self.home.set("slack", slack);
    }

    /// The same, with the built-in stand-in as the model.
    pub async fn offline() -> Self {
        Self::with(json!({ "llm": { "provider": "offline" } })).await
    }

    /// The same, with this allow list.
    pub async fn with_allowed(list: Value) -> Self {
        let mut world = Self::start().await;
        let telegram = json!({
            "bot_token": TOKEN,
            "base_url": world.playground.telegram_base_url(),
            "allowed_chat_ids": list,
            "pace": "lifted",
        });
        world.home.set("telegram", telegram);
        world
    }

    /// A life in which something was said, put back from its backup: it waits for its owner's word.
    pub async fn restored() -> Self {
        let world = Self::start().await;
        let daemon = world.daemon();
        world.ask("good morning").await;
        daemon.stop().await;
        let file = world.home.folder().join("life.tar.gz").display().to_string();
        for arguments in [&["backup", &file][..], &["restore", &file, "--force"]] {
            let (code, out, err) = world.home.run(arguments);
            assert_eq!(code, 0, "{out}{err}");
        }
        world
    }

    /// Starts a daemon.
    pub fn daemon(&self) -> Daemon {
        self.home.start()
    }

    /// The platform.
    pub fn telegram(&self) -> &Telegram {
        self.playground.telegram()
    }

    /// The other platform.
    pub fn slack(&self) -> &Slack {
        self.playground.slack()
    }

    /// Ada writes to the bot in private and waits for the answer's text.
    pub async fn ask(&self, text: &str) -> String {
        let message = self.telegram().say(ADA, ADA, text);
        self.answer(ADA, message).await
    }

    /// Waits for the first answer to a message; fails with the daemon's log when none comes.
    pub async fn answer(&self, chat: i64, message: i64) -> String {
        let waiting = self.telegram().wait_for_answer(chat, message);
        self.within("an answer", waiting).await.text
    }

    /// Waits for an event, at most [`TIMEOUT`].
    pub async fn within<T>(&self, what: &str, event: impl Future<Output = T>) -> T {
        match tokio::time::timeout(TIMEOUT, event).await {
            Ok(value) => value,
            Err(_) => panic!("{what} never came; the daemon's log:\n{}", tail(&self.home.log())),
        }
    }
}
