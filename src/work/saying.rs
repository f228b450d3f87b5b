//! What a task says at its end.

use selkie_channel_core::{Mention, Outbound};

use crate::agent::Ending;
use crate::delivery::{deferred, reminders};
use crate::domain::facts::Where;
use crate::domain::transcript::Item;
use crate::store::{Claimed, Draft, End};
use crate::work::answer::{Answers, Life, quote};
use crate::work::messages;

impl Answers {
    /// Renders the last words of a task; a reminder has its buttons.
    pub(crate) fn say(
        &self,
        claimed: &Claimed,
        ending: &Ending,
        life: &Life<'_>,
        mentions: Vec<Mention>,
    ) -> Vec<Draft> {
        // A command that stopped the task has answered already, but for what came in meanwhile.
        if ending.end == End::Stopped && life.mark.is_asked() && ending.text.is_empty() {
            return Vec::new();
        }
        let window = deferred::right(&self.outbox, claimed);
        let draft = |text: &str| {
            let said = Outbound::text(claimed.conversation.clone(), text);
            let said =
                said.quoting(quote(claimed)).within(window.clone()).mentioning(mentions.clone());
            self.outbox.rendered(match life.bounds.reminder {
                Some(id) if ending.end == End::Done => {
                    reminders::with_buttons(&self.outbox, id, said)
                }
                _ => said,
            })
        };
        if let Some(draft) = draft(&ending.text) {
            return vec![draft];
        }
        let line = match &ending.end {
            _ if life.reply.has_spoken() || spoke_before(claimed) => return Vec::new(),
            End::Done => messages::empty_answer(),
            End::Stopped => messages::task_stopped(),
            End::Failed { why } => messages::failed(why),
        };
        draft(&line).into_iter().collect()
    }
}

/// Whether a speaking tool has answered in an earlier life of this task.
fn spoke_before(claimed: &Claimed) -> bool {
    let Where::Channel(features) = &claimed.facts.place else { return false };
    claimed.transcript.windows(2).any(|pair| {
        let [Item::Asked { calls, .. }, Item::Answered { answers }] = pair else { return false };
        calls.iter().zip(answers).any(|(c, a)| !a.is_error && features.speaking.contains(&c.name))
    })
}
