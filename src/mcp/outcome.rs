//! What a call came to: text and pictures for a model, or a question for a person.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::error::McpError;
use crate::sequence::Sequence;
use crate::text::{begin, clean, short};

/// Bytes of a text.
const MAX_TEXT: usize = 50 * 1024;
/// Bytes of it that the word about what is cut takes.
const NOTE: usize = 128;
/// Parts of an answer that are looked at.
const MAX_PARTS: usize = 1_000;
/// Pictures, and bytes of one as it is written.
const MAX_PICTURES: usize = 8;
const MAX_PICTURE: usize = 8 * 1024 * 1024;
/// What every model that sees takes.
const PICTURES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];
/// Questions at once, bytes of all of them, and of what is to be sent back with the answers.
const MAX_QUESTIONS: usize = 8;
const MAX_ASKED: usize = 64 * 1024;
const MAX_STATE: usize = 256 * 1024;
/// Characters of a question.
const MAX_QUESTION: usize = 4_000;

/// What a call came to.
#[derive(Clone, Debug, PartialEq)]
pub enum CallOutcome {
    /// It is done.
    Done(CallResult),
    /// The server asks a person before it goes on: the call is made again with the answers.
    Asks(Elicitation),
}

/// What a tool answers. All of it is foreign.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallResult {
    /// For the model, at most 50 KiB; nothing in it hides or steers a screen.
    pub text: String,
    /// At most 8, of types that models take.
    pub pictures: Vec<ResultPicture>,
    /// The server says that it did not do what was asked.
    pub is_error: bool,
}

/// A picture of an answer.
#[derive(Clone, PartialEq, Eq)]
pub struct ResultPicture {
    /// As they came, not looked at.
    pub bytes: Vec<u8>,
    /// `image/png`, `image/jpeg`, `image/gif` or `image/webp`, as the server says.
    pub mime: String,
}

impl std::fmt::Debug for ResultPicture {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} of {} bytes", self.mime, self.bytes.len())
    }
}

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
    /// The schema of the answer: an object of plain values.
    pub schema: Value,
}

