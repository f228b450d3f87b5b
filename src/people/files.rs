//! The one writer of files that people edit by hand, at any time and without a lock: what it puts in a file's place comes
//! in by an exchange, and what came out is compared with what was read.

mod change;
mod disk;
mod done;
mod edit;
mod error;
mod exchange;
mod forget;
mod journal;
mod kept_versions;
mod last_read;
mod lines;
mod links;
mod lists;
mod loaded;
mod origins;
mod place;
mod provenance;
mod save_in_progress;
mod seal;
mod sidecar;
#[cfg(test)]
mod tests;
mod versions;

use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use chrono::{DateTime, Utc};
use selkie_channel_core::locked;

use self::error::{unnoted, unreadable, written};
use self::journal::Journal;
use self::kept_versions::Keep;
use self::loaded::{LoadedFile, PendingChange};
use self::place::Place;
use self::save_in_progress::{Patience, Time};
use super::text::decode;
pub use change::Change;
pub(super) use disk::private;
pub use done::FileResult;
pub use edit::Edit;
pub use error::FileError;
pub(super) use kept_versions::folder as kept;
pub use kept_versions::{MAX_KEPT, Version};
pub use last_read::LastRead;
pub use lines::NewLine;
pub use loaded::Content;
pub use provenance::{Doubtful, OwnedTodos, WHOSE};
use selkie_domain::clock::SharedClock;
use selkie_domain::taint::Taint;
use selkie_tools::paths::CommandLog;
pub use sidecar::Note;

/// The files of a state folder.
pub struct Files {
    state: PathBuf,
    one: Mutex<()>,
    time: Time,
    /// What ran that may have changed them.
    commands: Arc<CommandLog>,
    /// What is read is noted beside it.
    notes: bool,
    /// Told at each edge; a refusal ends everything there, as a kill would.
    edges: Option<Edges>,
}

type Edges = Box<dyn Fn(Edge) -> io::Result<()> + Send + Sync>;

/// Where a kill would leave something behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Edge {
    /// Everything is read.
    Read,
    /// The new content lies beside its file.
    Staged,
    /// What is going to be done is noted.
    Noted,
    /// The new content is in place, the old one lies beside it.
    Exchanged,
    /// The old one is kept.
    Kept,
    /// All is in place, the note is still there.
    Written,
}

impl Files {
    /// Looks after the files of a state folder; `clock`: the one that the times of files go by.
    pub fn new(state: PathBuf, clock: SharedClock) -> Self {
        let commands = Arc::default();
        Self {
            state,
            one: Mutex::new(()),
            time: Time::of(clock),
            commands,
            notes: true,
            edges: None,
        }
    }

    /// Returns the same where commands run, and are noted.
    #[must_use]
    pub fn beside(self, commands: &Arc<CommandLog>) -> Self {
        Self { commands: Arc::clone(commands), ..self }
    }

    /// Returns these files for somebody who only looks, such as root beside the service: nothing is noted of what is read.
    pub fn only_looked_at(self) -> Self {
        Self { notes: false, ..self }
    }

    /// Reads a file by its name in the state folder, after what a crash has left half done. Blocks.
    ///
    /// # Errors
    /// When it is there and cannot be read.
    pub fn read(&self, file: &str) -> Result<Content, FileError> {
        let _one = locked(&self.one);
        if Journal::is_there(&self.state) {
            let _lock = self.lock()?;
            self.recover()?;
        }
        Ok(self.load(file)?.content)
    }

    /// Changes files, all of them whatever comes in between. Blocks. `level`: of what the words came out of.
    ///
    /// # Errors
    /// When one cannot be read or written; then nothing has changed, or the rest follows at the next call.
    pub fn edit(
        &self,
        edits: &[Edit],
        level: Taint,
        now: DateTime<Utc>,
    ) -> Result<FileResult, FileError> {
        let _one = locked(&self.one);
        let _lock = self.lock()?;
        self.recover()?;
        let mut patience = Patience::new();
        let mut begun = Vec::new();
        for edit in edits {
            let loaded = self.load_settled(edit.file(), &mut patience)?;
            let changed = edit.apply(&loaded.content.text, now);
            if changed.text != loaded.content.text {
                begun.push(PendingChange { edit, loaded, text: changed.text, done: changed.done });
            }
        }
        self.at(Edge::Read)?;
        // Everything that needs room on the disk has it before the first file changes; whose the words are stands there
        // before the words do.
        self.note_whose(&mut begun, level)?;
        for one in &begun {
            one.loaded.place.stage(&one.text, one.loaded.content.level)?;
            self.at(Edge::Staged)?;
        }
        if begun.is_empty() {
            return Ok(FileResult::default());
        }
        let steps = begun.iter().map(PendingChange::step).collect();
        let journal = Journal { now, level, steps };
        journal.write(&self.state).map_err(unnoted)?;
        self.at(Edge::Noted)?;
        let mut done = FileResult::default();
        for (at, one) in begun.into_iter().enumerate() {
            let put = match self.put(one, &journal, &mut patience) {
                Err(FileError::Written(file) | FileError::Emptied(file)) if at > 0 => {
                    Err(FileError::Follows(file))
                }
                put => put,
            };
            if at == 0 && put.as_ref().is_err_and(FileError::is_last) {
                // What has not changed is not going to.
                journal::clear(&self.state).map_err(unnoted)?;
            }
            done = done.and(put?);
        }
        self.at(Edge::Written)?;
        journal::clear(&self.state).map_err(unnoted)?;
        Ok(done)
    }

