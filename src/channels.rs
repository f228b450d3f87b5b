//! The channels of this build: the only file that names platforms.

use selkie::app::demo::World;
use selkie_channel_core::ChannelKit;

/// Lists the kinds of channel.
pub fn kits() -> Vec<ChannelKit> {
    vec![
        #[cfg(feature = "telegram")]
        selkie_telegram::kit(),
        #[cfg(feature = "slack")]
        selkie_slack::kit(),
        #[cfg(feature = "line")]
        selkie_line::kit(),
        #[cfg(feature = "x")]
        selkie_x::kit(),
    ]
}

/// Makes the emulated platforms; `None` when they are not built in.
pub fn playground() -> Option<Box<dyn World>> {
    #[cfg(feature = "playground")]
    return Some(Box::new(emulated::PlaygroundWorld::default()));
    #[cfg(not(feature = "playground"))]
    None
}

#[cfg(feature = "playground")]
mod emulated {
    use std::sync::Arc;

    use anyhow::anyhow;
    use async_trait::async_trait;
    use selkie::app::demo::{
        Button, Cast, Fits, Line, Manner, Movable, SeenMessage, SpeakerAt, Start, World,
    };
    use selkie::llm::BY_DEMO;
    use selkie_playground::model::Conversation;
    use selkie_playground::telegram::{
        ADA, GRACE, GROUP, HERS, LINUS, MessageView, PRIVATE, TOKEN, TOPIC,
    };
    use selkie_playground::{
        ClockMove, Family, Mover, Options, Playground, Spot, line_platform as line, seen, slack,
        stand_in, x,
    };
    use serde_json::{Value, json};

    /// A place of the demo.
    #[derive(Clone, Copy, PartialEq, Eq)]
    enum Place {
        Telegram(Spot),
        /// The channel's id.
        Slack(&'static str),
        /// The chat's id.
        Line(&'static str),
    }

    /// The app's own command.
    const APP_COMMAND: &str = "/selkie";

    /// The private chats: the owner's, which is the first place, and that of who is allowed.
    const THEIR_CHAT: &str = "telegram:private";
    const HER_CHAT: &str = "telegram:grace";

    /// The places of the demo, as `--in` takes them.
    const PLACES: [(&str, Place); 8] = [
        (THEIR_CHAT, Place::Telegram(PRIVATE)),
        ("telegram:group", Place::Telegram(GROUP)),
        ("telegram:topic", Place::Telegram(TOPIC)),
        (HER_CHAT, Place::Telegram(HERS)),
        ("slack:dm", Place::Slack(slack::DM)),
        ("slack:channel", Place::Slack(slack::CHANNEL)),
        ("line:user", Place::Line(line::ADA)),
        ("line:group", Place::Line(line::GROUP)),
    ];

    impl Place {
        /// How people there speak to the bot by name; in private nobody needs to.
        fn bot(self) -> Option<String> {
            match self {
                Self::Telegram(PRIVATE | HERS) | Self::Slack(slack::DM) | Self::Line(line::ADA) => {
                    None
                }
                Self::Telegram(_) => Some("@selkie_demo_bot".to_owned()),
                Self::Slack(_) => Some(format!("<@{}>", slack::BOT)),
                Self::Line(_) => Some(line::BOT_NAME.to_owned()),
            }
        }
    }

    impl Place {
        /// Who speaks there when nobody is named: in a private chat whose it is.
        fn owner(self) -> &'static str {
            if matches!(self, Self::Telegram(HERS)) { PEOPLE[1].name } else { PEOPLE[0].name }
        }

        /// Whether the bot hears it without its name: a command. Where the platform keeps such lines for itself, the
        /// app's own one.
        fn hears(self, text: &str) -> bool {
            let begins = if matches!(self, Self::Slack(_)) { APP_COMMAND } else { "/" };
            text.starts_with(begins)
        }
    }

    /// A person of the demo, by the ids of each platform.
    struct Person {
        name: &'static str,
        telegram: i64,
        slack: &'static str,
        line: &'static str,
    }

    /// The people, the owner first.
    const PEOPLE: [Person; 3] = [
        Person { name: "Ada", telegram: ADA, slack: slack::ADA, line: line::ADA },
        Person { name: "Grace", telegram: GRACE, slack: slack::GRACE, line: line::GRACE },
        Person { name: "Linus", telegram: LINUS, slack: slack::LINUS, line: line::LINUS },
    ];

    /// Finds who is called so, and may speak there: a private chat is its owner's.
    fn person(name: &str, place: Place) -> anyhow::Result<&'static Person> {
        let Some(found) = PEOPLE.iter().find(|person| person.name.eq_ignore_ascii_case(name))
        else {
            return Err(anyhow!("nobody is called {name:?}: there are Ada, Grace and Linus"));
        };
        let whose = place.owner();
        if place.bot().is_none() && found.name != whose {
            return Err(anyhow!("{} is not in this private chat: it is {whose}'s", found.name));
        }
        Ok(found)
    }

