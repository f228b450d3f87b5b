//! Slack's ids as selkie writes them: `slack:<team>:<channel>`, `slack:<team>:<channel>:<root ts>`,
//! `slack:<team>:<user>`.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use selkie_channel_core::hash::fnv;
use selkie_channel_core::{
    AccountId, Address, Audience, ContactField, ConversationId, Features, MessageRef, PersonId,
    PlaceId, Sighting,
};

use crate::speaking;
use crate::whoami::Whoami;

/// The channel's name, in settings and in what it can do.
pub const NAME: &str = "slack";

/// One conversation of Slack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spot {
    /// The workspace, `T…` (`E…` for a whole organisation).
    pub team: String,
    /// The channel `C…`, group `G…` or direct message `D…`; a person `U…` stands for their direct
    /// messages with the bot when they are written to.
    pub channel: String,
    /// The `ts` of the message the thread hangs on.
    pub thread: Option<String>,
}

impl Spot {
    /// Reads `slack:T1:C2`, `T1:C2` and both with a thread's root behind them; with a `home` team a bare
    /// `C2` too. `None` for anything else.
    pub fn parse(text: &str, home: Option<&str>) -> Option<Self> {
        let text = text.trim();
        let text = text.strip_prefix("slack:").unwrap_or(text);
        let mut fields = text.split(':');
        let first = fields.next()?;
        let (team, channel) = match is_id(first, b"TE") {
            true => (first, fields.next()?),
            false => (home?, first),
        };
        let thread = fields.next();
        let sound = is_id(channel, b"CDGUW") && thread.is_none_or(|ts| order(ts).is_some());
        (sound && fields.next().is_none()).then(|| Self {
            team: team.to_owned(),
            channel: channel.to_owned(),
            thread: thread.map(str::to_owned),
        })
    }

    /// Returns the conversation of this spot for a bot.
    pub fn conversation(&self, account: &AccountId) -> ConversationId {
        let place = place_key(&self.team, &self.channel);
        let key = match &self.thread {
            Some(thread) => format!("{place}:{thread}"),
            None => place,
        };
        ConversationId::new(account.clone(), key)
    }

    /// Returns the channel, which owns the conversation.
    pub fn place(&self, account: &AccountId) -> PlaceId {
        PlaceId::new(account.clone(), place_key(&self.team, &self.channel))
    }

    /// Returns the kind of conversation: direct messages have ids of their own.
    pub fn kind(&self) -> &'static str {
        if self.channel.starts_with(['D', 'U', 'W']) { "dm" } else { "channel" }
    }
}

fn place_key(team: &str, channel: &str) -> String {
    format!("slack:{team}:{channel}")
}

/// Whether a text looks like an id that begins with one of these letters.
pub fn is_id(text: &str, letters: &[u8]) -> bool {
    text.len() >= 2
        && text.bytes().next().is_some_and(|b| letters.contains(&b))
        && text.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit())
}

/// Whether config means a person by it: `slack:T1:U2`.
pub fn is_person(text: &str) -> bool {
    is_key(text, b"UW")
}

/// Whether config means a channel by it: `slack:T1:C2`.
pub fn is_place(text: &str) -> bool {
    is_key(text, b"CDG")
}

/// Whether somebody may be named by it: a person, a channel, or a channel without its team, as other programs write it.
pub fn is_named(text: &str) -> bool {
    let is_bare = |id: &str| is_id(id, b"CDG");
    is_person(text) || is_place(text) || text.strip_prefix("slack:").is_some_and(is_bare)
}

/// Tells of somebody who spoke, as contact files have it.
pub fn seen(sighting: &Sighting<'_>) -> Vec<ContactField> {
    let Sighting { person, place, is_direct, .. } = sighting;
    let split = |id: &str| {
        id.strip_prefix("slack:")
            .and_then(|id| id.split_once(':'))
            .map(|(team, id)| Id { team: team.to_owned(), id: id.to_owned() })
    };
    let Some((user, chat)) = split(person.as_str()).zip(split(place.key())) else {
        return Vec::new();
    };
    // A channel that several workspaces share is written with its own.
    let channel = if chat.team == user.team { chat.id } else { place.key().to_owned() };
    vec![
        ContactField::fixed("slack_team_id", user.team),
        ContactField::fixed("slack_user_id", user.id),
        match is_direct {
            true => ContactField::fixed("slack_dm_channel_id", channel),
            false => ContactField::listed("slack_channel_ids", channel),
        },
    ]
}

