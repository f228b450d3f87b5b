//! What people say aloud, as words: written down before the model is asked, and kept with the message, so that a restart does
//! not pay for it again. Where the words are not to be had, the person and the model read why.

use selkie_channel_core::{Attachment, Audience, Inbound};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::work::attachments::{Attachments, CachedFile, MessageFiles, TaskMessage, ending};
use crate::work::messages::voice as messages;
use crate::work::voice_settings::{VoiceConfig, is_voice, listens};
use selkie_domain::metrics::Phase;
use selkie_domain::span::Span;
use selkie_domain::spoken::SpokenWords;
use selkie_llm::{Recording, ServerError, TranscriptionSettings};
use selkie_store::HeardVoice;

/// A file of a message that was said aloud.
#[derive(Clone, Copy)]
struct VoiceFile<'a> {
    /// Which file of the message it is, from 0.
    number: u32,
    attachment: &'a Attachment,
    message: TaskMessage<'a>,
}

/// Why there are no words.
enum NotHeard {
    /// The task ends.
    Stopped,
    /// For the person and the model.
    Because(String),
}

impl Attachments {
    /// Fetches what came with a message, into a folder of its own: it goes with the message. What was said aloud comes as words.
    pub async fn fetch(
        &self,
        message: TaskMessage<'_>,
        cancel: &CancellationToken,
    ) -> MessageFiles {
        let mut all = MessageFiles::default();
        let mut kept = self.kept_words(message).await;
        for (number, attachment) in (0..).zip(&message.inbound.attachments) {
            if !is_voice(message.inbound, attachment) {
                self.fetch_one(attachment, message, cancel, &mut all).await;
            } else if let Some(at) = kept.iter().position(|heard| heard.file == number) {
                all.spoken.push(kept.remove(at).spoken);
            } else {
                self.hear(VoiceFile { number, attachment, message }, cancel, &mut all).await;
            }
        }
        all
    }

    /// Returns what is kept of the voice of a message; asks for nothing where there is none.
    async fn kept_words(&self, message: TaskMessage<'_>) -> Vec<HeardVoice> {
        let TaskMessage { row, inbound, .. } = message;
        if !inbound.attachments.iter().any(|attachment| is_voice(inbound, attachment)) {
            return Vec::new();
        }
        let kept = self.context.storage.insist(|ledger| ledger.spoken_words(row)).await;
        kept.unwrap_or_default()
    }

    /// Brings what a person said as words, or else as a file, with why.
    async fn hear(&self, voice: VoiceFile<'_>, cancel: &CancellationToken, all: &mut MessageFiles) {
        let VoiceFile { attachment, message, .. } = voice;
        let Some(config) = Option::clone(&self.voice.now()) else {
            self.fetch_noted(voice, messages::NOT_CONFIGURED, cancel, all).await;
            return self.tell_deaf(message.inbound).await;
        };
        if !listens(config.settings.groups, message.inbound) {
            return self.fetch_noted(voice, messages::NOT_ADDRESSED, cancel, all).await;
        }
        if let Some(why) = self.unwanted(&config.settings, voice).await {
            self.fetch_noted(voice, &messages::unknown_words(&why), cancel, all).await;
            return self.tell_unheard(voice, &why).await;
        }
        let file = match self.bring(attachment, message, cancel).await {
            Ok(file) => file,
            Err(line) => {
                all.lines.push(line);
                return self.tell_unheard(voice, messages::NOT_FETCHED).await;
            }
        };
        match self.understood(&config, voice, &file, cancel).await {
            Ok(spoken) => self.keep(&config.settings, voice, spoken, all).await,
            Err(NotHeard::Stopped) => {}
            Err(NotHeard::Because(why)) => {
                all.lines.push(self.line(attachment, &file, &messages::unknown_words(&why)));
                self.tell_unheard(voice, &why).await;
            }
        }
    }

    /// Says why one is not even fetched to be written down.
    async fn unwanted(
        &self,
        settings: &TranscriptionSettings,
        voice: VoiceFile<'_>,
    ) -> Option<String> {
        let VoiceFile { attachment, message, .. } = voice;
        let TranscriptionSettings { max_duration, max_mb, per_day, .. } = *settings;
        let long = attachment.duration.is_some_and(|all| Span::seconds(all.into()) > max_duration);
        if long {
            return Some(messages::too_long(max_duration));
        }
        if attachment.size.is_some_and(|size| size > bytes(max_mb)) {
            return Some(messages::too_large(max_mb));
        }
        let may = self.limits.hears(message.inbound, per_day.into()).await;
        (!may).then(|| messages::too_many(per_day))
    }

    /// Has a file written down.
    async fn understood(
        &self,
        config: &VoiceConfig,
        voice: VoiceFile<'_>,
        file: &CachedFile,
        cancel: &CancellationToken,
    ) -> Result<SpokenWords, NotHeard> {
        let because = |why: &str| NotHeard::Because(why.to_owned());
        if file.bytes > bytes(config.settings.max_mb) {
            return Err(NotHeard::Because(messages::too_large(config.settings.max_mb)));
        }
        let path = self.cache_dir.join(&file.below).join(&file.name);
        let recording = match tokio::fs::read(path).await {
            Ok(bytes) => recording(voice.attachment, &file.name, bytes),
            Err(error) => {
                tracing::warn!(%error, "a voice message cannot be read from the cache");
                return Err(because(messages::NOT_FETCHED));
            }
        };
        let began = Instant::now();
        let words = tokio::select! {
            words = config.transcriber.transcribe(&recording) => words,
            () = cancel.cancelled() => return Err(NotHeard::Stopped),
        };
        let runtime = &self.context.runtime;
        runtime.metrics.took(Phase::Listen, began.elapsed());
        let by = config.transcriber.name();
        let heard = words.map_err(|error| {
            tracing::warn!(%error, by, "a voice message could not be written down");
            because(match error {
                ServerError::Away(_) => messages::AWAY,
                ServerError::Unusable(_) => messages::UNUSABLE,
            })
        });
        let heard = heard.map(|words| runtime.redactor.clean(words.trim())).and_then(|words| {
            if words.is_empty() { Err(because(messages::NO_WORDS)) } else { Ok(words) }
        });
        runtime.metrics.voice(heard.is_ok());
        heard.map(|words| SpokenWords { seconds: voice.attachment.duration, words })
    }

