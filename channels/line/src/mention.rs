//! Names that tell somebody: a text whose `@name` is a mention, as LINE's text message of version 2.

use selkie_channel_core::Mention;
use selkie_channel_core::split::utf16_len;
use selkie_channel_core::styled::{StyledText, Tag, mention};
use serde_json::{Map, Value, json};

use crate::ids::Spot;

/// LINE's limit of a text, UTF-16 units; what is written for a mention counts.
const MAX_TEXT: usize = 5000;
/// LINE's limit of mentions in a message.
const MAX: usize = 20;

/// Returns a text as a message; whoever is named is told, as far as LINE takes it.
pub fn bubble(text: &str, people: &[Mention]) -> Value {
    telling(text, people).unwrap_or_else(|| json!({ "type": "text", "text": text }))
}

/// Takes the mentions of messages away, whose words are these; whether there were any.
pub fn untell(messages: &mut Value, texts: &[String]) -> bool {
    let mut any = false;
    for (message, text) in messages.as_array_mut().into_iter().flatten().zip(texts) {
        let Some(message) = message.as_object_mut().filter(|m| m["type"] == "textV2") else {
            continue;
        };
        message.remove("substitution");
        message.insert("type".to_owned(), json!("text"));
        message.insert("text".to_owned(), json!(text));
        any = true;
    }
    any
}

/// The message when it names anybody: names become keys in braces, a brace that is meant is doubled.
fn telling(text: &str, people: &[Mention]) -> Option<Value> {
    let mut plain = StyledText::default();
    plain.push(text, &[]);
    let named = mention(plain, people);
    let mut out = String::with_capacity(text.len());
    let mut substitution = Map::new();
    for (stretch, tags) in named.stretches(0..named.text().len()) {
        let person = tags.iter().find_map(|tag| match tag {
            Tag::Mention(person) => Spot::parse(person),
            _ => None,
        });
        match person.filter(|_| substitution.len() < MAX) {
            Some(person) => {
                let key = format!("p{}", substitution.len() + 1);
                out.push_str(&format!("{{{key}}}"));
                let mentionee = json!({ "type": "user", "userId": person.id() });
                substitution.insert(key, json!({ "type": "mention", "mentionee": mentionee }));
            }
            None => out.push_str(&stretch.replace('{', "{{").replace('}', "}}")),
        }
    }
    let fits = utf16_len(&out).max(utf16_len(text)) <= MAX_TEXT;
    (fits && !substitution.is_empty())
        .then(|| json!({ "type": "textV2", "text": out, "substitution": substitution }))
}

#[cfg(test)]
mod tests {
    use selkie_channel_core::PersonId;

    use super::*;

    const GRACE: &str = "line:Uaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";

    fn people() -> [Mention; 1] {
        [Mention { name: "grace".to_owned(), person: PersonId::new(GRACE) }]
    }

    #[test]
    fn a_name_becomes_a_mention_and_braces_stay() {
        let said = bubble("@Grace, see {p1} in fn() {}", &people());
        let mentionee = json!({ "type": "user", "userId": GRACE.trim_start_matches("line:") });
        let substitution = json!({ "p1": { "type": "mention", "mentionee": mentionee } });
        let wanted = json!({ "type": "textV2", "text": "{p1}, see {{p1}} in fn() {{}}", "substitution": substitution });
        assert_eq!(said, wanted);
    }

    #[test]
    fn without_a_name_it_is_a_plain_text() {
        for text in ["Grace {x}", "a@grace", ""] {
            assert_eq!(bubble(text, &people()), json!({ "type": "text", "text": text }));
        }
        let nobody = [Mention { name: "all".to_owned(), person: PersonId::new("line:all") }];
        assert_eq!(bubble("@all", &nobody)["type"], "text", "an id that is none tells nobody");
    }

    #[test]
    fn no_more_are_told_than_line_takes_and_nothing_grows_too_long() {
        let many = bubble(&"@grace ".repeat(21), &people());
        assert_eq!(many["substitution"].as_object().map(Map::len), Some(20));
        assert!(many["text"].as_str().is_some_and(|text| text.ends_with("{p20} @grace ")));
        let long = format!("@grace {}", "{".repeat(2600));
        assert_eq!(bubble(&long, &people()), json!({ "type": "text", "text": long }));
    }

    #[test]
    fn what_is_refused_with_mentions_goes_without() {
        let texts = ["@grace {}".to_owned(), "b".to_owned()];
        let mut messages: Value = texts.iter().map(|text| bubble(text, &people())).collect();
        messages[0]["quoteToken"] = json!("t");
        assert!(untell(&mut messages, &texts));
        let plain = json!([{ "type": "text", "text": "@grace {}", "quoteToken": "t" }, { "type": "text", "text": "b" }]);
        assert_eq!(messages, plain);
        assert!(!untell(&mut messages, &texts));
    }
}
