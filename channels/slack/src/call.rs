//! The Web API calls by which something is said: the form in which a part is stored.

use selkie_channel_core::Part;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::blocks;

/// Slack advises 4,000 characters a message; it would take ten times that.
pub const MAX_TEXT: usize = 4000;
/// Room that is kept for the mark, its markers and a line break.
pub const MARK_ROOM: usize = Part::MARK.len() + 3;
/// The type of the metadata by which a part is found again.
pub const EVENT_TYPE: &str = "selkie_part";

/// One call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub enum Call {
    /// `chat.postMessage`.
    Post {
        /// Its parameters.
        params: Value,
        /// Where the person who wrote a slash command is answered when the channel is closed to us.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        aside: Option<String>,
    },
    /// `chat.update`: what a message of ours says from now on.
    Update {
        /// Its parameters.
        params: Value,
        /// Of one that may become a message: the parameters that one has, but for its text.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        anew: Option<Value>,
    },
    /// A message that grows: by Slack's own stream, or the usual `way`. Stored only until it is known
    /// where it stands.
    Grow {
        /// As far as it is written, in Markdown.
        text: String,
        /// Who reads along.
        reader: Reader,
        /// Posts it, or changes it, where it is not streamed.
        way: Box<Call>,
    },
    /// `chat.delete`.
    Delete {
        /// The channel.
        channel: String,
        /// The message.
        ts: String,
    },
    /// `chat.postEphemeral`: for one person, gone when they look away.
    Whisper {
        /// Its parameters.
        params: Value,
    },
    /// An answer to a slash command at the address that came with it; the person alone sees it.
    Respond {
        /// The address: a right to answer, for half an hour.
        url: String,
        /// In mrkdwn.
        text: String,
    },
    /// `assistant.threads.setStatus`: presence, never stored.
    Thinking {
        /// The channel.
        channel: String,
        /// The thread's root.
        thread: String,
    },
    /// `reactions.add`.
    React {
        /// The channel.
        channel: String,
        /// The message.
        ts: String,
        /// The emoji as the model wrote it.
        name: String,
    },
    /// The three steps that send a file.
    Upload {
        /// The channel.
        channel: String,
        /// The thread's root.
        thread: Option<String>,
        /// Absolute path on this machine.
        path: String,
        /// Shown name.
        name: String,
        /// Text beside it, in mrkdwn.
        comment: Option<String>,
    },
}

/// Who reads a stream along.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reader {
    /// Their workspace.
    pub team: String,
    /// They.
    pub user: String,
}

impl Call {
    /// The channel it names, where it names one.
    pub fn channel(&self) -> Option<&str> {
        match self {
            Self::Post { params, .. } | Self::Update { params, .. } | Self::Whisper { params } => {
                params.get("channel")?.as_str()
            }
            Self::Delete { channel, .. }
            | Self::Thinking { channel, .. }
            | Self::React { channel, .. }
            | Self::Upload { channel, .. } => Some(channel),
            Self::Grow { way, .. } => way.channel(),
            Self::Respond { .. } => None,
        }
    }

    /// Names another channel instead.
    pub fn moved_to(mut self, home: &str) -> Self {
        match &mut self {
            Self::Post { params, .. } | Self::Update { params, .. } | Self::Whisper { params } => {
                params["channel"] = home.into();
            }
            Self::Delete { channel, .. }
            | Self::Thinking { channel, .. }
            | Self::React { channel, .. }
            | Self::Upload { channel, .. } => home.clone_into(channel),
            Self::Grow { way, .. } => **way = way.as_ref().clone().moved_to(home),
            Self::Respond { .. } => {}
        }
        self
    }

    /// Shows a message that is posted as these blocks.
    pub fn with_blocks(mut self, blocks: Value) -> Self {
        if let Self::Post { params, .. } = &mut self {
            params["blocks"] = blocks;
        }
        self
    }

    /// The message that takes the place of an update whose message is gone.
    pub fn made_anew(&self) -> Option<Self> {
        let Self::Update { params, anew } = self else { return None };
        let mut post = anew.clone()?;
        for key in ["channel", "text"] {
            post[key] = params[key].clone();
        }
        Some(Self::Post { params: post, aside: None })
    }

    /// Puts the visible mark before the call's text.
    fn mark(&mut self) {
        match self {
            Self::Post { params, .. } | Self::Whisper { params } => {
                let styled = params.get("mrkdwn") != Some(&Value::Bool(false));
                for pointer in ["/text", "/blocks/0/text/text"] {
                    let Some(text) = params.pointer_mut(pointer) else { continue };
                    *text = marked_text(text.as_str().unwrap_or_default(), styled).into();
                }
                // A table without words above it.
                if let Some(Value::Array(blocks)) = params.get_mut("blocks")
                    && blocks.first().is_some_and(|block| block["type"] == "markdown")
                {
                    blocks.insert(0, blocks::section(&marked_text("", true)));
                }
            }
            Self::Respond { text, .. } => *text = marked_text(text, true),
            Self::Upload { comment, .. } => {
                *comment = Some(marked_text(comment.as_deref().unwrap_or_default(), true));
            }
            Self::React { .. } | Self::Update { .. } | Self::Delete { .. } => {}
            Self::Thinking { .. } | Self::Grow { .. } => {}
        }
    }
}

/// Reads a stored call; `None` for one of another version.
pub fn read(call: &Value) -> Option<Call> {
    serde_json::from_value(call.clone()).ok()
}

fn marked_text(old: &str, styled: bool) -> String {
    let mark = if styled { format!("_{}_", Part::MARK) } else { Part::MARK.to_owned() };
    if old.starts_with(&mark) {
        return old.to_owned();
    }
    if old.is_empty() { mark } else { format!("{mark}\n{old}") }
}

/// Returns the part with a visible mark; parts that set a state need none.
pub fn marked(part: &Part) -> Part {
    if part.repeatable {
        return part.clone();
    }
    part.changed(Call::mark).shown_marked()
}

/// Returns what is shown to one person as a message to that person alone.
pub fn to_the_person(whisper: &Value) -> Option<Value> {
    let mut params = whisper.clone();
    let fields = params.as_object_mut()?;
    let user = fields.remove("user")?;
    fields.remove("thread_ts");
    fields.insert("channel".to_owned(), user);
    Some(params)
}

/// Returns the key by which a posted message is found again; `None` for calls that have none.
pub fn key_of(call: &Call) -> Option<&str> {
    match call {
        Call::Post { params, .. } => params.pointer("/metadata/event_payload/key")?.as_str(),
        _ => None,
    }
}
