//! The files that a new state folder begins with, and copies of earlier ones that nobody touched.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use anyhow::Context;
use chrono::{DateTime, SecondsFormat, Utc};

use crate::state::make;

macro_rules! templates {
    ($folder:literal: $($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!($folder, $name)))),*]
    };
}

/// Every file of a new state folder, by its name inside it.
const TEMPLATES: &[(&str, &str)] = templates![
    "../../state/templates/":
    "TODO.md",
    "TODO.DONE.md",
    "HEARTBEAT.md",
    "contacts/ACTIVE.md",
    "contacts/INACTIVE.md",
    "persona/IDENTITY.md",
    "persona/SOUL.md",
    "skills/README.md",
    "schemas/README.md",
];

/// What the version before this one began with.
const LATELY: &[(&str, &str)] = templates![
    "templates/lately/":
    "HEARTBEAT.md",
    "persona/IDENTITY.md",
    "persona/SOUL.md",
    "skills/README.md",
];

/// What still earlier versions began with.
const EARLIER: &[(&str, &str)] = templates!["templates/earlier/": "HEARTBEAT.md"];

/// What earlier versions began with. A file that still says this to the letter is replaced.
const BEFORE: &[(&str, &str)] = templates![
    "templates/before/":
    "TODO.md",
    "HEARTBEAT.md",
    "contacts/ACTIVE.md",
    "contacts/INACTIVE.md",
    "persona/IDENTITY.md",
    "persona/SOUL.md",
    "skills/README.md",
    "schemas/README.md",
];

/// Stands in a template for the time when it is written.
const NOW: &str = "{now}";

/// Whether a folder has been used: a file that it begins with, and that nobody brings along, is there.
pub fn are_laid_out(state: &Path) -> bool {
    ["skills/README.md", "schemas/README.md"].iter().any(|name| state.join(name).exists())
}

/// Writes the templates that are missing, and those that an earlier version wrote and nobody changed.
///
/// # Errors
/// When a file cannot be written; says which.
pub fn lay_out(state: &Path, now: DateTime<Utc>) -> anyhow::Result<()> {
    let now = now.to_rfc3339_opts(SecondsFormat::Secs, true);
    for (name, text) in TEMPLATES {
        let path = state.join(name);
        let text = text.replace(NOW, &now);
        let mut before = LATELY.iter().chain(BEFORE).chain(EARLIER).filter(|(old, _)| old == name);
        let written = match before.find(|(_, before)| says(&path, before)) {
            Some(_) => replace(&path, &text),
            None => write_new(&path, &text),
        };
        written.with_context(|| format!("{} cannot be written", path.display()))?;
    }
    Ok(())
}

/// Whether a plain file says exactly this. What cannot be read is somebody else's.
fn says(path: &Path, text: &str) -> bool {
    let is_as_long = fs::symlink_metadata(path)
        .is_ok_and(|found| found.is_file() && found.len() == text.len() as u64);
    let read = || -> io::Result<Vec<u8>> {
        let mut bytes = Vec::with_capacity(text.len());
        File::open(path)?.take(text.len() as u64 + 1).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    is_as_long && read().is_ok_and(|bytes| bytes == text.as_bytes())
}

/// Puts a new file in the place of an old one, whole or not at all.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    let mut part = path.as_os_str().to_owned();
    part.push(".new");
    let part = Path::new(&part);
    // One that a killed start left behind is ours.
    match fs::remove_file(part) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    write_new(part, text)?;
    File::open(part)?.sync_all()?;
    fs::rename(part, path)?;
    tracing::info!(file = %path.display(), "held an earlier version's empty template: replaced by today's");
    Ok(())
}

