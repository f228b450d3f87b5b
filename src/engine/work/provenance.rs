//! Whose words a message carries: what is not its speaker's own, and the tools its speaker names.

use selkie_channel_core::{Aside, Inbound};

use crate::work::voice_settings::is_voice;
use selkie_domain::taint::Taint;

/// Tools that one message can name.
const MAX_SUMMONED: usize = 8;

/// Returns the least level of a message, before its files are there. What a file holds is nobody's own words, whoever sent it;
/// what its speaker says aloud is theirs, as a program has understood it.
pub fn level(inbound: &Inbound) -> Taint {
    let quotes_others =
        inbound.quote.as_ref().is_some_and(|q| !q.ours || !q.attachments.is_empty());
    let brings = |is_raw: fn(bool) -> bool| {
        inbound.attachments.iter().any(|attachment| is_raw(is_voice(inbound, attachment)))
    };
    match quotes_others || inbound.forwarded || brings(|is_voice| !is_voice) {
        true => Taint::Raw,
        false if brings(|is_voice| is_voice) => Taint::Derived,
        false => Taint::Clean,
    }
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
