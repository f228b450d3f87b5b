//! X's one conversation: the account's own timeline, `x:main`.

use selkie_channel_core::{AccountId, Address, Audience, ConversationId, Features};

/// The channel's name, in settings and in what it can do.
pub const NAME: &str = "x";

/// The timeline's key.
pub const MAIN: &str = "x:main";

/// Reads and explains X's ids for one account.
pub struct XAddress {
    account: AccountId,
}

impl XAddress {
    /// Speaks for this account.
    pub fn new(account: AccountId) -> Self {
        Self { account }
    }
}

impl Address for XAddress {
    fn parse(&self, text: &str) -> Option<ConversationId> {
        let known = text.trim().eq_ignore_ascii_case(MAIN);
        known.then(|| ConversationId::new(self.account.clone(), MAIN))
    }

    fn features(&self, _conversation: &ConversationId) -> Features {
        features()
    }
}

/// Tells what can be done on a timeline, which everybody reads.
pub fn features() -> Features {
    Features {
        channel: NAME.to_owned(),
        kind: "timeline".to_owned(),
        audience: Audience::Group,
        speaking: Vec::new(),
        style: STYLE.to_owned(),
    }
}

/// The longest id that X can give, in digits: it has 64 bits.
const MAX_ID: usize = 20;

/// Whether a text is an id as X gives them.
pub fn is_id(text: &str) -> bool {
    (1..=MAX_ID).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
}

const STYLE: &str = "You write for X, in public: at most 280 characters, where a link counts 23 and an emoji 2; \
    what is longer becomes a thread. X shows no Markdown. You cannot post files here.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_digits_and_not_too_many() {
        assert!(is_id("7") && is_id(&"9".repeat(20)));
        for wrong in ["", &"9".repeat(21), "17 90", "-1", "../1790", "١٢"] {
            assert!(!is_id(wrong), "{wrong}");
        }
    }

    #[test]
    fn there_is_one_conversation() {
        let address = XAddress::new(AccountId::new("x:1"));
        assert_eq!(address.parse(" X:main ").map(|id| id.full()).as_deref(), Some("x:1|x:main"));
        for wrong in ["", "x", "x:", "x:other", "tg:1", "main"] {
            assert_eq!(address.parse(wrong), None, "{wrong}");
        }
    }
}
