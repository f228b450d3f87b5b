//! The pictures of a task's answers: kept as files, noted for the model, sent at the end.

use super::Run;
use crate::messages;
use selkie_domain::transcript::Item;

/// No task sends more of them: a model that draws beside every call would send one with each.
const MAX: usize = 12;

impl Run {
    /// Takes the names of the files that hold the pictures of the answer which comes next.
    pub fn drew(&mut self, names: Vec<String>) {
        self.drawn = names;
    }

    /// Notes the pictures of an answer before its words; whether it has any.
    pub(super) fn note_pictures(&mut self) -> bool {
        let names = std::mem::take(&mut self.drawn);
        if names.is_empty() {
            return false;
        }
        self.items.push(Item::Noted { text: messages::drew(&names) });
        self.shows(names);
        true
    }

    /// Takes pictures that are shown behind the last words.
    pub fn shows(&mut self, names: Vec<String>) {
        let pictures = &mut self.header.pictures;
        for name in names {
            if !pictures.contains(&name) && pictures.len() < MAX {
                pictures.push(name);
            }
        }
    }
}
