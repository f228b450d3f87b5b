//! What tools brought of others' words into earlier tasks: a stub in the history, so that it is read again
//! only when it is asked for, and its level comes with it.

use std::sync::Arc;

use crate::domain::taint::Taint;
use crate::domain::transcript::{Answer, Call, Item};
use crate::tools::scope::Earlier;

/// How much of what was called a stub names, in bytes.
const NAMED: usize = 120;

/// Returns an answer as later tasks see it.
pub fn shown(call: &Call, answer: &Answer) -> Answer {
    if answer.taint < Taint::Raw {
        return answer.clone();
    }
    let id = id(call, answer);
    let size = size(answer.text.len());
    let text = format!("({} answered {size}; recall {id} brings it back)", named(call));
    Answer { is_error: answer.is_error, ..Answer::words(&call.id, text) }
}

/// Returns the level of a history as it is sent.
pub fn level(history: &[Vec<Item>]) -> Taint {
    history.iter().flatten().map(Item::level_later).max().unwrap_or_default()
}

/// Collects what stubs stand for.
pub fn collect(history: &[Vec<Item>]) -> Arc<[Earlier]> {
    let mut all = Vec::new();
    for pair in history.iter().flat_map(|items| items.windows(2)) {
        let [Item::Asked { calls, .. }, Item::Answered { answers }] = pair else { continue };
        for answer in answers.iter().filter(|answer| answer.taint == Taint::Raw) {
            let Some(call) = calls.iter().find(|call| call.id == answer.call) else { continue };
            all.push(Earlier {
                id: id(call, answer),
                of: named(call),
                text: answer.text.clone(),
                pictures: answer.pictures.clone(),
            });
        }
    }
    all.into()
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

    fn task(taint: Taint, said: Taint) -> Vec<Item> {
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
        let all = collect(&history);
        let (Item::Asked { calls, .. }, Item::Answered { answers }) =
            (&history[0][0], &history[0][1])
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
        assert_eq!((items[2].level(), level(&[items])), (Taint::Derived, Taint::Derived));
    }
}
