//! What a scripted model does when it is asked.

use serde::{Deserialize, Serialize};

/// One answer of the script.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Turn {
    /// Says this.
    Text {
        /// The words.
        text: String,
    },
    /// Says what it would say without a script.
    Usual,
    /// Writes this, or what it would say without a script, in a few pieces with a pause before each but the first. A
    /// stream in OpenAI's dialect alone, said whole in others.
    Dripped {
        /// The words.
        #[serde(default)]
        text: Option<String>,
        /// Milliseconds of a pause.
        ms: u64,
    },
    /// Says this, with pictures. Not in Anthropic's dialect, which has none: said without there.
    Drawn {
        /// The words.
        text: String,
        /// The pictures' addresses, which hold them (`data:`); Responses has what stands behind the comma.
        pictures: Vec<String>,
    },
    /// Calls tools, side by side when there are several.
    Calls {
        /// Words before the calls.
        #[serde(default)]
        text: String,
        /// The calls.
        calls: Vec<ScriptedCall>,
    },
    /// Refuses with this status, in the provider's error shape.
    Refuse {
        /// The HTTP status.
        status: u16,
        /// The words.
        message: String,
        /// The provider's code or type, e.g. `context_length_exceeded`.
        #[serde(default)]
        code: Option<String>,
        /// `Retry-After` in seconds.
        #[serde(default)]
        retry_after: Option<u64>,
    },
    /// Answers 200 with an error body.
    OkError {
        /// The words.
        message: String,
    },
    /// Begins this text, then the connection breaks.
    CutStream {
        /// The words before the break.
        text: String,
    },
    /// Says this, cut after every UTF-16 unit, as servers written in JavaScript may: halves of a pair come
    /// in events of their own.
    Torn {
        /// The words.
        text: String,
    },
    /// Writes this piece by piece: the first at once, each other one and the end when it is told to write on, see
    /// [`super::Model::write_on`]. A stream in OpenAI's dialect alone, said whole in others.
    Paced {
        /// The words.
        pieces: Vec<String>,
        /// What it calls at the end.
        #[serde(default)]
        calls: Vec<ScriptedCall>,
        /// The connection breaks instead of the end.
        #[serde(default)]
        breaks: bool,
    },
    /// Closes the connection before any answer.
    HangUp,
    /// Answers without text or calls.
    Empty,
    /// Waits, then does something else.
    Delay {
        /// Milliseconds.
        ms: u64,
        /// What comes then.
        then: Box<Turn>,
    },
}

/// A tool call of the script.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScriptedCall {
    /// The tool's name, existing or not.
    pub name: String,
    /// The arguments as the model writes them: JSON, or what a model takes for it.
    pub arguments: String,
}

impl Turn {
    /// Says this.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into() }
    }

    /// Calls one tool.
    pub fn call(name: &str, arguments: impl ToString) -> Self {
        Self::calls([(name, arguments.to_string())])
    }

    /// Calls several tools side by side.
    pub fn calls<'a>(calls: impl IntoIterator<Item = (&'a str, String)>) -> Self {
        let calls = calls
            .into_iter()
            .map(|(name, arguments)| ScriptedCall { name: name.to_owned(), arguments })
            .collect();
        Self::Calls { text: String::new(), calls }
    }

    /// Writes this piece by piece, when it is told to.
    pub fn paced<'a>(pieces: impl IntoIterator<Item = &'a str>) -> Self {
        let pieces = pieces.into_iter().map(str::to_owned).collect();
        Self::Paced { pieces, calls: Vec::new(), breaks: false }
    }

    /// Refuses with this status.
    pub fn refuse(status: u16, message: &str) -> Self {
        Self::Refuse { status, message: message.to_owned(), code: None, retry_after: None }
    }

    /// The same turn with its words, where it is to say what it would say without a script.
    pub(crate) fn spelled_out(self, usual: impl FnOnce() -> String) -> Self {
        match self {
            Self::Usual => Self::Text { text: usual() },
            Self::Dripped { text: None, ms } => Self::Dripped { text: Some(usual()), ms },
            Self::Delay { ms, then } => Self::Delay { ms, then: Box::new(then.spelled_out(usual)) },
            turn => turn,
        }
    }

    /// Waits before this turn.
    pub fn delayed(self, ms: u64) -> Self {
        Self::Delay { ms, then: Box::new(self) }
    }
}

/// A text's UTF-16 units as JSON strings, each alone.
pub(crate) fn units(text: &str) -> impl Iterator<Item = String> {
    text.encode_utf16().map(|unit| format!("\"\\u{unit:04x}\"")).collect::<Vec<_>>().into_iter()
}
