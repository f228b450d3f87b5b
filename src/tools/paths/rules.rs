//! Which files of a root no tool touches: of the state folder everything but a list, of the machine what
//! is no file. The bot's own files are closed by what they are, not by a name: see `ours`.

use std::path::{Component, Path};

use super::zone::{Want, Zone};

const DEFINES: &str = "it defines the bot: people change it, tools do not";
const SECRET: &str = "it may hold credentials of the bot";
const CLOSED: &str = "of file_state_dir, tools take the folders contacts, schemas, schedules, jobs and notes, and documents \
    beside them, such as list.md";
const MEMORY: &str = "it is the bot's memory, not a file";
const GIT: &str = "it is git's own: its settings and hooks are programs that git runs";
const MACHINE: &str = "it belongs to the system and is not a file";

/// What tools read of the state folder, by its first name, and nothing else of it.
const READ: [&str; 7] =
    ["heartbeat.md", "persona", "identity", "soul", "skills", "policy", "policies"];
/// What they also write.
const WRITE: [&str; 5] = ["contacts", "schemas", "schedules", "jobs", "notes"];
/// Endings of documents that lie beside them.
const DOCUMENTS: [&str; 6] = ["md", "txt", "yaml", "yml", "json", "csv"];

/// Says why a file is closed, if it is. `relative` to the zone's root; from `/` for elsewhere.
pub(super) fn closed(zone: Zone, relative: &Path, want: Want) -> Option<&'static str> {
    let names: Vec<String> = relative
        .components()
        .filter_map(|c| match c {
            Component::Normal(name) => Some(name.to_string_lossy().to_lowercase()),
            _ => None,
        })
        .collect();
    if want != Want::Read && names.iter().any(|n| is_git(n)) {
        return Some(GIT);
    }
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    match zone {
        Zone::State => closed_in_state(&names, want),
        Zone::Elsewhere => closed_elsewhere(&names),
        Zone::Skills => (want != Want::Read).then_some(DEFINES),
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
    if stem(first) == "memory" {
        return Some(MEMORY);
    }
    if READ.contains(&first) || READ.contains(&stem(first)) {
        let may = match want {
            Want::Read => true,
            Want::Write => false,
            Want::Define => first == "persona" && names.len() == 2,
        };
        return (!may).then_some(DEFINES);
    }
    if want == Want::Define {
        return Some(CLOSED);
    }
    let is_document = names.len() == 1
        && !first.starts_with('.')
        && !first.starts_with("selkie.")
        && DOCUMENTS.contains(&ending(first));
    let is_open = WRITE.contains(&first) || is_document;
    (!is_open).then_some(CLOSED)
}

fn closed_elsewhere(names: &[&str]) -> Option<&'static str> {
    match names {
        ["proc" | "sys" | "dev", ..] => Some(MACHINE),
        ["run", "credentials" | "secrets", ..] | ["etc", "selkie", ..] => Some(SECRET),
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

fn stem(name: &str) -> &str {
    name.split('.').next().unwrap_or(name)
}

fn ending(name: &str) -> &str {
    name.rsplit_once('.').map_or("", |(_, ending)| ending)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_closed_in_the_state_folder_says_what_is_open() {
        let verdict = |path: &str| closed(Zone::State, Path::new(path), Want::Write);
        for folder in WRITE {
            assert!(CLOSED.contains(folder), "{folder}");
            assert_eq!(verdict(&format!("{folder}/z.md")), None);
        }
        assert_eq!(verdict("list.md"), None);
        assert_eq!(verdict("mydir/z.md"), Some(CLOSED));
        assert_eq!(verdict("selkie.md"), Some(CLOSED));
    }
}