    /// A message as the stories see it.
    fn as_seen(message: &MessageView) -> SeenMessage {
        let rows = message.keyboard.as_ref().and_then(Value::as_array).into_iter().flatten();
        let buttons = rows.filter_map(Value::as_array).flatten().map(|button| {
            let text = |key: &str| button[key].as_str().unwrap_or_default().to_owned();
            Button { label: text("text"), data: text("callback_data") }
        });
        SeenMessage { message: message.id, text: message.text.clone(), buttons: buttons.collect() }
    }

    /// The playground as the demo's world.
    #[derive(Default)]
    pub struct PlaygroundWorld {
        playground: Option<Playground>,
        /// Where the daemon is to hear webhooks.
        webhook: String,
        /// Whose rules the model server keeps, where that is the daemon's model.
        family: Option<Family>,
    }

    impl PlaygroundWorld {
        fn running(&self) -> anyhow::Result<&Playground> {
            self.playground.as_ref().ok_or_else(|| anyhow!("the playground has not been started"))
        }
    }

    /// The model of the daemon that is to ask the playground's own server.
    fn model(playground: &Playground, family: Family) -> Value {
        let (provider, endpoint) = match family.is_anthropic() {
            true => ("anthropic", playground.anthropic_endpoint()),
            false => ("openai", playground.model_endpoint()),
        };
        let profile = json!({
            "provider": provider, "endpoint": endpoint, "api_key": "strict", "model": family.model(),
            "sees_images": true, "context": family.window(),
        });
        let name = "strict";
        json!({
            "profiles": { name: profile },
            "routes": { "main": name, "small": name, "decision": name, "heartbeat": name },
        })
    }

    /// The first second of 2026.
    const BEGAN: i64 = 1_767_225_600;

    /// Numbers that a demo may give away before it is as old as they are in seconds.
    const EACH: u32 = 1_000;

    /// A number for each second, and some for each demo before this one.
    fn numbers_before(options: &Options, earlier: u32) -> u32 {
        let seconds = u32::try_from((options.now)().timestamp() - BEGAN).unwrap_or_default();
        seconds.saturating_add(earlier.saturating_mul(EACH))
    }

    fn place(name: &str) -> anyhow::Result<Place> {
        let found = PLACES.iter().find(|(known, _)| *known == name).map(|(_, place)| *place);
        found.ok_or_else(|| anyhow!("the playground has no place {name:?}"))
    }

    #[async_trait]
    impl World for PlaygroundWorld {
        async fn start(&mut self, start: Start) -> anyhow::Result<()> {
            let Start { port, earlier, clock, family } = start;
            let now = Arc::new(move || clock.now());
            let options = Options { port, now, ..Options::default() };
            let skipped = numbers_before(&options, earlier);
            let playground = Playground::start(Options { skipped, ..options }).await?;
            self.webhook = playground.line().keep_webhook()?.to_string();
            self.family = family.and_then(|name| Family::parse(&name));
            if let Some(family) = self.family {
                playground.model().set_family(family);
                playground.model().set_answerer(Arc::new(|talk: &Conversation| {
                    stand_in::answer(&talk.turns, &talk.tools, BY_DEMO).into()
                }));
            }
            self.playground = Some(playground);
            Ok(())
        }

        fn families(&self) -> Vec<String> {
            Family::ALL.map(|family| family.name().to_owned()).into()
        }

        fn config(&self) -> Value {
            let mut config = json!({
                "owners": [
                    format!("tg:{ADA}"),
                    format!("slack:{}:{}", slack::TEAM, slack::ADA),
                    format!("line:{}", line::ADA),
                ],
                "telegram": {
                    "bot_token": TOKEN,
                    "base_url": self.playground.as_ref().map(Playground::telegram_base_url),
                    // Who is neither the owner nor Grace is allowed in the group and a stranger in the forum.
                    "allowed_chat_ids": [
                        format!("tg:{}", GROUP.chat),
                        format!("tg:{GRACE}"),
                        "*".to_owned(),
                    ],
                },
            });
            if let (Some(playground), Some(family)) = (&self.playground, self.family) {
                config["llm"] = model(playground, family);
            }
            if cfg!(feature = "slack") {
                config["slack"] = json!({
                    "bot_token": slack::BOT_TOKEN,
                    "app_token": slack::APP_TOKEN,
                    "base_url": self.playground.as_ref().map(Playground::slack_base_url),
                    "allowed_channel_ids": [slack::DM, slack::CHANNEL],
                });
            }
            if cfg!(feature = "line") {
                config["line"] = json!({
                    "channel_access_token": line::ACCESS_TOKEN,
                    "channel_secret": line::SECRET,
                    "base_url": self.playground.as_ref().map(Playground::line_base_url),
                    "data_base_url": self.playground.as_ref().map(Playground::line_data_base_url),
                    "webhook_listen": self.webhook,
                    "allowed_ids": [line::GROUP],
                });
            }
            if cfg!(feature = "x") {
                config["x"] = json!({
                    "consumer_key": x::CONSUMER_KEY,
                    "consumer_secret": x::CONSUMER_SECRET,
                    "access_token": x::ACCESS_TOKEN,
                    "access_token_secret": x::ACCESS_TOKEN_SECRET,
                    "base_url": self.playground.as_ref().map(Playground::x_base_url),
                });
            }
            config
        }

