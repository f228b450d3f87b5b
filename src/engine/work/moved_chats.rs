//! Takes the files of people along with a chat that goes on under another id: whose items are whose, and where people
//! were met. Which chats have moved stands in the ledger, so this is done again after a crash.

use std::path::PathBuf;
use std::sync::Arc;

use tokio::sync::Mutex;

use crate::delivery::context::Context;
use selkie_domain::clock::SharedClock;
use selkie_domain::taint::Taint;
use selkie_people::contact_files::Shelves;
use selkie_people::contacts::Shelf;
use selkie_people::due::{DueNotes, name};
use selkie_people::files::{Change, Edit, FileError, Files};
use selkie_people::forms::{Forms, Holder};
use selkie_people::todo::{Entry, List, Todos};

/// Follows chats that have moved.
pub struct MovedChats {
    pub(crate) files: Arc<Files>,
    pub(crate) forms: Forms,
    pub(crate) state_dir: PathBuf,
    pub(crate) clock: SharedClock,
    /// What is noted of reminders is changed by one at a time.
    pub reminders: Arc<Mutex<()>>,
}

/// A chat under its old and its new id.
#[derive(Clone, Debug)]
struct MovedChat {
    from: String,
    to: String,
}

impl MovedChats {
    /// Follows them for as long as the daemon runs.
    pub async fn watch(self: Arc<Self>, context: Context) {
        let ends = context.runtime.stop.work.clone();
        let storage = &context.storage;
        // What moved before this start, and a crash may have left half done.
        storage.moved.notify_one();
        while ends.run_until_cancelled(storage.moved.notified()).await.is_some() {
            let Some(all) = storage.insist(|ledger| ledger.moved_places()).await else { return };
            for (old, new) in all {
                let moved = MovedChat { from: old.key().to_owned(), to: new.key().to_owned() };
                if let Err(why) = self.follow(moved).await {
                    tracing::error!(%why, from = old.key(), to = new.key(), "the files of people do not follow a chat that has moved: tried again at the next start");
                }
            }
        }
    }

    async fn follow(&self, moved: MovedChat) -> Result<(), FileError> {
        let _held = self.reminders.lock().await;
        let (files, forms, state, now) =
            (Arc::clone(&self.files), self.forms.clone(), self.state_dir.clone(), self.clock.now());
        let work = move || -> Result<(), FileError> {
            let edits = edits(&files, &forms, &moved)?;
            if edits.is_empty() {
                return Ok(());
            }
            let open = Todos::read(List::Open, &files.read(List::Open.file())?.text);
            let renamed: Vec<RenamedItem> =
                open.counted().filter_map(|entry| RenamedItem::of(entry, &moved)).collect();
            // An item keeps its reminder: it is noted under both names until the files are changed.
            note(&state, &renamed, |notes, one| notes.copy(&one.old, &one.new))?;
            files.edit(&edits, Taint::Clean, now)?;
            note(&state, &renamed, |notes, one| notes.forget(&one.old).map(drop))?;
            tracing::info!(
                from = moved.from,
                to = moved.to,
                files = edits.len(),
                "the files of people follow a chat that has moved"
            );
            Ok(())
        };
        match tokio::task::spawn_blocking(work).await {
            Ok(done) => done,
            Err(error) => Err(FileError::ended(&error)),
        }
    }
}

/// What is to be changed in the four files.
fn edits(files: &Files, forms: &Forms, moved: &MovedChat) -> Result<Vec<Edit>, FileError> {
    let MovedChat { from, to } = moved;
    let mut edits = Vec::new();
    for list in [List::Open, List::Done] {
        let todos = Todos::read(list, &files.read(list.file())?.text);
        if todos.entries().any(|entry| entry.chat.as_ref() == Some(from)) {
            edits.push(Edit::Moved { list, from: from.clone(), to: to.clone() });
        }
    }
    let shelves = Shelves::read(files)?;
    for shelf in [Shelf::Active, Shelf::Inactive] {
        let mut changes = Vec::new();
        for fields in shelves.of(shelf).all() {
            let id = fields.id().to_owned();
            for Holder { key, value } in forms.holders(fields, from) {
                // It is written as it was: whole, or without what stands in front of it everywhere.
                let front = from.strip_suffix(value.as_str()).unwrap_or_default();
                let to = to.strip_prefix(front).unwrap_or(to).to_owned();
                changes.push(Change::Replace { id: id.clone(), key, from: value, to });
            }
        }
        if !changes.is_empty() {
            edits.push(Edit::Contacts { shelf, changes });
        }
    }
    Ok(edits)
}

/// An item under the names of its reminder.
struct RenamedItem {
    old: String,
    new: String,
}

impl RenamedItem {
    fn of(entry: &Entry, moved: &MovedChat) -> Option<Self> {
        let is_its = entry.chat.as_ref() == Some(&moved.from);
        let new = Entry { chat: Some(moved.to.clone()), ..entry.clone() };
        is_its.then_some(())?;
        Some(Self { old: name(entry)?, new: name(&new)? })
    }
}

fn note(
    state: &std::path::Path,
    all: &[RenamedItem],
    change: impl Fn(&mut DueNotes, &RenamedItem) -> std::io::Result<()>,
) -> Result<(), FileError> {
    if all.is_empty() {
        return Ok(());
    }
    let mut notes = DueNotes::read(state).map_err(FileError::of_reminders)?;
    all.iter().try_for_each(|one| change(&mut notes, one)).map_err(FileError::of_reminders)
}