    /// Keeps the words with their message. Those of one that is gone meanwhile go, too.
    async fn keep(
        &self,
        settings: &TranscriptionSettings,
        voice: VoiceFile<'_>,
        spoken: SpokenWords,
        all: &mut MessageFiles,
    ) {
        let heard = HeardVoice { file: voice.number, spoken };
        let row = voice.message.row;
        let kept = |heard: HeardVoice| {
            self.context.storage.insist(move |ledger| ledger.keep_spoken(row, heard.clone()))
        };
        if kept(heard.clone()).await == Some(false) {
            return;
        }
        if settings.echo {
            self.echo(voice, &heard.spoken).await;
        }
        all.spoken.push(heard.spoken);
    }

    /// Shows people what was understood.
    async fn echo(&self, voice: VoiceFile<'_>, spoken: &SpokenWords) {
        let TaskMessage { row, inbound, .. } = voice.message;
        let key = format!("voice:{row}:{}:heard", voice.number);
        self.say(inbound, &key, &messages::echo(spoken)).await;
    }

    /// Tells a person why their words are not known.
    async fn tell_unheard(&self, voice: VoiceFile<'_>, why: &str) {
        let TaskMessage { row, inbound, .. } = voice.message;
        let key = format!("voice:{row}:{}:unheard", voice.number);
        self.say(inbound, &key, &messages::not_understood(why)).await;
    }

    /// Tells people of a chat that nobody here listens, once.
    async fn tell_deaf(&self, inbound: &Inbound) {
        let is_owner = self.limits.is_owner(inbound);
        let key = format!("voice:deaf:{}", inbound.place.full());
        self.say(inbound, &key, messages::deaf(is_owner)).await;
    }

    /// Says something beside the answer: the right to answer that a message brought is the answer's.
    async fn say(&self, inbound: &Inbound, key: &str, text: &str) {
        let among_others = inbound.audience == Audience::Group;
        let quote = among_others.then(|| inbound.message.clone()).flatten();
        if let Some(draft) = self.outbox.draft(&inbound.conversation, text, quote, None) {
            self.outbox.say_once(key, draft).await;
        }
    }

    async fn fetch_noted(
        &self,
        voice: VoiceFile<'_>,
        note: &str,
        cancel: &CancellationToken,
        all: &mut MessageFiles,
    ) {
        let VoiceFile { attachment, message, .. } = voice;
        let brought = self.bring(attachment, message, cancel).await;
        all.lines.push(brought.map_or_else(|line| line, |file| self.line(attachment, &file, note)));
    }
}

fn bytes(mebibytes: u32) -> u64 {
    u64::from(mebibytes) * 1024 * 1024
}

/// Servers go by the ending and by the type. Slack calls what was recorded with a browser a video.
fn recording(attachment: &Attachment, name: &str, bytes: Vec<u8>) -> Recording {
    let mime = attachment.mime.as_deref().and_then(|mime| mime.split(';').next());
    let mime = mime.unwrap_or_default().trim().to_ascii_lowercase();
    let mime = match mime.split_once('/') {
        Some(("video", kind)) => format!("audio/{kind}"),
        Some(("audio" | "application", _)) => mime,
        _ => "application/octet-stream".to_owned(),
    };
    let has_ending = name.rsplit_once('.').is_some_and(|(stem, _)| !stem.is_empty());
    let ending = ending(&mime).filter(|_| !has_ending);
    let name = ending.map_or_else(|| name.to_owned(), |ending| format!("{name}.{ending}"));
    Recording { name, mime, bytes: bytes.into() }
}

#[cfg(test)]
mod tests {
    use selkie_channel_core::AttachmentKind;

    use super::*;

    fn voice(mime: &str) -> Attachment {
        Attachment {
            handle: "f".to_owned(),
            kind: AttachmentKind::Voice,
            name: String::new(),
            mime: Some(mime.to_owned()),
            size: None,
            duration: Some(14),
        }
    }

    #[test]
    fn a_recording_is_named_as_servers_want_it() {
        for (mime, name, wanted) in [
            ("audio/ogg", "voice.ogg", ("voice.ogg", "audio/ogg")),
            ("audio/ogg; codecs=opus", "voice", ("voice.ogg", "audio/ogg")),
            ("video/webm", "audio_message.webm", ("audio_message.webm", "audio/webm")),
            ("video/mp4", "clip", ("clip.m4a", "audio/mp4")),
            ("text/html", "a.m4a", ("a.m4a", "application/octet-stream")),
        ] {
            let made = recording(&voice(mime), name, Vec::new());
            assert_eq!((made.name.as_str(), made.mime.as_str()), wanted);
        }
    }
}
