//! Our secrets in what people wrote are hidden before anything is stored.

use selkie_channel_core::{Inbound, Redactor};

/// Hides our secrets in what people wrote, and in how they call themselves: no row holds them, and no model is told.
pub fn hide(redactor: &Redactor, inbound: &mut Inbound) {
    let Inbound { title, speaker, text, command, quote, attachments, .. } = inbound;
    let args = command.as_mut().map(|command| &mut command.args);
    let mut quoted_files = Vec::new();
    let quoted = quote.as_mut().map(|quote| {
        quoted_files.extend(quote.attachments.iter_mut());
        [&mut quote.speaker, &mut quote.text]
    });
    let files = attachments.iter_mut().chain(quoted_files).map(|attachment| &mut attachment.name);
    let own = [title, &mut speaker.name, text].into_iter().chain(&mut speaker.username);
    for written in own.chain(args).chain(quoted.into_iter().flatten()).chain(files) {
        *written = redactor.clean(written);
    }
}

#[cfg(test)]
mod tests {
    use selkie_channel_core::{
        AccountId, Attachment, AttachmentKind, ConversationId, MessageRef, PlaceId, Quote, What,
    };

    use super::*;

    const SECRET: &str = "correct-horse-battery";
    const BY_ITS_FORM: &str = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";

    #[test]
    fn names_are_hidden_like_texts() {
        let redactor = Redactor::default();
        redactor.learn(SECRET);
        for secret in [SECRET, BY_ITS_FORM] {
            let account = AccountId::new("tg");
            let conversation = ConversationId::new(account.clone(), "tg:1");
            let place = PlaceId::new(account, "tg:1");
            let mut heard = Inbound::blank("1".to_owned(), conversation, place, What::Message);
            let message = MessageRef::new("tg:1/1");
            let written = || format!("Ada {secret}");
            heard.title = written();
            heard.text = written();
            heard.speaker.name = written();
            heard.speaker.username = Some(secret.to_owned());
            heard.attachments = vec![Attachment {
                handle: "f1".to_owned(),
                kind: AttachmentKind::Document,
                name: format!("{secret}.txt"),
                mime: None,
                size: None,
                duration: None,
            }];
            heard.quote = Some(Quote {
                message,
                speaker: written(),
                text: written(),
                ours: false,
                attachments: heard.attachments.clone(),
            });
            hide(&redactor, &mut heard);
            let stored = serde_json::to_string(&heard).unwrap();
            assert!(!stored.contains(secret), "{stored}");
            assert!(heard.speaker.name.starts_with("Ada "), "{stored}");
        }
    }
}
