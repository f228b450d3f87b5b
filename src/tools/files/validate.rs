//! A changed file against its schema: findings for the model, never a refusal.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Schemas;
use super::pattern::Pattern;
use crate::args::fault_words;
use crate::paths::{Finder, Location};
use selkie_domain::document;
use selkie_domain::schema::{FaultKind, check};

/// Findings told at most.
const MAX_TOLD: usize = 20;
/// Larger files are not checked, in bytes.
const MAX_CHECKED: usize = 128 * 1024;

/// An entry of `tools.patch.validate`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Validate {
    /// Which files, by their path as tools take it: `file_state_dir/**/*.yaml`, `jobs/*.yaml`.
    pub glob: String,
    /// The schema, as `read_schema` names it. Without it: the one called like the file, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<String>,
}

/// Which files are checked against what.
#[derive(Clone)]
pub(super) struct Validator {
    /// `tools.patch.validate`.
    pub(super) rules: Vec<Validate>,
    /// Where schemas come from.
    pub(super) schemas: Schemas,
}

impl Validator {
    /// Checks a file after a change and says what is wrong; `None` when no rule speaks of it.
    pub(super) fn findings(
        &self,
        finder: &Finder<'_>,
        located: &Location,
        text: &str,
    ) -> Option<String> {
        let shown = located.shown();
        let rule = self.rules.iter().find(|r| Pattern::new(&r.glob).matches(&shown))?;
        let stem = located.real().file_stem()?.to_string_lossy().into_owned();
        let name = rule.schema.clone().unwrap_or(stem);
        if text.len() > MAX_CHECKED {
            return Some(format!("not checked: larger than {MAX_CHECKED} bytes"));
        }
        let value = match document::yaml(text) {
            Ok(value) => value,
            Err(error) => return Some(format!("not valid YAML: {error}")),
        };
        let schema = match self.schemas.find(finder, &name) {
            Ok(Some(schema)) => schema,
            // The schema of the file's own name is an offer, a named one is a wish.
            Ok(None) if rule.schema.is_none() => return Some("valid YAML".to_owned()),
            Ok(None) => {
                return Some(format!("valid YAML; there is no schema {name} to check it against"));
            }
            Err(error) => return Some(format!("valid YAML; not checked against {name}: {error}")),
        };
        let faults = check(&schema, &value);
        match faults.as_slice() {
            [] => return Some(format!("valid by the schema {name}")),
            [fault] if fault.kind == FaultKind::Endless => {
                let why = fault_words(&schema, fault);
                return Some(format!("valid YAML; not checked against {name}: {why}"));
            }
            _ => {}
        }
        let mut lines = vec![format!("not valid by the schema {name} (read_schema shows it):")];
        lines
            .extend(faults.iter().take(MAX_TOLD).map(|f| format!("- {}", fault_words(&schema, f))));
        if faults.len() > MAX_TOLD {
            lines.push(format!("[+{} more]", faults.len() - MAX_TOLD));
        }
        Some(lines.join("\n"))
    }
}
