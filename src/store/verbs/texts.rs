//! Stored JSON texts that are changed in place: read, changed, written, whatever else they hold.

use selkie_channel_core::Inbound;
use serde_json::{Map, Value, json};

/// Sets the mode of a task's facts; `None` when they cannot be read.
pub fn with_mode(facts: &str, mode: &str) -> Option<String> {
    changed(facts, |facts| {
        facts.insert("mode".to_owned(), mode.into());
    })
}

/// Sets what a message says: its text, and the command that it is now or was before.
pub fn with_words(inbound: &str, said: &Inbound) -> Option<String> {
    let command = said.command.as_ref().map(serde_json::to_value).transpose().ok()?;
    let aside = serde_json::to_value(said.aside).ok()?;
    changed(inbound, |inbound| {
        inbound.insert("text".to_owned(), said.text.as_str().into());
        inbound.shift_remove("command");
        inbound.extend(command.map(|command| ("command".to_owned(), command)));
        inbound.insert("aside".to_owned(), aside);
    })
}

/// What is left of a message whose words must go and that cannot be read: it may hold them, too.
const NOTHING: &str = "{}";

/// Takes the words of a message away, with what it quotes and brings.
pub fn taken_back(inbound: &str) -> String {
    erased(inbound, |inbound| {
        inbound.insert("text".to_owned(), "".into());
        for with_it in ["command", "quote", "origin", "attachments"] {
            inbound.shift_remove(with_it);
        }
    })
}

/// Takes away the words of a message that is quoted, and what came with it.
pub fn without_quoted(inbound: &str) -> String {
    erased(inbound, |inbound| {
        if let Some(Value::Object(quote)) = inbound.get_mut("quote") {
            quote.insert("text".to_owned(), "".into());
            quote.shift_remove("attachments");
        }
    })
}

/// Takes away all that a message says, and by whom: its ids stay.
pub fn forgotten(inbound: &str) -> String {
    erased(inbound, |inbound| {
        blank(inbound, "text");
        if let Some(Value::Object(what)) = inbound.get_mut("what") {
            blank(what, "raw");
            blank(what, "handle");
        }
        if let Some(Value::Object(speaker)) = inbound.get_mut("speaker") {
            speaker.shift_remove("name");
            speaker.shift_remove("username");
        }
        for gone in ["quote", "origin", "command", "attachments", "title", "reply_window"] {
            inbound.shift_remove(gone);
        }
    })
}

/// Takes away what the maker of a schedule is called; `None` when it cannot be read.
pub fn without_makers_name(schedule: &str) -> Option<String> {
    changed(schedule, |schedule| {
        if let Some(Value::Object(maker)) = schedule.get_mut("maker") {
            maker.shift_remove("name");
        }
    })
}

/// Takes the words out of something that the bot has said.
pub fn unsaid(outbound: &str) -> String {
    erased(outbound, |outbound| {
        outbound.insert("body".to_owned(), json!({ "kind": "text", "markdown": "" }));
        for gone in ["quote", "mentions", "reply_window"] {
            outbound.shift_remove(gone);
        }
    })
}

fn blank(map: &mut Map<String, Value>, key: &str) {
    if let Some(value) = map.get_mut(key) {
        *value = "".into();
    }
}

fn erased(text: &str, change: impl FnOnce(&mut Map<String, Value>)) -> String {
    changed(text, change).unwrap_or_else(|| NOTHING.to_owned())
}

fn changed(text: &str, change: impl FnOnce(&mut Map<String, Value>)) -> Option<String> {
    let mut value: Value = serde_json::from_str(text).ok()?;
    change(value.as_object_mut()?);
    Some(value.to_string())
}

#[cfg(test)]
mod tests {
    use selkie_channel_core::{AccountId, Command, ConversationId, PlaceId, What};

    use super::*;

    const LINE: &str = r#"{"v":1,"text":"secret","quote":{"message":"7","text":"older"},"origin":{"from":"News","at":null},"title":"T","what":{"kind":"x","raw":"r"},"speaker":{"id":"tg:1","name":"Ann"}}"#;

    #[test]
    fn a_quote_goes_with_its_files() {
        let bringing = LINE.replace(r#""older""#, r#""older","attachments":[{"handle":"f"}]"#);
        assert_eq!(without_quoted(&bringing), LINE.replace("older", ""));
    }

    #[test]
    fn what_is_changed_leaves_the_rest_as_it_was() {
        assert_eq!(without_quoted(LINE), LINE.replace("older", ""), "order and ids stay");
        assert_eq!(
            taken_back(LINE),
            r#"{"v":1,"text":"","title":"T","what":{"kind":"x","raw":"r"},"speaker":{"id":"tg:1","name":"Ann"}}"#
        );
        assert_eq!(
            forgotten(LINE),
            r#"{"v":1,"text":"","what":{"kind":"x","raw":""},"speaker":{"id":"tg:1"}}"#
        );
        let edit = |text: &str, command: Option<Command>| {
            let (account, what) = (AccountId::new("tg"), What::Edit);
            let here = ConversationId::new(account.clone(), "tg:1");
            let place = PlaceId::new(account, "tg:1");
            Inbound {
                text: text.to_owned(),
                command,
                ..Inbound::blank(String::new(), here, place, what)
            }
        };
        let reset = Command { name: "reset".to_owned(), args: String::new() };
        let now = with_words(LINE, &edit("", Some(reset))).unwrap();
        assert!(
            now.contains(r#""text":"""#) && now.contains(r#""command":{"name":"reset""#),
            "{now}"
        );
        let back = with_words(&now, &edit("words", None)).unwrap();
        assert!(back.contains(r#""text":"words""#) && !back.contains("reset"), "{back}");
        assert_eq!(with_words("[1]", &edit("x", None)), None, "what is no object stays as it is");
    }

    #[test]
    fn nothing_is_left_of_what_must_go_and_cannot_be_read() {
        for torn in [r#"{"text":"secret"#, r#"["secret"]"#, "secret"] {
            assert_eq!([taken_back(torn), without_quoted(torn), forgotten(torn)], ["{}"; 3]);
        }
    }
}
