//! Messages that arrive while their conversation's task runs: which of them its model may see at once.
//!
//! They may say no more than the run was shaped for: a newcomer with less trust, or foreign words where
//! there were none, waits for a task of its own.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use selkie_channel_core::Inbound;
use selkie_channel_core::locked;

use crate::delivery::context::Context;
use crate::delivery::storage::Storage;
use crate::work::received;
use crate::work::rights::Rights;
use crate::work::settings::WhileBusy;
use selkie_agent::{Inflow, Newer, Source};
use selkie_domain::clock::SharedClock;
use selkie_domain::facts::{Facts, Trigger, Where};
use selkie_domain::ids::{InboxId, TaskId};
use selkie_domain::task::Claim;
use selkie_schedule::zone::Zone;
use selkie_store::{TaskClaim, WaitingTask};

/// The inflow of one task.
pub struct TaskInflow {
    storage: Arc<Storage>,
    clock: SharedClock,
    rights: Arc<Rights>,
    while_busy: WhileBusy,
    claim: Claim,
    claimed: TaskClaim,
    /// By which clocks its lines are told.
    zone: Zone,
    /// What was handed to the run, whether its model has seen it or not.
    given: Mutex<HashMap<TaskId, Vec<(InboxId, Inbound)>>>,
}

impl TaskInflow {
    pub(crate) fn new(
        context: &Context,
        rights: &Arc<Rights>,
        while_busy: WhileBusy,
        claimed: &TaskClaim,
        zone: Zone,
    ) -> Self {
        Self {
            storage: Arc::clone(&context.storage),
            clock: Arc::clone(&context.runtime.clock),
            rights: Arc::clone(rights),
            while_busy,
            claim: claimed.claim.clone(),
            claimed: claimed.clone(),
            zone,
            given: Mutex::default(),
        }
    }

    /// Returns the messages of tasks that the run has taken in.
    pub fn taken(&self, tasks: &[TaskId]) -> Vec<(InboxId, Inbound)> {
        let mut given = locked(&self.given);
        tasks.iter().filter_map(|task| given.remove(task)).flatten().collect()
    }

    fn is_on(&self) -> bool {
        // In the terminal every question waits for its own answer.
        self.while_busy == WhileBusy::Steer && matches!(self.claimed.facts.place, Where::Channel(_))
    }

    fn message(&self, run: &Facts, waiting: WaitingTask) -> Option<Newer> {
        let WaitingTask { task, mut facts, heard } = waiting;
        // A task with words of its own is no part of the talk: it waits for its turn.
        if heard.is_empty() {
            return None;
        }
        facts.trust = self.rights.of(&self.claimed, facts.trust, &heard)?;
        let plain = heard.iter().all(|(_, m)| !brings_files(m) && m.command.is_none());
        if !plain || !may_join(run, &facts) {
            return None;
        }
        let lines =
            heard.iter().map(|(row, message)| received::line(*row, message, self.zone)).collect();
        locked(&self.given).insert(task, heard);
        Some(Newer { source: Source::Task(task), heard: lines })
    }

    fn edit(&self, row: InboxId, edit: &Inbound) -> Option<Newer> {
        let same = |(_, old): &&(InboxId, Inbound)| {
            old.message == edit.message && old.speaker.id == edit.speaker.id
        };
        let given = locked(&self.given);
        let (_, old) = self.claimed.heard.iter().chain(given.values().flatten()).find(same)?;
        let unchanged = old.text == edit.text && old.command == edit.command;
        if unchanged || edit.forwarded {
            return None;
        }
        let mut line = received::line(row, edit, self.zone);
        line.speaker.push_str(", who has changed the message above to");
        // What it answers stands with the message itself.
        line.quote = None;
        Some(Newer { source: Source::Edit(row), heard: vec![line] })
    }
}

#[async_trait]
impl Inflow for TaskInflow {
    async fn newer(&self, facts: &Facts) -> Vec<Newer> {
        if !self.is_on() {
            return Vec::new();
        }
        let now = self.clock.now();
        let found = match self.storage.ledger.inflow(&self.claim, now).await {
            Ok(found) => found,
            Err(error) => {
                // They wait, as they would without steering.
                tracing::warn!(task = %self.claim.task, %error, "what came in cannot be read");
                return Vec::new();
            }
        };
        let edits = found.edits.iter().filter_map(|(row, edit)| self.edit(*row, edit));
        let edits: Vec<Newer> = edits.collect();
        let mut newer = edits;
        for waiting in found.waiting {
            let mut levels = Vec::with_capacity(waiting.heard.len());
            for (_, inbound) in &waiting.heard {
                levels.push(received::quoted(&self.storage, inbound, facts.trust).await);
            }
            if levels.iter().any(|level| *level > facts.taint) {
                continue;
            }
            let Some(mut message) = self.message(facts, waiting) else { continue };
            for (line, level) in message.heard.iter_mut().zip(levels) {
                line.quote.iter_mut().for_each(|quote| quote.level = level);
            }
            newer.push(message);
        }
        newer
    }
}

/// Whether files come with a message, or with what it replies to: they are fetched for a task of their own.
fn brings_files(message: &Inbound) -> bool {
    let quoted = message.quote.as_ref().is_some_and(|quote| !quote.attachments.is_empty());
    quoted || !message.attachments.is_empty()
}

/// Whether a newcomer may speak to a run that was shaped by these facts.
fn may_join(run: &Facts, newer: &Facts) -> bool {
    newer.trust >= run.trust
        && newer.taint <= run.taint
        && newer.mode == run.mode
        && (run.trigger, newer.trigger) == (Trigger::Asked, Trigger::Asked)
        && newer.summoned.iter().all(|name| run.summoned.contains(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::testing::{claimed, message};
    use selkie_domain::facts::{Mode, Trust};
    use selkie_domain::taint::Taint;

    #[test]
    fn nobody_with_less_speaks_to_a_run_with_more() {
        use Trust::{Allowed, Owner, Stranger};
        let facts = claimed(1, &message("tg:1", "hi")).facts;
        let of = |trust, foreign| {
            let taint = if foreign { Taint::Raw } else { Taint::Clean };
            Facts { trust, taint, ..facts.clone() }
        };
        for (run, newer, joins) in [
            (of(Owner, false), of(Owner, false), true),
            (of(Owner, false), of(Allowed, false), false),
            (of(Allowed, false), of(Stranger, false), false),
            (of(Stranger, false), of(Owner, false), true),
            (of(Owner, false), of(Owner, true), false),
            (of(Owner, true), of(Owner, true), true),
            (of(Owner, true), of(Owner, false), true),
            (Facts { mode: Mode::Plan, ..of(Owner, false) }, of(Owner, false), false),
            (Facts { trigger: Trigger::Scheduled, ..of(Owner, false) }, of(Owner, false), false),
        ] {
            assert_eq!(may_join(&run, &newer), joins, "{run:?} and {newer:?}");
        }
        let names = |name: &str| Facts { summoned: vec![name.to_owned()], ..facts.clone() };
        assert!(may_join(&names("bash"), &names("bash")));
        assert!(!may_join(&facts, &names("bash")), "its tool needs a task of its own");
        assert!(may_join(&names("bash"), &facts));
    }
}
