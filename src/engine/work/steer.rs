//! Messages that arrive while their conversation's task runs: which of them its model may see at once.
//!
//! They may say no more than the run was shaped for: a newcomer with less trust, or foreign words where
//! there were none, waits for a task of its own. Only what belongs to the request itself may bring foreign words, before
//! the first answer: the run is shaped anew then.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use selkie_channel_core::Inbound;
use selkie_channel_core::locked;

use crate::work::attachments::{Attachments, TaskMessage};
use crate::work::own_words;
use crate::work::received;
use crate::work::rights::Rights;
use crate::work::running_tasks::TaskMark;
use crate::work::settings::WhileBusy;
use selkie_agent::{Inflow, Newer, Source};
use selkie_domain::facts::{Facts, Trigger, Where};
use selkie_domain::ids::{InboxId, TaskId};
use selkie_domain::transcript::UserMessage;
use selkie_schedule::zone::Zone;
use selkie_store::{TaskClaim, WaitingTask};

/// The inflow of one task.
pub struct TaskInflow {
    attachments: Attachments,
    rights: Arc<Rights>,
    while_busy: WhileBusy,
    mark: TaskMark,
    claimed: TaskClaim,
    /// By which clocks its lines are told.
    zone: Zone,
    /// What was handed to the run, whether its model has seen it or not.
    given: Mutex<HashMap<TaskId, Vec<(InboxId, Inbound)>>>,
}

impl TaskInflow {
    pub(crate) fn new(
        attachments: &Attachments,
        rights: &Arc<Rights>,
        while_busy: WhileBusy,
        mark: &TaskMark,
        claimed: &TaskClaim,
        zone: Zone,
    ) -> Self {
        if claimed.has_joined {
            mark.join(None);
        }
        Self {
            attachments: attachments.clone(),
            rights: Arc::clone(rights),
            while_busy,
            mark: mark.clone(),
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

    /// Reads what waits; nothing when the store does not answer: it waits then, as it would without steering.
    async fn waiting(&self) -> selkie_store::Inflow {
        let context = &self.attachments.context;
        let claim = &self.claimed.claim;
        let found = context.storage.ledger.inflow(claim, context.runtime.clock.now()).await;
        found.unwrap_or_else(|error| {
            tracing::warn!(task = %claim.task, %error, "what came in cannot be read");
            selkie_store::Inflow::default()
        })
    }

    /// Takes what an agent says, whose level is not above the run's.
    fn of_agent(&self, run: &Facts, waiting: WaitingTask) -> Option<Newer> {
        let words = waiting.words.as_ref()?;
        let agent = words.agent.as_ref()?;
        let facts = &waiting.facts;
        if facts.taint > run.taint || facts.trust < run.trust {
            return None;
        }
        let line = own_words::of_agent(words, agent, facts.taint, self.zone);
        Some(self.given(waiting, vec![line]))
    }

    /// Takes a message that says no more than the run was shaped for.
    async fn newcomer(&self, run: &Facts, waiting: WaitingTask) -> Option<Newer> {
        let is_plain = waiting.heard.iter().all(|(_, m)| !brings_files(m) && m.command.is_none());
        if !is_plain || !self.may_join(run, &waiting) || waiting.facts.taint > run.taint {
            return None;
        }
        let storage = &self.attachments.context.storage;
        let mut heard = Vec::with_capacity(waiting.heard.len());
        for (row, inbound) in &waiting.heard {
            let level = received::quoted(storage, inbound, run.trust).await;
            if level > run.taint {
                return None;
            }
            let mut line = received::line(*row, inbound, self.zone);
            line.quote.iter_mut().for_each(|quote| quote.level = level);
            heard.push(line);
        }
        Some(self.given(waiting, heard))
    }

    /// Takes a part of the request, with its files.
    async fn part(&self, run: &Facts, waiting: WaitingTask) -> Option<Newer> {
        let is_given = locked(&self.given).contains_key(&waiting.task);
        if is_given || !waiting.joins || !self.may_join(run, &waiting) {
            return None;
        }
        let mut heard = Vec::with_capacity(waiting.heard.len());
        for (row, inbound) in &waiting.heard {
            let place_row = self.claimed.place_row;
            let message = TaskMessage { place_row, row: *row, inbound };
            let mut line = received::line(*row, inbound, self.zone);
            let files = &self.attachments;
            received::bring(files, message, run.trust, self.mark.cancel(), &mut line).await;
            heard.push(line);
        }
        Some(self.given(waiting, heard))
    }

    fn given(&self, waiting: WaitingTask, heard: Vec<UserMessage>) -> Newer {
        let source = Source::Task(waiting.seen());
        locked(&self.given).insert(waiting.task, waiting.heard);
        Newer { source, heard }
    }

    /// Whether who has written a waiting task's messages may speak to the run. A task with words of its own is no part of
    /// the talk: it waits for its turn.
    fn may_join(&self, run: &Facts, waiting: &WaitingTask) -> bool {
        let WaitingTask { facts, heard, .. } = waiting;
        let trust = self.rights.of(&self.claimed, facts.trust, heard);
        !heard.is_empty()
            && trust.is_some_and(|trust| may_join(run, &Facts { trust, ..facts.clone() }))
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
        let found = self.waiting().await;
        let is_on = self.is_on();
        let edits = found.edits.iter().filter(|_| is_on);
        let edits = edits.filter_map(|(row, edit)| self.edit(*row, edit));
        let mut newer: Vec<Newer> = edits.collect();
        for waiting in found.waiting {
            newer.extend(match waiting.words {
                Some(_) => self.of_agent(facts, waiting),
                None if is_on => self.newcomer(facts, waiting).await,
                None => None,
            });
        }
        newer
    }

    async fn joins(&self) {
        self.mark.joins().await;
    }

    async fn joined(&self, facts: &Facts) -> Vec<Newer> {
        let mut newer = Vec::new();
        while let Some(until) = self.mark.take_joined() {
            if let Some(until) = until {
                let runtime = &self.attachments.context.runtime;
                tokio::select! {
                    () = runtime.until(until) => {}
                    () = self.mark.joins() => continue,
                    () = self.mark.cancel().cancelled() => return Vec::new(),
                }
            }
            for waiting in self.waiting().await.waiting {
                newer.extend(self.part(facts, waiting).await);
            }
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
