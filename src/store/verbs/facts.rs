//! Facts as rows: where a task speaks stands once for all tasks of that kind, the rest with the task.

use serde::Deserialize;

use super::rows::{json, load};
use crate::error::{Result, StoreError};
use crate::tx::Tx;
use crate::value::params;
use selkie_domain::facts::{Facts, Trust};
use selkie_domain::taint::Taint;

/// What stands in a task's facts for the row that holds their place.
const ELSEWHERE: &str = r#""place":0"#;

/// What most tasks are begun by and run in: left out, and put back by reading.
const USUAL: &str = r#""trigger":"asked","mode":"normal","#;
const USUAL_MODE: &str = "normal";

/// Facts, written as two texts before they reach the writer.
#[derive(Debug)]
pub struct FactsText {
    place: String,
    rest: String,
}

impl FactsText {
    /// Writes facts.
    pub fn new(facts: &Facts) -> Result<Self> {
        let place = json(&facts.place)?;
        let whole = json(facts)?;
        let Some((before, after)) = whole.split_once(&format!(r#""place":{place}"#)) else {
            return Err(StoreError::Corrupt("facts without their place: a defect".to_owned()));
        };
        // A quotation mark inside a text is escaped: what is found is the members themselves.
        let rest = format!("{before}{ELSEWHERE}{after}").replacen(USUAL, "", 1);
        Ok(Self { rest, place })
    }

    /// Returns what stands with the task.
    pub fn rest(&self) -> &str {
        &self.rest
    }

    /// Returns their place, as it stands in a row of its own.
    pub fn place(&self) -> &str {
        &self.place
    }

    /// Returns both, as they are read again.
    pub fn raw(&self) -> RawFacts {
        (self.rest.clone(), Some(self.place.clone()))
    }

    /// Returns the row of their place, made when it is new.
    pub fn whereabouts(&self, tx: &mut dyn Tx) -> Result<i64> {
        const KNOWN: &str = "SELECT id FROM whereabouts WHERE place = ?1";
        if let Some(row) = tx.first(KNOWN, params![&self.place])? {
            return Ok(row);
        }
        let sql = "INSERT INTO whereabouts (place) VALUES (?1) ON CONFLICT (place) DO NOTHING";
        match tx.insert(sql, params![&self.place])? {
            Some(row) => Ok(row),
            None => tx.only(KNOWN, params![&self.place]),
        }
    }

    /// Returns about how many bytes it will take.
    pub fn bytes(&self) -> usize {
        self.rest.len()
    }
}

/// A task's facts as they are stored: its own, and the row of their place.
pub type RawFacts = (String, Option<String>);

/// Reads the facts of a task.
///
/// # Errors
/// `Corrupt` when they cannot be read.
pub fn read(task: i64, raw: &RawFacts) -> Result<Facts> {
    let (rest, place) = raw;
    match place {
        Some(place) => load(task, &rest.replacen(ELSEWHERE, &format!(r#""place":{place}"#), 1)),
        None => load(task, rest),
    }
}

/// Returns the trust that a task's own facts name; whoever cannot be read is nobody we know.
pub fn trust(rest: &str) -> Trust {
    let named = serde_json::from_str::<FactsKey>(rest).ok().and_then(|named| named.trust);
    named.and_then(|name| Trust::parse(&name)).unwrap_or(Trust::Stranger)
}

/// Returns the level that a task's own facts name; of what cannot be read nobody can say that it is clean.
pub fn level(rest: &str) -> Taint {
    let named = serde_json::from_str::<FactsKey>(rest).ok();
    named.and_then(|named| named.taint).unwrap_or(Taint::Raw)
}

/// Whether a task's own facts name this person as who asked for it; everybody for `None`.
pub fn is_of(rest: &str, person: Option<&str>) -> bool {
    let Some(person) = person else { return true };
    let named = serde_json::from_str::<FactsKey>(rest).ok();
    named.and_then(|named| named.speaker).as_deref() == Some(person)
}

/// Returns the mode that a task's own facts name. `None` when they cannot be read.
pub fn mode(rest: &str) -> Option<String> {
    let named = serde_json::from_str::<FactsKey>(rest).ok()?;
    Some(named.mode.unwrap_or_else(|| USUAL_MODE.to_owned()))
}

/// What is looked at in facts that need not be read as a whole.
#[derive(Deserialize)]
struct FactsKey {
    trust: Option<String>,
    speaker: Option<String>,
    mode: Option<String>,
    #[serde(alias = "untrusted_text")]
    taint: Option<Taint>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::facts;
    use selkie_domain::facts::{Mode, Trigger};

    #[test]
    fn facts_are_put_together_as_they_were() {
        let mut facts = facts();
        facts.summoned = vec![r#"a "place":0 in a text"#.to_owned()];
        let written = FactsText::new(&facts).unwrap();
        assert!(!written.rest.contains("telegram"), "{}", written.rest);
        assert!(!written.rest.contains("normal"), "{}", written.rest);
        assert_eq!(read(1, &(written.rest, Some(written.place))).unwrap(), facts);
        assert_eq!(read(1, &(json(&facts).unwrap(), None)).unwrap(), facts);
    }

    #[test]
    fn what_is_not_usual_is_written() {
        let said = Facts { trigger: Trigger::Scheduled, ..facts() };
        let plan = Facts { mode: Mode::Plan, ..facts() };
        let quoted = Facts { summoned: vec![USUAL.to_owned()], ..plan.clone() };
        for facts in [said, plan, quoted] {
            let written = FactsText::new(&facts).unwrap();
            assert_eq!(read(1, &written.raw()).unwrap(), facts, "{written:?}");
        }
    }

    #[test]
    fn what_is_looked_at_is_found_in_written_facts() {
        let written = FactsText::new(&facts()).unwrap();
        let rest = written.rest();
        assert_eq!((trust(rest), mode(rest).as_deref()), (Trust::Allowed, Some("normal")));
        assert!(is_of(rest, Some("tg:1")) && is_of(rest, None) && !is_of(rest, Some("tg:2")));
        assert_eq!((trust("{"), mode("{}")), (Trust::Stranger, Some(USUAL_MODE.to_owned())));
        assert_eq!(mode("{"), None);
        assert!(!is_of("{", Some("tg:1")));
    }
}
