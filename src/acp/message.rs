//! One message of JSON-RPC, read and written.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::AcpError;
use crate::text::short;

/// Says that somebody has to sign in first.
const SIGN_IN: i64 = -32000;
/// Says that there is no such method.
const UNKNOWN: i64 = -32601;

/// What an agent has written.
#[derive(Debug)]
pub(crate) enum Message {
    /// It wants an answer.
    Request { id: Value, method: String, params: Value },
    /// It tells something.
    Notice { method: String, params: Value },
    /// It answers a request of ours.
    Answer { id: Value, result: Result<Value, Refusal> },
}

/// An error in its words.
#[derive(Debug, Deserialize)]
#[serde(default)]
pub(crate) struct Refusal {
    code: i64,
    message: String,
}

impl Default for Refusal {
    fn default() -> Self {
        Self { code: 0, message: "no reason given".to_owned() }
    }
}

impl Refusal {
    /// What it means for a request of ours.
    pub(crate) fn of(self, method: &'static str) -> AcpError {
        match self.code {
            SIGN_IN => AcpError::SignedOut,
            code => {
                let message = format!("{} ({code})", short(&self.message));
                AcpError::Refused { method, message }
            }
        }
    }
}

#[derive(Deserialize)]
struct Wire {
    id: Option<Value>,
    method: Option<String>,
    #[serde(default)]
    params: Value,
    #[serde(default)]
    result: Value,
    error: Option<Refusal>,
}

/// Reads a line.
pub(crate) fn read(line: &[u8]) -> Result<Message, AcpError> {
    let garbage = || AcpError::Garbage(short(&String::from_utf8_lossy(line)));
    let Wire { id, method, params, result, error } =
        serde_json::from_slice(line).map_err(|_| garbage())?;
    Ok(match (id, method) {
        (Some(id), Some(method)) => Message::Request { id, method, params },
        (None, Some(method)) => Message::Notice { method, params },
        (Some(id), None) => Message::Answer { id, result: error.map_or(Ok(result), Err) },
        (None, None) => return Err(garbage()),
    })
}

/// Writes a request.
pub(crate) fn request(id: u64, method: &str, params: &Value) -> String {
    line(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))
}

/// Writes what wants no answer.
pub(crate) fn notice(method: &str, params: &Value) -> String {
    line(&json!({ "jsonrpc": "2.0", "method": method, "params": params }))
}

/// Answers a request of the agent's.
pub(crate) fn answer(id: &Value, result: &Value) -> String {
    line(&json!({ "jsonrpc": "2.0", "id": id, "result": result }))
}

/// Answers one that we do not know.
pub(crate) fn unknown(id: &Value, method: &str) -> String {
    let message = format!("{} is not offered", short(method));
    line(&json!({ "jsonrpc": "2.0", "id": id, "error": { "code": UNKNOWN, "message": message } }))
}

fn line(message: &Value) -> String {
    format!("{message}\n")
}
