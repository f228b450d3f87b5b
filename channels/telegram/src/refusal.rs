//! What Telegram's refusals mean. Its error codes say little; its words are what clients go by.

use selkie_channel_core::http::Refusal;

/// What a refusal asks of us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Too fast: wait.
    Limited,
    /// The token is not taken.
    Token,
    /// The bot may not speak there.
    Closed,
    /// The text's form is not taken: the plain form is.
    Form,
    /// The message to quote is gone.
    Quote,
    /// The topic is gone, the chat is not.
    Topic,
    /// The state is already as wanted.
    Done,
    /// Another poller or a webhook takes the updates.
    Conflict,
    /// Anything else: it will never be taken.
    Other,
}

/// Words by which Telegram says that a bot may not speak somewhere.
const CLOSED: &[&str] = &[
    "chat not found",
    "peer_id_invalid",
    "user not found",
    "user is deactivated",
    "group chat was deactivated",
    "chat was deleted",
    "not enough rights to send text messages",
    "have no rights to send a message",
    "need administrator rights in the channel",
    "chat_write_forbidden",
    "chat_restricted",
    "topic_closed",
];

const TOPIC: &[&str] = &["message thread not found", "topic_deleted", "topic_id_invalid"];

const FORM: &[&str] = &[
    "can't parse",
    "entities",
    "entity_",
    "unsupported start tag",
    "unclosed",
    "message is too long",
    "message_too_long",
    "caption is too long",
    "text is empty",
    "text must be non-empty",
];

/// Reads a refusal.
pub fn kind(refusal: &Refusal) -> Kind {
    let words = refusal.words.to_lowercase();
    let says = |list: &[&str]| list.iter().any(|part| words.contains(part));
    match refusal.status {
        429 => Kind::Limited,
        _ if refusal.retry_after.is_some() => Kind::Limited,
        401 => Kind::Token,
        404 if words == "not found" => Kind::Token,
        409 => Kind::Conflict,
        // Its words hold "entity" too, and no other form makes a file smaller.
        413 => Kind::Other,
        403 => Kind::Closed,
        _ if says(&["is not modified", "reaction is already set", "to delete not found"]) => {
            Kind::Done
        }
        _ if says(&["to be replied not found", "replied message not found"]) => Kind::Quote,
        _ if says(TOPIC) => Kind::Topic,
        _ if says(CLOSED) => Kind::Closed,
        _ if says(FORM) => Kind::Form,
        _ => Kind::Other,
    }
}

/// Tells people why the bot may not speak somewhere, and what helps where Telegram's words do not say.
pub fn told(words: String) -> String {
    let begun = words.to_lowercase();
    match begun.contains("chat not found") || begun.contains("initiate conversation") {
        true => format!("{words} (they have to write to the bot first, or add it to their group)"),
        false => words,
    }
}

/// Returns the id that a group has now, when that is why it is refused.
pub fn moved(refusal: &Refusal) -> Option<i64> {
    refusal.body.pointer("/parameters/migrate_to_chat_id")?.as_i64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn telegrams_words_are_understood() {
        let rows = [
            (400, "Bad Request: can't parse entities: Unsupported start tag \"x\"", Kind::Form),
            (400, "Bad Request: message is too long", Kind::Form),
            (400, "Bad Request: message to be replied not found", Kind::Quote),
            (400, "Bad Request: message is not modified: specified …", Kind::Done),
            (400, "Bad Request: message to delete not found", Kind::Done),
            (400, "Bad Request: message to edit not found", Kind::Other),
            (400, "Bad Request: message can't be edited", Kind::Other),
            (400, "Bad Request: message can't be deleted", Kind::Other),
            (
                400,
                "Bad Request: query is too old and response timeout expired or query ID is invalid",
                Kind::Other,
            ),
            (400, "Bad Request: BUTTON_DATA_INVALID", Kind::Other),
            (400, "Bad Request: chat not found", Kind::Closed),
            (400, "Bad Request: message thread not found", Kind::Topic),
            (400, "Bad Request: TOPIC_DELETED", Kind::Topic),
            (400, "Bad Request: TOPIC_CLOSED", Kind::Closed),
            (400, "Bad Request: REACTION_INVALID", Kind::Other),
            (400, "Bad Request: wrong file identifier/HTTP URL specified", Kind::Other),
            (403, "Forbidden: bot was blocked by the user", Kind::Closed),
            (403, "Forbidden: bot was kicked from the group chat", Kind::Closed),
            (413, "Request Entity Too Large", Kind::Other),
            (401, "Unauthorized", Kind::Token),
            (404, "Not Found", Kind::Token),
            (409, "Conflict: terminated by other getUpdates request", Kind::Conflict),
            (429, "Too Many Requests: retry after 7", Kind::Limited),
        ];
        for (code, text, wanted) in rows {
            let refusal = Refusal { status: code, words: text.to_owned(), ..Refusal::default() };
            assert_eq!(kind(&refusal), wanted, "{text}");
        }
    }
}
