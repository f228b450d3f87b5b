//! What became of a part, by what Slack's answer proves.

use std::time::Duration;

use selkie_channel_core::http::{Fault, Refusal};
use selkie_channel_core::{Delivery, MessageRef, Receipt};
use serde_json::Value;

use crate::ids;
use crate::refusal::{Kind, kind, words};

/// How long to wait when Slack limits us and names no time.
const LIMITED: Duration = Duration::from_secs(3);
/// A refused token is not mended by asking at once.
const TOKEN_REFUSED: Duration = Duration::from_secs(60);

/// It arrived, as this message. A yes that names no message says of none that it is there.
pub fn posted(method: &str, answer: &Value, note: Option<String>) -> Delivery {
    match ts_of(answer) {
        Some(ts) => receipt(ts, note),
        None => Delivery::Unclear { why: format!("{method}: a yes that names no message") },
    }
}

/// A message of ours says what it was to say. Which one is known without Slack's answer.
pub fn changed(params: &Value, note: Option<String>) -> Delivery {
    match ts_of(params) {
        Some(ts) => receipt(ts, note),
        None => Delivery::Sent(Receipt { note, ..Receipt::default() }),
    }
}

fn receipt(ts: &str, note: Option<String>) -> Delivery {
    Delivery::Sent(Receipt { message: Some(MessageRef::new(ts)), note, ..Receipt::default() })
}

/// The message that an answer, or the parameters of a call, name.
pub fn ts_of(of: &Value) -> Option<&str> {
    of.get("ts").and_then(Value::as_str).filter(|ts| ids::order(ts).is_some())
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
