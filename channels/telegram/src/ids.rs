//! Telegram's ids as selkie writes them: `tg:<chat>`, `tg:<chat>:<topic>`, `tg:<user>`.

use selkie_channel_core::hash::fnv;
use selkie_channel_core::{
    AccountId, Address, Audience, ContactField, ConversationId, Features, MessageRef, PersonId,
    PlaceId, Sighting,
};

use crate::speaking;

/// The channel's name, in settings and in what it can do.
pub const NAME: &str = "telegram";

/// One chat, or one topic of a forum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spot {
    /// The chat's id: negative for groups.
    pub chat: i64,
    /// The forum topic's `message_thread_id`.
    pub topic: Option<i32>,
}

impl Spot {
    /// Reads `-100123`, `tg:-100123` and `tg:-100123:7`; `None` for anything else.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let text = text.strip_prefix("tg:").unwrap_or(text);
        let (chat, topic) = match text.split_once(':') {
            Some((chat, topic)) => (chat, Some(topic.parse::<i32>().ok().filter(|t| *t > 0)?)),
            None => (text, None),
        };
        let chat = chat.parse::<i64>().ok().filter(|c| *c != 0)?;
        Some(Self { chat, topic })
    }

    /// Returns the conversation of this spot for a bot.
    pub fn conversation(self, account: &AccountId) -> ConversationId {
        let key = match self.topic {
            Some(topic) => format!("tg:{}:{topic}", self.chat),
            None => format!("tg:{}", self.chat),
        };
        ConversationId::new(account.clone(), key)
    }

    /// Returns the place that owns the conversation.
    pub fn place(self, account: &AccountId) -> PlaceId {
        place(account, self.chat)
    }

    /// Returns the kind of conversation: Telegram's group ids are negative.
    pub fn kind(self) -> &'static str {
        if self.chat < 0 { "group" } else { "private" }
    }
}

/// Whether config means a person by it: `tg:4711`.
pub fn is_person(text: &str) -> bool {
    is_place(text) && !text.starts_with("tg:-")
}

/// Whether config means a chat by it: `tg:-100123`.
pub fn is_place(text: &str) -> bool {
    let id = text.strip_prefix("tg:").and_then(|id| id.parse::<i64>().ok());
    id.is_some_and(|id| id != 0 && text == format!("tg:{id}"))
}

/// Whether somebody may be named by it: `tg:4711`, `tg:@grace_hopper`.
pub fn is_named(text: &str) -> bool {
    let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let is_username = |name: &str| (4..=32).contains(&name.len()) && name.chars().all(is_letter);
    is_place(text) || text.strip_prefix("tg:@").is_some_and(is_username)
}

/// Tells of somebody who spoke, as contact files have it. A username is shown and looked up; who they are is a number.
pub fn seen(sighting: &Sighting<'_>) -> Vec<ContactField> {
    let Sighting { person, username, place, is_direct } = sighting;
    let number = |id: &str| id.strip_prefix("tg:").unwrap_or_default().to_owned();
    let chat = number(place.key());
    let mut fields = vec![ContactField::fixed("tg_user_id", number(person.as_str()))];
    if !username.is_empty() {
        fields.push(ContactField::shown("tg_username", *username));
    }
    fields.push(match is_direct {
        true => ContactField::fixed("tg_private_chat_id", chat),
        false => ContactField::listed("tg_group_chat_ids", chat),
    });
    fields
}

/// Returns the place of a chat.
pub fn place(account: &AccountId, chat: i64) -> PlaceId {
    PlaceId::new(account.clone(), format!("tg:{chat}"))
}

/// Returns the id of a person (or of a chat that speaks as one).
pub fn person(user: i64) -> PersonId {
    PersonId::new(format!("tg:{user}"))
}

/// Reads a message id back; `None` for one that Telegram did not make.
pub fn message_id(message: &MessageRef) -> Option<i32> {
    message.as_str().parse().ok()
}

/// Returns the bot's account: its user id when the token tells it, else a hash of the token, so that
/// test servers may use made-up tokens.
pub fn account_of(token: &str) -> AccountId {
    match own_id(token) {
        Some(id) => AccountId::new(format!("tg:{id}")),
        None => AccountId::new(format!("tg:x{:016x}", fnv(token.as_bytes()))),
    }
}

/// Returns the bot's user id when the token begins with it.
pub fn own_id(token: &str) -> Option<i64> {
    let (id, _) = token.split_once(':')?;
    id.parse().ok().filter(|id| *id > 0)
}

