//! What a server asks a person in the middle of a call, and what goes back to it.

use std::collections::BTreeMap;

use reqwest::Url;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::error::McpError;
use crate::text::{begin, clean, short};

/// Questions at once, bytes of all of them, and of what is to be sent back with the answers.
const MAX_QUESTIONS: usize = 8;
const MAX_ASKED: usize = 64 * 1024;
const MAX_STATE: usize = 256 * 1024;
/// Bytes of a question, and of the address of a page.
const MAX_QUESTION: usize = 4 * 1024;
const MAX_URL: usize = 2 * 1024;

/// What a server asks a person in the middle of a call. To be kept until it is answered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Elicitation {
    /// At most 8; each wants its answer.
    pub questions: Vec<ElicitationQuestion>,
    /// What goes back with the answers as it is.
    pub request_state: Option<String>,
}

/// One question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ElicitationQuestion {
    /// Names it in the answers.
    pub key: String,
    /// What the server says, cleaned and cut; foreign words.
    pub message: String,
    /// What it wants of the person.
    pub wanted: Demand,
}

/// What a question wants of a person.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Demand {
    /// Values: the schema of an object of plain ones.
    Values(Value),
    /// A visit to a page.
    Page(Page),
}

/// A page that a person is to open.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Page {
    /// Its whole address, `http` or `https`.
    pub url: String,
    /// Whose page it is.
    pub host: String,
}

/// What a person has answered to an [`Elicitation`].
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
    /// The page was opened, and what there was to do there is done.
    Visited,
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
            Self::Visited => json!({ "action": "accept" }),
            Self::Decline => json!({ "action": "decline" }),
            Self::Cancel => json!({ "action": "cancel" }),
        }
    }
}

#[derive(Deserialize)]
struct InputRequest {
    method: String,
    #[serde(default)]
    params: InputParams,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct InputParams {
    mode: Option<String>,
    message: String,
    requested_schema: Value,
    url: String,
}

impl InputParams {
    /// What is wanted, in the protocol's two modes; nothing where it is neither.
    fn wanted(self) -> Option<Demand> {
        match self.mode.as_deref() {
            None | Some("form") => Some(Demand::Values(self.requested_schema)),
            Some("url") if self.url.len() <= MAX_URL => {
                let url = Url::parse(&self.url).ok()?;
                let host = url.host_str().filter(|_| matches!(url.scheme(), "http" | "https"))?;
                Some(Demand::Page(Page { host: host.to_owned(), url: url.to_string() }))
            }
            Some(_) => None,
        }
    }
}

/// Reads what a server asks; nothing but what is to go back where it only wants the call once more.
///
/// # Errors
/// It asks too much, or for what is not offered.
pub(crate) fn read(
    requests: Option<Box<RawValue>>,
    request_state: Option<String>,
) -> Result<Elicitation, McpError> {
    let text = requests.as_deref().map_or("{}", RawValue::get);
    let has_room = text.len() <= MAX_ASKED
        && request_state.as_ref().is_none_or(|state| state.len() <= MAX_STATE);
    let requests = has_room.then(|| serde_json::from_str::<BTreeMap<String, InputRequest>>(text));
    let requests = requests.and_then(Result::ok).filter(|all| all.len() <= MAX_QUESTIONS);
    let Some(requests) = requests else {
        return Err(McpError::Protocol("asks too much, or what cannot be read".to_owned()));
    };
    if requests.is_empty() && request_state.is_none() {
        return Err(McpError::Protocol("wants an answer, and asks nothing".to_owned()));
    }
    let mut questions = Vec::new();
    for (key, InputRequest { method, params }) in requests {
        let message = begin(&clean(begin(&params.message, MAX_QUESTION)), MAX_QUESTION).to_owned();
        let wanted = params.wanted().filter(|_| method == "elicitation/create");
        let Some(wanted) = wanted else {
            let method = short(&method, 100);
            return Err(McpError::Protocol(format!(
                "asks for {method}, which is not offered to it"
            )));
        };
        questions.push(ElicitationQuestion { key, message, wanted });
    }
    Ok(Elicitation { questions, request_state })
}
