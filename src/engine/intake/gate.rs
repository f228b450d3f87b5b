//! The gate of groups: whether the bot speaks although nobody spoke to it. Runs among the workers, never
//! in a receiver, and beside the lanes: what is meant for the bot does not wait behind it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use selkie_channel_core::locked;
use selkie_channel_core::{ConversationId, Inbound};
use tokio::sync::Semaphore;
use tokio::time::timeout;

use crate::delivery::context::Context;
use crate::delivery::moments::after;
use crate::intake::policy::Rules;
use crate::work::limits::Limits;
use crate::work::persona::Persona;
use crate::work::redact_inbound::hide;
use crate::work::worker::Workers;
use selkie_domain::crash::CrashPoint;
use selkie_domain::gate::GatePass;
use selkie_domain::ids::InboxId;
use selkie_domain::live::Live;
use selkie_domain::transcript::Turn;
use selkie_domain::usage::Usage;
use selkie_llm::{Model, Request};
use selkie_store::{AtGate, GateVerdict, NewTask};

mod decision;
mod question;
pub mod settings;

use decision::Decision;
use settings::GateSettings;

use crate::work::settings::TriggerMode;

/// Decisions at the same time, in all groups together.
const SIDE_BY_SIDE: usize = 4;
/// The newest lines of the past that are asked for, and how long that may take.
const MAX_BEFORE: usize = 15;
const LOOK_BACK: Duration = Duration::from_secs(10);
/// Tokens of one decision.
const MAX_OUTPUT: u32 = 400;
/// An answer that cannot be read is asked for once more.
const TRIES: u32 = 2;

/// What the gate is made of.
pub struct GateParts {
    pub(crate) context: Context,
    pub(crate) workers: Arc<Workers>,
    pub(crate) limits: Arc<Limits>,
    pub(crate) rules: Arc<Rules>,
    pub(crate) settings: Live<GateSettings>,
    pub(crate) model: Arc<dyn Model>,
    pub(crate) persona: Arc<Persona>,
}

/// Decides for all groups.
pub struct Gate {
    context: Context,
    workers: Arc<Workers>,
    limits: Arc<Limits>,
    rules: Arc<Rules>,
    settings: Live<GateSettings>,
    model: Arc<dyn Model>,
    persona: Arc<Persona>,
    /// Groups that are looked at now, and whether more was said there since.
    busy: Mutex<HashMap<ConversationId, bool>>,
    permits: Semaphore,
}

impl Gate {
    pub(crate) fn new(parts: GateParts) -> Self {
        let GateParts { context, workers, limits, rules, settings, model, persona } = parts;
        let (busy, permits) = (Mutex::default(), Semaphore::new(SIDE_BY_SIDE));
        Self { context, workers, limits, rules, settings, model, persona, busy, permits }
    }

    /// Takes up what waits from before.
    pub async fn resume(self: &Arc<Self>) -> Result<(), selkie_store::StoreError> {
        self.knock(self.context.storage.ledger.knocking().await?);
        Ok(())
    }

    /// Looks at conversations where lines wait; each is looked at once at a time.
    pub fn knock(self: &Arc<Self>, conversations: Vec<ConversationId>) {
        for conversation in conversations {
            let mut busy = locked(&self.busy);
            if let Some(more) = busy.get_mut(&conversation) {
                *more = true;
                continue;
            }
            busy.insert(conversation.clone(), false);
            drop(busy);
            let (gate, stop) = (Arc::clone(self), self.context.runtime.stop.receivers.clone());
            self.context.runtime.tracker.spawn(async move {
                // What is not judged when the daemon ends is asked again at the next start.
                tokio::select! {
                    () = gate.attend(conversation) => {}
                    () = stop.cancelled() => {}
                }
            });
        }
    }

    async fn attend(&self, conversation: ConversationId) {
        loop {
            self.once(&conversation).await;
            let mut busy = locked(&self.busy);
            match busy.get_mut(&conversation) {
                Some(more @ true) => *more = false,
                _ => {
                    busy.remove(&conversation);
                    return;
                }
            }
        }
    }

    /// One call for everything that waits.
    async fn once(&self, conversation: &ConversationId) {
        if self.context.accounts.of(conversation).is_none() {
            // It waits for a process that has the channel.
            return;
        }
        // Never closed.
        let Ok(_permit) = self.permits.acquire().await else { return };
        let waiting =
            self.context.storage.insist(|ledger| ledger.at_gate(conversation)).await.flatten();
        let Some(mut waiting) = waiting else { return };
        self.look_back(conversation, &mut waiting).await;
        let judged = self.judged(conversation, &waiting).await;
        self.context.runtime.crash.hit(CrashPoint::AfterGate);
        let lane =
            self.context.storage.insist(|ledger| ledger.judge(judged.clone())).await.flatten();
        self.context.runtime.crash.hit(CrashPoint::AfterJudged);
        self.workers.ready(lane.into_iter().collect(), None);
    }

