//! The forms in which one call is tried, from the richest to the plainest.

use selkie_channel_core::http::Refusal;
use serde_json::Value;

use crate::refusal::{Kind, kind};

/// A call's parameters in the form that is tried now, and what it may still become.
pub struct Form {
    /// What is tried now.
    pub params: Value,
    plain: Option<Value>,
    /// What was given up, in words for a trace.
    pub note: Option<String>,
}

impl Form {
    /// Parts that were stored without a key in their plain form get it here.
    pub fn new(params: &Value, plain: Option<&Value>) -> Self {
        let mut plain = plain.cloned();
        if let (Some(plain), Some(metadata)) = (&mut plain, params.get("metadata")) {
            plain["metadata"] = metadata.clone();
        }
        Self { params: params.clone(), plain, note: None }
    }

    /// Gives up what Slack did not take; `false` when there is nothing left to give up.
    pub fn plainer(&mut self, refusal: &Refusal) -> bool {
        let code = &refusal.code;
        let lost = |this: &mut Self, key: &str| {
            let forms = [Some(&mut this.params), this.plain.as_mut()];
            let fields = forms.into_iter().flatten().filter_map(Value::as_object_mut);
            fields.map(|fields| fields.remove(key).is_some()).fold(false, |a, b| a | b)
        };
        if code.contains("metadata") && lost(self, "metadata") {
            self.note = Some(format!("sent without its metadata: {code}"));
            return true;
        }
        if is_thread_gone(refusal) && lost(self, "thread_ts") {
            self.note = Some(format!("sent beside its thread, which is gone: {code}"));
            return true;
        }
        match self.plain.take().filter(|_| kind(refusal) == Kind::Form) {
            Some(plain) => {
                self.params = plain;
                self.note = Some(format!("sent in its plain form: {code}"));
                true
            }
            None => false,
        }
    }
}

/// The message that a thread hung on was deleted: what is said stands beside it then.
pub fn is_thread_gone(refusal: &Refusal) -> bool {
    matches!(refusal.code.as_str(), "thread_not_found" | "invalid_thread_ts")
}
