//! What comes in while a run is on: nobody's until an answer has seen it, then the run's own.

use crate::run::Run;
use crate::{Newer, Source};
use selkie_domain::transcript::{Item, UserMessage};

impl Run {
    /// Takes what came in: the next answer sees it. Until then it is nobody's.
    pub fn newer(&mut self, newer: Vec<Newer>) {
        let end = self.items.len();
        let (begin, sources) = self.pending.get_or_insert_with(|| (end, Vec::new()));
        for Newer { source, mut heard } in newer {
            let pending = &self.items[*begin..];
            heard.retain(|line| !pending.iter().any(|item| is_same(item, line)));
            if !heard.is_empty() {
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
                Source::Task(seen) => {
                    self.absorbed.push(seen.task);
                    self.seen.tasks.push(seen);
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

/// Whether an item is the message of a line.
fn is_same(item: &Item, line: &UserMessage) -> bool {
    matches!(item, Item::Received(known) if known.inbox.is_some() && known.inbox == line.inbox)
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
