//! YAML text to a tree of values; the parser's own words when it cannot be read.

use serde_json::{Map, Number, Value};

use crate::config::problem::{Place, Problem};

/// Reads one YAML document. Nothing at all is an empty map.
///
/// # Errors
/// Broken YAML, a key that stands twice, or a document that is no map.
pub fn parse(name: &str, text: &str) -> Result<Value, Problem> {
    let mut value: serde_yaml::Value =
        serde_yaml::from_str(text).map_err(|e| broken(name, text, &e))?;
    value.apply_merge().map_err(|e| broken(name, text, &e))?;
    match json(value) {
        Value::Null => Ok(Value::Object(Map::new())),
        map @ Value::Object(_) => Ok(map),
        _ => Err(Problem {
            place: Place::of(name),
            key: String::new(),
            says: "the file takes keys with values (`worker: …`); see config.example.yaml".into(),
        }),
    }
}

/// Reads a value as it may stand behind a key.
pub fn value(text: &str) -> Option<Value> {
    serde_yaml::from_str(text).ok().map(json)
}

fn broken(name: &str, text: &str, error: &serde_yaml::Error) -> Problem {
    let said = error.to_string();
    let line_of = |is: &dyn Fn(&str) -> bool| text.lines().position(is).map(|at| at + 1);
    let (line, says) = if let Some(number) = too_large(&said) {
        let says = format!("{number} is a number that is too large to be read");
        (line_of(&|line| line.contains(number)), says)
    } else if said.contains("more than one document") {
        let mut marks = text.lines().enumerate().filter(|(_, line)| line.starts_with("---"));
        let words = |line: &str| !line.trim().is_empty() && !line.starts_with(['#', '%', '-']);
        let first = text.lines().take_while(|line| !line.starts_with("---")).any(words);
        let second = if first { marks.next() } else { marks.nth(1) };
        let says = "begins a second document: keep one, and take the `---` between them out";
        (second.map(|(at, _)| at + 1), says.to_owned())
    } else if let Some(at) = error.location().map(|l| l.line()).filter(|at| tabbed(text, *at)) {
        (Some(at), "is indented with a tab: YAML takes spaces alone".to_owned())
    } else {
        (None, format!("the YAML cannot be read: {said}"))
    };
    let line = line.or_else(|| error.location().map(|l| l.line()));
    Problem { place: Place { name: name.to_owned(), line }, key: String::new(), says }
}

/// Whether a line, counted from 1, begins with white space that holds a tab.
fn tabbed(text: &str, line: usize) -> bool {
    let line = text.lines().nth(line.saturating_sub(1)).unwrap_or_default();
    line[..line.len() - line.trim_start().len()].contains('\t')
}

/// The number in the parser's words of one that no type takes.
fn too_large(said: &str) -> Option<&str> {
    let wide = ["as u128", "as i128"].iter().any(|wide| said.contains(wide));
    wide.then(|| said.split('`').nth(1)).flatten()
}

fn json(value: serde_yaml::Value) -> Value {
    match value {
        serde_yaml::Value::Null => Value::Null,
        serde_yaml::Value::Bool(b) => Value::Bool(b),
        serde_yaml::Value::Number(n) => number(&n),
        serde_yaml::Value::String(s) => Value::String(s),
        serde_yaml::Value::Sequence(items) => Value::Array(items.into_iter().map(json).collect()),
        serde_yaml::Value::Mapping(map) => {
            Value::Object(map.into_iter().map(|(k, v)| (key(k), json(v))).collect())
        }
        serde_yaml::Value::Tagged(tagged) => json(tagged.value),
    }
}

fn key(value: serde_yaml::Value) -> String {
    match json(value) {
        Value::String(text) => text,
        other => other.to_string(),
    }
}

fn number(n: &serde_yaml::Number) -> Value {
    let whole = n.as_i64().map(Number::from).or_else(|| n.as_u64().map(Number::from));
    whole
        .or_else(|| n.as_f64().and_then(Number::from_f64))
        .map_or_else(|| Value::String(n.to_string()), Value::Number)
}
