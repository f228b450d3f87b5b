//! A call that needs somebody's approval: the run waits for it, and remembers what was refused.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};

use super::{Run, StepRecord};
use crate::Seeks;
use crate::header::CallApproval;
use selkie_domain::approval::{ApprovalState, Request};
use selkie_domain::transcript::Call;
use selkie_store::ApprovalRow;

/// Sets the keys of approvals apart from those of questions that the same call asks.
const NUMBER: usize = 1 << 20;

impl Run {
    /// The open call needs approval before it is made.
    pub fn seeks(&mut self, call: &Call, request: Request, now: DateTime<Utc>) {
        let key = self.key(&call.id, NUMBER);
        self.header.approval = Some(CallApproval { call: call.id.clone(), key, since: Some(now) });
        self.seek = Some(request);
    }

    /// Notes which calls of the newest answer ask before they are made.
    pub fn will_ask(&mut self, calls: Vec<String>) {
        self.header.will_ask = calls;
    }

    /// Whether an open call was to ask and has not asked yet.
    pub fn has_not_asked(&self, call: &Call) -> bool {
        self.approval_key(call).is_none() && self.header.will_ask.contains(&call.id)
    }

    /// Returns the approval that an open call waited for.
    pub fn approval_key(&self, call: &Call) -> Option<&str> {
        let held = self.header.approval.as_ref().filter(|held| held.call == call.id);
        held.map(|held| held.key.as_str())
    }

    /// Takes up what the run was parked on. The time it waited is nobody's.
    pub fn approval_settled(&mut self, approval: &ApprovalRow, now: DateTime<Utc>) {
        let Some(held) = self.header.approval.as_mut().filter(|held| held.key == approval.key)
        else {
            return;
        };
        if let Some(since) = held.since.take() {
            self.header.since += now - since;
        }
    }

    /// The task's clock stood for so long: people were asked in the middle of a call.
    pub fn stood(&mut self, stood: Duration) {
        self.header.since += TimeDelta::from_std(stood).unwrap_or_default();
    }

    /// Notes what was decided: a tool that was refused is not asked for again in this task.
    pub fn refuses(&mut self, tool: &str, state: ApprovalState) {
        let for_good = matches!(
            state,
            ApprovalState::Denied | ApprovalState::Expired | ApprovalState::NotAsked
        );
        if for_good && !self.is_refused(tool) {
            self.header.denied.push(tool.to_owned());
        }
    }

    /// Whether somebody has refused this task the tool.
    pub fn is_refused(&self, tool: &str) -> bool {
        self.header.denied.iter().any(|denied| denied == tool)
    }

    /// The call is not started after all.
    pub fn starts_not(&mut self, call: &Call) {
        self.header.started.retain(|id| *id != call.id);
    }

    pub(super) fn seeking(&mut self) -> Option<Seeks> {
        let request = self.seek.take().filter(|_| self.ended.is_none())?;
        let key = self.header.approval.as_ref()?.key.clone();
        // What came in was stored with the answer that asks.
        let StepRecord { append, header, usage, .. } = self.take_unstored();
        Some(Seeks { key, request, append, header, usage })
    }
}
