//! What LINE's refusals mean, by status and words.

use std::time::Duration;

use selkie_channel_core::http::Refusal;

use crate::api::ACCEPTED;

/// What a refusal asks of us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The reply token is used up, too old, or was never one.
    ReplyToken,
    /// The month's free and paid messages are used up.
    Quota,
    /// Too fast: wait.
    Limited,
    /// The access token is not taken.
    Token,
    /// LINE took the same push before.
    Accepted,
    /// The message to quote is not there.
    Quote,
    /// The quick replies are not taken.
    Buttons,
    /// The chat takes nothing from the bot.
    Closed,
    /// Anything else: it will never be taken.
    Other,
}

/// Reads a refusal.
pub fn kind(refusal: &Refusal) -> Kind {
    let words = refusal.words.to_lowercase();
    match refusal.status {
        409 if refusal.code == ACCEPTED || words.contains("already accepted") => Kind::Accepted,
        401 => Kind::Token,
        429 if words.contains("monthly limit") => Kind::Quota,
        429 => Kind::Limited,
        400 if words.contains("invalid reply token") => Kind::ReplyToken,
        400 if words.contains("quotetoken") || words.contains("quote token") => Kind::Quote,
        400 if words.contains("quickreply") => Kind::Buttons,
        400 if words.contains("failed to send messages") => Kind::Closed,
        _ => Kind::Other,
    }
}

/// LINE has asked for so long a rest before, and is not asked again until it is over.
pub fn limited(rest: Duration) -> Refusal {
    let words = "The API rate limit has been exceeded".to_owned();
    Refusal { status: 429, words, retry_after: Some(rest), ..Refusal::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_words_are_understood() {
        let rows = [
            (400, "Invalid reply token", Kind::ReplyToken),
            (400, "The quoteToken is invalid (messages[0].quoteToken)", Kind::Quote),
            (400, "Length (messages[0].quickReply.items[0].action.label)", Kind::Buttons),
            (400, "Failed to send messages", Kind::Closed),
            (400, "The request body has 2 error(s)", Kind::Other),
            (401, "Authentication failed due to the following reason: expired", Kind::Token),
            (403, "The account is not allowed to use the API", Kind::Other),
            (409, "Conflict", Kind::Other),
            (409, "The retry key is already accepted", Kind::Accepted),
            (429, "You have reached your monthly limit.", Kind::Quota),
            (429, "The API rate limit has been exceeded. Try again later.", Kind::Limited),
        ];
        for (code, text, wanted) in rows {
            let refusal = Refusal { status: code, words: text.to_owned(), ..Refusal::default() };
            assert_eq!(kind(&refusal), wanted, "{text}");
        }
        let accepted = Refusal { status: 409, code: ACCEPTED.to_owned(), ..Refusal::default() };
        assert_eq!(kind(&accepted), Kind::Accepted);
    }
}
