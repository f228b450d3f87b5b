//! Something wrong with the config, in words for a person: where it stands, which key, what is taken.

use std::fmt;

use selkie_domain::schema::{Fault, FaultKind};
use selkie_guard::visible::one_line;

/// So many keys are listed for one that is not known; a section with more of them has them in the example.
const MAX_LISTED: usize = 24;

/// Top-level keys of other programs, and where that stands here.
const OTHER_NAMES: [(&[&str], &str); 6] = [
    (
        &["system_prompt", "persona", "soul", "identity", "instructions"],
        "who the bot is stands in persona/IDENTITY.md and persona/SOUL.md in the state folder",
    ),
    (&["log_level", "loglevel", "log", "verbose"], "write logging.level"),
    (
        &["mcp_servers", "mcpservers"],
        "write mcp.servers; `selkie mcp import FILE` prints another program's servers that way",
    ),
    (&["tz", "time_zone"], "write timezone"),
    (&["cron", "jobs", "tasks", "heartbeats"], "write schedules, a list"),
    (
        &["allow", "allowed_users", "allowlist", "allow_from"],
        "each channel has a list of its own, under its section",
    ),
];

/// Something wrong with the config. Shown as `config.yaml:7: worker.max is not a key (…)`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    /// Where the value was written.
    pub place: Place,
    /// The key's path, e.g. `worker.max_concurrency`; empty for the whole.
    pub key: String,
    /// What is wrong and what is taken.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { place, key, message } = self;
        if !place.name.is_empty() {
            write!(f, "{place}: ")?;
        }
        if !key.is_empty() {
            write!(f, "{} ", one_line(key))?;
        }
        f.write_str(message)
    }
}

/// A key's path and what is wrong with its value.
pub type Wrong = (Vec<String>, String);

/// Where a value was written: a file and its line, a variable, a flag.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The file as it was named, the variable, the flag; empty when nobody wrote it.
    pub name: String,
    /// The line of the file, from 1.
    pub line: Option<usize>,
}

impl Place {
    /// Names a variable, a flag, or a whole file.
    pub fn of(name: impl Into<String>) -> Self {
        Self { name: name.into(), line: None }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        self.line.map_or(Ok(()), |line| write!(f, ":{line}"))
    }
}

/// All that is wrong, one line each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problems(
    /// At least one, by place.
    pub Vec<Problem>,
);

impl Problems {
    /// Whether anything is wrong with a section; what is wrong with the whole concerns each.
    pub fn concern(&self, section: &str) -> bool {
        self.0.iter().any(|problem| problem.key.is_empty() || belongs(&problem.key, section))
    }
}

/// Whether a key is a section or stands in it.
pub fn belongs(key: &str, section: &str) -> bool {
    key.strip_prefix(section).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            problem.fmt(f)?;
        }
        Ok(())
    }
}

impl std::error::Error for Problems {}

/// Says what a fault of the schema means. `secret` values are never repeated.
pub fn words(fault: &Fault, secret: bool) -> String {
    let got = |got: &str| match secret {
        true => "what stands there".to_owned(),
        // A word that cannot be seen is shown as it is written.
        false if got.trim().is_empty() => format!("{got:?}"),
        false => got.to_owned(),
    };
    match &fault.kind {
        FaultKind::Missing => "is missing".to_owned(),
        FaultKind::Unknown { nearest, taken } => {
            let hint = nearest.as_ref().map(|near| format!("did you mean {near}?"));
            let keys = match taken.len() > MAX_LISTED {
                true if hint.is_some() => None,
                true => Some("selkie config example shows every key".to_owned()),
                false => Some(format!("takes {}", listed(taken))),
            };
            let told: Vec<String> = hint.into_iter().chain(keys).collect();
            format!("is not a key ({})", told.join(" "))
        }
        FaultKind::Type { takes, got: value } => format!("takes {takes}, not {}", got(value)),
        FaultKind::NotListed { got: value, takes } => {
            format!("takes {}, not {}", one_of(takes), got(value))
        }
        FaultKind::Range { got: value, least, most } => {
            format!("takes {}, not {}", range(*least, *most), got(value))
        }
        FaultKind::Endless => "is too large to be checked".to_owned(),
    }
}

/// Says where what other programs call so stands here.
pub fn other_name(key: &str) -> Option<&'static str> {
    let lower = key.to_ascii_lowercase();
    OTHER_NAMES.iter().find(|(names, _)| names.contains(&lower.as_str())).map(|(_, what)| *what)
}

fn listed(taken: &[String]) -> String {
    if taken.is_empty() { "no keys".to_owned() } else { taken.join(", ") }
}

/// Says how a word is written where a list is taken: it is a list of one, and no word is an empty list.
pub fn as_list(takes: &str, got: &str) -> Option<String> {
    if !takes.starts_with("an array") {
        return None;
    }
    match got.strip_prefix('"')?.trim_end_matches('"').trim() {
        "" => Some("[] for none, or take the key out".to_owned()),
        _ => takes.contains("strings").then(|| format!("[{got}]")),
    }
}

/// Joins a list as people say it: `a, b or c`.
pub fn one_of(list: &[String]) -> String {
    match list {
        [] => "nothing".to_owned(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}

fn range(least: Option<f64>, most: Option<f64>) -> String {
    match (least, most) {
        (Some(least), Some(most)) => format!("{least} to {most}"),
        (Some(least), None) => format!("{least} or more"),
        (None, Some(most)) => format!("{most} or less"),
        (None, None) => "another number".to_owned(),
    }
}
