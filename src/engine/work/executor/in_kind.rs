//! An answer to a voice message that is said aloud, too, where its place wants that: behind the text, which waits for nothing.

use std::sync::Arc;

use selkie_channel_core::Body;

use crate::work::executor::TaskExecutor;
use crate::work::settings::AnswerVoice;
use crate::work::voice_settings::is_voice;
use selkie_domain::facts::{Trigger, Where};
use selkie_store::{Draft, TaskClaim};
use selkie_tools::ports::Visitor;

/// The tool of places that carry recordings.
const TOOL: &str = "say_aloud";

impl TaskExecutor {
    /// Returns the words of an answer that are to be said aloud, if any.
    pub(super) fn in_kind(&self, claimed: &TaskClaim, say: &[Draft]) -> Option<String> {
        let Where::Channel(features) = &claimed.facts.place else { return None };
        let newest = claimed.heard.last().map(|(_, inbound)| inbound)?;
        let is_spoken = newest.attachments.iter().any(|file| is_voice(newest, file));
        let carries = features.speaking.iter().any(|name| name == TOOL);
        if claimed.facts.trigger != Trigger::Asked || !is_spoken || !carries {
            return None;
        }
        let here = self.rights.here(&claimed.conversation, &claimed.place);
        let Body::Text { markdown } = &say.first()?.outbound.body else { return None };
        (here.voice == Some(AnswerVoice::InKind)).then(|| markdown.clone())
    }

    /// Says an answer aloud when it is made, once; nobody waits, and nobody is told when it fails.
    pub(super) fn say_in_kind(&self, claimed: &TaskClaim, markdown: String) {
        let studio = Arc::clone(&self.studio);
        let outbox = Arc::clone(&self.outbox);
        let runtime = Arc::clone(&self.context.runtime);
        let task = claimed.claim.task;
        let conversation = claimed.conversation.clone();
        let by = Visitor {
            task,
            call: String::new(),
            conversation: conversation.clone(),
            person: claimed.facts.speaker.clone(),
            name: String::new(),
            trust: claimed.facts.trust,
            sees_all: false,
        };
        self.context.runtime.tracker.spawn(async move {
            let made = runtime.stop.work.run_until_cancelled(studio.read_out(&by, &markdown)).await;
            let sound = match made {
                Some(Ok(sound)) => sound,
                Some(Err(error)) => {
                    return tracing::warn!(%task, %error, "an answer is not said aloud");
                }
                None => return,
            };
            let name = sound.name();
            let search = runtime.redactor.search();
            let copy = outbox.files().put_checked(task, &name, sound.bytes.clone(), search).await;
            let Ok(copy) = copy else {
                return tracing::warn!(%task, "an answer is not said aloud: the recording cannot be stored");
            };
            let path = copy.to_string_lossy().into_owned();
            let body = match sound.is_voice_note {
                true => Body::Voice { path, name, caption: None },
                false => Body::File { path, name, caption: None },
            };
            let is_said = match outbox.draft_of(&conversation, body) {
                Some(draft) => outbox.say_once(&format!("aloud:{task}"), draft).await,
                None => false,
            };
            if !is_said {
                outbox.files().remove(&copy);
            }
        });
    }
}