fn write_new(path: &Path, text: &str) -> io::Result<()> {
    if let Some(parent) = path.parent() {
        make(parent)?;
    }
    match OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
        Ok(mut file) => file.write_all(text.as_bytes()),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn now() -> DateTime<Utc> {
        DateTime::from_timestamp(1_767_225_600, 0).unwrap()
    }

    fn laid_out() -> tempfile::TempDir {
        let home = tempfile::tempdir().unwrap();
        lay_out(home.path(), now()).unwrap();
        home
    }

    fn read(home: &tempfile::TempDir, name: &str) -> String {
        fs::read_to_string(home.path().join(name)).unwrap()
    }

    /// Front matter of exactly these keys, then the header; what comes after it.
    fn below<'a>(text: &'a str, keys: &[(&str, &str)], header: &str) -> &'a str {
        let rest = text.strip_prefix("---\n").expect("front matter comes first");
        let (front, rest) = rest.split_once("\n---\n").expect("front matter ends");
        let lines: Vec<String> =
            keys.iter().map(|(key, value)| format!("{key}: {value}")).collect();
        assert_eq!(front, lines.join("\n"));
        rest.strip_prefix(&format!("{header}\n")).expect("the header follows")
    }

    #[test]
    fn a_new_folder_is_laid_out_for_us_alone_and_files_that_exist_are_left_alone() {
        let home = laid_out();
        let mode = |name: &str| {
            let found = fs::metadata(home.path().join(name)).unwrap();
            std::os::unix::fs::PermissionsExt::mode(&found.permissions()) & 0o777
        };
        assert_eq!((mode("contacts"), mode("contacts/ACTIVE.md")), (0o700, 0o600));
        fs::write(home.path().join("TODO.md"), "mine").unwrap();
        lay_out(home.path(), now()).unwrap();
        assert_eq!(read(&home, "TODO.md"), "mine");
    }

    #[test]
    fn the_lists_are_empty_files_of_their_grammar() {
        let home = laid_out();
        let stamp = "\"2026-01-01T00:00:00Z\"";
        let dates = [("created_at", stamp), ("updated_at", stamp)];
        let todo = [&dates[..], &[("open_count", "0")]].concat();
        let wip = read(&home, "TODO.md");
        assert_eq!(
            below(&wip, &todo, "# TODO Work In Progress (WIP)"),
            "",
            "comments are no entries"
        );
        let done = [&dates[..], &[("done_count", "0")]].concat();
        assert_eq!(below(&read(&home, "TODO.DONE.md"), &done, "# TODO Done"), "");
        for (name, header) in [
            ("contacts/ACTIVE.md", "# Active Contacts"),
            ("contacts/INACTIVE.md", "# Inactive Contacts"),
        ] {
            let text = read(&home, name);
            // A contact is what stands outside of comments: there is none yet.
            let rest = below(&text, &dates, header).trim();
            assert!(rest.starts_with("<!--") && rest.ends_with("-->"), "{name}: {rest}");
            assert_eq!(rest.matches("<!--").count(), 1, "{name}");
        }
    }

    #[test]
    fn the_example_of_a_contact_is_yaml() {
        let text = read(&laid_out(), "contacts/ACTIVE.md");
        let (_, rest) = text.split_once("```yaml\n").unwrap();
        let (block, _) = rest.split_once("```").unwrap();
        let value = selkie_domain::document::yaml(block).unwrap();
        assert_eq!(value["contact_id"], "tg:@ada_example");
        assert_eq!(value["tg_private_chat_id"], "4711", "an id is text");
    }

    #[test]
    fn an_earlier_template_is_replaced_and_a_changed_one_never() {
        let home = laid_out();
        for (name, text) in BEFORE.iter().chain(LATELY) {
            fs::write(home.path().join(name), text).unwrap();
        }
        let changed = format!("{}buy milk\n", BEFORE[0].1);
        fs::write(home.path().join("TODO.md"), &changed).unwrap();
        fs::write(home.path().join("contacts/ACTIVE.md.new"), "half").unwrap();
        lay_out(home.path(), now()).unwrap();
        assert_eq!(read(&home, "TODO.md"), changed);
        assert_eq!(read(&home, "contacts/ACTIVE.md"), read(&laid_out(), "contacts/ACTIVE.md"));
        assert!(read(&home, "contacts/INACTIVE.md").contains("# Inactive Contacts"));
        assert!(read(&home, "persona/SOUL.md").contains("Remove the next line"));
        assert!(!home.path().join("contacts/ACTIVE.md.new").exists());
    }

    #[test]
    fn what_a_link_leads_to_is_not_replaced() {
        let home = laid_out();
        let (list, elsewhere) = (home.path().join("TODO.md"), home.path().join("mine.md"));
        fs::write(&elsewhere, BEFORE[0].1).unwrap();
        fs::remove_file(&list).unwrap();
        std::os::unix::fs::symlink(&elsewhere, &list).unwrap();
        lay_out(home.path(), now()).unwrap();
        assert!(list.is_symlink());
        assert_eq!(read(&home, "mine.md"), BEFORE[0].1);
    }

    #[test]
    fn every_template_of_the_checkout_is_embedded() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../state/templates");
        let mut found = 0;
        let mut folders = vec![root.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else if path != root.join("README.md") {
                    let name = path.strip_prefix(&root).unwrap().to_str().unwrap();
                    assert!(TEMPLATES.iter().any(|(n, _)| *n == name), "{name} is not embedded");
                    found += 1;
                }
            }
        }
        assert_eq!(found, TEMPLATES.len());
    }
}
