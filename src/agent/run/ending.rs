//! How a run ends: what is stored of it and what is said.

use super::{Run, StepRecord};
use crate::header::LastAnswerOnly;
use crate::{DriveOutcome, budget, messages, plan};
use selkie_domain::transcript::{Answer, Item};
use selkie_store::End;

impl Run {
    /// Ends because a person wants it.
    pub fn stop(&mut self) {
        self.end(End::Stopped, String::new());
    }

    /// Whether a person ended it.
    pub fn is_stopped(&self) -> bool {
        matches!(self.ended, Some((End::Stopped, _)))
    }

    /// Whether the model may end without another word: its calls are answered, and nobody has spoken since. A call that
    /// failed may have done something, too.
    pub(super) fn may_end(&self) -> bool {
        let last = self.items.iter().rev().find(|item| !matches!(item, Item::Noted { .. }));
        last.is_some_and(|item| answers(item).is_some())
    }

    /// Ends where the model has written nothing. What it said beside its last calls is the answer; of what did not work
    /// it may have spoken too soon. The last step was to say what is left undone.
    pub(super) fn end_without_words(&mut self, hushed: Option<&LastAnswerOnly>) {
        if matches!(hushed, Some(LastAnswerOnly::LastStep)) {
            return self.limit_reached(&budget::SpentLimit::Steps(self.header.steps));
        }
        let said = self.last_step().iter().find_map(|item| match item {
            Item::Asked { text, .. } => Some(text.trim()).filter(|text| !text.is_empty()),
            _ => None,
        });
        let mut text = said.unwrap_or_default().to_owned();
        let mut answers = self.last_step().iter().filter_map(answers).flatten();
        if hushed.is_none() && answers.any(|answer| answer.is_error) {
            let gap = if text.is_empty() { "" } else { "\n\n" };
            text = format!("{text}{gap}{}", messages::LAST_STEP_FAILED);
        }
        self.items.push(Item::said(text.clone(), self.read));
        self.end(End::Done, text);
    }

    /// The newest model calls with their answers: all groups of one answer.
    fn last_step(&self) -> &[Item] {
        let Some(last) = self.items.iter().rev().find_map(Item::step) else { return &[] };
        let first = self.items.iter().position(|item| item.step() == Some(last));
        &self.items[first.unwrap_or_default()..]
    }

    pub(super) fn ending(&mut self) -> DriveOutcome {
        let (end, text) = self.ended.clone().unwrap_or_default();
        let StepRecord { append, header, usage, seen, wrote, .. } = self.take_unstored();
        let text = match plan::standing(&self.items) {
            Some(_) => plan::without_marks(&text),
            None => text,
        };
        // What was refused without it, too, was not refused for its sake.
        let set_aside = self.header.set_aside && self.header.went_on;
        let mut text = match set_aside {
            true => format!("{}\n\n{text}", messages::SET_ASIDE),
            false => text,
        };
        if end != End::Done {
            let covers = messages::covers(&self.taken_in());
            if text.is_empty() && !covers.is_empty() {
                text.push_str(messages::STOPPED);
            }
            text.push_str(&covers);
        }
        let pictures = match end {
            // What was made before a limit or a failure is paid for.
            End::Done | End::Failed { .. } => self.header.pictures.clone(),
            End::Stopped => Vec::new(),
        };
        let absorbed = std::mem::take(&mut self.absorbed);
        DriveOutcome {
            append,
            header,
            end,
            text,
            pictures,
            usage,
            set_aside,
            seen,
            absorbed,
            wrote,
            ..DriveOutcome::default()
        }
    }
}

fn answers(item: &Item) -> Option<&[Answer]> {
    match item {
        Item::Answered { answers } => Some(answers),
        _ => None,
    }
}
