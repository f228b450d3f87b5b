//! How a service stands: whether it is installed, as what, and what systemd says of it.

use std::path::{Path, PathBuf};

use chrono::{DateTime, NaiveDateTime, Utc};
use serde::Serialize;

use super::machine::{Kind, Machine};
use super::own::{self, UnitState};
use super::systemd;
use super::text;

/// What is asked.
const PROPERTIES: &str = "ActiveState,UnitFileState,ExecMainStartTimestamp";

/// Whose unit it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// The one that comes with this selkie.
    ThisVersion,
    /// One that another selkie has written.
    OtherVersion,
    /// A person's, or one that a person has changed.
    Changed,
    /// A package's.
    Packaged,
}

impl Unit {
    /// In words for people.
    pub fn says(self) -> &'static str {
        match self {
            Self::ThisVersion => "this selkie's",
            Self::OtherVersion => "another version's: selkie service install brings this one's",
            Self::Changed => "not as selkie wrote it",
            Self::Packaged => "a package's",
        }
    }
}

/// How a service stands.
#[derive(Clone, Debug, Serialize)]
pub struct ServiceState {
    /// The unit's name.
    pub name: String,
    /// Whose service it is.
    pub kind: Kind,
    /// The unit's file; none: it is not installed.
    pub path: Option<PathBuf>,
    /// Whose unit it is.
    pub unit: Option<Unit>,
    /// What selkie has written beside it.
    pub drop_in: Option<PathBuf>,
    /// What systemd says: `enabled`, `disabled`, `masked` …; none where it is not asked.
    pub enabled: Option<String>,
    /// `active`, `inactive`, `failed` …
    pub active: Option<String>,
    /// When it was last started.
    pub started_at: Option<DateTime<Utc>>,
}

impl ServiceState {
    /// Whether it is as one wants it: installed, and running as far as systemd can be asked.
    pub fn is_well(&self) -> bool {
        self.path.is_some() && self.active.as_ref().is_none_or(|active| active == "active")
    }
}

/// Looks how the service stands.
pub fn standing(machine: &Machine) -> ServiceState {
    let path = machine.unit();
    let told = (machine.runs && path.is_some())
        .then(|| systemd::properties(machine, PROPERTIES))
        .flatten()
        .unwrap_or_default();
    let said = |name: &str| said(&told, name);
    ServiceState {
        name: machine.unit_name(),
        kind: machine.asked.kind,
        unit: path.as_ref().map(|path| whose(machine, path)),
        path,
        drop_in: Some(machine.drop_in()).filter(|path| path.is_file()),
        enabled: said("UnitFileState"),
        active: said("ActiveState"),
        started_at: said("ExecMainStartTimestamp").and_then(|text| moment(&text)),
    }
}

/// What a line `name=value` says, when it says something.
fn said(told: &str, name: &str) -> Option<String> {
    let mut lines = told.lines().filter_map(|line| line.split_once('='));
    let value = lines.find(|(key, _)| *key == name)?.1;
    Some(value.to_owned()).filter(|value| !value.is_empty())
}

fn whose(machine: &Machine, path: &Path) -> Unit {
    if machine.packaged().as_deref() == Some(path) {
        return Unit::Packaged;
    }
    match own::found(path) {
        Ok(UnitState::Ours(body)) if body == text::unit(machine.asked.kind) => Unit::ThisVersion,
        Ok(UnitState::Ours(_)) => Unit::OtherVersion,
        Ok(UnitState::Nothing | UnitState::Theirs) | Err(_) => Unit::Changed,
    }
}

/// `Tue 2026-03-10 12:00:00 UTC`, as systemd writes it.
fn moment(text: &str) -> Option<DateTime<Utc>> {
    let read = NaiveDateTime::parse_from_str(text, "%a %Y-%m-%d %H:%M:%S UTC");
    read.ok().map(|naive| naive.and_utc())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_systemd_says_is_read_and_nothing_is_nothing() {
        let told = "ActiveState=active\nUnitFileState=\nExecMainStartTimestamp=Tue 2026-03-10 12:00:00 UTC\n";
        assert_eq!(said(told, "ActiveState").as_deref(), Some("active"));
        assert_eq!(said(told, "UnitFileState"), None);
        let at = said(told, "ExecMainStartTimestamp").and_then(|text| moment(&text));
        assert_eq!(at.unwrap().to_rfc3339(), "2026-03-10T12:00:00+00:00");
        assert_eq!(moment("n/a"), None);
    }
}