    /// Finishes what a crash has left half done.
    fn recover(&self) -> Result<(), FileError> {
        let Some(journal) = Journal::read(&self.state).map_err(unnoted)? else {
            return Keep::sweep(&self.state).map_err(|source| written("kept", source));
        };
        let mut patience = Patience::new();
        for step in &journal.steps {
            let file = step.edit.file();
            let keep = Keep::of(&self.state, file);
            Place::of(&self.state, file).mend()?;
            let beside = keep.staged().map_err(|source| written(file, source))?;
            let theirs = beside.as_deref().filter(|beside| !step.knows(beside));
            let loaded = self.load_settled(file, &mut patience)?;
            // Somebody's own words came out just before the end: they count, and ours on top.
            let base = match theirs.and_then(|theirs| decode(theirs).ok()) {
                Some(theirs) => theirs.to_owned(),
                None => loaded.content.text.clone(),
            };
            if beside.is_some() {
                keep.keep(journal.now).map_err(|source| written(file, source))?;
            }
            let changed = step.edit.apply(&base, journal.now);
            if changed.text != loaded.content.text {
                let mut begun = [PendingChange {
                    edit: &step.edit,
                    loaded,
                    text: changed.text,
                    done: changed.done,
                }];
                self.note_whose(&mut begun, journal.level)?;
                let [begun] = begun;
                begun.loaded.place.stage(&begun.text, begun.loaded.content.level)?;
                self.put(begun, &journal, &mut patience)?;
            }
        }
        tracing::info!(
            files = journal.steps.len(),
            "a change of files that a crash had cut off is done"
        );
        journal::clear(&self.state).map_err(unnoted)
    }

    fn load(&self, file: &str) -> Result<LoadedFile, FileError> {
        let place = Place::of(&self.state, file);
        let there = place.bytes()?;
        self.loaded(file, place, there)
    }

    /// Reads a file that is going to be changed, once nobody is writing it.
    fn load_settled(&self, file: &str, patience: &mut Patience) -> Result<LoadedFile, FileError> {
        let place = Place::of(&self.state, file);
        let there = self.settled(&place, file, patience)?;
        self.loaded(file, place, there)
    }

    fn settled(
        &self,
        place: &Place,
        file: &str,
        patience: &mut Patience,
    ) -> Result<Option<Vec<u8>>, FileError> {
        loop {
            let look = place.look()?;
            if place.rests(look, self.time.now()) {
                let bytes = place.bytes()?;
                if place.look()? == look {
                    return Ok(bytes);
                }
            }
            if !patience.wait(&self.time) {
                let is_emptied = place.is_emptied(look);
                let why = if is_emptied { FileError::Emptied } else { FileError::Written };
                return Err(why(file.to_owned()));
            }
        }
    }

    fn loaded(
        &self,
        file: &str,
        place: Place,
        there: Option<Vec<u8>>,
    ) -> Result<LoadedFile, FileError> {
        let text = self.text(file, there.as_deref())?.to_owned();
        let level = place.level();
        Ok(LoadedFile { place, there, content: Content { text, level } })
    }

    fn text<'b>(&self, file: &str, bytes: Option<&'b [u8]>) -> Result<&'b str, FileError> {
        decode(bytes.unwrap_or_default()).map_err(|why| unreadable(file, why))
    }

    /// Keeps other processes out.
    fn lock(&self) -> Result<File, FileError> {
        kept_versions::lock(&self.state).map_err(|source| written("kept/lock", source))
    }

    fn at(&self, edge: Edge) -> Result<(), FileError> {
        let told = self.edges.as_ref().map_or(Ok(()), |edges| edges(edge));
        told.map_err(|source| written("a file", source))
    }
}
