//! Calls that are made: judged before, marked as begun, answered.

use super::Run;
use crate::header::{Header, LastAnswerOnly};
use crate::loop_guard::Verdict;
use crate::messages;
use selkie_domain::transcript::{Answer, Call, Item};

impl Run {
    /// Judges a call before it is made; an answer here means that it is not made.
    pub fn judge(&mut self, call: &Call) -> Option<Answer> {
        let text = match self.header.loop_guard.judge(call, self.settings.repeat_limit) {
            _ if self.ended.is_some() => messages::NEVER_ANSWERED.to_owned(),
            Verdict::Fresh => return None,
            Verdict::Repeated(times) => {
                self.header.hushed = Some(LastAnswerOnly::Repeated(call.name.clone()));
                messages::not_repeated(&call.name, times)
            }
            Verdict::Circling => {
                let line = messages::went_in_circles(&call.name);
                self.fail(line.clone(), line.clone());
                line
            }
        };
        Some(Answer::error(&call.id, text))
    }

    /// Notes that these open calls begin. What it is stored with need not be durable: a death of the process
    /// alone loses nothing.
    pub fn starts<'a>(&mut self, calls: impl Iterator<Item = &'a Call>) {
        self.header.started.extend(calls.map(|call| call.id.clone()));
    }

    /// Forgets which calls have begun: they were ended in good order, and may begin again. One whose approval, or the
    /// answer to its question, is used up may not.
    pub fn ended_in_order(&mut self) {
        let Header { approval, asking, started, .. } = &mut self.header;
        let is_used = |id: &String| {
            approval.as_ref().is_some_and(|approval| approval.call == *id)
                || asking.as_ref().is_some_and(|asking| asking.call == *id)
        };
        started.retain(is_used);
    }

    /// Whether a call had begun when the process died.
    pub fn has_started(&self, call: &Call) -> bool {
        self.header.started.contains(&call.id)
    }

    /// Takes the answers to all open calls, in their order.
    pub fn answered(&mut self, calls: &[Call], answers: Vec<Answer>) {
        for (call, answer) in calls.iter().zip(&answers) {
            self.header.loop_guard.note(call, answer);
        }
        self.items.push(Item::Answered { answers });
        self.resumed = false;
        self.header.started.clear();
        self.header.asking = None;
        self.header.approval = None;
        if let Some(hush @ LastAnswerOnly::Repeated(_)) = self.header.hushed.take() {
            // The model goes in circles: what it wanted afterwards is not begun.
            self.give_up_later();
            self.header.loop_guard.warn();
            self.hush(hush);
        } else if !self.header.later.is_empty() && self.ended.is_none() {
            let calls = self.header.later.remove(0);
            let taint = self.read.max(self.level()).written();
            self.items.push(Item::Asked { text: String::new(), calls, taint });
        }
    }
}
