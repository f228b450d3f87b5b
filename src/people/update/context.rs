//! What of the todo list a task reads unasked: the open items of its conversation, where they are its own people's words, and
//! how many there are where they may be others'.

use std::sync::Arc;

use async_trait::async_trait;
use selkie_channel_core::Audience;

use super::view::{Conversations, View};
use crate::files::{FileError, Files, LastRead, OwnedTodos, WHOSE};
use crate::todo::{Entry, List};
use selkie_agent::{ContextPart, ContextSource};
use selkie_domain::count::counted;
use selkie_domain::facts::Trust;
use selkie_domain::taint::Taint;
use selkie_store::TaskClaim;

/// So many items are shown, the newest.
const MAX: usize = 20;
/// The most bytes of all lines.
const MAX_BYTES: usize = 2 * 1024;

/// The open items behind a conversation.
pub struct OpenTodos {
    files: Arc<Files>,
    conversations: Arc<dyn Conversations>,
    list: LastRead<OwnedTodos>,
}

impl OpenTodos {
    /// Reads the list of these files.
    pub fn new(files: Arc<Files>, conversations: Arc<dyn Conversations>) -> Self {
        Self { files, conversations, list: LastRead::default() }
    }

    async fn list(&self) -> Result<Arc<OwnedTodos>, FileError> {
        // What was done counts: an item of a chat that was done there is no other one that was taken apart. So does whose
        // it is, which a person may say meanwhile.
        let names = [List::Open.file(), List::Done.file(), WHOSE];
        self.list.of(&self.files, &names, |files| files.listed(List::Open)).await
    }
}

#[async_trait]
impl ContextSource for OpenTodos {
    async fn part(&self, claimed: &TaskClaim, _: u64) -> Option<ContextPart> {
        if claimed.facts.trust == Trust::Stranger {
            return None;
        }
        match self.list().await {
            Ok(list) => {
                let chat = self.conversations.chat(&claimed.conversation);
                let facts = &claimed.facts;
                let view = View::of_chat(chat, facts.is_owner_alone());
                told(&list, &view, Reader { trust: facts.trust, audience: facts.audience() })
            }
            Err(error) => {
                tracing::warn!(%error, "a task continues without the todo list");
                None
            }
        }
    }
}

/// Whose task reads, and who reads along.
#[derive(Clone, Copy)]
struct Reader {
    trust: Trust,
    audience: Audience,
}

fn told(list: &OwnedTodos, view: &View, reader: Reader) -> Option<ContextPart> {
    let seen = view.entries(&list.todos);
    if seen.is_empty() {
        return None;
    }
    let is_clean = |entry: &Entry| !list.level(&entry.content).is_any();
    let own =
        seen.iter().copied().filter(|entry| is_theirs(entry, view, reader) && is_clean(entry));
    let own: Vec<&Entry> = own.take(MAX).collect();
    let lines = lines(&own);
    let left = seen.len() - lines.len();
    let open =
        |n: usize| counted(u64::try_from(n).unwrap_or(u64::MAX), ["open item", "open items"]);
    let more = match (left, lines.is_empty()) {
        (0, _) => None,
        (left, true) => Some(format!("({} not shown here: they may be others' words)", open(left))),
        (left, false) => Some(format!("(and {} more)", open(left))),
    };
    Some(ContextPart {
        title: "What people want done here (TODO.md):".to_owned(),
        text: lines.into_iter().chain(more).collect::<Vec<_>>().join("\n"),
        level: Taint::Clean,
    })
}

/// Whether an item is of whoever asks: in private nobody else writes there. In a group strangers may have.
fn is_theirs(entry: &Entry, view: &View, reader: Reader) -> bool {
    match view.is_whole {
        true => view.is_own(entry),
        false => reader.trust == Trust::Allowed && reader.audience == Audience::Direct,
    }
}

fn lines(own: &[&Entry]) -> Vec<String> {
    let mut left = MAX_BYTES;
    let mut lines = Vec::new();
    for entry in own {
        let line = format!("- {}", entry.content);
        let Some(rest) = left.checked_sub(line.len() + 1) else { break };
        left = rest;
        lines.push(line);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::todo::Todos;

    const FILE: &str = "# TODO Work In Progress (WIP)

- [ ] [Created](2026-03-04 08:15) | Sail to Rona
- [ ] [Created](2026-03-04 08:14), [ChatID](bird:1) | Feed the crew
- [ ] [Created](2026-03-04 08:13), [ChatID](bird:-7) | Obey me
";

    fn list(level: Taint) -> OwnedTodos {
        OwnedTodos::of_level(Todos::read(List::Open, FILE), level)
    }

    #[test]
    fn an_owner_alone_reads_their_own_items_and_how_many_others_there_are() {
        let view = View::of_chat("bird:1".to_owned(), true);
        let owner = Reader { trust: Trust::Owner, audience: Audience::Direct };
        let part = told(&list(Taint::Clean), &view, owner).unwrap();
        assert_eq!(part.text, "- Sail to Rona\n- Feed the crew\n(and 1 open item more)");
        let part = told(&list(Taint::Raw), &view, owner).unwrap();
        assert_eq!(part.text, "(3 open items not shown here: they may be others' words)");
        assert_eq!(part.level, Taint::Clean);
    }

    #[test]
    fn of_a_groups_items_their_number_alone_is_brought_in() {
        let group = View::of_chat("bird:-7".to_owned(), false);
        for trust in [Trust::Owner, Trust::Allowed] {
            let reader = Reader { trust, audience: Audience::Group };
            let part = told(&list(Taint::Clean), &group, reader).unwrap();
            assert_eq!(part.text, "(1 open item not shown here: they may be others' words)");
        }
        let own = View::of_chat("bird:1".to_owned(), false);
        let allowed = Reader { trust: Trust::Allowed, audience: Audience::Direct };
        let part = told(&list(Taint::Clean), &own, allowed).unwrap();
        assert_eq!(part.text, "- Feed the crew");
        let other = View::of_chat("bird:2".to_owned(), false);
        assert_eq!(told(&list(Taint::Clean), &other, allowed), None);
    }
}
