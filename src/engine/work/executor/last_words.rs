//! What a task says at its end.

use selkie_channel_core::{Body, Mention, MessageRef, Outbound};

use crate::delivery::outbox::Outbox;
use crate::delivery::streamed::StreamedAnswer;
use crate::delivery::{deferred, reminders};
use crate::work::executor::addressee::quote;
use crate::work::executor::next_step::{LastWords, NextStep};
use crate::work::executor::pictures::AnswerPictures;
use crate::work::executor::{TaskContext, TaskExecutor};
use crate::work::messages;
use crate::work::outages;
use crate::work::unattended;
use selkie_agent::DriveOutcome;
use selkie_domain::facts::{Trigger, Where};
use selkie_domain::transcript::Item;
use selkie_store::{Draft, End, TaskClaim};

impl TaskExecutor {
    /// Ends a task with its last words.
    pub(super) async fn end(
        &self,
        claimed: &TaskClaim,
        ending: DriveOutcome,
        run: &TaskContext<'_>,
    ) -> NextStep {
        let ending = match &run.bounds.schedule {
            Some(schedule) => unattended::naming(ending, schedule, run.reply.has_spoken()),
            None => ending,
        };
        let left = run.answer.end().await;
        let is_known = self.outages.knows(&self.outbox, claimed, &ending.end).await;
        let ending = if is_known { outages::unsaid(ending) } else { ending };
        if claimed.facts.parent.is_some() {
            // An agent speaks to its task alone.
            return self.finish(claimed, ending, LastWords::default(), run.hand_over).await;
        }
        let mut say = match is_known || unattended::has_nothing_to_tell(claimed, &ending) {
            true => Vec::new(),
            false => {
                // What another service sends calls nobody.
                let mentions = match claimed.facts.trigger {
                    Trigger::Webhook => Vec::new(),
                    _ => self.acquaintances.mentions(claimed, &ending.text).await,
                };
                let pictures = self.pictures(claimed, &ending).await;
                self.say(claimed, &ending, run, mentions, pictures)
            }
        };
        let standing = left.over().filter(|_| !run.reply.has_spoken());
        if say.is_empty() && standing.is_some() && run.mark.keeps_answer() {
            let text = messages::cut_short(&run.answer.text());
            let said = Outbound::text(claimed.conversation.clone(), &text);
            say.extend(self.outbox.rendered(said.quoting(quote(claimed))));
        }
        let is_over = over(&self.outbox, &mut say, standing);
        let is_answer = ending.end == End::Done && !run.reply.has_spoken();
        let aloud = is_answer.then(|| self.in_kind(claimed, &say)).flatten();
        let next_step = self.finish(claimed, ending, LastWords { say, aloud }, run.hand_over).await;
        if !is_over {
            left.withdraw();
        }
        next_step
    }

    /// The answer while it is written: of what somebody asked for in a chat, and only there.
    pub(super) fn stream(&self, claimed: &TaskClaim) -> StreamedAnswer {
        let asked = claimed.facts.trigger == Trigger::Asked;
        // A right to answer belongs to the whole answer.
        let may = asked
            && claimed.facts.parent.is_none()
            && !unattended::is_unattended(&claimed.facts)
            && !deferred::is_due(claimed);
        StreamedAnswer::of(&self.outbox, claimed, quote(claimed), may)
    }

    /// Renders the last words of a task, and its pictures behind them; a reminder has its buttons.
    fn say(
        &self,
        claimed: &TaskClaim,
        ending: &DriveOutcome,
        run: &TaskContext<'_>,
        mentions: Vec<Mention>,
        pictures: AnswerPictures,
    ) -> Vec<Draft> {
        // A command that stopped the task has answered already, but for what came in meanwhile.
        if ending.end == End::Stopped && run.mark.is_asked() && ending.text.is_empty() {
            return Vec::new();
        }
        let window = deferred::right(&self.outbox, claimed);
        let draft = |text: &str| {
            let said = Outbound::text(claimed.conversation.clone(), text);
            let said =
                said.quoting(quote(claimed)).within(window.clone()).mentioning(mentions.clone());
            self.outbox.rendered(match run.bounds.reminder {
                Some(id) if ending.end == End::Done => reminders::with_buttons(id, said),
                _ => said,
            })
        };
        let words = draft(&pictures.with_words(&ending.text));
        // The first thing that is said quotes.
        let quoted = words.is_none().then(|| quote(claimed)).flatten();
        let picture = |body: Body| {
            let said = Outbound::new(claimed.conversation.clone(), body);
            self.outbox.rendered(said.quoting(quoted.clone()))
        };
        let say: Vec<Draft> =
            words.into_iter().chain(pictures.bodies.into_iter().filter_map(picture)).collect();
        if !say.is_empty() {
            return say;
        }
        let line = match &ending.end {
            _ if run.reply.has_spoken() || spoke_before(claimed) => return Vec::new(),
            End::Done if unattended::is_unasked(&claimed.facts) => return Vec::new(),
            End::Done if ending.text.is_empty() => messages::DONE.to_owned(),
            End::Done => messages::EMPTY_ANSWER.to_owned(),
            End::Stopped => messages::task_stopped(),
            End::Failed { why } => messages::failed(why),
        };
        draft(&line).into_iter().collect()
    }
}

/// Lets plain words take the place of the message that showed them while they were written; whether they do. Whoever is
/// mentioned hears of a new message alone.
fn over(outbox: &Outbox, say: &mut [Draft], message: Option<MessageRef>) -> bool {
    let Some(message) = message else { return false };
    let [draft, ..] = say else { return false };
    let said = &draft.outbound;
    if !matches!(said.body, Body::Text { .. }) || !said.mentions.is_empty() {
        return false;
    }
    let Some(over) = outbox.rendered(said.clone().over(Some(message))) else { return false };
    *draft = over;
    true
}

/// Whether a speaking tool has answered in an earlier life of this task.
fn spoke_before(claimed: &TaskClaim) -> bool {
    let Where::Channel(features) = &claimed.facts.place else { return false };
    claimed.transcript.windows(2).any(|pair| {
        let [Item::Asked { calls, .. }, Item::Answered { answers }] = pair else { return false };
        calls.iter().zip(answers).any(|(c, a)| !a.is_error && features.speaking.contains(&c.name))
    })
}
