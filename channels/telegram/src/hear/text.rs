//! What a text says to the bot: a command, a mention, and the text that is left without them.
//!
//! Telegram counts the places of entities in UTF-16 units.

use std::ops::Range;

use selkie_channel_core::{Aside, Command};
use serde_json::Value;

use super::{Me, field};

/// What stands in a text.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Words {
    /// The text without the bot's mention or command name.
    pub text: String,
    /// A command for this bot.
    pub command: Option<Command>,
    /// The bot's name stands in the text.
    pub mentioned: bool,
    /// It is a command for another bot.
    pub for_another: bool,
    /// What stands in it that is not said plainly.
    pub aside: Aside,
}

/// Reads a text with its entities. What stands in a quote or in code, struck out or hidden, is no command and
/// names nobody.
pub fn read(text: &str, entities: &[Value], me: &Me) -> Words {
    let aside = aside(text, entities);
    let head = text.find(char::is_whitespace).unwrap_or(text.len());
    let plain = |range: &Range<usize>| !stands(text, entities, range, &[QUOTED, HIDDEN, BLOCK]);
    let begins_plainly = !stands(text, entities, &(0..head), &[QUOTED, HIDDEN, BLOCK, &["code"]]);
    match command(text, me).filter(|_| begins_plainly) {
        Some(Addressee::Us { command, mentioned }) => Words {
            text: command.args.clone(),
            command: Some(command),
            mentioned,
            for_another: false,
            aside,
        },
        Some(Addressee::Another) => {
            Words { text: text.to_owned(), for_another: true, aside, ..Words::default() }
        }
        None => {
            let mentions: Vec<_> = mentions(text, entities, me).into_iter().filter(plain).collect();
            let mentioned = !mentions.is_empty();
            Words { text: without(text, mentions), mentioned, aside, ..Words::default() }
        }
    }
}

/// Telegram's names of what is somebody else's, of what is not meant to be read, and of code.
const QUOTED: &[&str] = &["blockquote", "expandable_blockquote"];
const HIDDEN: &[&str] = &["strikethrough", "spoiler"];
const BLOCK: &[&str] = &["pre"];

fn aside(text: &str, entities: &[Value]) -> Aside {
    let all = 0..text.len();
    if stands(text, entities, &all, &[QUOTED, HIDDEN]) {
        return Aside::Words;
    }
    if stands(text, entities, &all, &[BLOCK]) { Aside::Code } else { Aside::Nothing }
}

/// Whether a bit of a range stands in entities of such kinds.
fn stands(text: &str, entities: &[Value], at: &Range<usize>, kinds: &[&[&str]]) -> bool {
    let kind = |entity: &Value| {
        field::text(entity, "type").is_some_and(|name| kinds.iter().any(|k| k.contains(&name)))
    };
    let touches = |there: Range<usize>| there.start.max(at.start) < there.end.min(at.end);
    entities.iter().any(|entity| kind(entity) && range(text, entity).is_some_and(touches))
}

/// Whether all of a text stands in block quotes: whoever sends it says what somebody else has said.
pub fn is_quoted(text: &str, entities: &[Value]) -> bool {
    let quote =
        |entity: &&Value| field::text(entity, "type").is_some_and(|kind| QUOTED.contains(&kind));
    let quotes: Vec<Range<usize>> =
        entities.iter().filter(quote).filter_map(|entity| range(text, entity)).collect();
    let quoted = |at: usize| quotes.iter().any(|quote| quote.contains(&at));
    !quotes.is_empty() && text.char_indices().all(|(at, c)| c.is_whitespace() || quoted(at))
}

enum Addressee {
    Us { command: Command, mentioned: bool },
    Another,
}

/// Reads `/name`, `/name@bot` at the very beginning; a path such as `/usr/bin` is no command.
fn command(text: &str, me: &Me) -> Option<Addressee> {
    let rest = text.strip_prefix('/')?;
    let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
    let (head, args) = rest.split_at(end);
    let (name, bot) = match head.split_once('@') {
        Some((name, bot)) => (name, Some(bot)),
        None => (head, None),
    };
    let word = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    if !word(name) || name.len() > 32 || bot.is_some_and(|bot| !word(bot)) {
        return None;
    }
    if bot.is_some_and(|bot| !is_me(bot, me)) {
        return Some(Addressee::Another);
    }
    let args = args.trim().to_owned();
    let command = Command { name: name.to_ascii_lowercase(), args };
    Some(Addressee::Us { command, mentioned: bot.is_some() })
}

