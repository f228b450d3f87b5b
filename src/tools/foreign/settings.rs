//! What an operator says of a tool that is not selkie's own.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use selkie_sandbox::Mode;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use selkie_domain::span::Span;
use selkie_domain::tool::Class;

/// Who uses a tool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum Who {
    /// Owners alone.
    #[default]
    Owners,
    /// People on the allow list, too.
    Allowed,
}

/// `tools.commands.<name>`: a program as a tool. It reads the arguments of a call as one JSON object on its standard
/// input, and what it prints is the answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "CommandTool")]
pub struct CommandSettings {
    /// What it does, for the model.
    pub about: String,
    /// What it takes: for each parameter a JSON Schema. One without a `default` is required.
    pub parameters: Map<String, Value>,
    /// The program: a name that is found in PATH, or an absolute path.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Variables of the daemon's environment that it gets besides the usual ones.
    pub injected_env_vars: Vec<String>,
    /// The folder that it works in. Default: the workspace, else the conversation's cache folder.
    pub cwd: Option<String>,
    /// What a call does: `read`, `write`, `exec`, `network`, `message`, `public`. Groups, approvals and plan mode go by it.
    pub class: String,
    /// Who may use it: `owners`, or `allowed` people, too.
    pub who: Who,
    /// The places where it is there, groups among them, by their ids. Default: wherever its class is.
    pub places: Vec<String>,
    /// How long a call may take.
    pub timeout: Span,
    /// Whether it runs in the sandbox: `auto`, `required`, `off`. Default: as commands do.
    pub sandbox: Option<Mode>,
}

impl Default for CommandSettings {
    fn default() -> Self {
        Self {
            about: String::new(),
            parameters: Map::new(),
            command: String::new(),
            args: Vec::new(),
            injected_env_vars: Vec::new(),
            cwd: None,
            class: Class::Exec.name().to_owned(),
            who: Who::default(),
            places: Vec::new(),
            timeout: Span::seconds(60),
            sandbox: None,
        }
    }
}

/// The programs, by the names that models call them by.
pub type Commands = BTreeMap<String, CommandSettings>;

impl CommandSettings {
    /// Returns the JSON Schema of its arguments.
    pub fn schema(&self) -> Value {
        let is_required = |schema: &Value| schema.get("default").is_none();
        let required = self.parameters.iter().filter(|(_, schema)| is_required(schema));
        let required: Vec<&String> = required.map(|(name, _)| name).collect();
        json!({
            "type": "object",
            "properties": self.parameters,
            "required": required,
            "additionalProperties": false,
        })
    }

    /// Returns the arguments with those that are absent and have a default.
    pub(super) fn completed(&self, args: &Value) -> Value {
        let mut args = args.as_object().cloned().unwrap_or_default();
        for (name, schema) in &self.parameters {
            if let Some(default) = schema.get("default")
                && args.get(name).is_none_or(Value::is_null)
            {
                args.insert(name.clone(), default.clone());
            }
        }
        Value::Object(args)
    }
}

/// Reads the class of a tool that is not selkie's own: it keeps none of our records, and speaks only to others.
pub fn foreign_class(name: &str) -> Option<Class> {
    let is_ours = |class: &Class| matches!(class, Class::Note | Class::Reply | Class::Agent);
    Class::parse(name).filter(|class| !is_ours(class))
}
