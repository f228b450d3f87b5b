//! What one source wrote: values, and where each of them stands.

use std::path::Path;

use serde_json::{Map, Value};

use crate::lines::Lines;
use crate::paths::ConfigFile;
use crate::problem::{self, Place, Problem};
use crate::source::{Flag, SourceValues, key};
use crate::yaml::{self, Document, DuplicateKey};
use crate::{read, schema};
use selkie_domain::schema::{FaultKind, check};

/// Takes what a flag sets.
pub fn from_flag(flag: &Flag) -> SourceValues {
    let place = Place::of(flag.name.clone());
    SourceValues { value: flag.value.clone(), place: Box::new(move |_| place.clone()) }
}

/// What a file wrote.
pub struct FromFile {
    /// Its values.
    pub written: SourceValues,
    /// Its name and lines when there is one.
    pub file: Option<(String, Lines)>,
    /// Its keys that stand twice.
    pub repeated: Vec<DuplicateKey>,
}

/// Reads the config file.
///
/// # Errors
/// When it cannot be read or is no YAML.
pub fn from_file(file: &ConfigFile, here: &Path) -> Result<FromFile, Problem> {
    let Some(path) = file.path() else {
        let value = Value::Object(Map::new());
        let written = SourceValues { value, place: Box::new(|_| Place::default()) };
        return Ok(FromFile { written, file: None, repeated: Vec::new() });
    };
    let name = path.display().to_string();
    let text =
        read::text(&here.join(path), read::CONFIG, read::Pipes::Own).map_err(|why| Problem {
            place: Place::of(name.clone()),
            key: String::new(),
            message: format!("the config file {why}"),
        })?;
    let Document { value, lines, repeated } = yaml::parse(&name, &text)?;
    let known = lines.clone();
    let named = name.clone();
    let place = move |path: &[String]| {
        let line = known.exact(path).or_else(|| known.exact(&file_twin(path)));
        Place { name: named.clone(), line: line.or_else(|| known.of_path(path)) }
    };
    let written = SourceValues { value, place: Box::new(place) };
    Ok(FromFile { written, file: Some((name, lines)), repeated })
}

/// A secret read from a file was written at its `_file` key.
pub fn file_twin(path: &[String]) -> Vec<String> {
    let mut twin = path.to_vec();
    if let Some(last) = twin.last_mut() {
        last.push_str("_file");
    }
    twin
}

/// Names the sections that take a key which stands at the top.
fn belongs_under(root: &Value, name: &str) -> String {
    let takes = |section: &&String| {
        let at = schema::find(root, &[(*section).clone()]);
        let all = at.and_then(|at| root.pointer(&at)?.get("properties")?.as_object());
        all.is_some_and(|all| all.contains_key(name))
    };
    let sections = root.get("properties").and_then(Value::as_object);
    let sections: Vec<String> = sections
        .into_iter()
        .flat_map(|all| all.keys().filter(takes).map(|section| format!("{section}:")))
        .collect();
    match sections.is_empty() {
        true => String::new(),
        false => format!("; it belongs under {}", problem::one_of(&sections)),
    }
}

/// Takes out sections that nobody knows: their names may hold what the merging library reads as a path.
pub fn strange_sections(written: &mut SourceValues, schema: &Value) -> Vec<Problem> {
    let mut problems = Vec::new();
    for fault in check(schema, &written.value) {
        if let (FaultKind::Unknown { .. }, [section]) = (&fault.kind, fault.path.as_slice()) {
            let message = match problem::other_name(section) {
                Some(ours) => format!("is not a key: {ours}"),
                None => problem::words(&fault, false) + &belongs_under(schema, section),
            };
            let place = (written.place)(&fault.path);
            problems.push(Problem { place, key: key(&fault.path), message });
            if let Some(map) = written.value.as_object_mut() {
                map.remove(section);
            }
        }
    }
    problems
}
