//! Calls by which agents work: the run waits for those that are awaited, and answers by what they have come to.

use chrono::{DateTime, Utc};

use super::{Run, StepRecord};
use crate::header::{AgentCall, ChildrenCalls};
use crate::{NewChildren, PendingChildren, messages};
use selkie_domain::task::TaskState;
use selkie_domain::transcript::Answer;
use selkie_domain::usage::Usage;
use selkie_store::ChildEnd;

impl Run {
    /// Begins children for the open calls.
    pub fn begins(&mut self, calls: Vec<AgentCall>, new: NewChildren, now: DateTime<Utc>) {
        self.header.children = Some(ChildrenCalls { since: now, calls });
        self.new_children = Some(new);
    }

    /// Whether the open calls have begun children.
    pub fn has_begun(&self) -> bool {
        self.header.children.is_some()
    }

    /// Answers the open calls by what the children have come to. The time that they took is not the task's.
    pub fn takes_ends(&mut self, ends: &[ChildEnd], now: DateTime<Utc>) -> Vec<Answer> {
        let Some(waited) = self.header.children.take() else { return Vec::new() };
        self.header.since += now - waited.since;
        let answer = |call: AgentCall| {
            let AgentCall { mut answer, awaited } = call;
            let several = awaited.len() > 1;
            let told = awaited.iter().map(|name| {
                let key = format!("{}/{name}", answer.call);
                let end = ends.iter().find(|end| end.call == key);
                (messages::agent_ended(name, end, several), end)
            });
            let told: Vec<(String, Option<&ChildEnd>)> = told.collect();
            for (text, end) in told {
                if !answer.text.is_empty() {
                    answer.text.push_str("\n\n");
                }
                answer.text.push_str(&text);
                answer.taint = answer.taint.max(end.map(|end| end.level).unwrap_or_default());
                let is_well = end.is_some_and(|end| end.state == TaskState::Done);
                answer.is_error |= !is_well;
            }
            answer
        };
        waited.calls.into_iter().map(answer).collect()
    }

    /// Notes what others of the same family have used.
    pub fn family_used(&mut self, usage: Usage) {
        self.family = usage;
    }

    pub(super) fn waiting_for_children(&mut self) -> Option<PendingChildren> {
        let new = self.new_children.take().filter(|_| self.ended.is_none())?;
        // What came in was stored with the answer that asks.
        let StepRecord { append, header, usage, .. } = self.take_unstored();
        Some(PendingChildren { new, append, header, usage })
    }
}
