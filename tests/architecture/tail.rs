//! What is longer, wider or named otherwise than it should be: `tail.txt` lists it, and may only shrink.

use std::path::Path;

use crate::count::Count;
use crate::source::Tree;

/// Longest function, in lines.
const MAX_FUNCTION: usize = 60;
/// Longest file, in lines that are not for tests.
const MAX_FILE: usize = 300;
/// Functions of the widest trait.
const MAX_TRAIT: usize = 9;

/// Participles that do not end in "ed".
const PARTICIPLES: &[&str] = &[
    "Asks", "Became", "Begun", "Bound", "Brought", "Chosen", "Come", "Cut", "Does", "Done",
    "Driven", "Found", "Given", "Gone", "Heard", "Held", "Kept", "Known", "Left", "Lost", "Made",
    "Meant", "Met", "Said", "Says", "Seen", "Sees", "Sent", "Shown", "Sought", "Spent", "Spoken",
    "Taken", "Told", "Undone", "Unsent", "Written", "Wrote",
];

const LISTED: &str = include_str!("tail.txt");

#[test]
fn the_tail_only_shrinks() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let tail = tail(&Tree::read(), root);
    let listed: Vec<&str> = LISTED.lines().filter(|line| !line.starts_with('#')).collect();
    let new: Vec<&String> = tail.iter().filter(|line| !listed.contains(&line.as_str())).collect();
    let gone: Vec<&&str> =
        listed.iter().filter(|line| !tail.iter().any(|one| one == **line)).collect();
    assert!(new.is_empty(), "shorten these, or name them by nouns:\n{new:#?}");
    assert!(gone.is_empty(), "take these out of tail.txt:\n{gone:#?}");
}

/// One line for each.
fn tail(tree: &Tree, root: &Path) -> Vec<String> {
    let mut all = Vec::new();
    for (name, source) in tree.production() {
        let count = Count::of(&root.join(name));
        if source.facts.lines > MAX_FILE {
            all.push(format!("file {name}"));
        }
        for (_, function) in count.functions.iter().filter(|(lines, _)| *lines > MAX_FUNCTION) {
            all.push(format!("function {name} {function}"));
        }
        for (_, wide) in count.traits.iter().filter(|(width, _)| *width > MAX_TRAIT) {
            all.push(format!("trait {name} {wide}"));
        }
        for participle in count.types.keys().filter(|name| is_participle(name)) {
            all.push(format!("participle {name} {participle}"));
        }
        if count.tuples > 0 {
            all.push(format!("tuples {name} {}", count.tuples));
        }
    }
    all
}

fn is_participle(name: &str) -> bool {
    let is_one_word = name.chars().filter(|c| c.is_uppercase()).count() == 1;
    is_one_word && (name.len() > 4 && name.ends_with("ed") || PARTICIPLES.contains(&name))
}

#[test]
fn what_is_named_by_a_participle_is_seen() {
    assert!(is_participle("Told") && is_participle("Prepared"));
    assert!(!is_participle("Feed") && !is_participle("ToldTwice"));
}