        fn url(&self) -> String {
            self.playground.as_ref().map(Playground::url).unwrap_or_default()
        }

        fn set_daemon(&self, console_url: &str) {
            if let Some(playground) = &self.playground {
                playground.telegram().clear(GROUP);
                playground.set_daemon_url(console_url);
            }
        }

        fn set_movable(&self, movable: Arc<dyn Movable>) {
            let Some(playground) = &self.playground else { return };
            let zone = movable.zone();
            let step = Arc::new(move |to: String| {
                let movable = Arc::clone(&movable);
                let step = async move {
                    let selkie::app::demo::ClockMove { now, until, due } =
                        movable.step(&to).await?;
                    Ok(ClockMove { now, until, due })
                };
                Box::pin(step) as _
            });
            playground.set_mover(Mover { zone, step });
        }

        fn set_model(&self, name: &str) {
            if let Some(playground) = &self.playground {
                playground.set_model_name(name);
            }
        }

        fn places(&self) -> Vec<String> {
            PLACES.map(|(name, _)| name.to_owned()).into()
        }

        fn command_word(&self, name: &str) -> Option<&'static str> {
            matches!(place(name), Ok(Place::Slack(_))).then_some(APP_COMMAND)
        }

        fn speaking(&self, place: &str, by: Option<&str>) -> SpeakerAt {
            let is_hers = by.is_some_and(|by| by.eq_ignore_ascii_case(PEOPLE[1].name));
            let place = if place == THEIR_CHAT && is_hers { HER_CHAT } else { place };
            let found = PLACES.iter().find(|(known, _)| *known == place);
            let owner = found.map_or(PEOPLE[0].name, |(_, place)| place.owner());
            SpeakerAt { place: place.to_owned(), by: by.unwrap_or(owner).to_owned() }
        }

        fn people(&self) -> Vec<String> {
            PEOPLE.iter().map(|person| person.name.to_owned()).collect()
        }

        fn cast(&self) -> Cast {
            Cast {
                owner: PEOPLE[0].name,
                alone: THEIR_CHAT,
                allowed: PEOPLE[1].name,
                group: "telegram:group",
            }
        }

        fn say(&self, said: &Line<'_>) -> anyhow::Result<i64> {
            let Line { text, manner, .. } = *said;
            let place = place(said.place)?;
            let by = person(said.by, place)?;
            let bare = |bot: &String| !text.contains(bot) && !place.hears(text);
            let named = place.bot().filter(|bot| manner == Manner::ToTheBot && bare(bot));
            let text = named.map_or_else(|| text.to_owned(), |bot| format!("{bot} {text}"));
            let playground = self.running()?;
            Ok(match place {
                Place::Telegram(spot) => playground.telegram().say(spot, by.telegram, &text),
                Place::Slack(channel) => {
                    seen::number(&playground.slack().types(channel, by.slack, &text))
                }
                Place::Line(chat) => playground.line().say(chat, by.line, &text).parse()?,
            })
        }

        async fn wait_for(
            &self,
            name: &str,
            since: i64,
            fits: Fits<'_>,
        ) -> anyhow::Result<SeenMessage> {
            let Place::Telegram(spot) = place(name)? else {
                return Err(anyhow!("the stories are not told in {name}"));
            };
            let is_it = |m: &MessageView| m.from.is_bot && m.id > since && fits(&as_seen(m));
            Ok(as_seen(&self.running()?.telegram().wait_for(spot, is_it).await))
        }

        async fn press(
            &self,
            name: &str,
            by: &str,
            message: i64,
            data: &str,
        ) -> anyhow::Result<String> {
            let place = place(name)?;
            let Place::Telegram(spot) = place else {
                return Err(anyhow!("the stories are not told in {name}"));
            };
            let telegram = self.running()?.telegram();
            let query = telegram.press(spot.chat, person(by, place)?.telegram, message, data);
            Ok(telegram.tap_answer(&query).await)
        }

        fn seen(&self, name: &str, since: i64) -> Vec<String> {
            let Ok(playground) = self.running() else { return Vec::new() };
            let Ok(place) = place(name) else { return Vec::new() };
            match place {
                Place::Telegram(spot) => seen::lines(playground.telegram().messages(spot), since),
                Place::Slack(channel) => seen::slack_lines(playground.slack(), channel, since),
                Place::Line(chat) => {
                    let answers = playground.line().answers_to(chat, &since.to_string());
                    answers.into_iter().flat_map(seen::line_lines).collect()
                }
            }
        }
    }
}
