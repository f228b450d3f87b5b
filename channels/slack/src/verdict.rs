//! What became of a part, by what Slack's answer proves.

use std::time::Duration;

use selkie_channel_core::http::{Fault, Refusal};
use selkie_channel_core::{Delivery, MessageRef, Receipt};
use serde_json::Value;

use crate::refusal::{Kind, kind, words};

/// How long to wait when Slack limits us and names no time.
const LIMITED: Duration = Duration::from_secs(3);
/// A refused token is not mended by asking at once.
const TOKEN_REFUSED: Duration = Duration::from_secs(60);

/// It arrived; with the id of the message where Slack tells one.
pub fn posted(answer: &Value, note: Option<String>) -> Delivery {
    let message = answer.get("ts").and_then(Value::as_str).map(MessageRef::new);
    Delivery::Sent(Receipt { message, note, ..Receipt::default() })
}

/// A message that is not found where it is to be changed says nothing of whether the bot may speak there.
pub fn about(method: &str, refusal: &Refusal) -> Delivery {
    match verdict(refusal) {
        Delivery::Refused { reason, .. } if method != "chat.postMessage" => {
            Delivery::refused(reason)
        }
        other => other,
    }
}

/// What a refusal comes to.
pub fn verdict(refusal: &Refusal) -> Delivery {
    let reason = words(refusal);
    match kind(refusal) {
        Kind::Limited => {
            let after = refusal.retry_after.unwrap_or(LIMITED);
            Delivery::Retry { after, why: reason, account: false }
        }
        Kind::Token => Delivery::Retry { after: TOKEN_REFUSED, why: reason, account: true },
        Kind::Done => Delivery::noted(reason),
        Kind::Closed => Delivery::Refused { reason, closed: true },
        Kind::Scope | Kind::Form | Kind::Other => Delivery::refused(reason),
    }
}

/// What a fault comes to; what is `repeatable` sets a state.
pub fn unproven(fault: Fault, repeatable: bool) -> Delivery {
    fault.delivery(repeatable, |refusal| verdict(&refusal))
}
