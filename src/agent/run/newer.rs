//! What comes in while a run is on: nobody's until an answer has seen it, then the run's own.

use crate::run::Run;
use crate::{Newer, Source};
use selkie_domain::transcript::Item;

impl Run {
    /// Takes what came in: the next answer sees it. Until then it is nobody's.
    pub fn newer(&mut self, newer: Vec<Newer>) {
        let begin = self.items.len();
        let (_, sources) = self.pending.get_or_insert_with(|| (begin, Vec::new()));
        for Newer { source, heard } in newer {
            if !sources.contains(&source) {
                sources.push(source);
                self.items.extend(heard.into_iter().map(Item::Received));
            }
        }
    }

    /// The answer is there: what came in before it was seen.
    pub(super) fn saw(&mut self) {
        let Some((_, sources)) = self.pending.take() else { return };
        self.seen.step = self.header.steps;
        for source in sources {
            match source {
                Source::Task(task) => {
                    self.seen.tasks.push(task);
                    self.absorbed.push(task);
                }
                Source::Edit(row) => self.seen.edits.push(row),
            }
        }
    }

    /// The messages that came in while the task ran and that it answers, too.
    pub(super) fn taken_in(&self) -> Vec<&str> {
        taken_in(&self.items)
    }
}

/// Returns what came in while a task ran, out of its transcript: messages that no other task answers.
pub fn taken_in(items: &[Item]) -> Vec<&str> {
    let later = items.iter().skip_while(|item| !matches!(item, Item::Asked { .. }));
    let heard = later.filter_map(|item| match item {
        Item::Received(heard) => Some(heard.text.as_str()),
        _ => None,
    });
    heard.collect()
}
