//! The walls: who may import whom, and where a platform may be named. The table is house law; a room that
//! has to break it shows that the wall is wrong, and then the table changes here first.

use std::fs;
use std::path::{Path, PathBuf};

/// Floors from the ground up; a module imports lower floors, never its own floor's neighbours.
const FLOORS: &[&[&str]] = &[
    &["domain", "guard"],
    &["store", "llm", "tools"],
    &["agent"],
    &["shape", "people", "memory", "time"],
    &["flow"],
    &["console"],
    &["config", "daemon"],
];

/// What may be imported beside lower floors.
const DOORS: &[(&str, &str)] = &[
    // The composition root reads settings; config knows nothing of the daemon.
    ("daemon", "config"),
    // Rules without I/O speak of the domain's nouns.
    ("guard", "domain"),
];

/// Words that only a platform's own home may say.
const PLATFORMS: &[&str] =
    &["telegram", "slack", "\"line:", "\"line\"", "line_bot", "twitter", "discord"];

fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("folder").map(|e| e.expect("entry").path()) {
        if entry.is_dir() {
            found.extend(sources(&entry));
        } else if entry.extension().is_some_and(|e| e == "rs") {
            found.push(entry);
        }
    }
    found
}

fn src() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

fn floor(room: &str) -> usize {
    FLOORS.iter().position(|f| f.contains(&room)).unwrap_or_else(|| panic!("no floor for {room}"))
}

/// Whether a file is there for tests only.
fn is_test(file: &Path) -> bool {
    let only = ["tests.rs", "testing.rs", "conformance.rs"];
    only.iter().any(|name| file.ends_with(name))
        || file.components().any(|c| ["tests", "conformance"].iter().any(|t| c.as_os_str() == *t))
}

/// The production lines of a file: everything above its unit tests.
fn production(text: &str) -> impl Iterator<Item = &str> {
    text.lines().take_while(|l| !l.trim_start().starts_with("#[cfg(test)]"))
}

#[test]
fn every_room_imports_lower_floors_only() {
    let mut broken = Vec::new();
    for room in FLOORS.iter().flat_map(|f| f.iter()).filter(|r| src().join(r).is_dir()) {
        for file in sources(&src().join(room)) {
            let text = fs::read_to_string(&file).expect("source");
            for import in production(&text).flat_map(|l| l.split("crate::").skip(1)) {
                let other: String =
                    import.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
                let known = FLOORS.iter().any(|f| f.contains(&other.as_str()));
                let door = DOORS.contains(&(room, other.as_str()));
                if known && other != **room && !door && floor(&other) >= floor(room) {
                    broken.push(format!("{} imports {other}", file.display()));
                }
            }
        }
    }
    assert!(broken.is_empty(), "imports against the floors:\n{}", broken.join("\n"));
}

#[test]
fn no_platform_is_named_outside_its_home() {
    let mut named = Vec::new();
    for file in sources(&src()) {
        if file.ends_with("src/channels.rs") || is_test(&file) {
            continue;
        }
        let text = fs::read_to_string(&file).expect("source");
        for (n, line) in production(&text).enumerate() {
            // Words for people and docs may name a platform as an example; code may not.
            let code = line.split("//").next().unwrap_or_default();
            if PLATFORMS.iter().any(|p| code.contains(p)) {
                named.push(format!("{}:{}: {}", file.display(), n + 1, line.trim()));
            }
        }
    }
    assert!(named.is_empty(), "platforms named in library code:\n{}", named.join("\n"));
}

#[test]
fn a_file_does_one_thing_and_its_first_line_says_which() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let files = [src(), root.join("channels")].iter().flat_map(|f| sources(f)).collect::<Vec<_>>();
    let mut faults = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).expect("source");
        let is_test =
            file.ends_with("tests.rs") || file.components().any(|c| c.as_os_str() == "tests");
        let lines = production(&text).count();
        if !is_test && lines > 420 {
            faults.push(format!("{}: {lines} production lines", file.display()));
        }
        let documented = text.starts_with("//!") || text.starts_with("#![doc") || is_test;
        if !documented {
            faults.push(format!(
                "{}: the first line does not say what the file does",
                file.display()
            ));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
