//! LINE's ids as selkie writes them: `line:U…` a person, `line:C…` a group, `line:R…` a room.

use selkie_channel_core::hash::in_hex;
use selkie_channel_core::{
    AccountId, Address, Audience, ContactField, ConversationId, Features, PersonId, PlaceId,
    Sighting,
};

/// The channel's name, in settings and in what it can do.
pub const NAME: &str = "line";

/// How many hexadecimal digits follow the letter of an id.
const DIGITS: usize = 32;

/// One chat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spot(String);

impl Spot {
    /// Reads `U…`, `C…`, `R…` with their 32 hexadecimal digits, with or without `line:`; `None` for anything
    /// else.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let id = text.strip_prefix("line:").unwrap_or(text);
        let digits = id.strip_prefix(['U', 'C', 'R'])?;
        let shaped = digits.len() == DIGITS && digits.bytes().all(|b| b.is_ascii_hexdigit());
        shaped.then(|| Self(id.to_owned()))
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

/// Whether config means a person by it: `line:U…`.
pub fn is_person(text: &str) -> bool {
    is_place(text) && text.starts_with("line:U")
}

/// Whether config means a chat by it: `line:C…`.
pub fn is_place(text: &str) -> bool {
    Spot::parse(text).is_some_and(|spot| text == format!("line:{}", spot.id()))
}

/// Tells of somebody who spoke, as contact files have it.
pub fn seen(sighting: &Sighting<'_>) -> Vec<ContactField> {
    let id = |text: &str| text.strip_prefix("line:").unwrap_or_default().to_owned();
    let mut fields = vec![ContactField::fixed("line_user_id", id(sighting.person.as_str()))];
    if !sighting.is_direct {
        fields.push(ContactField::listed("line_chat_ids", id(sighting.place.key())));
    }
    fields
}

/// Returns the id of a person.
pub fn person(id: &str) -> PersonId {
    PersonId::new(format!("line:{id}"))
}

/// Returns the bot's account: a hash of the channel secret, which is known before LINE is asked who the
/// bot is and says nothing of the secret.
pub fn account_of(secret: &str) -> AccountId {
    AccountId::new(format!("line:x{}", &digest(secret.as_bytes())[..16]))
}

/// Makes a key in the form of a UUID from a text: the same text, the same key.
pub fn uuid_of(text: &str) -> String {
    let hex = digest(text.as_bytes());
    // Version 8 (made by a rule of our own), variant 1.
    format!("{}-{}-8{}-9{}-{}", &hex[..8], &hex[8..12], &hex[13..16], &hex[17..20], &hex[20..32])
}

/// Returns a short name of a raw event that brought no id.
pub fn name_of(raw: &str) -> String {
    digest(raw.as_bytes())[..16].to_owned()
}

fn digest(bytes: &[u8]) -> String {
    in_hex(ring::digest::digest(&ring::digest::SHA256, bytes).as_ref())
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

    fn is_person(&self, speaker: &PersonId) -> bool {
        is_person(speaker.as_str())
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
        channel: NAME.to_owned(),
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

    fn id(letter: char) -> String {
        format!("{letter}{}", "0f".repeat(16))
    }

    #[test]
    fn ids_are_read_as_people_write_them() {
        let address = LineAddress::new(account_of("secret"));
        let parse = |text: &str| address.parse(text).map(|id| id.to_string());
        let ada = "U4af4980629e3f6a7b9e0d2c44af49806";
        assert_eq!(parse(ada), Some(format!("line:{ada}")));
        assert_eq!(parse(&format!(" line:{} ", id('C'))), Some(format!("line:{}", id('C'))));
        let short = "U4af4980629";
        let long = format!("{ada}0");
        let foreign = ada.replace('f', "z");
        for wrong in
            ["", "U", "line:", "line:Uxyz", "tg:1", short, &long, &foreign, "U1/../x", "-100"]
        {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
        let kind = |letter| address.features(&address.parse(&id(letter)).unwrap()).kind;
        assert_eq!(
            (kind('U'), kind('C'), kind('R')),
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
