//! Whom an owner's own words name: contacts by the names that stand there, with the ids that never change. Nothing else of a
//! contact is told unasked: what people call themselves are their words.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use async_trait::async_trait;

use super::contacts::{Contacts, Shelf};
use super::directory::Directory;
use super::files::{FileError, Files, LastRead};
use super::forms::Forms;
use selkie_agent::{ContextPart, ContextSource};
use selkie_domain::taint::Taint;
use selkie_store::TaskClaim;

const TITLE: &str = "Contacts whom these words may mean, by their ids (contact_id):";
/// So many names are told.
const MAX_NAMES: usize = 8;
/// So many contacts of one name.
const MAX_CALLED: usize = 4;
/// So many words of a message are looked up.
const MAX_WORDS: usize = 400;
/// The longest name that is written without spaces, in characters.
const MAX_UNSPACED: usize = 4;

/// Contacts, by their names.
pub struct NamedContacts {
    directory: Directory,
    forms: Forms,
    /// Each file by itself: one of them changes whenever somebody speaks, the other one may be long.
    active: LastRead<Names>,
    inactive: LastRead<Names>,
}

/// The ids of contacts by their names, in small letters.
#[derive(Debug, Default)]
struct Names(HashMap<String, Vec<String>>);

impl NamedContacts {
    /// Looks names up in the files of contacts.
    pub fn new(directory: Directory, forms: Forms) -> Self {
        Self { directory, forms, active: LastRead::default(), inactive: LastRead::default() }
    }

    async fn names(&self) -> Result<[Arc<Names>; 2], FileError> {
        let files = self.directory.current().await;
        Ok([
            self.of(files, &self.active, Shelf::Active).await?,
            self.of(files, &self.inactive, Shelf::Inactive).await?,
        ])
    }

    async fn of(
        &self,
        files: &Arc<Files>,
        last: &LastRead<Names>,
        shelf: Shelf,
    ) -> Result<Arc<Names>, FileError> {
        let forms = self.forms.clone();
        let read = move |files: &Files| {
            let text = files.read(shelf.file())?.text;
            Ok(Names::of(&forms, &Contacts::read(shelf, &text)))
        };
        last.of(files, &[shelf.file()], read).await
    }
}

#[async_trait]
impl ContextSource for NamedContacts {
    /// An owner alone hears of everybody; who stands in others' conversations is known there by what they write.
    async fn part(&self, claimed: &TaskClaim, _: u64) -> Option<ContextPart> {
        if !claimed.facts.is_owner_alone() || claimed.heard.is_empty() {
            return None;
        }
        let names = match self.names().await {
            Ok(names) => names,
            Err(error) => {
                tracing::warn!(%error, "a task continues without the contacts that it names");
                return None;
            }
        };
        let own = claimed.heard.iter().filter(|(_, inbound)| !inbound.forwarded);
        let mut named: BTreeMap<String, Vec<&String>> = BTreeMap::new();
        for (_, inbound) in own {
            for (name, ids) in names.iter().flat_map(|names| names.named(&inbound.text)) {
                let known = named.entry(name).or_default();
                known.extend(ids);
                known.sort();
                known.dedup();
            }
        }
        let lines: Vec<String> =
            named.iter().take(MAX_NAMES).map(|(name, ids)| line(name, ids)).collect();
        (!lines.is_empty()).then(|| ContextPart {
            title: TITLE.to_owned(),
            text: lines.join("\n"),
            level: Taint::Clean,
        })
    }
}

fn line(name: &str, ids: &[&String]) -> String {
    let told = ids.iter().take(MAX_CALLED).map(|id| id.as_str()).collect::<Vec<_>>().join(", ");
    match ids.len().saturating_sub(MAX_CALLED) {
        0 if ids.len() > 1 => format!("- {name}: one of {told}"),
        0 => format!("- {name}: {told}"),
        more => format!("- {name}: one of {told}, and {more} more"),
    }
}

impl Names {
    fn of(forms: &Forms, contacts: &Contacts) -> Self {
        let mut names: HashMap<String, Vec<String>> = HashMap::new();
        for fields in contacts.all() {
            // An id that people write themselves may be anything.
            let id = fields.id();
            let never_changes = |id: &String| forms.is_person(id);
            let Some(id) =
                std::iter::once(id.to_owned()).chain(forms.all_ids(fields)).find(never_changes)
            else {
                continue;
            };
            let own = fields.names().into_iter().map(|name| name.to_lowercase());
            let firsts = own.clone().filter_map(|n| n.split_whitespace().next().map(str::to_owned));
            for name in own.chain(firsts).filter(|name| !name.is_empty()) {
                let called = names.entry(name).or_default();
                if !called.contains(&id) {
                    called.push(id.clone());
                }
            }
        }
        Self(names)
    }

    /// Finds the names that stand in a text, as they stand there.
    fn named(&self, text: &str) -> Vec<(String, &[String])> {
        if self.0.is_empty() {
            return Vec::new();
        }
        let words: Vec<&str> = text
            .split(|c: char| !c.is_alphanumeric() && !matches!(c, '-' | '\'' | '’'))
            .filter(|word| !word.is_empty())
            .take(MAX_WORDS)
            .collect();
        let two = words.windows(2).map(|pair| pair.join(" "));
        let runs = words.iter().flat_map(|word| unspaced(word));
        let all = words.iter().map(|word| (*word).to_owned()).chain(two).chain(runs);
        let found = all.filter_map(|written| {
            let ids = self.0.get(&written.to_lowercase())?;
            Some((written, ids.as_slice()))
        });
        found.collect()
    }
}

/// The pieces of a word that may be a name where names have no spaces around them.
fn unspaced(word: &str) -> Vec<String> {
    let letters: Vec<char> = word.chars().collect();
    if letters.iter().all(char::is_ascii) {
        return Vec::new();
    }
    let lengths = 2..=MAX_UNSPACED.min(letters.len());
    lengths
        .flat_map(|length| letters.windows(length).map(String::from_iter).collect::<Vec<_>>())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(all: &[(&str, &[&str])]) -> Names {
        let ids = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect();
        Names(all.iter().map(|(name, all)| ((*name).to_owned(), ids(all))).collect())
    }

    #[test]
    fn names_are_found_as_whole_words_and_told_as_they_were_written() {
        let names = names(&[
            ("grace", &["tg:1"]),
            ("grace hopper", &["tg:1"]),
            ("bo", &["tg:2", "tg:3"]),
            ("田中", &["line:U1"]),
        ]);
        let found = |text: &str| {
            let mut all: Vec<String> = names
                .named(text)
                .iter()
                .map(|(name, ids)| line(name, &ids.iter().collect::<Vec<_>>()))
                .collect();
            all.sort();
            all
        };
        assert_eq!(found("tell GRACE, please"), ["- GRACE: tg:1"]);
        assert_eq!(found("ask Grace Hopper"), ["- Grace Hopper: tg:1", "- Grace: tg:1"]);
        assert_eq!(found("is Bo there?"), ["- Bo: one of tg:2, tg:3"]);
        assert_eq!(found("田中さんに聞いて"), ["- 田中: line:U1"]);
        assert!(found("disgraceful boats").is_empty());
    }
}
