//! The front matter of a `SKILL.md`: YAML between two lines of dashes, read as people write it.

use serde_json::{Map, Value};

use selkie_domain::document;

/// The keys of the specification, and our own.
pub(crate) const KEYS: &str =
    "name, description, license, compatibility, metadata, allowed-tools, auth_profiles";
const DASHES: &str = "---";

/// A `SKILL.md`, taken apart.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Front {
    /// What stands between the dashes.
    pub values: Map<String, Value>,
    /// What is wrong with how it is written, and does no harm.
    pub warnings: Vec<String>,
    /// The words behind it.
    pub body: String,
}

impl Front {
    pub(crate) fn text(&self, key: &str) -> Option<String> {
        let text = match self.values.get(key)? {
            Value::String(text) => text.trim().to_owned(),
            Value::Number(number) => number.to_string(),
            _ => return None,
        };
        (!text.is_empty()).then_some(text)
    }

    pub(crate) fn words(&self, key: &str) -> Vec<String> {
        let words = self.values.get(key).and_then(Value::as_array).into_iter().flatten();
        words.filter_map(Value::as_str).map(str::to_owned).collect()
    }
}

/// Reads a `SKILL.md`.
///
/// # Errors
/// Why it has no front matter that can be read, as a sentence's end.
pub(crate) fn read(text: &str) -> Result<Front, String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = text.split_inclusive('\n');
    if lines.next().is_none_or(|line| line.trim_end() != DASHES) {
        return Err("has no front matter: its first line is to be ---".to_owned());
    }
    let is_end = |line: &str| line.trim_end() == DASHES;
    if !lines.clone().any(is_end) {
        return Err("has front matter without an end: a line --- is to close it".to_owned());
    }
    // The line that is named where it is no YAML is the file's.
    let between =
        "\n".to_owned() + &lines.by_ref().take_while(|line| !is_end(line)).collect::<String>();
    let body = lines.collect::<String>();
    let mut warnings = Vec::new();
    let read = document::yaml(&between).or_else(|why| {
        warnings.push("a value with a colon is to stand in quotes".to_owned());
        document::yaml(&quoted(&between)).map_err(|_| why)
    });
    let line = |why: String| why.lines().next().unwrap_or_default().to_owned();
    match read.map_err(|why| format!("has front matter that is no YAML: {}", line(why)))? {
        Value::Object(values) => Ok(Front { values, warnings, body }),
        _ => Err("has front matter without keys: it takes name and description".to_owned()),
    }
}

/// Puts the values of plain lines `key: value` into quotes: many people write a colon into a description.
fn quoted(yaml: &str) -> String {
    let quote = |line: &str| match line.split_once(": ") {
        Some((key, value)) if is_plain(key, value) => {
            let value = value.trim_end().replace('\\', "\\\\").replace('"', "\\\"");
            format!("{key}: \"{value}\"")
        }
        _ => line.to_owned(),
    };
    yaml.lines().map(quote).collect::<Vec<_>>().join("\n")
}

fn is_plain(key: &str, value: &str) -> bool {
    let is_key = |c: char| c.is_alphanumeric() || "-_ ".contains(c);
    let begins = value.trim_start().chars().next();
    key.chars().all(is_key) && begins.is_some_and(|c| !"\"'|>{[&*!#".contains(c))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(front: &str) -> Result<Front, String> {
        read(&format!("---\n{front}\n---\n# Body\n"))
    }

    #[test]
    fn values_are_read_as_people_write_them() {
        let front = of("name: pdf\ndescription: Use this: it reads. Say \"pdf\": done").unwrap();
        assert_eq!(front.text("description").unwrap(), "Use this: it reads. Say \"pdf\": done");
        assert_eq!((front.warnings.len(), front.body.as_str()), (1, "# Body\n"));
        let front = of("name: a\ndescription: |-\n  two\n  lines\nmetadata:\n  version: \"1\"");
        let front = front.unwrap();
        assert_eq!(front.text("description").unwrap(), "two\nlines");
        assert!(front.warnings.is_empty() && front.values.contains_key("metadata"));
        let windows = read("\u{feff}---\r\nname: a\r\ndescription: b\r\n---\r\nbody\r\n").unwrap();
        assert_eq!(
            (windows.text("description").unwrap(), windows.body),
            ("b".into(), "body\r\n".into())
        );
    }

    #[test]
    fn what_is_no_front_matter_says_what_is_missing() {
        let said = ["# A skill", "---\nname: a", "---\n- a\n---\n", "---\na: [\n---\n", ""];
        let said = said.map(|text| read(text).unwrap_err());
        insta::assert_snapshot!(said.join("\n"), @r"
        has no front matter: its first line is to be ---
        has front matter without an end: a line --- is to close it
        has front matter without keys: it takes name and description
        has front matter that is no YAML: unclosed bracket '[' at line 2, column 4
        has no front matter: its first line is to be ---
        ");
    }

    proptest! {
        /// Whatever stands behind the colon: a line of plain words comes back as it was written.
        #[test]
        fn a_description_in_plain_words_comes_back(text in "[A-Za-z][a-z:,.()'\"#é ]{0,60}[a-z.]") {
            let front = of(&format!("name: a\ndescription: {text}"));
            let read = front.ok().and_then(|front| front.text("description"));
            // YAML itself ends a value before a comment.
            let written = text.split(" #").next().unwrap_or_default().trim_end().to_owned();
            let whole = read.as_deref() == Some(text.trim()) || read.as_deref() == Some(&written);
            prop_assert!(whole, "{text:?} {read:?}");
        }

        #[test]
        fn nothing_breaks_it(text in "(---\n)?[a-z:\\-\"'|>{}\\[\\]&*!#\n\t ]{0,200}") {
            if let Ok(front) = read(&text) {
                prop_assert!(text.ends_with(&front.body));
            }
        }
    }
}
