//! Which files no tool touches, whatever the roots: what defines the bot, and what is not a file's place.

use std::path::{Component, Path};

use super::{Want, Zone};

const DEFINES: &str = "it defines the bot: people change it, tools do not";
const SECRET: &str = "it may hold credentials of the bot";
const INNER: &str = "it is the daemon's own";
const MEMORY: &str = "memory is reached with the memory tools";
const GIT: &str = "it is git's own: its settings and hooks are programs that git runs";
const MACHINE: &str = "it is the machine's own, not a file";

/// Says why a file is closed, if it is. `relative` to the zone's root; from `/` for elsewhere.
pub(super) fn closed(zone: Zone, relative: &Path, want: Want) -> Option<&'static str> {
    let names: Vec<String> = relative
        .components()
        .filter_map(|c| match c {
            Component::Normal(name) => Some(name.to_string_lossy().to_lowercase()),
            _ => None,
        })
        .collect();
    if names.iter().any(|n| is_environment(n)) || names.last().is_some_and(|n| is_config(n)) {
        return Some(SECRET);
    }
    if want == Want::Write && names.iter().any(|n| is_git(n)) {
        return Some(GIT);
    }
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    match zone {
        Zone::State => closed_in_state(&names, want),
        Zone::Elsewhere => closed_elsewhere(&names),
        Zone::Own | Zone::Workspace => None,
    }
}

/// Whether a path is named by a list: a name (`secrets.txt`) stands for every file or folder called
/// so, a path (`notes/private`) for every place that ends in it or lies below, `/srv/x` for itself.
pub fn denied(list: &[String], real: &Path) -> bool {
    list.iter().filter(|entry| !entry.trim_matches('/').is_empty()).any(|entry| {
        let entry = Path::new(entry);
        if entry.is_absolute() {
            return real.starts_with(entry);
        }
        let wanted: Vec<_> = entry.components().filter(|c| *c != Component::CurDir).collect();
        let all: Vec<_> = real.components().collect();
        !wanted.is_empty() && all.windows(wanted.len()).any(|part| part == wanted)
    })
}

fn closed_in_state(names: &[&str], want: Want) -> Option<&'static str> {
    let first = *names.first()?;
    let last = *names.last()?;
    if first == "memory" {
        return Some(MEMORY);
    }
    if ["approvals", "run", "credentials", "secrets"].contains(&stem(first)) {
        return Some(INNER);
    }
    if is_database(last) || ["lock", "sock", "pid"].contains(&ending(last)) {
        return Some(INNER);
    }
    let defines = ["persona", "identity", "soul", "skills", "policy", "policies"];
    (want == Want::Write && defines.contains(&stem(first))).then_some(DEFINES)
}

fn closed_elsewhere(names: &[&str]) -> Option<&'static str> {
    match names {
        ["proc" | "sys" | "dev", ..] => Some(MACHINE),
        ["run", "credentials" | "secrets", ..] => Some(SECRET),
        [.., last] if last.starts_with("selkie") && is_database(last) => Some(INNER),
        _ => None,
    }
}

/// What git, or a file system below it, takes for `.git`: some leave out letters that have no width, some
/// have short names.
fn is_git(name: &str) -> bool {
    let without_width = |c: &char| !matches!(c, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}');
    let name: String = name.chars().filter(without_width).collect();
    let name = name.split(':').next().unwrap_or_default().trim_end_matches([' ', '.']);
    matches!(name, ".git" | "git~1")
}

fn is_config(name: &str) -> bool {
    matches!(name, "config.yaml" | "config.yml")
}

fn is_environment(name: &str) -> bool {
    name.starts_with(".env.") || ending(name) == "env"
}

/// `x.db`, `x.db-wal`, `x.db.backup`, `x.sqlite3`.
fn is_database(name: &str) -> bool {
    name.split('.').skip(1).any(|part| {
        let part = part.split('-').next().unwrap_or(part);
        part == "db" || part.starts_with("sqlite")
    })
}

fn stem(name: &str) -> &str {
    name.split('.').next().unwrap_or(name)
}

fn ending(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}
