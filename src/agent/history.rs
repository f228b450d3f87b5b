//! From stored items to the turns a provider wants.

use std::collections::BTreeMap;

use crate::{earlier, messages, prompt, short};
use selkie_domain::own_form::OwnForm;
use selkie_domain::tokens;
use selkie_domain::transcript::{Answer, Call, Item, Turn, UserMessage};
use selkie_store::Past;

/// What a picture counts, in bytes: providers count some 1,600 tokens for a large one.
const PICTURE: usize = 1_600 * tokens::BYTES;
/// What is kept of an old tool answer when space is short.
const SHRUNK: usize = 600;

/// Turns a task's items into turns: one for each answer of the model, however its calls were made. A call without an
/// answer is answered here: no provider ever sees one open.
pub fn turns(items: &[Item]) -> Vec<Turn> {
    turns_with(items, |_, answer| answer.clone())
}

/// The same of an earlier task: what a tool brought of others' words stands there as a stub, and where it is to be
/// short, long answers are cut, too.
pub fn past(task: &Past, is_short: bool) -> Vec<Turn> {
    turns_with(&task.items, |call, answer| match is_short {
        true => earlier::short(call, answer),
        false => earlier::shown(call, answer),
    })
}

fn turns_with(items: &[Item], shown: impl Fn(&Call, &Answer) -> Answer) -> Vec<Turn> {
    let mut turns = Vec::with_capacity(items.len());
    let mut items = items.iter().peekable();
    while let Some(item) = items.next() {
        match item {
            Item::Received(message) => turns.push(heard(message)),
            Item::Noted { text } => turns.push(Turn::User(format!("{} {text}", prompt::NOTE))),
            Item::Said { text, .. } if text.trim().is_empty() => {}
            Item::Said { text, .. } => turns.push(Turn::Assistant(text.clone())),
            Item::Asked { text, calls, .. } => {
                let mut all = answered(calls, items.peek(), &shown);
                let step = item.step();
                // Groups of one answer follow each other, with nothing but answers in between.
                while let Some(next) = items.next_if(|next| match next {
                    Item::Answered { .. } => true,
                    next => next.step().is_some() && next.step() == step,
                }) {
                    if let Item::Asked { calls, .. } = next {
                        all.extend(answered(calls, items.peek(), &shown));
                    }
                }
                turns.push(Turn::Calls { text: text.clone(), calls: all, own: None });
            }
            // Taken together with the calls above.
            Item::Answered { .. } => {}
        }
    }
    turns
}

/// Calls with what the item behind them answers.
fn answered(
    calls: &[Call],
    next: Option<&&Item>,
    shown: &impl Fn(&Call, &Answer) -> Answer,
) -> Vec<(Call, Answer)> {
    let answers = match next {
        Some(Item::Answered { answers }) => answers.as_slice(),
        _ => &[],
    };
    let one = |call: &Call| {
        let answer = answers.iter().find(|a| a.call == call.id).map(|answer| shown(call, answer));
        let open = || Answer::error(&call.id, messages::NEVER_ANSWERED);
        (short::call(call), answer.unwrap_or_else(open))
    };
    calls.iter().map(one).collect()
}

fn heard(message: &UserMessage) -> Turn {
    let text = prompt::heard(message);
    let pictures = message.all_pictures();
    if pictures.is_empty() { Turn::User(text) } else { Turn::Shown { text, pictures } }
}

/// Puts beside a task's own turns what their provider had written them in.
pub fn put_back(turns: &mut [Turn], forms: &BTreeMap<String, OwnForm>) {
    for turn in turns {
        if let Turn::Calls { calls, own, .. } = turn {
            let step = calls.first().map(|(call, _)| call.step());
            *own = step.and_then(|step| forms.get(step)).cloned();
        }
    }
}

/// Estimates the bytes of turns.
pub fn size(turns: &[Turn]) -> usize {
    turns.iter().map(turn_size).sum()
}

