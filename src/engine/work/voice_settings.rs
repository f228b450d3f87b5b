//! Which files are somebody's own voice, which of them are listened to, and by whom.

use std::sync::Arc;

use selkie_channel_core::{AddressReason, Attachment, AttachmentKind, Audience, Inbound};

use selkie_llm::{GroupVoice, Transcriber, TranscriptionSettings};

/// Who writes down voice messages, and which.
#[derive(Clone)]
pub struct VoiceConfig {
    /// Who does it.
    pub transcriber: Arc<dyn Transcriber>,
    /// From config.
    pub settings: TranscriptionSettings,
}

/// Whether a file of a message holds its speaker's own voice: a forward does not.
pub fn is_voice(inbound: &Inbound, attachment: &Attachment) -> bool {
    attachment.kind == AttachmentKind::Voice && !inbound.forwarded
}

/// Whether the voice of a message is listened to: in a group only what means the bot, if config does not say otherwise.
pub fn listens(groups: GroupVoice, inbound: &Inbound) -> bool {
    let is_addressed = inbound.addressed != AddressReason::No;
    inbound.audience == Audience::Direct || is_addressed || groups == GroupVoice::All
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::testing::message;

    fn voice() -> Attachment {
        Attachment {
            handle: "f".to_owned(),
            kind: AttachmentKind::Voice,
            name: String::new(),
            mime: None,
            size: None,
            duration: Some(14),
        }
    }

    #[test]
    fn a_forward_and_a_file_are_nobodys_voice() {
        let mut said = message("tg:1", "");
        let own = voice();
        assert!(is_voice(&said, &own));
        for kind in [AttachmentKind::Audio, AttachmentKind::Video, AttachmentKind::Document] {
            assert!(!is_voice(&said, &Attachment { kind, ..own.clone() }), "{kind:?}");
        }
        said.forwarded = true;
        assert!(!is_voice(&said, &own));
    }

    #[test]
    fn in_groups_what_means_the_bot_is_listened_to() {
        let mut said = message("tg:1", "");
        assert!(listens(GroupVoice::Addressed, &said), "in private");
        (said.audience, said.addressed) = (Audience::Group, AddressReason::No);
        assert!(!listens(GroupVoice::Addressed, &said) && listens(GroupVoice::All, &said));
        said.addressed = AddressReason::Reply;
        assert!(listens(GroupVoice::Addressed, &said));
    }
}