/// Something of a workspace.
struct Id {
    team: String,
    id: String,
}

fn is_key(text: &str, letters: &[u8]) -> bool {
    let fields = text.strip_prefix("slack:").and_then(|rest| rest.split_once(':'));
    fields.is_some_and(|(team, id)| is_id(team, b"TE") && is_id(id, letters))
}

/// Returns the user of a person's id: one person, never a channel or everybody in it.
pub fn user_of(person: &str) -> Option<&str> {
    person.rsplit(':').next().filter(|user| is_person(person) && is_id(user, b"UW"))
}

/// Returns the id of a person.
pub fn person(team: &str, user: &str) -> PersonId {
    PersonId::new(format!("slack:{team}:{user}"))
}

/// Reads a `ts` (`1763640000.000200`) as microseconds, the platform's order of messages.
pub fn order(ts: &str) -> Option<i64> {
    let (seconds, micros) = ts.split_once('.')?;
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    if !digits(seconds) || !digits(micros) || micros.len() != 6 {
        return None;
    }
    let seconds: i64 = seconds.parse().ok()?;
    seconds.checked_mul(1_000_000)?.checked_add(micros.parse().ok()?)
}

/// Writes what [`order`] reads.
pub fn ts(order: i64) -> String {
    format!("{}.{:06}", order / 1_000_000, order % 1_000_000)
}

/// Returns the moment of a message.
pub fn moment(order: i64) -> DateTime<Utc> {
    DateTime::from_timestamp_micros(order).unwrap_or_default()
}

/// Returns the bot's account: workspace and bot as the token numbers them (`xoxb-<team>-<bot>-…`), so
/// that no call is needed before the first row and a new token of the same bot keeps its history; else a
/// hash of the token, so that test servers may use made-up ones.
pub fn account_of(token: &str) -> AccountId {
    let mut fields = token.split('-');
    let number = |text: Option<&str>| {
        text.filter(|t| t.len() >= 5 && t.bytes().all(|b| b.is_ascii_digit())).map(str::to_owned)
    };
    let known = (fields.next() == Some("xoxb"))
        .then(|| Some((number(fields.next())?, number(fields.next())?)))
        .flatten();
    match known {
        Some((team, bot)) => AccountId::new(format!("slack:{team}:{bot}")),
        None => AccountId::new(format!("slack:x{:016x}", fnv(token.as_bytes()))),
    }
}

/// Reads and explains Slack's ids for one bot.
pub struct SlackAddress {
    account: AccountId,
    whoami: Arc<Whoami>,
}

impl SlackAddress {
    /// Speaks for this bot.
    pub fn new(account: AccountId, whoami: Arc<Whoami>) -> Self {
        Self { account, whoami }
    }
}

impl Address for SlackAddress {
    fn parse(&self, text: &str) -> Option<ConversationId> {
        let home = self.whoami.home_team();
        Spot::parse(text, home.as_deref()).map(|spot| spot.conversation(&self.account))
    }

    /// Where Slack does not tell the workspace's emoji there is nothing to react with: the tool is not offered.
    fn features(&self, conversation: &ConversationId) -> Features {
        let spot = Spot::parse(conversation.key(), None);
        let mut features = features(spot.map_or("channel", |spot| spot.kind()));
        if !self.whoami.has_emoji() {
            features.speaking.retain(|name| name != speaking::REACT);
        }
        features
    }

    fn is_person(&self, speaker: &PersonId) -> bool {
        is_person(speaker.as_str())
    }

    /// Slack allows no slash commands in threads; and a message that stands in the channel itself is the root of
    /// a thread in which nothing runs yet.
    fn covers(&self, conversation: &ConversationId, message: Option<&MessageRef>) -> bool {
        let Some(spot) = Spot::parse(conversation.key(), None) else { return false };
        let message = message.map(MessageRef::as_str);
        spot.kind() == "channel" && (spot.thread.is_none() || spot.thread.as_deref() == message)
    }

