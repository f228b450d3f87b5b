//! JSON-RPC as servers write and read it. What is not looked at stays text: nothing of any size is built of a message.

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::error::McpError;
use crate::news::ProgressNews;
use crate::text::short;

/// Characters of what a server says of a refusal.
const MAX_WORDS: usize = 2_000;
/// Bytes of news that are looked at, and of an id that is sent back.
const MAX_NEWS: usize = 16 * 1024;
const MAX_ID: usize = 256;
/// What we do not do for servers: the protocol's number.
const NO_SUCH_METHOD: i64 = -32601;
/// Versions that a refusal names.
const MAX_VERSIONS: usize = 32;

#[derive(Debug)]
pub(crate) enum Incoming {
    /// The answer to a request of ours.
    Answer {
        /// The request's; some servers refuse without.
        id: Option<u64>,
        result: Result<Box<RawValue>, McpError>,
    },
    /// A request of its own, with what it is answered.
    Request {
        reply: String,
    },
    Progress(ProgressNews),
    ListChanged,
    /// What nobody wants to know.
    Stray,
}

#[derive(Deserialize)]
struct Envelope {
    id: Option<Box<RawValue>>,
    method: Option<String>,
    params: Option<Box<RawValue>>,
    // One of nothing is one, too.
    #[serde(default, deserialize_with = "whatever")]
    result: Option<Box<RawValue>>,
    error: Option<Refusal>,
}

fn whatever<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Box<RawValue>>, D::Error> {
    Box::<RawValue>::deserialize(from).map(Some)
}

#[derive(Deserialize)]
struct Refusal {
    #[serde(default)]
    code: i64,
    #[serde(default)]
    message: String,
    data: Option<Box<RawValue>>,
}

/// Reads a message; `None` where it is none.
pub(crate) fn read(bytes: &[u8]) -> Option<Incoming> {
    let envelope: Envelope = serde_json::from_slice(bytes).ok()?;
    let Envelope { id, method, params, result, error } = envelope;
    let id = id.filter(|id| id.get() != "null");
    match (id, method) {
        (Some(id), Some(method)) => {
            Some(reply(&id, &method).map_or(Incoming::Stray, |reply| Incoming::Request { reply }))
        }
        (None, Some(method)) => Some(match method.as_str() {
            "notifications/tools/list_changed" => Incoming::ListChanged,
            "notifications/progress" => progress(params).unwrap_or(Incoming::Stray),
            _ => Incoming::Stray,
        }),
        (id, None) if result.is_some() || error.is_some() => {
            let result = match (error, result) {
                (Some(error), _) => Err(error.into()),
                (None, result) => Ok(result.unwrap_or_default()),
            };
            Some(Incoming::Answer { id: id.and_then(|id| id.get().parse().ok()), result })
        }
        _ => None,
    }
}

fn progress(params: Option<Box<RawValue>>) -> Option<Incoming> {
    let params = params.filter(|params| params.get().len() <= MAX_NEWS)?;
    serde_json::from_str(params.get()).ok().map(Incoming::Progress)
}

impl From<Refusal> for McpError {
    fn from(refusal: Refusal) -> Self {
        let data = refusal.data.filter(|data| data.get().len() <= 4_096);
        let data: Option<Value> = data.and_then(|data| serde_json::from_str(data.get()).ok());
        let versions = data.as_ref().and_then(|data| data["supported"].as_array());
        let versions = versions.into_iter().flatten().filter_map(Value::as_str);
        let versions = versions.take(MAX_VERSIONS).map(str::to_owned).collect();
        Self::Refused { code: refusal.code, message: short(&refusal.message, MAX_WORDS), versions }
    }
}

pub(crate) fn request(id: u64, method: &str, params: &Value) -> String {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string()
}

/// Writes the notice that the handshake is done.
pub(crate) fn initialized() -> String {
    json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string()
}

/// Writes the notice that nobody waits for a request's answer any more.
pub(crate) fn cancelled(id: u64) -> String {
    let params = json!({ "requestId": id, "reason": "nobody waits for it any more" });
    json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params }).to_string()
}

/// Answers a server's request: that we are there, or that we do not do what it asks for. `None` where its id is too long
/// to be sent back.
fn reply(id: &RawValue, method: &str) -> Option<String> {
    let error = json!({ "code": NO_SUCH_METHOD, "message": "selkie does not offer this" });
    let reply = match method {
        "ping" => json!({ "jsonrpc": "2.0", "id": id, "result": {} }),
        _ => json!({ "jsonrpc": "2.0", "id": id, "error": error }),
    };
    (id.get().len() <= MAX_ID).then(|| reply.to_string())
}
