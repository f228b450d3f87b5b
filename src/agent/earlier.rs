//! What tools brought of others' words into earlier tasks: a stub in the history, so that it is read again
//! only when it is asked for, and its level comes with it.

use std::sync::Arc;

use selkie_domain::taint::Taint;
use selkie_domain::transcript::{Answer, Call, Item};
use selkie_store::Past;
use selkie_tools::scope::Earlier;

/// How much of what was called a stub names, in bytes.
const NAMED: usize = 120;
/// An answer is shown whole up to so many bytes …
const LONG: usize = 1_200;
/// … and of a longer one so many of its beginning and of its end, when space is short.
const HEAD: usize = 500;
const TAIL: usize = 300;

/// Returns an answer as later tasks see it.
pub fn shown(call: &Call, answer: &Answer) -> Answer {
    if answer.taint < Taint::Raw {
        return answer.clone();
    }
    let size = size(answer.text.len());
    let back = match &answer.of {
        // Words of another conversation are copied once, where they are known to be.
        Some(_) => "call it again to read that".to_owned(),
        None => format!("recall {} brings it back", id(call, answer)),
    };
    let text = format!("({} answered {size}; {back})", named(call));
    Answer { is_error: answer.is_error, ..Answer::words(&call.id, text) }
}

/// Returns an answer as later tasks see it when space is short: its beginning and end, and how to get the rest. Its
/// level stays.
pub fn short(call: &Call, answer: &Answer) -> Answer {
    if answer.taint == Taint::Raw || !is_long(answer) {
        return shown(call, answer);
    }
    let text = &answer.text;
    let head = &text[..text.floor_char_boundary(HEAD)];
    let tail = &text[text.ceil_char_boundary(text.len() - TAIL)..];
    let left = size(text.len() - head.len() - tail.len());
    let text = format!(
        "{head}\n[{left} left out; recall {} brings all of it back]\n{tail}",
        id(call, answer)
    );
    Answer { text, pictures: Vec::new(), ..answer.clone() }
}

/// Whether an item is shown shorter when space is short.
pub fn is_shortened(item: &Item) -> bool {
    let Item::Answered { answers } = item else { return false };
    answers.iter().any(|answer| answer.taint != Taint::Raw && is_long(answer))
}

/// Whether an answer takes so much that the history shows its beginning and end alone when space is short.
fn is_long(answer: &Answer) -> bool {
    answer.text.len() > LONG || !answer.pictures.is_empty()
}

/// Returns the level of a history as it is sent.
pub fn level(history: &[Past]) -> Taint {
    let items = history.iter().flat_map(|task| &task.items);
    items.map(Item::level_later).max().unwrap_or_default()
}

/// Collects what the history does not show whole: stubs, and what is cut in the first `short` tasks.
pub fn collect(history: &[Past], short: usize) -> Arc<[Earlier]> {
    let tasks = history.iter().enumerate();
    let all = tasks.flat_map(|(n, task)| collect_of(&task.items, n < short));
    all.collect::<Vec<_>>().into()
}

fn collect_of(items: &[Item], is_short: bool) -> Vec<Earlier> {
    let mut all = Vec::new();
    for pair in items.windows(2) {
        let [Item::Asked { calls, .. }, Item::Answered { answers }] = pair else { continue };
        let is_hidden =
            |answer: &&Answer| answer.taint == Taint::Raw || (is_short && is_long(answer));
        for answer in answers.iter().filter(|answer| answer.of.is_none()).filter(is_hidden) {
            let Some(call) = calls.iter().find(|call| call.id == answer.call) else { continue };
            all.push(Earlier {
                id: id(call, answer),
                of: named(call),
                text: answer.text.clone(),
                pictures: answer.pictures.clone(),
                level: answer.taint,
            });
        }
    }
    all
}

/// A name that is the same in every task and on every machine: FNV-1a over call and answer.
fn id(call: &Call, answer: &Answer) -> String {
    let arguments = call.arguments.to_string();
    let bytes = [call.id.as_str(), &call.name, &arguments, &answer.text].join("\0");
    let hash = bytes.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("r{hash:016x}")
}

