//! What is said becomes calls.

use selkie_channel_core::{Body, Outbound, Part};

use crate::ids::Spot;
use crate::maker::Maker;

/// Turns what is said into calls, in order. Empty when there is nothing to show.
pub fn render(outbound: &Outbound) -> Vec<Part> {
    let Some(spot) = Spot::parse(outbound.conversation.key()) else {
        tracing::error!(conversation = %outbound.conversation, "not a conversation of Telegram");
        return Vec::new();
    };
    let maker = Maker { outbound, spot };
    match &outbound.body {
        Body::Text { markdown } => maker.text(markdown),
        Body::File { path, name, caption } => {
            maker.file("sendDocument", "document", path, name, caption.as_deref())
        }
        Body::Photo { path, caption } => {
            maker.file("sendPhoto", "photo", path, path, caption.as_deref())
        }
        Body::Voice { path, name, caption } => {
            maker.file("sendVoice", "voice", path, name, caption.as_deref())
        }
        Body::Reaction { message, emoji, big } => maker.reaction(message, emoji, *big),
        Body::Question(question) => maker.question(question),
        Body::QuestionWithFile { path, name, question } => {
            let mut parts = maker.file("sendDocument", "document", path, name, None);
            let asked = maker.question(question).into_iter();
            parts.extend(asked.map(|part| Part { follows: true, ..part }));
            parts
        }
        Body::Status { markdown } => maker.status(markdown),
        Body::Revision { message, markdown, question } => {
            maker.revision(message, markdown, question.as_ref())
        }
        Body::Withdrawal { message } => maker.withdrawal(message),
        Body::TapAnswer { handle, text } => maker.tap_answer(handle, text),
        Body::Held(_) | Body::Post(_) => Vec::new(),
        Body::Typing => maker.typing(),
    }
}
