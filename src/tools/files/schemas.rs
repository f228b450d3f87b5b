//! The schemas by name: those of the house, and the files of `file_state_dir/schemas/`.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use super::whole;
use crate::ToolError;
use crate::paths::{Finder, Kind, Stop};
use selkie_domain::document;
use selkie_domain::spelling::nearest;

const FOLDER: &str = "file_state_dir/schemas";
/// Bytes of a schema that somebody wrote.
const LARGEST: usize = 1024 * 1024;

/// Makes a schema.
pub type Make = Box<dyn Fn() -> Value + Send + Sync>;

/// Schemas that no file holds: `config`. Made when they are asked for, which is rarely.
#[derive(Clone, Default)]
pub struct Schemas(Arc<BTreeMap<&'static str, Make>>);

impl Schemas {
    /// Takes them by name.
    pub fn new(all: impl IntoIterator<Item = (&'static str, Make)>) -> Self {
        Self(Arc::new(all.into_iter().collect()))
    }

    /// Finds a schema; `None` when there is none of that name.
    ///
    /// # Errors
    /// When its file is no JSON, or may not be read.
    pub(super) fn find(&self, finder: &Finder<'_>, name: &str) -> Result<Option<Value>, ToolError> {
        if let Some(make) = self.0.get(name) {
            return Ok(Some(make()));
        }
        let plain = |c: char| c.is_alphanumeric() || "-_.".contains(c);
        if finder.roots.state.is_none() || !name.chars().all(plain) {
            return Ok(None);
        }
        let path = format!("{FOLDER}/{name}.json");
        let located = finder.writable(&path)?;
        let Some(content) = whole::content(&located)? else { return Ok(None) };
        if content.len() > LARGEST {
            return Err(ToolError::tell(format!(
                "{path} is too large for a schema ({} bytes > {LARGEST} max)",
                content.len()
            )));
        }
        let read = |text: &[u8]| {
            let mut parser = serde_json::Deserializer::from_slice(text);
            let schema = document::read(&mut parser)?;
            parser.end().map(|()| schema)
        };
        let schema = read(&content);
        schema.map(Some).map_err(|e| ToolError::tell(format!("{path} is not JSON: {e}")))
    }

    /// Lists the names.
    pub(super) fn names(&self, finder: &Finder<'_>, stop: &Stop) -> Vec<String> {
        let mut names: Vec<String> = self.0.keys().map(|n| (*n).to_owned()).collect();
        let listed = finder.existing(FOLDER).ok().and_then(|folder| folder.list(stop).ok());
        let files = listed.into_iter().flatten().filter(|e| e.kind == Kind::File);
        names
            .extend(files.filter_map(|e| Some(e.name.to_str()?.strip_suffix(".json")?.to_owned())));
        names.sort();
        names.dedup();
        names
    }
}

/// Says that there is no schema of a name.
pub(super) fn unknown(name: &str, names: &[String]) -> ToolError {
    let near = nearest(name, names.iter().map(String::as_str));
    let near = near.map(|n| format!("; did you mean {n}?")).unwrap_or_default();
    let takes =
        if names.is_empty() { "none: there are no schemas".to_owned() } else { names.join(", ") };
    ToolError::tell(format!("invalid schema: {name} (takes {takes}){near}"))
}
