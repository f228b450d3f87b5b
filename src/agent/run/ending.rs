//! How a run ends: what is stored of it and what is said.

use super::{Run, Unstored};
use crate::agent::header::LastAnswerOnly;
use crate::agent::{Ending, budget, messages, plan};
use crate::domain::course::Course;
use crate::domain::transcript::{Answer, Item};
use crate::store::End;

impl Run {
    /// Whether the model may end without another word: its calls are answered, and nobody has spoken since. A call that
    /// failed may have done something, too.
    pub(super) fn may_end(&self) -> bool {
        self.last_answers().is_some()
    }

    /// Ends where the model has written nothing. What it said beside its last calls is the answer; of what did not work
    /// it may have spoken too soon. The last step was to say what is left undone.
    pub(super) fn end_without_words(&mut self, hushed: Option<&LastAnswerOnly>) {
        if matches!(hushed, Some(LastAnswerOnly::LastStep)) {
            return self.limit_reached(&budget::Spent::Steps(self.header.steps));
        }
        let mut text = self.said_beside().to_owned();
        let answers = self.last_answers().unwrap_or_default();
        if hushed.is_none() && answers.iter().any(|answer| answer.is_error) {
            let gap = if text.is_empty() { "" } else { "\n\n" };
            text = format!("{text}{gap}{}", messages::last_step_failed());
        }
        self.items.push(Item::said(text.clone(), self.read));
        self.end(End::Done, text);
    }

    /// The answers to the newest calls, when nobody has spoken since.
    fn last_answers(&self) -> Option<&[Answer]> {
        self.items.iter().rev().find(|item| !matches!(item, Item::Noted { .. })).and_then(answers)
    }

    /// What the model said beside its last calls.
    fn said_beside(&self) -> &str {
        let mut asked = self.items.iter().rev().filter_map(|item| match item {
            Item::Asked { text, calls, .. } => Some((text.trim(), calls.first()?.step())),
            _ => None,
        });
        let Some((last, step)) = asked.next() else { return "" };
        let same = asked.take_while(|(_, other)| *other == step).map(|(text, _)| text);
        std::iter::once(last).chain(same).find(|text| !text.is_empty()).unwrap_or_default()
    }

    pub(super) fn ending(&mut self) -> Ending {
        let (end, text) = self.ended.clone().unwrap_or((End::Stopped, String::new()));
        let Unstored { append, header, usage, seen, wrote } = self.take_unstored();
        let text = match plan::standing(&self.items) {
            Some(_) => plan::without_marks(&text),
            None => text,
        };
        // What was refused without it, too, was not refused for its sake.
        let set_aside = self.header.set_aside && self.header.went_on;
        let mut text = match set_aside {
            true => format!("{}\n\n{text}", messages::set_aside()),
            false => text,
        };
        if end != End::Done {
            let covers = messages::covers(&self.taken_in());
            if text.is_empty() && !covers.is_empty() {
                text.push_str(messages::stopped());
            }
            text.push_str(&covers);
        }
        let absorbed = std::mem::take(&mut self.absorbed);
        Ending {
            append,
            header,
            end,
            text,
            usage,
            set_aside,
            seen,
            facts: None,
            cut: None,
            absorbed,
            wrote,
            course: Course::default(),
        }
    }
}

fn answers(item: &Item) -> Option<&[Answer]> {
    match item {
        Item::Answered { answers } => Some(answers),
        _ => None,
    }
}