/// Reads and explains Telegram's ids for one bot.
pub struct TelegramAddress {
    account: AccountId,
}

impl TelegramAddress {
    /// Speaks for this bot.
    pub fn new(account: AccountId) -> Self {
        Self { account }
    }
}

impl Address for TelegramAddress {
    fn parse(&self, text: &str) -> Option<ConversationId> {
        Spot::parse(text).map(|spot| spot.conversation(&self.account))
    }

    fn features(&self, conversation: &ConversationId) -> Features {
        features(Spot::parse(conversation.key()).map_or("group", Spot::kind))
    }

    /// Apps cut what is longer into messages of at most 4,096 characters (core.telegram.org/bots/api#message).
    fn longest_text(&self) -> Option<usize> {
        Some(4_096)
    }

    fn is_person(&self, speaker: &PersonId) -> bool {
        is_person(speaker.as_str())
    }

    /// A forum's topics share their chat's place.
    fn place(&self, conversation: &ConversationId) -> PlaceId {
        let account = conversation.account();
        match Spot::parse(conversation.key()) {
            Some(spot) => spot.place(account),
            None => PlaceId::new(account.clone(), conversation.key()),
        }
    }
}

/// Tells what can be done in a kind of conversation; an unknown kind counts as a group.
pub fn features(kind: &str) -> Features {
    let private = kind == "private";
    Features {
        channel: NAME.to_owned(),
        kind: if private { "private" } else { "group" }.to_owned(),
        audience: if private { Audience::Direct } else { Audience::Group },
        speaking: speaking::TOOLS.iter().map(|tool| tool.name.to_owned()).collect(),
        style: STYLE.to_owned(),
    }
}

const STYLE: &str = "You write for Telegram, often read on a phone: short paragraphs, Markdown \
    (bold, italic, strikethrough, code, fenced code, links, lists, quotes); headings become bold \
    lines, tables fixed-width text, raw HTML is shown as it stands.";

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn address() -> TelegramAddress {
        TelegramAddress::new(account_of("8:secret"))
    }

    #[test]
    fn ids_are_read_as_people_write_them() {
        let parse = |text| address().parse(text).map(|id| id.to_string());
        assert_eq!(parse("-100123").as_deref(), Some("tg:-100123"));
        assert_eq!(parse(" tg:-100123 ").as_deref(), Some("tg:-100123"));
        assert_eq!(parse("tg:-100123:7").as_deref(), Some("tg:-100123:7"));
        assert_eq!(parse("4711").as_deref(), Some("tg:4711"));
        for wrong in ["", "0", "tg:", "tg:1:0", "tg:1:x", "slack:T1:C2", "@name", "1:2:3"] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_topic_counts_as_group() {
        let topic = address().parse("tg:-100:7").unwrap();
        let features = address().features(&topic);
        assert_eq!((features.kind.as_str(), features.audience), ("group", Audience::Group));
        let private = address().features(&address().parse("tg:7").unwrap());
        assert_eq!((private.kind.as_str(), private.audience), ("private", Audience::Direct));
    }

    #[test]
    fn topics_share_their_chats_place() {
        let place = |text| address().place(&address().parse(text).unwrap()).key().to_owned();
        assert_eq!(place("tg:-100:7"), "tg:-100");
        assert_eq!(place("tg:-100"), "tg:-100");
        assert_eq!(place("tg:7"), "tg:7");
        let foreign = ConversationId::new(account_of("8:secret"), "not ours");
        assert_eq!(address().place(&foreign).key(), "not ours");
    }

    #[test]
    fn an_account_is_the_bots_number_or_a_hash_that_hides_the_token() {
        assert_eq!(account_of("110201543:AAHdq").as_str(), "tg:110201543");
        let made_up = account_of("test:hunter2");
        assert!(made_up.as_str().starts_with("tg:x"), "{made_up}");
        assert!(!made_up.as_str().contains("hunter2"));
        assert_ne!(made_up, account_of("test:hunter3"));
    }

    proptest! {
        #[test]
        fn every_spot_survives_writing(chat in any::<i64>(), topic in proptest::option::of(1i32..)) {
            prop_assume!(chat != 0);
            let spot = Spot { chat, topic };
            let id = spot.conversation(&account_of("8:x"));
            prop_assert_eq!(Spot::parse(id.key()), Some(spot));
        }
    }
}
