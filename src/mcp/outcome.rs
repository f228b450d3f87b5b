//! What a call came to: text and pictures for a model.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::elicitation::{self, Elicitation};
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
/// Bytes of a structured answer that is looked at.
const MAX_STRUCTURED: usize = 1024 * 1024;
/// What every model that sees takes.
const PICTURES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

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
    /// The same as a value that its schema describes, of at most 1 MiB as it is written.
    pub structured: Option<Value>,
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
struct Part {
    #[serde(rename = "type")]
    kind: String,
    #[serde(flatten)]
    has: PartContent,
    resource: Option<PartContent>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PartContent {
    text: Option<String>,
    data: Option<String>,
    blob: Option<String>,
    mime_type: Option<String>,
    uri: Option<String>,
    name: Option<String>,
}

impl PartContent {
    fn mime(&self) -> String {
        short(self.mime_type.as_deref().unwrap_or("unknown type"), 60).to_ascii_lowercase()
    }

    /// Its type, and about how many bytes it has.
    fn kind(&self) -> String {
        let written = self.data.as_ref().or(self.blob.as_ref()).map(|it| it.trim_end_matches('='));
        format!("{}, {} bytes", self.mime(), written.map_or(0, str::len) * 3 / 4)
    }

    fn uri(&self) -> String {
        short(self.uri.as_deref().unwrap_or("?"), 2_000)
    }
}

/// Reads what a server makes of a call. `asks` says whether it may ask a person.
pub(crate) fn read(result: &RawValue, asks: bool) -> Result<CallOutcome, McpError> {
    let result: WrittenResult = serde_json::from_str(result.get())
        .map_err(|error| McpError::Protocol(format!("sent no answer to a call: {error}")))?;
    match result.result_type.as_deref() {
        None | Some("complete") => Ok(CallOutcome::Done(done(&result))),
        Some("input_required") if asks => {
            elicitation::read(result.input_requests, result.request_state).map(CallOutcome::Asks)
        }
        Some(other) => {
            let other = short(other, 100);
            Err(McpError::Protocol(format!("sent an answer of an unknown kind: {other}")))
        }
    }
}

fn done(result: &WrittenResult) -> CallResult {
    let mut answer = AnswerText::default();
    for part in &result.content.items {
        answer.part(part);
    }
    if result.content.more > 0 {
        answer.note(&format!("{} more parts are left out", result.content.more));
    }
    let structured = result.structured_content.as_deref().map(RawValue::get);
    if let Some(structured) = structured.filter(|_| !answer.has_text) {
        answer.text(structured);
    }
    let structured = structured.filter(|text| text.len() <= MAX_STRUCTURED);
    let structured = structured.and_then(|text| serde_json::from_str(text).ok());
    let AnswerText { mut text, cut, pictures, .. } = answer;
    if cut > 0 {
        text.push_str(&format!("\n[… {cut} more bytes of the answer are left out here …]"));
    }
    if text.is_empty() && pictures.is_empty() {
        text.push_str("(the tool has answered nothing)");
    }
    CallResult { text, pictures, structured, is_error: result.is_error }
}

#[derive(Default)]
struct AnswerText {
    text: String,
    /// Bytes that found no room.
    cut: usize,
    has_text: bool,
    pictures: Vec<ResultPicture>,
}

impl AnswerText {
    fn part(&mut self, written: &RawValue) {
        let Ok(Part { kind, has, resource }) = serde_json::from_str(written.get()) else {
            return self.note("a part that cannot be read");
        };
        match (kind.as_str(), resource) {
            ("text", _) => self.text(has.text.as_deref().unwrap_or_default()),
            ("image", _) => self.picture(&has),
            ("audio", _) => self.note(&format!("a sound ({}), which is not played", has.kind())),
            ("resource_link", _) => {
                let name = has.name.as_deref().map(|name| short(name, 200) + ": ");
                self.note(&format!("a link to {}{}", name.unwrap_or_default(), has.uri()));
            }
            ("resource", Some(PartContent { text: Some(text), uri, .. })) => {
                self.note(&short(uri.as_deref().unwrap_or("?"), 2_000));
                self.text(&text);
            }
            ("resource", Some(file)) => {
                let words = format!("{}: a file ({}), which is not shown", file.uri(), file.kind());
                self.note(&words);
            }
            (other, _) => self.note(&format!(
                "a part of the kind {} ({} bytes), which is not shown",
                short(other, 60),
                written.get().len()
            )),
        }
    }

    fn picture(&mut self, part: &PartContent) {
        let mime = part.mime();
        let data = part.data.as_deref().unwrap_or_default();
        let fits = PICTURES.contains(&&*mime)
            && data.len() <= MAX_PICTURE
            && self.pictures.len() < MAX_PICTURES;
        match STANDARD.decode(data).ok().filter(|bytes| fits && !bytes.is_empty()) {
            Some(bytes) => self.pictures.push(ResultPicture { bytes, mime }),
            None => self.note(&format!("a picture ({}), which cannot be shown", part.kind())),
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
}
