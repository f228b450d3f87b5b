//! Whose words a message carries: what is not its speaker's own, and the tools its speaker names.

use selkie_channel_core::{Aside, Inbound};

/// Tools that one message can name.
const MAX_SUMMONED: usize = 8;

/// Whether a message carries words that are not its speaker's own. What a file holds is nobody's own words, whoever sent it.
pub fn is_foreign(inbound: &Inbound) -> bool {
    let quotes_others =
        inbound.quote.as_ref().is_some_and(|q| !q.ours || !q.attachments.is_empty());
    quotes_others || inbound.forwarded || !inbound.attachments.is_empty()
}

/// The tools that a message names (`$bash`, or as other harnesses call it) in words its speaker typed: a quote, a forward and a file
/// name none.
pub fn summoned(inbound: &Inbound) -> Vec<String> {
    if inbound.forwarded || inbound.aside == Aside::Words {
        return Vec::new();
    }
    let args = inbound.command.as_ref().map_or("", |command| command.args.as_str());
    names(inbound.text.split_whitespace().chain(args.split_whitespace()))
}

/// The tools that a text names, when all of it is a person's own words.
pub fn named(text: &str) -> Vec<String> {
    names(text.split_whitespace())
}

fn names<'a>(words: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for word in words.filter_map(|word| word.strip_prefix('$')) {
        let end = word.find(|c: char| !matches!(c, 'a'..='z' | '0'..='9' | '_'));
        let name = &word[..end.unwrap_or(word.len())];
        let is_name = name.starts_with(|c: char| c.is_ascii_lowercase());
        if is_name && names.len() < MAX_SUMMONED && !names.iter().any(|n| n == name) {
            names.push(name.to_owned());
        }
    }
    names
}
