//! Around one call: who waits for it, until when, and what a person has answered.

use std::collections::BTreeMap;
use std::sync::Arc;

use selkie_tools::ports::Progress;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// Around one call.
#[derive(Clone)]
pub struct CallContext {
    /// Whom to tell how far it is.
    pub progress: Arc<dyn Progress>,
    /// Says that nobody wants it any more: the server is told so.
    pub cancel: CancellationToken,
    /// Not after this moment, whatever the server's own limit is.
    pub deadline: Instant,
    /// The schema of the tool's arguments, as it was listed: some servers at an address want arguments as headers, too.
    pub schema: Option<Arc<Value>>,
    /// What was answered to what the same call asked before.
    pub answers: Option<ElicitationAnswers>,
}

/// What a person has answered to an [`Elicitation`](crate::Elicitation).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ElicitationAnswers {
    /// As the server gave it.
    pub request_state: Option<String>,
    /// By the questions' keys.
    pub answers: BTreeMap<String, Answer>,
}

/// An answer to one question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Answer {
    /// These values, which fit the question's schema.
    Accept(Map<String, Value>),
    /// The person does not want to.
    Decline,
    /// Nobody has answered.
    Cancel,
}

impl ElicitationAnswers {
    /// Puts the answers into the parameters of the call.
    pub(crate) fn put_into(&self, params: &mut Map<String, Value>) {
        if !self.answers.is_empty() {
            let answers = self.answers.iter().map(|(key, answer)| (key.clone(), answer.written()));
            params.insert("inputResponses".to_owned(), Value::Object(answers.collect()));
        }
        if let Some(state) = &self.request_state {
            params.insert("requestState".to_owned(), json!(state));
        }
    }
}

impl Answer {
    fn written(&self) -> Value {
        match self {
            Self::Accept(content) => json!({ "action": "accept", "content": content }),
            Self::Decline => json!({ "action": "decline" }),
            Self::Cancel => json!({ "action": "cancel" }),
        }
    }
}
