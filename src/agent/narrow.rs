//! A task's own turns in a window that is too small for them: what matters least goes first, and every call keeps its answer.

use serde_json::json;

use crate::prompt::{FENCE_CLOSE, FENCE_OPEN};
use crate::{history, prompt, short};
use selkie_domain::transcript::Turn;

/// What is kept of a text in any case, in bytes.
const KEPT: usize = 240;
/// Stands for a picture that has left.
const NO_PICTURE: &str = "[The picture is not shown: this model's window is too small for it.]";

/// Stands in the middle of a message that was cut.
const MIDDLE: &str = "\n[a part was left out: the model's window is small]\n";
/// What a fence may take that is added.
const FENCE_ROOM: usize = 40;

/// Brings turns down to about `most` bytes: the answers of the last calls, then the oldest calls, then pictures, what the
/// last calls were made with, and long texts.
pub fn cut(turns: &mut Vec<Turn>, most: usize) {
    cut_last_answers(turns, most);
    leave_out_oldest(turns, most);
    if history::size(turns) > most {
        turns.iter_mut().for_each(without_pictures);
        cut_arguments(turns);
    }
    cut_texts(turns, most);
}

fn cut_last_answers(turns: &mut [Turn], most: usize) {
    let over = history::size(turns).saturating_sub(most);
    let Some(Turn::Calls { calls, .. }) = turns.last_mut().filter(|_| over > 0) else { return };
    let size: usize = calls.iter().map(|(_, answer)| answer.text.len()).sum();
    let each = size.saturating_sub(over) / calls.len().max(1);
    calls.iter_mut().for_each(|(_, answer)| short::text(&mut answer.text, each.max(KEPT)));
}

fn leave_out_oldest(turns: &mut Vec<Turn>, most: usize) {
    let mut noted = false;
    while history::size(turns) > most {
        let before_last = turns.len().saturating_sub(1);
        let oldest = turns[..before_last].iter().position(|t| matches!(t, Turn::Calls { .. }));
        let Some(at) = oldest else { return };
        turns.remove(at);
        if !noted {
            let words = "earlier steps of this task were left out: the window is small";
            turns.insert(at, Turn::User(format!("{} {words}", prompt::NOTE)));
            noted = true;
        }
    }
}

fn without_pictures(turn: &mut Turn) {
    match turn {
        Turn::Shown { text, .. } => *turn = Turn::User(format!("{text}\n{NO_PICTURE}")),
        Turn::Calls { calls, .. } => {
            for (_, answer) in calls.iter_mut().filter(|(_, answer)| !answer.pictures.is_empty()) {
                answer.pictures.clear();
                answer.text.push('\n');
                answer.text.push_str(NO_PICTURE);
            }
        }
        Turn::User(_) | Turn::Assistant(_) => {}
    }
}

fn cut_arguments(turns: &mut [Turn]) {
    let Some(Turn::Calls { calls, own, .. }) = turns.last_mut() else { return };
    for (call, _) in calls {
        let mut written = call.arguments.to_string();
        if written.len() > 2 * KEPT {
            short::text(&mut written, 2 * KEPT);
            call.arguments = json!({ "cut": written });
            // The provider's own form holds them whole.
            *own = None;
        }
    }
}

/// The longest text first.
fn cut_texts(turns: &mut [Turn], most: usize) {
    for _ in 0..turns.len() {
        let over = history::size(turns).saturating_sub(most);
        let texts = turns.iter_mut().filter_map(|turn| match turn {
            Turn::User(text) | Turn::Assistant(text) => Some(text),
            Turn::Shown { .. } | Turn::Calls { .. } => None,
        });
        let Some(longest) = texts.max_by_key(|text| text.len()).filter(|_| over > 0) else {
            return;
        };
        let most = longest.len().saturating_sub(over);
        cut_message(longest, most.max(KEPT));
    }
}

/// Cuts a message in its middle: what somebody asks stands before or behind what comes along, and a fence around words of
/// others is closed wherever it is cut.
fn cut_message(text: &mut String, most: usize) {
    if text.len() <= most {
        return;
    }
    let most = most.saturating_sub(MIDDLE.len() + 2 * FENCE_ROOM);
    let head = &text[..text.floor_char_boundary(most / 3)];
    let tail = &text[text.ceil_char_boundary(text.len() - (most - most / 3))..];
    let is_open = fences(head).last() == Some(true);
    let closes = fences(tail).next() == Some(false);
    *text = match (is_open, closes) {
        (true, false) => format!("{head}{MIDDLE}{FENCE_CLOSE}\n{tail}"),
        (false, true) => format!("{head}{MIDDLE}{FENCE_OPEN} the end of a text\n{tail}"),
        _ => format!("{head}{MIDDLE}{tail}"),
    };
}

/// The lines that open a fence, true, or close one.
fn fences(text: &str) -> impl Iterator<Item = bool> {
    text.lines().filter_map(|line| match line {
        FENCE_CLOSE => Some(false),
        line => line.starts_with(FENCE_OPEN).then_some(true),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use selkie_domain::transcript::{Answer, Call};

    fn step(n: usize, arguments: usize, answer: usize) -> Turn {
        let id = format!("c{n}.0");
        let call = Call {
            id: id.clone(),
            name: "t".into(),
            arguments: json!({ "a": "x".repeat(arguments) }),
        };
        Turn::Calls {
            text: String::new(),
            calls: vec![(call, Answer::words(&id, "é".repeat(answer)))],
            own: None,
        }
    }

    #[test]
    fn a_message_keeps_what_is_asked_and_its_fences() {
        let fence = |words: &str| format!("<<<untrusted quote\n{words}\n>>>");
        let long = "x ".repeat(4_000);
        let most = 1_200;
        for whole in [
            format!("[now]\n{}\nhow many lines?", fence(&long)),
            format!("[now]\n{}\n{}\nhow many lines?", fence("a"), fence(&long)),
            format!("[now]\n{long}\n{}\nhow many lines?", fence(&"y ".repeat(500))),
            format!("[now]\n{}\n{long} how many lines?", fence("a")),
        ] {
            let mut cut = whole.clone();
            cut_message(&mut cut, most);
            assert!(cut.len() <= most && cut.starts_with("[now]"), "{cut}");
            assert!(cut.ends_with("how many lines?"), "{cut}");
            // They open and close in turn, and what was inside is.
            let marks: Vec<bool> = fences(&cut).collect();
            let in_turn = marks.iter().enumerate().all(|(at, opens)| *opens == (at % 2 == 0));
            assert!(in_turn && marks.len().is_multiple_of(2), "{cut}");
        }
    }

    proptest! {
        #[test]
        fn what_is_cut_fits_and_ends_as_before(
            steps in prop::collection::vec((0usize..3_000, 0usize..9_000), 0..12), said in 0usize..9_000
        ) {
            let mut turns = vec![Turn::User("m".repeat(said))];
            turns.extend(steps.iter().enumerate().map(|(n, (arguments, answer))| step(n, *arguments, *answer)));
            let last = turns.len() - 1;
            cut(&mut turns, 3_000);
            prop_assert!(history::size(&turns) <= 3_000, "{}", history::size(&turns));
            prop_assert!(matches!(turns[0], Turn::User(_)));
            if last > 0 {
                let Some(Turn::Calls { calls, .. }) = turns.last() else { panic!("{turns:?}") };
                prop_assert_eq!(&calls[0].0.id, &format!("c{}.0", last - 1));
            }
        }
    }
}