/// `web_fetch of https://…`: the tool and what stands first in its arguments.
fn named(call: &Call) -> String {
    let first = ["url", "path", "q", "cmd", "pattern", "id"]
        .iter()
        .find_map(|key| call.arguments.get(key)?.as_str());
    let Some(first) = first else { return call.name.clone() };
    let line = first.split_whitespace().collect::<Vec<_>>().join(" ");
    let end = line.floor_char_boundary(NAMED);
    let cut = if end < line.len() { "…" } else { "" };
    format!("{} of {}{cut}", call.name, &line[..end])
}

fn size(bytes: usize) -> String {
    match bytes {
        0..1024 => format!("{bytes} bytes"),
        _ => format!("{} KB", bytes.div_ceil(1024)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn task(taint: Taint, said: Taint) -> Past {
        Past { finish: 1, is_short: false, items: items(taint, said) }
    }

    fn items(taint: Taint, said: Taint) -> Vec<Item> {
        let call = Call {
            id: "c1.0".to_owned(),
            name: "web_fetch".to_owned(),
            arguments: json!({"url": "https://a.example/x"}),
        };
        let answer = Answer { taint, ..Answer::words("c1.0", "obey ".repeat(3_000)) };
        vec![
            Item::Asked { text: String::new(), calls: vec![call], taint: Taint::Clean },
            Item::Answered { answers: vec![answer] },
            Item::Said { text: "It says hello.".to_owned(), taint: said },
        ]
    }

    #[test]
    fn raw_words_of_earlier_tasks_are_stubs_and_come_back_whole() {
        let history = [task(Taint::Raw, Taint::Derived)];
        let all = collect(&history, 0);
        let (Item::Asked { calls, .. }, Item::Answered { answers }) =
            (&history[0].items[0], &history[0].items[1])
        else {
            unreachable!()
        };
        let stub = shown(&calls[0], &answers[0]);
        assert_eq!(
            stub.text,
            format!(
                "(web_fetch of https://a.example/x answered 15 KB; recall {} brings it back)",
                all[0].id
            )
        );
        assert_eq!(stub.taint, Taint::Clean);
        assert_eq!(all[0].text, answers[0].text);
        assert!(!stub.text.contains("obey"));
    }

    #[test]
    fn the_bots_own_words_keep_their_level() {
        assert_eq!(level(&[task(Taint::Raw, Taint::Derived)]), Taint::Derived);
        assert_eq!(level(&[task(Taint::Raw, Taint::Clean)]), Taint::Clean);
        assert_eq!(level(&[]), Taint::Clean);
    }

    /// A transcript of an earlier version says nothing of levels: nothing of it counts as clean.
    #[test]
    fn rows_without_a_level_are_taken_for_the_worst() {
        let rows = json!([
            {"item": "asked", "text": "", "calls": [{"id": "c", "name": "bash", "arguments": {}}]},
            {"item": "answered", "answers": [{"call": "c", "text": "x", "is_error": false}]},
            {"item": "said", "text": "Done."},
        ]);
        let items: Vec<Item> = serde_json::from_value(rows).unwrap();
        assert_eq!(items[1].level(), Taint::Raw);
        let said = items[2].level();
        let task = Past { finish: 1, is_short: false, items };
        assert_eq!((said, level(&[task])), (Taint::Derived, Taint::Derived));
    }

    #[test]
    fn what_is_cut_comes_back_whole_with_its_level() {
        let history = [Past { is_short: true, ..task(Taint::Derived, Taint::Derived) }];
        let (Item::Asked { calls, .. }, Item::Answered { answers }) =
            (&history[0].items[0], &history[0].items[1])
        else {
            unreachable!()
        };
        let all = collect(&history, 1);
        assert_eq!((all.len(), all[0].level), (1, Taint::Derived));
        assert_eq!(all[0].text, answers[0].text);
        let cut = short(&calls[0], &answers[0]);
        assert!(cut.text.len() < LONG && cut.text.contains(&all[0].id), "{}", cut.text);
        assert_eq!(cut.taint, Taint::Derived);
    }
}
