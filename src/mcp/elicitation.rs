//! What a server asks a person in the middle of a call.

use std::collections::BTreeMap;

use reqwest::Url;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

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
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
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
    Page {
        /// Its whole address, `http` or `https`.
        url: String,
        /// Whose page it is.
        host: String,
    },
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
                Some(Demand::Page { host: host.to_owned(), url: url.to_string() })
            }
            Some(_) => None,
        }
    }
}

/// Reads what a server asks; nothing but what is to go back where it only wants the call once more.
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
    let questions = requests.into_iter().map(|(key, InputRequest { method, params })| {
        let message = begin(&clean(begin(&params.message, MAX_QUESTION)), MAX_QUESTION).to_owned();
        let wanted =
            params.wanted().filter(|_| method == "elicitation/create").ok_or_else(|| {
                let method = short(&method, 100);
                McpError::Protocol(format!("asks for {method}, which is not offered to it"))
            })?;
        Ok(ElicitationQuestion { key, message, wanted })
    });
    Ok(Elicitation { questions: questions.collect::<Result<_, McpError>>()?, request_state })
}