    /// In a conversation of which nothing is known yet the channel is asked what was said before: a reply
    /// in a thread says little without the message it hangs on.
    async fn look_back(&self, conversation: &ConversationId, waiting: &mut AtGate) {
        let known =
            !waiting.context.is_empty() || waiting.history.iter().flatten().next().is_some();
        let strict = self.rules.trigger_mode(conversation, &waiting.place) == TriggerMode::Strict;
        let receiver =
            self.context.accounts.of(conversation).and_then(|a| a.channel.receiver.clone());
        let first = waiting.lines.first().map(|(_, line)| line.order);
        let (Some(receiver), Some(first), false) = (receiver, first, known || strict) else {
            return;
        };
        match timeout(LOOK_BACK, receiver.backfill(conversation, first, MAX_BEFORE)).await {
            Ok(Ok(mut earlier)) => {
                earlier
                    .lines
                    .iter_mut()
                    .for_each(|line| hide(&self.context.runtime.redactor, line));
                waiting.context = earlier.lines;
            }
            Ok(Err(why)) => tracing::info!(why, "the gate decides without what was said before"),
            Err(_) => {
                tracing::info!("the gate decides without what was said before: no answer in time")
            }
        }
    }

    async fn judged(&self, conversation: &ConversationId, waiting: &AtGate) -> GateVerdict {
        let mode = self.rules.trigger_mode(conversation, &waiting.place);
        let young = self.young(waiting);
        let (mut passed, mut usage) = (None, Usage::default());
        let asks = mode != TriggerMode::Strict && !young.is_empty();
        // A limit that is reached is silence.
        if asks && self.limits.stops_gate(conversation).await.is_none() {
            let lines: Vec<&Inbound> = young.iter().map(|(_, inbound)| inbound).collect();
            let decision = self.decide(&lines, waiting, &mut usage).await;
            passed = decision.and_then(|d| Some((d.judge(mode, &self.settings.now())?, d)));
        }
        let passed = passed.and_then(|(passed, decision)| {
            let at = decision.line.unwrap_or(young.len()).clamp(1, young.len()) - 1;
            {
                let (row, line) = &young[at];
                self.task(*row, line, passed)
            }
        });
        tracing::info!(
            conversation = %conversation,
            lines = young.len(),
            old = waiting.lines.len() - young.len(),
            speaks = passed.is_some(),
            tokens = usage.tokens(),
            "the gate has decided"
        );
        let keep = self.rules.settings.now().record_untriggered;
        self.limits.used_unasked(conversation, usage);
        let (conversation, rows) = (conversation.clone(), waiting.rows.clone());
        GateVerdict { conversation, rows, passed, keep, usage }
    }

    /// The lines that are worth a decision.
    fn young<'a>(&self, waiting: &'a AtGate) -> &'a [(InboxId, Inbound)] {
        let settings = &self.settings.now();
        let now = self.context.runtime.clock.now();
        let newest = waiting.lines.len().saturating_sub(settings.most_lines.get());
        let newest = &waiting.lines[newest..];
        let old = newest.iter().rposition(|(_, line)| after(line.at, settings.oldest) < now);
        &newest[old.map_or(0, |at| at + 1)..]
    }

    /// Asks the model; `None` is silence, and the log says why.
    async fn decide(
        &self,
        lines: &[&Inbound],
        waiting: &AtGate,
        usage: &mut Usage,
    ) -> Option<Decision> {
        let mut request = Request {
            max_output: MAX_OUTPUT,
            deadline: self.settings.now().timeout.0,
            cache_key: format!("gate{}", waiting.conversation_row),
            ..Request::of_words(
                question::system(&self.persona.now()),
                question::ask(lines, waiting),
            )
        };
        for tries in 1..=TRIES {
            let reply = match self.model.ask(&request, &|_| {}).await {
                Ok(reply) => reply,
                Err(failed) => {
                    usage.add(failed.usage);
                    let error = self.context.runtime.redactor.clean(&failed.to_string());
                    tracing::warn!(error, "the gate got no decision: the bot stays silent");
                    return None;
                }
            };
            usage.add(reply.usage);
            match Decision::read(&reply.text) {
                Ok(decision) => return Some(decision),
                Err(why) => {
                    tracing::warn!(why, tries, "the gate's decision could not be read");
                    request.turns.push(Turn::Assistant(reply.text));
                    request.turns.push(Turn::User(question::again(&why)));
                }
            }
        }
        None
    }

    /// The task of the line that passed; `None` when its speaker is not listened to any more.
    fn task(&self, row: InboxId, line: &Inbound, passed: GatePass) -> Option<(InboxId, NewTask)> {
        let account = self.context.accounts.of(&line.conversation)?;
        self.rules.of(&account, |policy| {
            let mut new = policy.task(line, policy.principal(line)?);
            new.facts.passed = Some(passed);
            Some((row, new))
        })
    }
}

#[cfg(test)]
mod tests;
