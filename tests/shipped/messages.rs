//! The messages that pages quote: each stands in the source in these words, so that no page tells of one that is gone.

use std::fs;
use std::path::{Path, PathBuf};

use crate::commands::{blocks, in_sentences, of, refused};

/// The source as it reads at run time: without what is for tests, texts that go over lines put together.
struct Source {
    files: Vec<String>,
}

impl Source {
    fn read() -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut paths = Vec::new();
        // Not what plays the platforms: it says nothing to people who run selkie.
        for folder in ["core", "hooks", "telegram", "slack", "line", "x"] {
            below(&root.join("channels").join(folder), "rs", &mut paths);
        }
        below(&root.join("src"), "rs", &mut paths);
        let files = paths.iter().filter(|path| !path.ends_with("tests.rs"));
        let read = |path: &PathBuf| fs::read_to_string(path).expect("a file");
        Self { files: files.map(read).map(|text| joined(&text)).collect() }
    }

    /// Whether a message stands in one file: its pieces between `…`, in their order.
    fn says(&self, message: &str) -> bool {
        let pieces: Vec<&str> =
            message.split('…').map(str::trim).filter(|piece| piece.len() > 2).collect();
        let in_order = |file: &String| {
            let mut rest = file.as_str();
            pieces.iter().all(|piece| {
                let found = rest.split_once(piece);
                rest = found.map_or("", |(_, after)| after);
                found.is_some()
            })
        };
        !pieces.is_empty() && self.files.iter().any(in_order)
    }
}

fn joined(text: &str) -> String {
    let text = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
    let mut lines = text.split("\\\n");
    let mut out = lines.next().unwrap_or_default().to_owned();
    lines.for_each(|line| out.push_str(line.trim_start()));
    out.replace("\\\"", "\"")
}

/// Adds the files with an ending that lie in a folder and below it.
pub fn below(folder: &Path, ending: &str, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        match path.is_dir() {
            true => below(&path, ending, found),
            false if path.extension().is_some_and(|it| it == ending) => found.push(path),
            false => {}
        }
    }
}

/// The pages for people who run selkie.
fn pages() -> Vec<(String, String)> {
    let mut paths = Vec::new();
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/docs");
    below(&docs, "md", &mut paths);
    paths.retain(|path| !path.components().any(|part| part.as_os_str() == "decisions"));
    let text = |path: &PathBuf| fs::read_to_string(path).expect("a page");
    paths.iter().map(|path| (path.display().to_string(), text(path))).collect()
}

/// The messages that a page tells of: all of them on the page that is kept by messages, elsewhere those of its section.
fn quoted(text: &str) -> Vec<&str> {
    let (mut tells, mut found) = (text.starts_with("# What messages mean"), Vec::new());
    for line in text.lines() {
        if line.starts_with("## ") && !text.starts_with("# What messages mean") {
            tells = line == "## What can go wrong";
        }
        let item = line.strip_prefix("- `").filter(|_| tells);
        found.extend(item.and_then(|item| item.split_once("`: ")).map(|(message, _)| message));
    }
    found
}

#[test]
fn every_quoted_message_is_in_the_source() {
    let (source, mut seen, mut gone) = (Source::read(), 0, Vec::new());
    for (page, text) in pages() {
        let messages = quoted(&text);
        seen += messages.len();
        gone.extend(
            messages
                .iter()
                .filter(|message| !source.says(message))
                .map(|gone| format!("{page}: {gone}")),
        );
    }
    assert!(seen > 100, "only {seen} are found");
    assert_eq!(gone, [""; 0], "these are not in the source any more");
    assert!(!source.says("a message that nobody has ever … printed"));
}

#[test]
fn the_program_takes_every_command_of_the_docs() {
    let mut seen = 0;
    for (page, text) in pages() {
        let commands = blocks(&text) + &in_sentences(&text);
        seen += of(&commands).len();
        assert_eq!(refused(&commands), [""; 0], "{page}");
    }
    assert!(seen > 200, "only {seen} commands are found");
}
