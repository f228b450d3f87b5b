//! The files of what a message replies to: brought for who replies, by the same rights as if they had sent them. Those that
//! came before and are still in the cache are not fetched again.

use std::collections::HashMap;

use selkie_channel_core::{Attachment, Inbound, MessageRef};
use tokio_util::sync::CancellationToken;

use crate::work::attachments::{
    Attachments, CachedFile, MessageFiles, TaskMessage, folder_of, numbered, safe_name,
};
use selkie_domain::ids::InboxId;
use selkie_store::TaskClaim;

/// As many come along as any platform lets one message have, an album's together.
const MAX: usize = 50;

/// A message that is replied to.
#[derive(Clone, Copy, Debug)]
pub struct RepliedMessage<'a> {
    /// Its platform id.
    pub message: &'a MessageRef,
    /// What came with it.
    pub attachments: &'a [Attachment],
}

/// What came of the files of a message that is replied to.
#[derive(Debug, Default)]
pub struct RepliedFiles {
    /// Its row, when it is stored.
    pub row: Option<InboxId>,
    /// Its files, and those of what was sent together with it.
    pub files: MessageFiles,
}

/// Files that came with one message.
struct FileSource {
    /// Where they lie, when they came before; the first is where they are fetched to.
    rows: Vec<InboxId>,
    attachments: Vec<Attachment>,
}

impl Attachments {
    /// Brings the files of what a message replies to, and of what was sent together with that. They lie in its own folder,
    /// and go with it.
    pub async fn replied(
        &self,
        by: TaskMessage<'_>,
        to: RepliedMessage<'_>,
        cancel: &CancellationToken,
    ) -> RepliedFiles {
        let mut replied = RepliedFiles::default();
        if to.attachments.is_empty() {
            return replied;
        }
        let mut left = MAX;
        for source in self.sources(by, to, &mut replied).await {
            let mut names = HashMap::new();
            for attachment in source.attachments.iter().take(left) {
                let name = safe_name(attachment);
                let number = *names.entry(name.clone()).and_modify(|n| *n += 1).or_insert(1);
                let name = numbered(&name, number);
                match self.cached(by.place_row, &source.rows, &name, attachment.size).await {
                    Some(file) => self.add(attachment, file, &mut replied.files).await,
                    None => {
                        let row = source.rows.first().copied().unwrap_or(by.row);
                        let of = TaskMessage { row, ..by };
                        self.fetch_one(attachment, of, cancel, &mut replied.files).await;
                    }
                }
            }
            left = left.saturating_sub(source.attachments.len());
        }
        replied
    }

    /// Lists what comes along, the message's own first. What the platform tells of it now is newer than what is stored.
    async fn sources(
        &self,
        by: TaskMessage<'_>,
        to: RepliedMessage<'_>,
        replied: &mut RepliedFiles,
    ) -> Vec<FileSource> {
        let storage = &self.context.storage;
        let known = storage.ledger.files_of(&by.inbound.conversation, to.message).await;
        let known = known.unwrap_or_else(|error| {
            storage.trouble(&error);
            Vec::new()
        });
        let own = known.iter().filter(|files| files.message == *to.message);
        let rows: Vec<InboxId> = own.map(|files| files.row).collect();
        replied.row = rows.first().copied();
        let first = FileSource { rows, attachments: to.attachments.to_vec() };
        let others = known.into_iter().filter(|files| files.message != *to.message);
        let others = others
            .map(|files| FileSource { rows: vec![files.row], attachments: files.attachments });
        std::iter::once(first).chain(others).collect()
    }

    /// Finds a file that came before and is still there.
    async fn cached(
        &self,
        place_row: i64,
        rows: &[InboxId],
        name: &str,
        size: Option<u64>,
    ) -> Option<CachedFile> {
        for row in rows {
            let below = folder_of(place_row, *row);
            let path = self.cache_dir.join(&below).join(name);
            let Ok(metadata) = tokio::fs::symlink_metadata(path).await else { continue };
            let bytes = metadata.len();
            if metadata.is_file() && size.is_none_or(|size| size == bytes) {
                return Some(CachedFile { below, name: name.to_owned(), bytes });
            }
        }
        None
    }
}

/// The lines of a thread that a task is told of and that its message replies to, as far as they bring files.
#[derive(Debug, Default)]
pub struct LinesAbove<'a> {
    /// The message of the task, with its row.
    pub by: Option<(InboxId, &'a Inbound)>,
    /// What began the thread.
    pub root: Option<&'a Inbound>,
    /// What stands right above the message, when it is another one.
    pub last: Option<&'a Inbound>,
}

impl<'a> LinesAbove<'a> {
    /// Looks for them among what was said before.
    pub fn of(claimed: &'a TaskClaim) -> Self {
        let by = claimed.heard.iter().rev().find(|(_, message)| message.thread.is_some());
        let Some((row, by)) = by else { return Self::default() };
        let brings = |line: &&Inbound| !line.attachments.is_empty() && line.message.is_some();
        let before = || claimed.context.iter().filter(move |line| line.order < by.order);
        let root = before().find(|line| line.message == by.thread).filter(brings);
        let last = before().max_by_key(|line| line.order).filter(brings);
        let last = last.filter(|last| last.message != by.thread);
        Self { by: Some((*row, by)), root, last }
    }

    /// Whether a line is one of them.
    pub fn holds(&self, line: &Inbound) -> bool {
        self.root.into_iter().chain(self.last).any(|one| std::ptr::eq(one, line))
    }
}

#[cfg(test)]
mod tests {
    use selkie_channel_core::AttachmentKind;

    use super::*;
    use crate::flow::testing::{claimed, message};

    fn line(order: i64, files: usize) -> Inbound {
        let file = Attachment {
            handle: "f".to_owned(),
            kind: AttachmentKind::Photo,
            name: String::new(),
            mime: None,
            size: None,
            duration: None,
        };
        let attachments = vec![file; files];
        let message_ref = Some(MessageRef::new(order.to_string()));
        Inbound { order, message: message_ref, attachments, ..message("tg:5", "look") }
    }

    #[test]
    fn a_thread_brings_what_began_it_and_what_stands_right_above() {
        let orders = |claimed: &TaskClaim| {
            let lines = LinesAbove::of(claimed);
            [lines.root, lines.last].map(|line| line.map(|line| line.order))
        };
        let asking = Inbound { thread: Some(MessageRef::new("1")), ..line(5, 0) };
        let mut task = claimed(1, &asking);
        task.context = vec![line(1, 1), line(2, 1), line(3, 1), line(9, 1)];
        assert_eq!(orders(&task), [Some(1), Some(3)]);
        task.context = vec![line(1, 1), line(2, 1), line(3, 0)];
        assert_eq!(orders(&task), [Some(1), None], "not what stands further above");
        task.context = vec![line(1, 2)];
        assert_eq!(orders(&task), [Some(1), None], "once");
        let mut beside = claimed(1, &line(5, 0));
        beside.context = vec![line(1, 1)];
        assert_eq!(orders(&beside), [None, None], "in no thread nothing is replied to");
    }
}
