//! The config's `sandbox`: whether commands run in it, what they may reach there, and where something else holds.

use std::borrow::Cow;
use std::path::PathBuf;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize};

/// Whether commands run in the sandbox.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// In it where this machine can; owners' commands outside of it where it cannot.
    #[default]
    Auto,
    /// In it, or not at all.
    Required,
    /// Never.
    Off,
}

/// The section `sandbox`, or its `mode` alone: `sandbox: required`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Settings {
    /// Whether commands run in the sandbox: `auto`, `required`, `off`.
    pub mode: Mode,
    /// Files and folders that commands may read besides the system's programs. The bot's own stay closed.
    pub read: Vec<PathBuf>,
    /// Folders that commands may write in besides the workspace.
    pub write: Vec<PathBuf>,
    /// Where, and for whom, something else holds; of several rows the last one that says something counts.
    pub rules: Vec<Rule>,
}

/// A row of `sandbox.rules`. What is absent is any, or as it is elsewhere.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "SandboxRule")]
pub struct Rule {
    /// Where: `cli`, `private`, `group`, a channel (`telegram`) or one of its kinds (`telegram:group`).
    pub place: Option<String>,
    /// The least trust in play: `owner`, `allowed`, `stranger`.
    pub trust: Option<String>,
    /// Whether commands run in the sandbox there.
    pub mode: Option<Mode>,
    /// Whether they reach the network. By default those of owners do, and nobody else's.
    pub network: Option<bool>,
}

/// As it may be written.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "Sandbox")]
enum ModeOrSection {
    Word(Mode),
    Section(Section),
}

/// The section with its keys.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "SandboxSection")]
struct Section {
    /// Whether commands run in the sandbox: `auto`, `required`, `off`.
    mode: Mode,
    /// Files and folders that commands may read besides the system's programs. The bot's own stay closed.
    read: Vec<PathBuf>,
    /// Folders that commands may write in besides the workspace.
    write: Vec<PathBuf>,
    /// Where, and for whom, something else holds; of several rows the last one that says something counts.
    rules: Vec<Rule>,
}

impl JsonSchema for Settings {
    fn schema_name() -> Cow<'static, str> {
        ModeOrSection::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        ModeOrSection::json_schema(generator)
    }
}

impl<'de> Deserialize<'de> for Settings {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Ok(match ModeOrSection::deserialize(from)? {
            ModeOrSection::Word(mode) => Self { mode, ..Self::default() },
            ModeOrSection::Section(Section { mode, read, write, rules }) => {
                Self { mode, read, write, rules }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_the_mode_and_a_section_has_keys() {
        let read = |text: &str| serde_json::from_str::<Settings>(text);
        let required = Settings { mode: Mode::Required, ..Settings::default() };
        assert_eq!(read("\"required\"").unwrap(), required);
        assert_eq!(read("{\"mode\": \"required\"}").unwrap(), required);
        assert_eq!(read("{\"read\": [\"/srv\"]}").unwrap().read, [PathBuf::from("/srv")]);
        for wrong in ["\"on\"", "{\"reads\": []}", "true", "{\"rules\": [{\"who\": \"x\"}]}"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
