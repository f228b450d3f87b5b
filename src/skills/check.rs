//! What the specification has against a skill.

use serde::Serialize;
use serde_json::Value;

use crate::package::Package;
use crate::skill::one_line;
use crate::tree::{SKILL_MD, Tree};
use crate::{front, name};

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
    let mut all = Findings(Vec::new());
    if let Err(why) = Package::of(tree.clone(), "") {
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
            if written != tree.folder {
                let folder = &tree.folder;
                all.error(format!("name is {written:?}, and the folder is called {folder:?}"));
            }
        }
    }
    for (key, most) in MAX_CHARACTERS {
        let many = front.text(key).map_or(0, |text| text.chars().count());
        if many > most {
            all.error(format!("{key} has {many} characters: {most} are allowed"));
        }
    }
    for (key, value) in &front.values {
        let is_right = match (key.as_str(), value) {
            ("metadata", Value::Object(texts)) => texts.values().all(Value::is_string),
            ("metadata", _) => false,
            _ => value.is_string() || value.is_number(),
        };
        if !front::KEYS.split(", ").any(|known| known == key) {
            let takes = front::KEYS;
            all.error(format!("{} is no key of the specification (takes {takes})", one_line(key)));
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
}