fn is_me(username: &str, me: &Me) -> bool {
    me.username.as_deref().is_some_and(|own| own.eq_ignore_ascii_case(username))
}

/// Returns where the bot's own name stands, in bytes.
fn mentions(text: &str, entities: &[Value], me: &Me) -> Vec<Range<usize>> {
    if entities.is_empty() {
        return written(text, me);
    }
    let own = entities.iter().filter_map(|entity| {
        let range = range(text, entity)?;
        let named = match field::text(entity, "type")? {
            "mention" => is_me(text[range.clone()].strip_prefix('@')?, me),
            "text_mention" => field::number(field::object(entity, "user")?, "id")? == me.id,
            _ => false,
        };
        named.then_some(range)
    });
    own.collect()
}

/// Finds `@name` in a text without entities, as servers send it that mark none.
fn written(text: &str, me: &Me) -> Vec<Range<usize>> {
    let Some(own) = &me.username else { return Vec::new() };
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let found = text.match_indices('@').filter_map(|(at, _)| {
        let name = &text[at + 1..];
        let end = name.find(|c| !word(c)).unwrap_or(name.len());
        let begins = !text[..at].chars().next_back().is_some_and(word);
        let named = begins && name[..end].eq_ignore_ascii_case(own);
        named.then_some(at..at + 1 + end)
    });
    found.collect()
}

/// Turns an entity's place in UTF-16 units into bytes; `None` when it points nowhere.
fn range(text: &str, entity: &Value) -> Option<Range<usize>> {
    let offset = usize::try_from(field::number(entity, "offset")?).ok()?;
    let length = usize::try_from(field::number(entity, "length")?).ok()?;
    let start = byte_at(text, offset)?;
    let end = byte_at(text, offset.checked_add(length)?)?;
    Some(start..end)
}

fn byte_at(text: &str, units: usize) -> Option<usize> {
    let mut seen = 0;
    for (at, c) in text.char_indices() {
        if seen >= units {
            return (seen == units).then_some(at);
        }
        seen += c.len_utf16();
    }
    (seen == units).then_some(text.len())
}

