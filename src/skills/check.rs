//! What the specification has against a skill.

use serde::Serialize;
use serde_json::Value;

use crate::tree::{SKILL_MD, Tree};
use crate::{front, name, skill};

/// Characters of a description, and of what it is compatible with.
const MAX_DESCRIPTION: usize = 1_024;
const MAX_COMPATIBILITY: usize = 500;
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

/// Compares a skill whose folder is called so with the specification.
pub fn check(tree: &Tree, folder: &str) -> Vec<Finding> {
    let mut all = Findings(Vec::new());
    let words = skill::words(tree, folder);
    if let Err(why) = &words {
        all.error(why.to_string());
    }
    let read = tree.text(SKILL_MD).and_then(|text| front::read(text).ok());
    let Some(front) = read else { return all.0 };
    front.warnings.iter().for_each(|why| all.error(why.clone()));
    match front.text("name") {
        None => all.error("name is missing".to_owned()),
        Some(written) => {
            if let Some(why) = name::fault(&written) {
                all.error(format!("name {why}"));
            }
            if written != folder {
                all.error(format!("name is {written:?}, and the folder is called {folder:?}"));
            }
        }
    }
    all.longest("description", front.text("description"), MAX_DESCRIPTION);
    all.longest("compatibility", front.text("compatibility"), MAX_COMPATIBILITY);
    for (key, value) in &front.values {
        let is_right = match key.as_str() {
            "metadata" => is_map_of_texts(value),
            _ => value.is_string() || value.is_number(),
        };
        if !front::KEYS.contains(&key.as_str()) {
            let takes = front::KEYS.join(", ");
            all.error(format!(
                "{} is no key of the specification (takes {takes})",
                skill::one_line(key)
            ));
        } else if !is_right {
            let takes = if key == "metadata" { "texts by their keys" } else { "text" };
            all.error(format!("{key} takes {takes}"));
        }
    }
    let lines = front.body.lines().count();
    if front.body.trim().is_empty() {
        all.warning("it says nothing behind the front matter".to_owned());
    } else if lines > LONG {
        let why =
            format!("its body has {lines} lines: move what is seldom needed into files of its own");
        all.warning(why);
    }
    all.0
}

fn is_map_of_texts(value: &Value) -> bool {
    let Value::Object(values) = value else { return false };
    values.values().all(Value::is_string)
}

struct Findings(Vec<Finding>);

impl Findings {
    fn error(&mut self, message: String) {
        self.add(Finding { is_error: true, message });
    }

    fn warning(&mut self, message: String) {
        self.add(Finding { is_error: false, message });
    }

    fn add(&mut self, finding: Finding) {
        if !self.0.contains(&finding) {
            self.0.push(finding);
        }
    }

    fn longest(&mut self, key: &str, text: Option<String>, most: usize) {
        let many = text.map_or(0, |text| text.chars().count());
        if many > most {
            self.error(format!("{key} has {many} characters: {most} are allowed"));
        }
    }
}