    fn owns_commands(&self) -> bool {
        true
    }

    fn place(&self, conversation: &ConversationId) -> PlaceId {
        match Spot::parse(conversation.key(), None) {
            Some(spot) => spot.place(conversation.account()),
            None => PlaceId::new(conversation.account().clone(), conversation.key()),
        }
    }
}

/// Tells what can be done in a kind of conversation; an unknown kind counts as a channel.
pub fn features(kind: &str) -> Features {
    let direct = kind == "dm";
    Features {
        channel: NAME.to_owned(),
        kind: if direct { "dm" } else { "channel" }.to_owned(),
        audience: if direct { Audience::Direct } else { Audience::Group },
        speaking: speaking::TOOLS.iter().map(|tool| tool.name.to_owned()).collect(),
        style: STYLE.to_owned(),
    }
}

const STYLE: &str = "You write for Slack, among people at work: short paragraphs, Markdown (bold, \
    italic, strikethrough, code, fenced code, links, lists, quotes); headings become bold lines, \
    tables fixed-width text, raw HTML is shown as it stands. Emoji may be written as :name:.";

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ids_are_read_as_people_write_them() {
        let account = account_of("made-up");
        let parse = |text: &str| {
            Spot::parse(text, Some("T1")).map(|s| s.conversation(&account).to_string())
        };
        assert_eq!(parse("slack:T1:C2").as_deref(), Some("slack:T1:C2"));
        assert_eq!(parse(" T9:D3 ").as_deref(), Some("slack:T9:D3"));
        assert_eq!(parse("C2").as_deref(), Some("slack:T1:C2"));
        let thread = "slack:T1:C2:1763640000.000200";
        assert_eq!(parse(thread).as_deref(), Some(thread));
        assert_eq!(parse("slack:T1:U4").as_deref(), Some("slack:T1:U4"), "an owner's notices");
        for wrong in ["", "slack:", "T1", "c2", "tg:-100", "T1:C2:7", "T1:C2:1.000002:x"] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
        assert_eq!(Spot::parse("C2", None), None);
    }

    #[test]
    fn a_thread_belongs_to_its_channel() {
        let account = account_of("made-up");
        let spot = Spot::parse("slack:T1:C2:1763640000.000200", None).unwrap();
        assert_eq!(spot.place(&account).key(), "slack:T1:C2");
        assert_eq!((spot.kind(), features("dm").audience), ("channel", Audience::Direct));
    }

    #[test]
    fn an_account_outlives_a_new_token_of_the_same_bot() {
        let old = account_of("xoxb-1234567890-9876543210-oldsecret");
        assert_eq!(old.as_str(), "slack:1234567890:9876543210");
        assert_eq!(account_of("xoxb-1234567890-9876543210-newsecret"), old);
        let made_up = account_of("xoxb-test-hunter2");
        assert!(made_up.as_str().starts_with("slack:x") && !made_up.as_str().contains("hunter2"));
    }

    proptest! {
        #[test]
        fn every_spot_survives_writing(
            team in "T[A-Z0-9]{1,10}", channel in "[CDG][A-Z0-9]{1,10}",
            thread in proptest::option::of("[0-9]{1,10}\\.[0-9]{6}"),
        ) {
            let spot = Spot { team, channel, thread };
            let id = spot.conversation(&account_of("x"));
            prop_assert_eq!(Spot::parse(id.key(), None), Some(spot));
        }

        #[test]
        fn order_follows_time(a in 0i64..4_000_000_000, b in 0i64..1_000_000, c in 0i64..4_000_000_000, d in 0i64..1_000_000) {
            let ts = |s: i64, m: i64| format!("{s}.{m:06}");
            prop_assert_eq!(order(&ts(a, b)).cmp(&order(&ts(c, d))), (a, b).cmp(&(c, d)));
        }

        #[test]
        fn any_text_can_be_asked(text in "\\PC{0,30}") {
            Spot::parse(&text, Some("T1"));
            order(&text);
        }
    }
}
