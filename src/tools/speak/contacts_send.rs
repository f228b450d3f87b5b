//! `contacts_send`: words for one contact, over the way that reaches them.

use async_trait::async_trait;
use chrono::{DateTime, SecondsFormat, Utc};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::envelope::{self, Envelope, EnvelopeArgs};
use super::letter;
use crate::args::typed;
use crate::basis::Target;
use crate::paths::Roots;
use crate::ports::{Addressee, AddresseeQuery, RelayOutcome, SayOutcome};
use crate::scope::Scope;
use crate::shown::Preview;
use crate::{Handler, Output, ToolError, spec};
use selkie_domain::tool::{Class, Recovery, ToolSpec};

/// The tool.
pub(crate) struct ContactsSend;

#[derive(Deserialize, JsonSchema)]
struct Args {
    /// From contacts/ACTIVE.md, INACTIVE.md.
    contact_id: String,
    /// Default: alone with them.
    chat_id: Option<String>,
    /// Only application/json.
    content_type: Option<String>,
    /// At most 8,000 characters.
    message_text: Option<String>,
    /// Or base64url of JSON: message_id, text, sent_at, session_id.
    message_base64: Option<String>,
    /// UUIDv7. Default: a new one.
    session_id: Option<String>,
    /// A message_id.
    reply_to: Option<String>,
}

impl Args {
    fn asked(&self) -> EnvelopeArgs<'_> {
        EnvelopeArgs {
            content_type: self.content_type.as_deref(),
            message_text: self.message_text.as_deref(),
            message_base64: self.message_base64.as_deref(),
            session_id: self.session_id.as_deref(),
            reply_to: self.reply_to.as_deref(),
        }
    }
}

fn wanted(args: &Args) -> AddresseeQuery {
    let chat = args.chat_id.as_deref().map(str::trim).filter(|chat| !chat.is_empty());
    AddresseeQuery::Contact { id: args.contact_id.trim().to_owned(), chat: chat.map(str::to_owned) }
}

#[async_trait]
impl Handler for ContactsSend {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            description:
                "Send one message to one contact, by whatever channel reaches them. Never for this \
                          conversation."
                    .to_owned(),
            group: "messaging",
            sources: &["S3"],
            doing: "writing to a contact",
            speaks: true,
            // Its effect is a row under its words: calling again finds the row.
            ..spec::<Args>("contacts_send", Class::Message, Recovery::CallAgain)
        }
    }

    async fn call(&self, scope: &Scope, args: Value) -> Result<Output, ToolError> {
        let args: Args = typed(args)?;
        let now = scope.clock.now();
        let envelope = envelope::of(&args.asked())?;
        let to = letter::find(scope, &wanted(&args)).await?;
        let passed = letter::pass(scope, &to, &envelope.text).await?;
        Ok(Output {
            level: letter::level(&to),
            ..Output::ok(outcome(&to, &envelope, &passed, now))
        })
    }

    async fn target(&self, scope: &Scope, args: &Value) -> Result<Target, ToolError> {
        let args: Args = typed(args.clone())?;
        envelope::of(&args.asked())?;
        letter::target(scope, &wanted(&args)).await
    }

    fn preview(&self, _: &Roots, args: &Value) -> Option<Preview> {
        let args: Args = typed(args.clone()).ok()?;
        let envelope = envelope::of(&args.asked()).ok()?;
        let shown = Preview::of("send a message to a contact", &["message_text", "message_base64"]);
        Some(shown.with(envelope.text))
    }

    fn refuses(&self, _: &Scope, args: &Value) -> Option<String> {
        let args: Args = typed(args.clone()).ok()?;
        envelope::of(&args.asked()).err().map(|why| why.to_string())
    }
}

/// What became of it, in the reference's form: a refusal is an outcome, no error of the call.
fn outcome(
    to: &Addressee,
    envelope: &Envelope,
    passed: &RelayOutcome,
    now: DateTime<Utc>,
) -> String {
    let refused = match &passed.spoken {
        SayOutcome::Refused(why) => Some(why.as_str()),
        _ => None,
    };
    let sent_at = matches!(passed.spoken, SayOutcome::Sent(_))
        .then(|| now.to_rfc3339_opts(SecondsFormat::Secs, true));
    let note = letter::word(&passed.spoken);
    let mut outcome = json!({
        "contact_id": to.contact,
        "peer_id": to.conversation.key(),
        "item_id": envelope.message_id,
        "session_id": envelope.session_id,
        "reply_to": envelope.reply_to,
        "accepted": refused.is_none(),
        "deduped": passed.is_known,
        "status": note,
    });
    if let Some(why) = refused {
        outcome["error"] = why.into();
    }
    if let Some(at) = sent_at {
        outcome["sent_at"] = at.into();
    }
    json!({ "outcome": outcome }).to_string()
}
