//! LINE's ids as selkie writes them: `line:U…` a person, `line:C…` a group, `line:R…` a room.

use selkie_channel_core::{
    AccountId, Address, Audience, ConversationId, Features, PersonId, PlaceId,
};

/// Longer than any id LINE makes (33 characters).
const LONGEST: usize = 64;

/// One chat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spot(String);

impl Spot {
    /// Reads `U…`, `C…`, `R…`, with or without `line:`; `None` for anything else.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let id = text.strip_prefix("line:").unwrap_or(text);
        let plain = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'-';
        let shaped = id.starts_with(['U', 'C', 'R']) && (2..=LONGEST).contains(&id.len());
        (shaped && id.bytes().all(plain)).then(|| Self(id.to_owned()))
    }

    /// Returns the id as LINE writes it.
    pub fn id(&self) -> &str {
        &self.0
    }

    /// Returns the conversation of this chat for a bot.
    pub fn conversation(&self, account: &AccountId) -> ConversationId {
        ConversationId::new(account.clone(), format!("line:{}", self.0))
    }

    /// Returns the place, which has one conversation.
    pub fn place(&self, account: &AccountId) -> PlaceId {
        PlaceId::new(account.clone(), format!("line:{}", self.0))
    }

    /// Returns the kind of conversation, from the id's first letter.
    pub fn kind(&self) -> &'static str {
        match self.0.as_bytes().first() {
            Some(b'U') => "user",
            Some(b'R') => "room",
            _ => "group",
        }
    }
}

/// Returns the id of a person.
pub fn person(id: &str) -> PersonId {
    PersonId::new(format!("line:{id}"))
}

/// Returns the bot's account: a hash of the channel secret, which is known before LINE is asked who the
/// bot is and says nothing of the secret.
pub fn account_of(secret: &str) -> AccountId {
    AccountId::new(format!("line:x{}", &hex(&digest(secret.as_bytes()))[..16]))
}

/// Makes a key in the form of a UUID from a text: the same text, the same key.
pub fn uuid_of(text: &str) -> String {
    let hex = hex(&digest(text.as_bytes()));
    // Version 8 (made by a rule of our own), variant 1.
    format!("{}-{}-8{}-9{}-{}", &hex[..8], &hex[8..12], &hex[13..16], &hex[17..20], &hex[20..32])
}

/// Returns a short name of a raw event that brought no id.
pub fn name_of(raw: &str) -> String {
    hex(&digest(raw.as_bytes()))[..16].to_owned()
}

fn digest(bytes: &[u8]) -> ring::digest::Digest {
    ring::digest::digest(&ring::digest::SHA256, bytes)
}

fn hex(digest: &ring::digest::Digest) -> String {
    digest.as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Reads and explains LINE's ids for one bot.
pub struct LineAddress {
    account: AccountId,
}

impl LineAddress {
    /// Speaks for this bot.
    pub fn new(account: AccountId) -> Self {
        Self { account }
    }
}

impl Address for LineAddress {
    fn parse(&self, text: &str) -> Option<ConversationId> {
        Spot::parse(text).map(|spot| spot.conversation(&self.account))
    }

    fn features(&self, conversation: &ConversationId) -> Features {
        features(Spot::parse(conversation.key()).as_ref().map_or("group", Spot::kind))
    }
}

/// Tells what can be done in a kind of conversation; an unknown kind counts as a group. Files go out by
/// public address only and reactions not at all, so no speaking tool is offered.
pub fn features(kind: &str) -> Features {
    let (kind, audience) = match kind {
        "user" => ("user", Audience::Direct),
        "room" => ("room", Audience::Group),
        _ => ("group", Audience::Group),
    };
    Features {
        channel: crate::NAME.to_owned(),
        kind: kind.to_owned(),
        audience,
        speaking: Vec::new(),
        style: STYLE.to_owned(),
    }
}

const STYLE: &str = "You write for LINE, read on a phone: short plain paragraphs. LINE shows no Markdown: \
    no bold, no headings, no tables; short lists and bare links are fine, emoji too. You cannot send \
    files or reactions here.";

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ids_are_read_as_people_write_them() {
        let address = LineAddress::new(account_of("secret"));
        let parse = |text| address.parse(text).map(|id| id.to_string());
        assert_eq!(parse("U4af4980629").as_deref(), Some("line:U4af4980629"));
        assert_eq!(parse(" line:Ca56f94637c ").as_deref(), Some("line:Ca56f94637c"));
        for wrong in ["", "U", "line:", "tg:1", "X123", "U12 34", "U1/../x", "-100"] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
        let kind = |text| address.features(&address.parse(text).unwrap()).kind;
        assert_eq!(
            (kind("U1"), kind("C1"), kind("R1")),
            ("user".into(), "group".into(), "room".into())
        );
    }

    #[test]
    fn an_account_hides_the_secret_and_a_key_is_a_uuid() {
        assert_ne!(account_of("hunter2"), account_of("hunter3"));
        assert!(!account_of("hunter2").as_str().contains("hunter"));
        insta::assert_snapshot!(account_of("hunter2"), @"line:xf52fbd32b2b3b86f");
        insta::assert_snapshot!(uuid_of("hunter2"), @"f52fbd32-b2b3-886f-988e-f6c490628285");
    }

    proptest! {
        #[test]
        fn every_spot_survives_writing(id in "[UCR][0-9a-f]{32}") {
            let spot = Spot::parse(&id).unwrap();
            let conversation = spot.conversation(&account_of("x"));
            prop_assert_eq!(Spot::parse(conversation.key()), Some(spot));
        }
    }
}
