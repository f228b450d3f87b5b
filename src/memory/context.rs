//! What of its memory a task reads unasked: the newest clean lines of what it sees. What came out of others' words is found
//! when it is looked for, and never brought in.

use std::sync::Arc;

use async_trait::async_trait;

use super::book::MemoryBook;
use super::page::{Entry, Page};
use super::subject::Subject;
use selkie_agent::{ContextPart, ContextSource};
use selkie_domain::facts::Trust;
use selkie_domain::taint::Taint;
use selkie_store::TaskClaim;

/// The most bytes of all lines.
const MAX_BYTES: usize = 4 * 1024;
/// So many are kept for the general memory where the conversation's own would take all.
const GENERAL_BYTES: usize = 1024;
/// The heading that needs no word.
const USUAL: &str = "Notes";
const TITLE: &str = "What you remember here from earlier talks; parts of it may be out of date:";

#[async_trait]
impl ContextSource for MemoryBook {
    async fn part(&self, claimed: &TaskClaim, _: u64) -> Option<ContextPart> {
        let facts = &claimed.facts;
        let own = claimed.agent.as_ref().and_then(|agent| agent.memory.as_deref());
        let subjects = self.seen_as(&claimed.conversation, own, facts.is_owner_alone());
        let mut lines = Vec::new();
        let mut others = 0;
        let mut room = MAX_BYTES;
        for (at, subject) in subjects.iter().enumerate() {
            let kept = if at + 1 < subjects.len() { GENERAL_BYTES } else { 0 };
            let Some(page) = self.main_page(subject).await else { continue };
            let read = newest(&page, facts.trust, room - kept);
            room -= read.iter().map(|line| line.len() + 1).sum::<usize>();
            lines.extend(read);
            others += page.entries().iter().filter(|entry| is_others(entry, facts.trust)).count();
        }
        lines.extend(left_out(others));
        let text = lines.join("\n");
        (!text.is_empty()).then(|| ContextPart {
            title: TITLE.to_owned(),
            text,
            level: Taint::Clean,
        })
    }
}

impl MemoryBook {
    async fn main_page(&self, subject: &Subject) -> Option<Arc<Page>> {
        let page = self.reading.page(&subject.main()).await;
        let told = page.inspect_err(|error| {
            tracing::warn!(%error, "a task continues without what is remembered");
        });
        told.ok()
    }
}

fn is_others(entry: &Entry, reader: Trust) -> bool {
    entry.whose.level_for(reader) != Taint::Clean
}

/// That there is more, in the words of whoever is asked what they know.
fn left_out(many: usize) -> Option<String> {
    let lines = if many == 1 { "line here" } else { "lines here" };
    let told =
        format!("(I keep {many} {lines} that came out of others' words; /memory shows them)");
    (many > 0).then_some(told)
}

/// What of a page is clean to somebody of this trust, as much of its end as there is room for.
fn newest(page: &Page, reader: Trust, room: usize) -> Vec<String> {
    let clean = page.entries().iter().filter(|entry| !is_others(entry, reader));
    let mut left = room;
    let mut lines: Vec<String> = Vec::new();
    for line in clean.rev().map(line) {
        let Some(rest) = left.checked_sub(line.len() + 1) else { break };
        left = rest;
        lines.push(line);
    }
    lines.reverse();
    lines
}

fn line(entry: &Entry) -> String {
    let Entry { section, text, .. } = entry;
    match section.as_str() {
        "" | USUAL => format!("- {text}"),
        section => format!("- {section}: {text}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALLOWED: &str = "<!-- tg:1 allowed clean 2027-01-15T08:00:00Z -->";
    const RAW: &str = "<!-- tg:1 allowed raw 2027-01-15T08:00:00Z -->";

    #[test]
    fn the_newest_clean_lines_are_brought_in() {
        let source = format!(
            "## Notes\n- old {ALLOWED}\n- poison {RAW}\n## Food\n- tea {ALLOWED}\n- by hand\n"
        );
        let page = Page::read(&source, Taint::Clean);
        let lines = |reader, room| newest(&page, reader, room).join("|");
        assert_eq!(lines(Trust::Allowed, 99), "- old|- Food: tea|- Food: by hand");
        assert_eq!(lines(Trust::Allowed, 30), "- Food: tea|- Food: by hand");
        assert_eq!(lines(Trust::Allowed, 15), "", "a line is brought in whole");
        assert_eq!(lines(Trust::Owner, 99), "- Food: by hand", "others are trusted less");
        assert_eq!(newest(&Page::read("tea", Taint::Derived), Trust::Owner, 99), [""; 0]);
    }
}
