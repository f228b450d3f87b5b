//! Text that bash itself evaluates when a command runs: subscripts (`[[ -v 'a[$(…)]' ]]`), arithmetic, prompts (`${x@P}`).
//!
//! Which text that will be is seen nowhere in the words, so that any may be it. What only says such things asks once more.

use super::command::read_substitution;
use super::reading::{CommandReading, Word};

/// So many substitutions are read one by one: each may hold the others.
const MAX: usize = 64;
/// So many words of what is not understood are compared with a pattern.
const NEAR: usize = 8;

/// A reading with what the substitutions in its words would do, if any holds one.
pub(super) fn with_substitutions(reading: &CommandReading) -> Option<CommandReading> {
    let all = reading.commands.iter().flatten().chain(&reading.targets);
    let mut found = all.flat_map(|word| begun(&word.text)).peekable();
    found.peek()?;
    let mut whole = reading.clone();
    for text in found.by_ref().take(MAX) {
        let inside = read_substitution(text);
        if inside.unclear.is_some() {
            whole.commands.extend(anywhere(text));
        }
        whole.commands.extend(inside.commands);
        whole.targets.extend(inside.targets);
    }
    whole.commands.extend(found.flat_map(|text| anywhere(alone(text))));
    Some(whole)
}

/// Where substitutions begin, and all that follows.
fn begun(text: &str) -> impl Iterator<Item = &str> {
    let begins = |rest: &str| rest.starts_with('`') || rest.starts_with("$(");
    let places = text.match_indices(['`', '$']).map(|(at, _)| &text[at..]);
    places.filter(move |rest| begins(rest))
}

/// Every word, as if a command began there.
fn anywhere(text: &str) -> Vec<Vec<Word>> {
    let words: Vec<Word> = split(text).map(Word::of).collect();
    (0..words.len()).map(|at| words[at..words.len().min(at + NEAR)].to_vec()).collect()
}

/// A substitution up to where another begins: of so many, not each is read to its end.
fn alone(text: &str) -> &str {
    let next = text[1..].find(['`', '$']);
    next.map_or(text, |at| &text[..=at])
}

fn split(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| c.is_whitespace() || "$`()<>;|&'\"".contains(c));
    words.filter(|word| !word.is_empty())
}
