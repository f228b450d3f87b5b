//! Calls that stand alone, and a run that is parked on a question to a person.

use chrono::{DateTime, Utc};
use sha2::{Digest as _, Sha256};

use super::{Run, StepRecord};
use crate::header::QuestionCall;
use crate::{PendingQuestion, messages};
use selkie_domain::question::QuestionResult;
use selkie_domain::transcript::{Answer, Call, Item};
use selkie_store::QuestionRow;
use selkie_tools::CallQuestion;
use serde_json::Value;

/// How a call stands among the others of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Beside others.
    Beside,
    /// With those of its kind that come right before and after it.
    Grouped,
    /// Alone.
    Alone,
}

impl Run {
    /// Takes what came of the question that the run was parked on. The time it was open is nobody's.
    pub fn settled(&mut self, question: &QuestionRow, now: DateTime<Utc>) {
        let Some(asking) = &mut self.header.asking else { return };
        let Some((key, since)) = &asking.open else { return };
        let Some(given) = question.given.clone().filter(|_| *key == question.key) else { return };
        self.header.since += now - *since;
        asking.given.push(given);
        asking.open = None;
    }

    /// Puts calls that stand alone apart, and consecutive ones that group together: those before them are answered first,
    /// those after them are asked for when they are answered.
    pub fn separate(&mut self, mut standing: impl FnMut(&Call) -> Standing) {
        let Some(Item::Asked { calls, .. }) = self.items.last_mut() else { return };
        let mut groups: Vec<Vec<Call>> = Vec::new();
        let mut before = Standing::Alone;
        for call in std::mem::take(calls) {
            let now = standing(&call);
            match groups.last_mut() {
                Some(group) if before == now && now != Standing::Alone => group.push(call),
                _ => groups.push(vec![call]),
            }
            before = now;
        }
        *calls = groups.remove(0);
        self.header.later = groups;
    }

    /// Answers the calls that were to come when those before them were answered: they are not made.
    pub(super) fn give_up_later(&mut self) {
        let calls: Vec<Call> =
            std::mem::take(&mut self.header.later).into_iter().flatten().collect();
        if calls.is_empty() {
            return;
        }
        let answers = calls.iter().map(|call| Answer::error(&call.id, messages::NOT_BEGUN));
        let answers = Item::Answered { answers: answers.collect() };
        let taint = self.read.max(self.level()).written();
        self.items.push(Item::Asked { text: String::new(), calls, taint });
        self.items.push(answers);
    }

    /// The open call wants a person to be asked, and goes on with the answer: until then it has not begun again.
    pub fn asks(&mut self, call: &Call, question: CallQuestion, now: DateTime<Utc>) {
        let CallQuestion { ask, kept } = question;
        let given = self.given(&call.id);
        let open = Some((self.key(&call.id, given.len()), now));
        self.header.asking = Some(QuestionCall { call: call.id.clone(), given, open, kept });
        self.ask = Some(ask);
        self.starts_not(call);
    }

    /// Whether a call waits to go on with the answer to its question.
    pub fn goes_on(&self, call: &Call) -> bool {
        let asking = self.header.asking.as_ref().filter(|asking| asking.call == call.id);
        asking.is_some_and(|asking| asking.open.is_none()) && !self.has_started(call)
    }

    /// Returns what a call kept when it asked its last question.
    pub fn kept(&self, call: &str) -> Option<Value> {
        self.header.asking.as_ref().filter(|asking| asking.call == call)?.kept.clone()
    }

    /// Returns what people answered to a call's questions so far.
    pub fn given(&self, call: &str) -> Vec<QuestionResult> {
        let asking = self.header.asking.as_ref().filter(|a| a.call == call);
        asking.map(|a| a.given.clone()).unwrap_or_default()
    }

    pub(super) fn parking(&mut self) -> Option<PendingQuestion> {
        let ask = self.ask.take().filter(|_| self.ended.is_none())?;
        let (key, _) = self.header.asking.as_ref()?.open.clone()?;
        // What came in was stored with the answer that asks.
        let StepRecord { append, header, usage, .. } = self.take_unstored();
        Some(PendingQuestion { key, ask, append, header, usage })
    }

    /// Names a question: the same for the same question of the same run, and no other's.
    pub(super) fn key(&self, call: &str, number: usize) -> String {
        let since = self.header.since.timestamp_micros();
        let first = self.items.iter().find_map(|item| match item {
            Item::Received(heard) => heard.inbox,
            _ => None,
        });
        let of = match (first, self.task) {
            (None, Some(task)) => format!("{since} task {task} {call} {number}"),
            (first, _) => format!("{since} {} {call} {number}", first.map_or(0, |row| row.0)),
        };
        let digest = Sha256::digest(of);
        digest.iter().take(10).fold(String::new(), |key, byte| key + &format!("{byte:02x}"))
    }
}
