//! The channels of this build: the only file that names platforms.

use selkie::daemon::demo::World;
use selkie_channel_core::ChannelKit;

/// Lists the kinds of channel.
pub fn kits() -> Vec<ChannelKit> {
    vec![
        #[cfg(feature = "telegram")]
        selkie_telegram::kit(),
        #[cfg(feature = "slack")]
        selkie_slack::kit(),
    ]
}

/// Makes the emulated platforms; `None` when they are not built in.
pub fn playground() -> Option<Box<dyn World>> {
    #[cfg(feature = "playground")]
    return Some(Box::new(emulated::Emulated::default()));
    #[cfg(not(feature = "playground"))]
    None
}

#[cfg(feature = "playground")]
mod emulated {
    use anyhow::anyhow;
    use async_trait::async_trait;
    use selkie::daemon::demo::World;
    use selkie_playground::telegram::{ADA, GROUP, PRIVATE, TOKEN, TOPIC};
    use selkie_playground::{Options, Playground, Spot, slack};
    use serde_json::{Value, json};

    /// One place of the demo.
    #[derive(Clone, Copy, PartialEq, Eq)]
    enum Place {
        Telegram(Spot),
        Slack(&'static str),
    }

    /// The places of the demo, as `--in` takes them.
    const PLACES: [(&str, Place); 5] = [
        ("telegram:private", Place::Telegram(PRIVATE)),
        ("telegram:group", Place::Telegram(GROUP)),
        ("telegram:topic", Place::Telegram(TOPIC)),
        ("slack:dm", Place::Slack(slack::DM)),
        ("slack:channel", Place::Slack(slack::CHANNEL)),
    ];

    /// How people in the demo's groups speak to the bot.
    const BOT: &str = "@selkie_demo_bot";

    /// The playground as the demo's world.
    #[derive(Default)]
    pub struct Emulated(Option<Playground>);

    impl Emulated {
        fn running(&self) -> anyhow::Result<&Playground> {
            self.0.as_ref().ok_or_else(|| anyhow!("the playground has not been started"))
        }
    }

    fn find(name: &str) -> anyhow::Result<Place> {
        let found = PLACES.iter().find(|(known, _)| *known == name).map(|(_, place)| *place);
        found.ok_or_else(|| anyhow!("the playground has no place {name:?}"))
    }

    /// In a group the bot is spoken to by its `name`; a command speaks to it anyway.
    fn addressed(text: &str, name: &str) -> String {
        if text.starts_with('/') || text.contains('@') {
            return text.to_owned();
        }
        format!("{name} {text}")
    }

    #[async_trait]
    impl World for Emulated {
        async fn start(&mut self, port: u16) -> anyhow::Result<()> {
            self.0 = Some(Playground::start(Options { port, ..Options::default() }).await?);
            Ok(())
        }

        fn config(&self) -> Value {
            let mut config = json!({
                "owners": [format!("tg:{ADA}"), format!("slack:{}:{}", slack::TEAM, slack::ADA)],
                "telegram": {
                    "bot_token": TOKEN,
                    "base_url": self.0.as_ref().map(Playground::telegram_base_url),
                    // Whoever is not the owner is allowed in the group and a stranger in the forum.
                    "allowed_chat_ids": [format!("tg:{}", GROUP.chat), "*".to_owned()],
                },
            });
            if cfg!(feature = "slack") {
                config["slack"] = json!({
                    "bot_token": slack::BOT_TOKEN,
                    "app_token": slack::APP_TOKEN,
                    "base_url": self.0.as_ref().map(Playground::slack_base_url),
                    "allowed_channel_ids": [slack::DM, slack::CHANNEL],
                });
            }
            config
        }

        fn url(&self) -> String {
            self.0.as_ref().map(Playground::url).unwrap_or_default()
        }

        fn set_daemon(&self, console_url: &str) {
            if let Some(playground) = &self.0 {
                playground.set_daemon_url(console_url);
            }
        }

        fn set_model(&self, name: &str) {
            if let Some(playground) = &self.0 {
                playground.set_model_name(name);
            }
        }

        fn places(&self) -> Vec<String> {
            PLACES.map(|(name, _)| name.to_owned()).into()
        }

        fn say(&self, place: &str, text: &str) -> anyhow::Result<i64> {
            let playground = self.running()?;
            Ok(match find(place)? {
                Place::Telegram(PRIVATE) => playground.telegram().say(PRIVATE, ADA, text),
                Place::Telegram(spot) => {
                    playground.telegram().say(spot, ADA, &addressed(text, BOT))
                }
                Place::Slack(slack::DM) => {
                    super::seen::number(&playground.slack().say(slack::DM, slack::ADA, text))
                }
                Place::Slack(channel) => {
                    let text = addressed(text, &format!("<@{}>", slack::BOT));
                    super::seen::number(&playground.slack().say(channel, slack::ADA, &text))
                }
            })
        }

        fn seen(&self, place: &str, since: i64) -> Vec<String> {
            let (Ok(playground), Ok(place)) = (self.running(), find(place)) else {
                return Vec::new();
            };
            match place {
                Place::Telegram(spot) => {
                    super::seen::lines(playground.telegram().messages(spot), since)
                }
                Place::Slack(channel) => {
                    super::seen::slack_lines(playground.slack(), channel, since)
                }
            }
        }
    }
}

#[cfg(feature = "playground")]
mod seen {
    use selkie_playground::Slack;
    use selkie_playground::telegram::{FileKind, FileView, MessageView};

    /// A message's `ts` as a number.
    pub fn number(ts: &str) -> i64 {
        ts.replace('.', "").parse().unwrap_or_default()
    }

    /// The same for Slack.
    pub fn slack_lines(slack: &Slack, channel: &str, since: i64) -> Vec<String> {
        let mut lines = Vec::new();
        for message in slack.messages(channel).into_iter().filter(|m| number(&m.ts) >= since) {
            if number(&message.ts) == since {
                let on = message.reactions.iter();
                lines.extend(on.map(|(name, _)| format!("[reaction :{name}: on your message]")));
            } else if message.is_bots() {
                let size = |id: &String| slack.file(id).map_or(0, |bytes| bytes.len());
                let files =
                    message.files.iter().map(|id| format!("[file {id}, {} bytes]", size(id)));
                lines.extend(files);
                lines.extend(Some(message.text).filter(|text| !text.is_empty()));
            }
        }
        lines
    }

    /// Writes what a person sees of the bot since their message.
    pub fn lines(messages: Vec<MessageView>, since: i64) -> Vec<String> {
        let mut lines = Vec::new();
        for message in messages.into_iter().filter(|m| m.id >= since) {
            if message.id == since {
                let on = message
                    .reactions
                    .iter()
                    .map(|r| format!("[reaction {} on your message]", r.emoji));
                lines.extend(on);
            } else if message.from.is_bot {
                lines.extend(message.file.map(file));
                lines.extend(Some(message.text).filter(|text| !text.is_empty()));
            }
        }
        lines
    }

    fn file(file: FileView) -> String {
        let FileView { kind, name, size, caption, .. } = file;
        let what = match kind {
            FileKind::Document => "file",
            FileKind::Photo => "photo",
            FileKind::Voice => "voice",
        };
        let words = caption.map(|c| format!(" {c}")).unwrap_or_default();
        format!("[{what} {name}, {size} bytes]{words}")
    }
}
