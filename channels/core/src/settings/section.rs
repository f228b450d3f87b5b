//! Reads a channel's section of the config key by key, so that everything wrong with it is told at once.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::Problem;

/// What was found wrong with a section so far.
#[derive(Debug, Default)]
pub struct Findings {
    problems: Vec<Problem>,
    /// Keys whose value is of the wrong kind: nothing more is said of them.
    told: Vec<String>,
}

impl Findings {
    /// Takes the value of a key, or what is wrong with it.
    pub fn take<T>(&mut self, key: &str, value: Result<T, String>) -> Option<T> {
        value.map_err(|message| self.add(Problem::of(key, message))).ok()
    }

    /// Adds what is wrong.
    pub fn add(&mut self, problem: Problem) {
        if !self.told.contains(&problem.key) {
            self.problems.push(problem);
        }
    }
}

/// Reads a section into its settings, and checks them: what is wrong with single keys is left out of them before,
/// so that one wrong key does not hide the others' limits. `Ok(None)` when the section is absent or empty.
///
/// `taken` says of a key what it takes; what stands in one of `secrets` is never shown. `check` gives `None` only
/// with something found.
///
/// # Errors
/// Everything that is wrong, at once.
pub fn read<S: DeserializeOwned, T>(
    section: Value,
    secrets: &[&str],
    taken: fn(&str) -> Option<&'static str>,
    check: impl FnOnce(S, &mut Findings) -> Option<T>,
) -> Result<Option<T>, Vec<Problem>> {
    let Some((settings, problems)) = keys::<S>(section, secrets, taken)? else { return Ok(None) };
    let told = problems.iter().map(|problem| problem.key.clone()).collect();
    let mut findings = Findings { problems, told };
    match check(settings, &mut findings) {
        Some(checked) if findings.problems.is_empty() => Ok(Some(checked)),
        _ => Err(findings.problems),
    }
}

/// # Errors
/// When it is no section at all.
fn keys<S: DeserializeOwned>(
    section: Value,
    secrets: &[&str],
    taken: fn(&str) -> Option<&'static str>,
) -> Result<Option<(S, Vec<Problem>)>, Vec<Problem>> {
    let map = match section {
        Value::Null => return Ok(None),
        Value::Object(map) if map.is_empty() => return Ok(None),
        Value::Object(map) => map,
        other => return Err(vec![Problem::of("", format!("{other} is not a section with keys"))]),
    };
    let misfit = |(key, value): (&String, &Value)| {
        // Alone, so that its error can name it.
        let alone = Value::Object(Map::from_iter([(key.clone(), value.clone())]));
        let error = serde_json::from_value::<S>(alone).err()?;
        let is_secret = secrets.contains(&key.as_str());
        let shown = if is_secret { "the value".to_owned() } else { value.to_string() };
        Some(match taken(key) {
            Some(taken) => Problem::of(key, format!("{shown} is not accepted; it takes {taken}")),
            None => Problem::of(key, error.to_string()),
        })
    };
    let problems: Vec<Problem> = map.iter().filter_map(misfit).collect();
    let sound = map.into_iter().filter(|(key, _)| !problems.iter().any(|p| p.key == *key));
    let sound: Map<String, Value> = sound.collect();
    match serde_json::from_value(Value::Object(sound)) {
        Ok(settings) => Ok(Some((settings, problems))),
        Err(e) => Err(vec![Problem::of("", e.to_string())]),
    }
}

/// Reads every entry of a list with `read`, in their order.
///
/// # Errors
/// All entries that are not taken, in one sentence: `one` says what a single one is not ("is not an id"),
/// `several` what more are not ("are not ids"), `takes` what the list takes.
pub fn entries<E, T>(
    entries: &[E],
    read: impl Fn(&E) -> Option<T>,
    shown: impl Fn(&E) -> String,
    [one, several, takes]: [&str; 3],
) -> Result<Vec<T>, String> {
    let mut taken = Vec::new();
    let mut wrong = Vec::new();
    for entry in entries {
        match read(entry) {
            Some(value) => taken.push(value),
            None => wrong.push(shown(entry)),
        }
    }
    let are = match wrong.len() {
        0 => return Ok(taken),
        1 => one,
        _ => several,
    };
    Err(format!("{} {are}; takes {takes}", wrong.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_entries_that_are_not_taken_are_told() {
        let numbers = |list: &[&str]| {
            let message = ["is not a number", "are no numbers", "1 and up"];
            entries(list, |text| text.parse::<u32>().ok(), |text| format!("{text:?}"), message)
        };
        assert_eq!(numbers(&["1", "2"]), Ok(vec![1, 2]));
        assert_eq!(numbers(&["1", "b"]), Err("\"b\" is not a number; takes 1 and up".to_owned()));
        let both = Err("\"a\", \"b\" are no numbers; takes 1 and up".to_owned());
        assert_eq!(numbers(&["a", "1", "b"]), both);
    }
}
