//! The channels of this build: the only file that names platforms.

use selkie::daemon::demo::World;
use selkie_channel_core::ChannelKit;

/// Lists the kinds of channel.
pub fn kits() -> Vec<ChannelKit> {
    vec![
        #[cfg(feature = "telegram")]
        selkie_telegram::kit(),
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
    use selkie_playground::{Options, Playground, Spot};
    use serde_json::{Value, json};

    /// The places of the demo, as `--in` takes them.
    const PLACES: [(&str, Spot); 3] =
        [("telegram:private", PRIVATE), ("telegram:group", GROUP), ("telegram:topic", TOPIC)];

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

    fn spot(place: &str) -> anyhow::Result<Spot> {
        let found = PLACES.iter().find(|(name, _)| *name == place).map(|(_, spot)| *spot);
        found.ok_or_else(|| anyhow!("the playground has no place {place:?}"))
    }

    #[async_trait]
    impl World for Emulated {
        async fn start(&mut self, port: u16) -> anyhow::Result<()> {
            self.0 = Some(Playground::start(Options { port, ..Options::default() }).await?);
            Ok(())
        }

        fn config(&self) -> Value {
            let base_url = self.0.as_ref().map(Playground::telegram_base_url);
            json!({
                "owners": [format!("tg:{ADA}")],
                "telegram": {
                    "bot_token": TOKEN,
                    "base_url": base_url,
                    // Whoever is not the owner is allowed in the group and a stranger in the forum.
                    "allowed_chat_ids": [format!("tg:{}", GROUP.chat), "*".to_owned()],
                },
            })
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
            let spot = spot(place)?;
            // In a group the bot is spoken to by name; a command speaks to it anyway.
            let text = match text.starts_with('/') || text.contains('@') || spot == PRIVATE {
                true => text.to_owned(),
                false => format!("{BOT} {text}"),
            };
            Ok(self.running()?.telegram().say(spot, ADA, &text))
        }

        fn seen(&self, place: &str, since: i64) -> Vec<String> {
            let (Ok(playground), Ok(spot)) = (self.running(), spot(place)) else {
                return Vec::new();
            };
            super::seen::lines(playground.telegram().messages(spot), since)
        }
    }
}

#[cfg(feature = "playground")]
mod seen {
    use selkie_playground::telegram::{FileKind, FileView, MessageView};

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
