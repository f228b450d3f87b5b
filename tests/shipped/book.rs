//! The book and the other pages: each page of the book is in its summary, every link leads to a file and a heading that
//! are there, and the README stays short.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::messages::below;

/// What somebody reads before they decide.
const MAX_README_WORDS: usize = 1_300;

/// Where pages lie, beside those at the top.
const FOLDERS: [&str; 5] = ["src", "channels", "systemd", "tests", "benches"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(page: &Path) -> String {
    fs::read_to_string(page).unwrap_or_else(|why| panic!("{}: {why}", page.display()))
}

/// Every page in Markdown of this tree.
fn pages() -> Vec<PathBuf> {
    let top = fs::read_dir(root()).expect("the tree").map(|entry| entry.expect("an entry").path());
    let mut pages: Vec<PathBuf> =
        top.filter(|path| path.extension().is_some_and(|it| it == "md")).collect();
    FOLDERS.iter().for_each(|folder| below(&root().join(folder), "md", &mut pages));
    pages
}

/// The lines of a page that are no code.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut inside = false;
    text.lines().filter(move |line| {
        let fence = line.trim_start().starts_with("```");
        inside ^= fence;
        !inside && !fence
    })
}

/// What links of a page name.
fn targets(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for line in prose(text) {
        let plain: String = line.split('`').step_by(2).collect();
        let rests = plain.match_indices("](").map(|(at, open)| &plain[at + open.len()..]);
        found.extend(rests.filter_map(|rest| rest.split_once(')')).map(|(to, _)| to.to_owned()));
    }
    found
}

/// The anchors of a page's headings, as GitHub makes them.
fn anchors(text: &str) -> BTreeSet<String> {
    let headings = prose(text).filter(|line| line.starts_with('#'));
    let kept = |c: &char| c.is_alphanumeric() || [' ', '-', '_'].contains(c);
    let anchor = |line: &str| {
        let words = line.trim_start_matches('#').trim().to_lowercase();
        words.chars().filter(kept).collect::<String>().replace(' ', "-")
    };
    headings.map(anchor).collect()
}

/// What is wrong with a link of a page, if anything is.
fn fault(page: &Path, target: &str) -> Option<String> {
    if target.contains("://") || target.starts_with("mailto:") {
        return None;
    }
    let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
    let file = if file.is_empty() { page.to_owned() } else { page.with_file_name("").join(file) };
    let fault = |what: &str| Some(format!("{}: {target} {what}", page.display()));
    if !file.exists() {
        return fault("is not there");
    }
    let found = anchor.is_empty() || anchors(&read(&file)).contains(anchor);
    if found { None } else { fault("names no heading of that page") }
}

#[test]
fn every_link_leads_somewhere() {
    let (mut seen, mut faults) = (0, Vec::new());
    for page in pages() {
        let targets = targets(&read(&page));
        seen += targets.len();
        faults.extend(targets.iter().filter_map(|target| fault(&page, target)));
    }
    assert!(seen > 150, "only {seen} links are found");
    assert_eq!(faults, [""; 0]);
}

#[test]
fn the_summary_names_every_page_of_the_book_once() {
    let book = root().join("src/docs");
    let summary = targets(&read(&book.join("SUMMARY.md")));
    let mut there = Vec::new();
    below(&book, "md", &mut there);
    let inside = |path: &PathBuf| path.strip_prefix(&book).expect("inside").display().to_string();
    let mut there: Vec<String> = there.iter().map(inside).collect();
    there.retain(|page| page != "SUMMARY.md" && !page.starts_with("decisions/"));
    there.sort();
    let mut named = summary;
    named.sort();
    assert_eq!(named, there);
}

#[test]
fn the_readme_stays_short() {
    let words = read(&root().join("README.md")).split_whitespace().count();
    assert!(words <= MAX_README_WORDS, "{words} words: what is more belongs in the book, src/docs");
}

#[test]
fn links_to_what_is_gone_are_seen() {
    let page = root().join("README.md");
    assert!(fault(&page, "src/docs/gone.md").is_some_and(|fault| fault.contains("not there")));
    assert!(fault(&page, "src/docs/setup.md#gone").is_some_and(|it| it.contains("no heading")));
    assert_eq!(fault(&page, "src/docs/setup.md#try-it-first"), None);
    assert_eq!(targets("[a](b.md#c) and `[d](e)`\n```\n[f](g)\n```\n"), ["b.md#c"]);
    assert!(anchors("## What it's for: `selkie run`\n").contains("what-its-for-selkie-run"));
}