/// Takes the ranges out, with the blank or comma that belonged to each.
fn without(text: &str, ranges: Vec<Range<usize>>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for range in ranges {
        if range.start < at {
            continue;
        }
        out.push_str(&text[at..range.start]);
        at = range.end;
        let rest = &text[at..];
        if out.trim().is_empty() {
            at += rest.len() - rest.trim_start_matches([' ', ',', ':']).len();
        } else if out.ends_with(' ') && rest.starts_with(' ') {
            at += 1;
        }
    }
    if at == 0 {
        return text.to_owned();
    }
    out.push_str(&text[at..]);
    out.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use selkie_channel_core::split::utf16_len;
    use serde_json::json;

    use super::*;

    fn me() -> Me {
        Me { id: 8, username: Some("Selkie_bot".to_owned()) }
    }

    #[test]
    fn commands_are_ours_or_anothers() {
        let read = |text| read(text, &[], &me());
        let ours = read("/Ask@selkie_BOT what\nnow");
        assert_eq!(ours.command, Some(Command { name: "ask".into(), args: "what\nnow".into() }));
        assert_eq!(ours.text, "what\nnow");
        assert_eq!(read("/start").command.unwrap().name, "start");
        assert!(read("/ask@other_bot x").for_another);
        for text in ["/usr/bin is a path", "say /ask", "/", "/ask! now", "/@selkie_bot"] {
            let words = read(text);
            assert_eq!((words.command, words.for_another), (None, false), "{text}");
        }
    }

    #[test]
    fn an_unknown_own_name_takes_no_command_with_a_name() {
        let nobody = Me { id: 8, username: None };
        assert!(super::read("/ask@selkie_bot x", &[], &nobody).for_another);
        assert!(super::read("/ask x", &[], &nobody).command.is_some());
    }

    #[test]
    fn places_are_counted_in_utf_16() {
        let text = "😀😀 @selkie_bot, hi";
        let entity = json!({ "type": "mention", "offset": 5, "length": 11 });
        let words = read(text, &[entity], &me());
        assert!(words.mentioned);
        assert_eq!(words.text, "😀😀 , hi");
    }

    #[test]
    fn a_name_in_code_or_of_another_is_no_mention() {
        let code = json!({ "type": "code", "offset": 0, "length": 11 });
        assert!(!read("@selkie_bot", &[code], &me()).mentioned);
        let other = json!({ "type": "mention", "offset": 0, "length": 6 });
        assert!(!read("@other hello", &[other], &me()).mentioned);
        let nowhere = json!({ "type": "mention", "offset": 1, "length": 99 });
        assert!(!read("😀", &[nowhere], &me()).mentioned);
        let named =
            json!({ "type": "text_mention", "offset": 0, "length": 6, "user": { "id": 8 } });
        assert_eq!(read("Selkie: go", &[named], &me()).text, "go");
    }

    #[test]
    fn what_stands_in_quotes_as_a_whole_is_nobodys_own() {
        let quote = |kind: &str, offset: usize, length: usize| json!({ "type": kind, "offset": offset, "length": length });
        let text = "😀 approve 3fa9c1\n\nso";
        assert!(is_quoted(
            text,
            &[quote("blockquote", 0, 17), quote("expandable_blockquote", 19, 2)]
        ));
        assert!(!is_quoted(text, &[quote("blockquote", 0, 17)]));
        assert!(!is_quoted("approve 3fa9c1", &[quote("code", 0, 14)]));
        assert!(!is_quoted("approve 3fa9c1", &[]));
        assert!(!is_quoted("", &[]));
    }

    #[test]
    fn what_is_not_said_plainly_commands_nothing_and_names_nobody() {
        let entity =
            |kind: &str, length: usize| json!({ "type": kind, "offset": 0, "length": length });
        let mention = json!({ "type": "mention", "offset": 0, "length": 11 });
        for (kind, aside) in [
            ("blockquote", Aside::Words),
            ("expandable_blockquote", Aside::Words),
            ("strikethrough", Aside::Words),
            ("spoiler", Aside::Words),
            ("pre", Aside::Code),
            ("code", Aside::Nothing),
        ] {
            let words = read("/reset now", &[entity(kind, 10)], &me());
            assert_eq!((words.command, words.text.as_str()), (None, "/reset now"), "{kind}");
            assert_eq!(words.aside, aside, "{kind}");
            let begun = read("/reset", &[entity(kind, 2)], &me());
            assert_eq!(begun.command, None, "{kind}");
            let named = read("@selkie_bot hi", &[mention.clone(), entity(kind, 14)], &me());
            assert_eq!(named.mentioned, kind == "code", "{kind}");
            let behind = json!({ "type": kind, "offset": 6, "length": 4 });
            assert!(read("/tools file", &[behind], &me()).command.is_some(), "{kind}");
        }
        let bold = read("/reset now", &[entity("bold", 10)], &me());
        assert_eq!((bold.command.unwrap().name.as_str(), bold.aside), ("reset", Aside::Nothing));
    }

    #[test]
    fn a_text_without_entities_is_searched() {
        assert_eq!(read("@selkie_bot, what now?", &[], &me()).text, "what now?");
        assert_eq!(read("ask @selkie_bot now", &[], &me()).text, "ask now");
        assert!(!read("mail me@selkie_bot.org", &[], &me()).mentioned);
        assert!(!read("@selkie_bottle", &[], &me()).mentioned);
    }

    proptest! {
        #[test]
        fn any_text_and_any_entity_can_be_read(text in "(\\PC|😀|@selkie_bot| |/){0,40}", offset in -3i64..60, length in -3i64..60) {
            let entity = json!({ "type": "mention", "offset": offset, "length": length });
            let words = read(&text, &[entity], &me());
            prop_assert!(words.text.len() <= text.len());
        }

        #[test]
        fn a_marked_mention_is_found_wherever_it_stands(before in "(\\PC|😀){0,20}", after in "\\PC{0,20}") {
            prop_assume!(!before.starts_with('/'));
            let text = format!("{before}@selkie_bot{after}");
            let entity = json!({ "type": "mention", "offset": utf16_len(&before), "length": 11 });
            let words = read(&text, &[entity], &me());
            prop_assert!(words.mentioned);
        }
    }
}
