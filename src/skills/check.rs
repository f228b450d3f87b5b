//! What the specification has against a skill.

use serde::Serialize;
use serde_json::Value;

use crate::front::{self, Front};
use crate::name;
use crate::package::Package;
use crate::skill::one_line;
use crate::tree::{SKILL_MD, Tree};

const MAX_CHARACTERS: [(&str, usize); 2] = [("description", 1_024), ("compatibility", 500)];
/// Lines of a body: more of it is better read when it is needed.
const LONG: usize = 500;

/// Something that is not as the specification has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// It is against the specification, not only unwise.
    pub is_error: bool,
    /// What.
    pub message: String,
}

/// Compares a skill with the specification.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let unusable = Package::of(tree.clone(), "").err().map(|why| why.to_string());
    let front = tree.text(SKILL_MD).and_then(|text| front::read(text).ok());
    let faults = front.iter().flat_map(|front| faults(front, &tree.folder));
    let errors = unusable.into_iter().chain(faults);
    let errors = errors.map(|message| Finding { is_error: true, message });
    let warning = front.as_ref().and_then(|front| warning(&front.body));
    errors.chain(warning.map(|message| Finding { is_error: false, message })).collect()
}

fn warning(body: &str) -> Option<String> {
    let lines = body.lines().count();
    match body.trim() {
        "" => Some("it says nothing behind the front matter".to_owned()),
        _ if lines > LONG => Some(format!(
            "its body has {lines} lines: move what is seldom needed into files of its own"
        )),
        _ => None,
    }
}

fn faults(front: &Front, folder: &str) -> Vec<String> {
    let mut all = front.warnings.clone();
    match front.text("name") {
        None => all.push("name is missing".to_owned()),
        Some(written) => {
            all.extend(name::fault(&written).map(|why| format!("name {why}")));
            if written != folder {
                all.push(format!("name is {written:?}, and the folder is called {folder:?}"));
            }
        }
    }
    for (key, most) in MAX_CHARACTERS {
        let many = front.text(key).map_or(0, |text| text.chars().count());
        if many > most {
            all.push(format!("{key} has {many} characters: {most} are allowed"));
        }
    }
    for (key, value) in &front.values {
        let is_right = match (key.as_str(), value) {
            ("metadata", Value::Object(texts)) => texts.values().all(Value::is_string),
            ("auth_profiles", Value::Array(names)) => names.iter().all(Value::is_string),
            ("metadata" | "auth_profiles", _) => false,
            _ => value.is_string() || value.is_number(),
        };
        if !front::KEYS.split(", ").any(|known| known == key) {
            let takes = front::KEYS;
            let key = one_line(key);
            all.push(format!("{key} is no key of the specification (takes {takes})"));
        } else if !is_right {
            let takes = match key.as_str() {
                "metadata" => "texts by their keys",
                "auth_profiles" => "a list of names",
                _ => "text",
            };
            all.push(format!("{key} takes {takes}"));
        }
    }
    all
}