/// What the server makes of a call, before anything of it is looked at.
pub(crate) enum CallAnswer {
    Outcome(CallOutcome),
    /// The call is to be made again with this, and nobody is asked.
    Again(String),
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WrittenResult {
    result_type: Option<String>,
    #[serde(default)]
    content: Sequence<MAX_PARTS>,
    structured_content: Option<Box<RawValue>>,
    #[serde(default)]
    is_error: bool,
    input_requests: Option<Box<RawValue>>,
    request_state: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Part<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    text: Option<Cow<'a, str>>,
    #[serde(borrow)]
    data: Option<Cow<'a, str>>,
    #[serde(borrow)]
    mime_type: Option<Cow<'a, str>>,
    #[serde(borrow)]
    uri: Option<Cow<'a, str>>,
    #[serde(borrow)]
    name: Option<Cow<'a, str>>,
    #[serde(borrow)]
    resource: Option<Resource<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Resource<'a> {
    #[serde(borrow)]
    uri: Option<Cow<'a, str>>,
    #[serde(borrow)]
    text: Option<Cow<'a, str>>,
    #[serde(borrow)]
    mime_type: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct InputRequest {
    method: String,
    #[serde(default)]
    params: InputParams,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct InputParams {
    mode: Option<String>,
    #[serde(default)]
    message: String,
    requested_schema: Option<Value>,
}

/// Reads what a server makes of a call. `asks` says whether it may ask a person.
///
/// # Errors
/// It is no answer, or it wants what is not offered.
pub(crate) fn read(result: &RawValue, asks: bool) -> Result<CallAnswer, McpError> {
    let result: WrittenResult = serde_json::from_str(result.get())
        .map_err(|error| McpError::Protocol(format!("sent no answer to a call: {error}")))?;
    match result.result_type.as_deref() {
        None | Some("complete") => Ok(CallAnswer::Outcome(CallOutcome::Done(done(&result)))),
        Some("input_required") if asks => asked(result),
        Some(other) => {
            let other = short(other, 100);
            Err(McpError::Protocol(format!("sent an answer of an unknown kind: {other}")))
        }
    }
}

fn done(result: &WrittenResult) -> CallResult {
    let mut collected = Collected::default();
    for part in &result.content.items {
        collected.part(part);
    }
    if result.content.more > 0 {
        collected.note(&format!("{} more parts are left out", result.content.more));
    }
    if let Some(structured) = result.structured_content.as_ref().filter(|_| !collected.has_text) {
        collected.text(structured.get());
    }
    collected.done(result.is_error)
}

/// The parts of an answer, put together.
#[derive(Default)]
struct Collected {
    text: String,
    /// Bytes that found no room.
    cut: usize,
    has_text: bool,
    pictures: Vec<ResultPicture>,
}

impl Collected {
    fn part(&mut self, written: &RawValue) {
        let Ok(part) = serde_json::from_str::<Part<'_>>(written.get()) else {
            return self.note("a part that cannot be read");
        };
        let kind = part.mime_type.as_deref().unwrap_or("unknown type");
        match (&*part.kind, &part.resource) {
            ("text", _) => self.text(part.text.as_deref().unwrap_or_default()),
            ("image", _) => self.picture(&part),
            ("audio", _) => {
                self.note(&format!("a sound ({}), which is not played here", short(kind, 60)))
            }
            ("resource_link", _) => {
                let name = part.name.as_deref().map(|name| format!("{}: ", short(name, 200)));
                let uri = short(part.uri.as_deref().unwrap_or("?"), 2_000);
                self.note(&format!("a link to {}{uri}", name.unwrap_or_default()));
            }
            ("resource", Some(resource)) => self.resource(resource),
            (other, _) => self.note(&format!("a part of the kind {}", short(other, 60))),
        }
    }

    fn resource(&mut self, resource: &Resource<'_>) {
        let uri = short(resource.uri.as_deref().unwrap_or("?"), 2_000);
        match &resource.text {
            Some(text) => {
                self.note(&uri);
                self.text(text);
            }
            None => {
                let kind = resource.mime_type.as_deref().unwrap_or("unknown type");
                self.note(&format!("{uri}: a file ({}), which is not shown", short(kind, 60)));
            }
        }
    }

    fn picture(&mut self, part: &Part<'_>) {
        let mime = part.mime_type.as_deref().unwrap_or_default().trim().to_ascii_lowercase();
        let data = part.data.as_deref().unwrap_or_default();
        let fits = PICTURES.contains(&&*mime)
            && data.len() <= MAX_PICTURE
            && self.pictures.len() < MAX_PICTURES;
        match STANDARD.decode(data).ok().filter(|bytes| fits && !bytes.is_empty()) {
            Some(bytes) => self.pictures.push(ResultPicture { bytes, mime }),
            None => self.note(&format!("a picture ({}), which cannot be shown", short(&mime, 60))),
        }
    }

    fn text(&mut self, text: &str) {
        self.has_text |= !text.trim().is_empty();
        self.put(text);
    }

    /// Says what stands there instead of text.
    fn note(&mut self, words: &str) {
        self.put(&format!("[{words}]"));
    }

    fn put(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        let room = (MAX_TEXT - NOTE).saturating_sub(self.text.len() + 1);
        let fits = begin(text, room);
        // Numbers take more room than what they name.
        let cleaned = clean(fits);
        let kept = begin(&cleaned, room);
        self.cut += text.len() - fits.len() + (cleaned.len() - kept.len());
        if kept.is_empty() {
            return;
        }
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(kept);
    }

    fn done(mut self, is_error: bool) -> CallResult {
        if self.cut > 0 {
            let cut = self.cut;
            self.text
                .push_str(&format!("\n[… {cut} more bytes of the answer are left out here …]"));
        }
        if self.text.is_empty() && self.pictures.is_empty() {
            self.text.push_str("(the tool has answered nothing)");
        }
        CallResult { text: self.text, pictures: self.pictures, is_error }
    }
}

fn asked(result: WrittenResult) -> Result<CallAnswer, McpError> {
    let WrittenResult { input_requests, request_state, .. } = result;
    if request_state.as_ref().is_some_and(|state| state.len() > MAX_STATE) {
        let most = MAX_STATE / 1024;
        return Err(McpError::Protocol(format!("wants more than {most} KiB to be kept for it")));
    }
    let requests = input_requests.as_deref().map_or("{}", RawValue::get);
    if requests.len() > MAX_ASKED {
        return Err(McpError::Protocol(format!("asks more than {} KiB", MAX_ASKED / 1024)));
    }
    let requests: serde_json::Map<String, Value> = serde_json::from_str(requests)
        .map_err(|error| McpError::Protocol(format!("asks what cannot be read: {error}")))?;
    if requests.len() > MAX_QUESTIONS {
        return Err(McpError::Protocol(format!("asks more than {MAX_QUESTIONS} questions")));
    }
    let questions = requests.into_iter().map(|(key, request)| question(key, request));
    let questions = questions.collect::<Result<Vec<_>, _>>()?;
    match (questions.is_empty(), request_state) {
        (true, None) => Err(McpError::Protocol("wants an answer, and asks nothing".to_owned())),
        (true, Some(state)) => Ok(CallAnswer::Again(state)),
        (false, request_state) => {
            let asks = Elicitation { questions, request_state };
            Ok(CallAnswer::Outcome(CallOutcome::Asks(asks)))
        }
    }
}

fn question(key: String, request: Value) -> Result<ElicitationQuestion, McpError> {
    let request: InputRequest = serde_json::from_value(request)
        .map_err(|error| McpError::Protocol(format!("asks what cannot be read: {error}")))?;
    let InputParams { mode, message, requested_schema } = request.params;
    let is_form = mode.is_none_or(|mode| mode == "form");
    if request.method != "elicitation/create" || !is_form {
        let method = short(&request.method, 100);
        return Err(McpError::Protocol(format!("asks for {method}, which is not offered to it")));
    }
    let message = clean(begin(&message, MAX_QUESTION * 4));
    let end = message.char_indices().nth(MAX_QUESTION).map_or(message.len(), |(at, _)| at);
    let message = begin(&message, end).to_owned();
    let schema = requested_schema.unwrap_or_else(|| serde_json::json!({ "type": "object" }));
    Ok(ElicitationQuestion { key, message, schema })
}
