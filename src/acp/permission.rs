//! An agent asks whether it may do something.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::message::answer;
use crate::text::short;

/// Files of a request that are named.
const MAX_FILES: usize = 16;
/// Choices of a request that are looked at.
const MAX_CHOICES: usize = 32;

/// What an agent's tool does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Reads files or data.
    Read,
    /// Changes files.
    Edit,
    /// Deletes files.
    Delete,
    /// Moves files.
    Move,
    /// Searches.
    Search,
    /// Runs commands.
    Execute,
    /// Thinks.
    Think,
    /// Fetches from the network.
    Fetch,
    /// Changes what the agent is in.
    SwitchMode,
    /// Anything else.
    #[default]
    #[serde(other)]
    Other,
}

impl Kind {
    /// All that have a name.
    pub const ALL: [Self; 10] = [
        Self::Read,
        Self::Edit,
        Self::Delete,
        Self::Move,
        Self::Search,
        Self::Execute,
        Self::Think,
        Self::Fetch,
        Self::SwitchMode,
        Self::Other,
    ];

    /// Returns the protocol's name of it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Edit => "edit",
            Self::Delete => "delete",
            Self::Move => "move",
            Self::Search => "search",
            Self::Execute => "execute",
            Self::Think => "think",
            Self::Fetch => "fetch",
            Self::SwitchMode => "switch_mode",
            Self::Other => "other",
        }
    }

    /// Finds one by its name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Returns what it does, to follow `let it`.
    pub fn words(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Edit => "change files",
            Self::Delete => "delete files",
            Self::Move => "move files",
            Self::Search => "search",
            Self::Execute => "run a command",
            Self::Think => "think",
            Self::Fetch => "fetch from the network",
            Self::SwitchMode => "change its mode",
            Self::Other => "use a tool",
        }
    }
}

/// What is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It may, this once.
    Allow,
    /// It may not.
    Reject,
    /// The whole work is called off.
    Cancelled,
}

/// What an agent asks for.
#[derive(Clone, Debug, PartialEq)]
pub struct Permission {
    id: Value,
    allow: Option<String>,
    reject: Option<String>,
    /// What its tool does.
    pub kind: Kind,
    /// What it would do, in its words: one line.
    pub title: String,
    /// The files it names.
    pub files: Vec<String>,
    /// What its tool would be called with; null where that is not told.
    pub input: Value,
}

/// What is known of a call of an agent's tool.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct ToolCall {
    pub(crate) tool_call_id: String,
    pub(crate) title: Option<String>,
    pub(crate) kind: Option<Kind>,
    locations: Option<Vec<FileLocation>>,
    raw_input: Value,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct FileLocation {
    path: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Params {
    tool_call: ToolCall,
    options: Vec<Choice>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Choice {
    option_id: String,
    kind: String,
}

impl Permission {
    /// Reads a request; `known` finds what was told of a call before.
    pub(crate) fn read<'t>(
        id: Value,
        params: Value,
        known: impl FnOnce(&str) -> Option<&'t ToolCall>,
    ) -> Option<Self> {
        let Params { tool_call, options } = serde_json::from_value(params).ok()?;
        let before = known(&tool_call.tool_call_id);
        let choice = |kinds: &[&str]| {
            let of = |kind: &&str| options.iter().take(MAX_CHOICES).find(|one| one.kind == *kind);
            kinds.iter().find_map(of).map(|found| found.option_id.clone())
        };
        let title = tool_call.title.or_else(|| before?.title.clone()).unwrap_or_default();
        let files = tool_call.locations.into_iter().flatten().take(MAX_FILES);
        Some(Self {
            id,
            // Never for good: what is allowed is what was shown.
            allow: choice(&["allow_once"]),
            reject: choice(&["reject_once", "reject_always"]),
            kind: tool_call.kind.or_else(|| before?.kind).unwrap_or_default(),
            title: short(&title),
            files: files.map(|file| short(&file.path)).collect(),
            input: tool_call.raw_input,
        })
    }

    /// Whether it can be allowed this once.
    pub fn is_allowable(&self) -> bool {
        self.allow.is_some()
    }

    /// Writes the answer. What cannot be allowed once is rejected; where the agent offers no such choice, it is called off.
    pub fn answer(&self, verdict: Verdict) -> String {
        let allowed = self.allow.as_ref().filter(|_| verdict == Verdict::Allow);
        let chosen = match verdict {
            Verdict::Cancelled => None,
            Verdict::Allow | Verdict::Reject => allowed.or(self.reject.as_ref()),
        };
        let outcome = match chosen {
            Some(option) => json!({ "outcome": "selected", "optionId": option }),
            None => json!({ "outcome": "cancelled" }),
        };
        answer(&self.id, &json!({ "outcome": outcome }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(options: &Value) -> Permission {
        let call = json!({ "toolCallId": "t1", "title": "Run\nls", "kind": "execute", "rawInput": { "cmd": "ls" } });
        let params = json!({ "sessionId": "s", "toolCall": call, "options": options });
        Permission::read(json!(0), params, |_| None).unwrap()
    }

    #[test]
    fn what_is_allowed_is_allowed_once() {
        let always = json!([{ "optionId": "a", "kind": "allow_always" }, { "optionId": "r", "kind": "reject_always" }]);
        let once = json!([{ "optionId": "a", "kind": "allow_always" }, { "optionId": "o", "kind": "allow_once" },
            { "optionId": "r", "kind": "reject_once" }]);
        let says = |options: &Value, verdict| {
            let line: Value = serde_json::from_str(&asked(options).answer(verdict)).unwrap();
            line["result"]["outcome"].to_string()
        };
        assert_eq!(says(&once, Verdict::Allow), r#"{"outcome":"selected","optionId":"o"}"#);
        assert_eq!(says(&once, Verdict::Reject), r#"{"outcome":"selected","optionId":"r"}"#);
        assert_eq!(says(&once, Verdict::Cancelled), r#"{"outcome":"cancelled"}"#);
        assert_eq!(says(&always, Verdict::Allow), r#"{"outcome":"selected","optionId":"r"}"#);
        assert_eq!(says(&json!([]), Verdict::Reject), r#"{"outcome":"cancelled"}"#);
        assert!(!asked(&always).is_allowable());
        assert_eq!((asked(&once).title.as_str(), asked(&once).kind), ("Run ls", Kind::Execute));
    }

    #[test]
    fn kinds_are_called_as_the_protocol_calls_them() {
        for kind in Kind::ALL {
            assert_eq!(serde_json::from_value::<Kind>(json!(kind.name())).unwrap(), kind);
            assert_eq!(Kind::parse(kind.name()), Some(kind));
        }
    }

    #[test]
    fn what_was_told_of_the_call_before_counts() {
        let told: ToolCall = serde_json::from_value(
            json!({ "toolCallId": "t1", "title": "Edit a.txt", "kind": "edit" }),
        )
        .unwrap();
        let params = json!({ "toolCall": { "toolCallId": "t1" }, "options": [] });
        let asked =
            Permission::read(json!("x"), params, |id| (id == "t1").then_some(&told)).unwrap();
        assert_eq!((asked.title.as_str(), asked.kind), ("Edit a.txt", Kind::Edit));
        let odd = json!({ "toolCall": { "toolCallId": "t1", "kind": "teleport" } });
        assert_eq!(Permission::read(json!(1), odd, |_| None).unwrap().kind, Kind::Other);
        assert!(Permission::read(json!(1), json!({ "toolCall": 3 }), |_| None).is_none());
    }
}
