//! One prompt of one session, from the first line to the reason why it ended.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::AcpError;
use crate::message::{self, Message};
use crate::permission::{Permission, ToolCall};
use crate::text::{Text, short};

/// The version that is spoken.
const VERSION: u64 = 1;
/// Calls of an agent's tools that are remembered.
const MAX_CALLS: usize = 256;

/// What an agent is asked.
#[derive(Clone, Debug)]
pub struct Prompt {
    /// The folder that it works in: an absolute path.
    pub cwd: String,
    /// The task, in words.
    pub text: String,
    /// Which selkie asks.
    pub client: String,
}

/// How far it has come: what is asked of the agent now. Its number is the request's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Initialize,
    NewSession,
    Prompt,
    Over,
}

impl Stage {
    const fn method(self) -> &'static str {
        match self {
            Self::Initialize => "initialize",
            Self::NewSession => "session/new",
            Self::Prompt | Self::Over => "session/prompt",
        }
    }
}

/// A conversation with an agent.
#[derive(Debug)]
pub struct Session {
    prompt: Prompt,
    stage: Stage,
    /// The agent's name of it.
    id: Value,
    said: Text,
    calls: BTreeMap<String, ToolCall>,
}

/// What a line of the agent's means.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// Nothing that anybody would do something about.
    Nothing,
    /// This is to be written to it.
    Send(String),
    /// How far it is, in its words: one line.
    Doing(String),
    /// It asks, and waits for the answer.
    Asks(Box<Permission>),
    /// The task is done, as far as it goes: the protocol's reason (`end_turn`).
    Ended(String),
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct InitializeAnswer {
    protocol_version: Value,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct NewSession {
    session_id: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PromptAnswer {
    stop_reason: String,
}

impl Session {
    /// Begins: nothing is written yet.
    pub fn new(prompt: Prompt) -> Self {
        Self {
            prompt,
            stage: Stage::Initialize,
            id: Value::Null,
            said: Text::default(),
            calls: BTreeMap::new(),
        }
    }

    /// Returns the first line for the agent.
    pub fn hello(&self) -> String {
        let params = json!({
            "protocolVersion": VERSION,
            "clientCapabilities": { "fs": { "readTextFile": false, "writeTextFile": false }, "terminal": false },
            "clientInfo": { "name": "selkie", "version": self.prompt.client },
        });
        self.request(&params)
    }

    /// Takes a line of the agent's.
    ///
    /// # Errors
    /// See [`AcpError`]: it cannot be spoken with any more.
    pub fn take(&mut self, line: &[u8]) -> Result<Event, AcpError> {
        if line.trim_ascii().is_empty() {
            return Ok(Event::Nothing);
        }
        match message::read(line)? {
            Message::Answer { id, result } if self.is_awaited(&id) => {
                let method = self.stage.method();
                self.answered(result.map_err(|refusal| refusal.of(method))?)
            }
            Message::Answer { .. } => Ok(Event::Nothing),
            Message::Request { id, method, params } => Ok(self.requested(id, &method, params)),
            Message::Notice { method, mut params } if method == "session/update" => {
                let update = params.get_mut("update").map(Value::take);
                Ok(self.updated(update.unwrap_or_default()))
            }
            Message::Notice { .. } => Ok(Event::Nothing),
        }
    }

    /// Returns what calls the work off; nothing before it has begun. What was asked is to be answered with
    /// [`crate::Verdict::Cancelled`].
    pub fn cancel(&self) -> Option<String> {
        let params = json!({ "sessionId": self.id });
        (self.stage == Stage::Prompt).then(|| message::notice("session/cancel", &params))
    }

    /// Returns what it has said so far.
    pub fn said(&self) -> String {
        self.said.shown()
    }

    fn request(&self, params: &Value) -> String {
        message::request(self.stage as u64, self.stage.method(), params)
    }

    fn is_awaited(&self, id: &Value) -> bool {
        self.stage != Stage::Over && *id == json!(self.stage as u64)
    }

    /// Goes on with what an answer makes possible.
    fn answered(&mut self, result: Value) -> Result<Event, AcpError> {
        let lacking = AcpError::Incomplete(self.stage.method());
        match self.stage {
            Stage::Initialize => {
                let found: InitializeAnswer =
                    serde_json::from_value(result).map_err(|_| lacking)?;
                if found.protocol_version != json!(VERSION) {
                    return Err(AcpError::Version(short(&found.protocol_version.to_string())));
                }
                self.stage = Stage::NewSession;
                let params = json!({ "cwd": self.prompt.cwd, "mcpServers": [] });
                Ok(Event::Send(self.request(&params)))
            }
            Stage::NewSession => {
                let found: NewSession = serde_json::from_value(result).map_err(|_| lacking)?;
                self.id = Value::String(found.session_id);
                self.stage = Stage::Prompt;
                let text = json!([{ "type": "text", "text": self.prompt.text }]);
                let params = json!({ "sessionId": self.id, "prompt": text });
                Ok(Event::Send(self.request(&params)))
            }
            Stage::Prompt | Stage::Over => {
                let found: PromptAnswer = serde_json::from_value(result).map_err(|_| lacking)?;
                self.stage = Stage::Over;
                Ok(Event::Ended(short(&found.stop_reason)))
            }
        }
    }

    fn requested(&self, id: Value, method: &str, params: Value) -> Event {
        let asks = (method == "session/request_permission" && self.stage == Stage::Prompt)
            .then(|| Permission::read(id.clone(), params, |call| self.calls.get(call)))
            .flatten();
        match asks {
            Some(asks) => Event::Asks(Box::new(asks)),
            None => Event::Send(message::unknown(&id, method)),
        }
    }

    /// Takes what it tells of its work.
    fn updated(&mut self, update: Value) -> Event {
        let doing = match update["sessionUpdate"].as_str() {
            Some("agent_message_chunk") => {
                let text = update["content"]["text"].as_str();
                text.inspect(|text| self.said.push(text)).and_then(|_| self.said.newest())
            }
            Some("tool_call" | "tool_call_update") => self.works(update),
            Some("plan") => {
                let entries = update["entries"].as_array();
                let now =
                    entries.and_then(|all| all.iter().find(|one| one["status"] == "in_progress"));
                now.and_then(|step| step["content"].as_str()).map(short)
            }
            _ => None,
        };
        doing.map_or(Event::Nothing, Event::Doing)
    }

    /// Notes a call of its tools; what it does, where that is news.
    fn works(&mut self, update: Value) -> Option<String> {
        let told: ToolCall = serde_json::from_value(update).ok()?;
        let id = short(&told.tool_call_id);
        if self.calls.len() >= MAX_CALLS && !self.calls.contains_key(&id) {
            self.calls.pop_first();
        }
        let known = self.calls.entry(id).or_default();
        known.kind = told.kind.or(known.kind);
        known.title = told.title.as_deref().map(short).or(known.title.take());
        known.title.clone().filter(|_| told.title.is_some())
    }
}

#[cfg(test)]
mod tests;