fn turn_size(turn: &Turn) -> usize {
    match turn {
        Turn::User(text) | Turn::Assistant(text) => text.len() + 8,
        Turn::Shown { text, pictures } => text.len() + 8 + pictures.len() * PICTURE,
        Turn::Calls { text, calls, own } => {
            let calls = calls
                .iter()
                .map(|(c, a)| c.name.len() + c.arguments.to_string().len() + answer_size(a) + 32);
            let own = own.as_ref().map_or(0, |own| own.json.len());
            text.len() + calls.sum::<usize>() + own
        }
    }
}

fn answer_size(answer: &Answer) -> usize {
    answer.text.len() + answer.pictures.len() * PICTURE
}

/// Shortens every tool answer but the last turn's.
pub fn shrink(turns: &mut [Turn]) {
    let last = turns.len().saturating_sub(1);
    for turn in &mut turns[..last] {
        let Turn::Calls { calls, .. } = turn else { continue };
        for (_, answer) in calls {
            if answer.text.len() > SHRUNK {
                let cut = selkie_channel_core::split::fitting(&answer.text, SHRUNK);
                answer.text.truncate(cut);
                answer.text.push_str("\n[the rest was left out to save space]");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use selkie_domain::taint::Taint;

    fn asked(n: usize) -> Item {
        let calls =
            (0..n).map(|i| Call { id: format!("c1.{i}"), name: "t".into(), arguments: json!({}) });
        Item::Asked { text: String::new(), calls: calls.collect(), taint: Taint::Clean }
    }

    fn answered(n: usize, text: &str) -> Item {
        let answers = (0..n).map(|i| Answer::words(&format!("c1.{i}"), text));
        Item::Answered { answers: answers.collect() }
    }

    #[test]
    fn an_ended_task_with_an_open_call_reads_as_answered() {
        let turns = turns(&[asked(1)]);
        let Turn::Calls { calls, .. } = &turns[0] else { panic!("{turns:?}") };
        assert_eq!(calls[0].1.text, messages::NEVER_ANSWERED);
    }

    #[test]
    fn own_answers_are_shrunk_but_the_last_turns() {
        let own = [asked(1), answered(1, &"y".repeat(3_000)), Item::Noted { text: "now".into() }];
        let mut tight = turns(&own);
        shrink(&mut tight);
        let Turn::Calls { calls, .. } = &tight[0] else { panic!("{tight:?}") };
        assert!(calls[0].1.text.len() < 700);
    }

    #[test]
    fn the_groups_of_one_answer_are_one_turn() {
        let group = |step: u32, n: usize, text: &str| {
            let id = format!("c{step}.{n}");
            let call = Call { id: id.clone(), name: "t".into(), arguments: json!({}) };
            let (text, taint) = (text.to_owned(), Taint::Clean);
            let asked = Item::Asked { text, calls: vec![call], taint };
            [asked, Item::Answered { answers: vec![Answer::words(&id, format!("a{n}"))] }]
        };
        let mut items = [group(1, 0, "well"), group(1, 1, ""), group(1, 2, "")].concat();
        items.extend(group(2, 0, "and"));
        // The last group of a task that was ended is not answered.
        items.pop();
        let turns = turns(&items);
        let shown = turns.iter().map(|turn| match turn {
            Turn::Calls { text, calls, .. } => {
                let calls =
                    calls.iter().map(|(call, answer)| format!("{}={}", call.id, answer.text));
                format!("{text}: {}", calls.collect::<Vec<_>>().join(" "))
            }
            other => panic!("{other:?}"),
        });
        let open = format!("and: c2.0={}", messages::NEVER_ANSWERED);
        assert_eq!(shown.collect::<Vec<_>>(), ["well: c1.0=a0 c1.1=a1 c1.2=a2", &open]);
    }

    proptest! {
        #[test]
        fn every_call_of_every_turn_has_its_answer(calls in 1usize..5, answers in 0usize..5) {
            let turns = turns(&[asked(calls), answered(answers.min(calls), "ok")]);
            for turn in &turns {
                if let Turn::Calls { calls, .. } = turn {
                    for (call, answer) in calls {
                        prop_assert_eq!(&call.id, &answer.call);
                    }
                }
            }
        }
    }
}
