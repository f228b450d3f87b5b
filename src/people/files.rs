//! The one writer of files that people edit by hand, at any time and without a lock: what it puts in a file's place comes
//! in by an exchange, and what came out is compared with what was read.

mod change;
mod changes;
mod claims;
mod disk;
mod done;
mod edit;
mod error;
mod forget;
mod journal;
mod kept_versions;
mod last_read;
mod lines;
mod links;
mod lists;
mod loaded;
mod marks;
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
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use chrono::{DateTime, Utc};
use selkie_channel_core::locked;

use self::error::{unnoted, unreadable, written};
use self::journal::Journal;
use self::kept_versions::Keep;
use self::loaded::{LoadedFile, PendingChange};
use self::place::{Out, Place};
use self::save_in_progress::{Look, Patience, Time};
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
pub use sidecar::Note;

/// How often somebody may be quicker than we before we give up.
const TRIES: usize = 8;

/// The files of a state folder.
pub struct Files {
    state: PathBuf,
    one: Mutex<()>,
    time: Time,
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
        Self { state, one: Mutex::new(()), time: Time::of(clock), notes: true, edges: None }
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

    /// Puts what is staged in its file's place, and again while somebody was quicker.
    fn put(
        &self,
        begun: PendingChange<'_>,
        journal: &Journal,
        patience: &mut Patience,
    ) -> Result<FileResult, FileError> {
        let PendingChange {
            edit,
            loaded: LoadedFile { place, mut there, content },
            mut text,
            mut done,
        } = begun;
        let level = content.level;
        // What is in the file's place since the exchange before: ours, which nobody has to be told of.
        let mut ours: Option<String> = None;
        // Where the file lies that came out last.
        let mut kept: Option<PathBuf> = None;
        for _ in 0..TRIES {
            let theirs = match place.exchange(there.is_some())? {
                Out::Nothing => {
                    self.at(Edge::Exchanged)?;
                    return Ok(done);
                }
                Out::Moved => {
                    self.at(Edge::Exchanged)?;
                    let came = place.came_out()?;
                    let was_read =
                        ours.as_ref().map_or(there.as_deref(), |ours| Some(ours.as_bytes()));
                    if was_read == Some(&came[..]) {
                        kept = self.keep_out(edit, ours.is_none(), journal.now)?.or(kept);
                        let later =
                            self.later(edit, kept.as_deref(), there.as_deref(), patience)?;
                        let Some(later) = later else { return Ok(done) };
                        ours = Some(text);
                        let theirs = later.clone();
                        there = Some(later.into_bytes());
                        theirs
                    } else if place.out_rests(self.time.now())? {
                        ours = Some(text);
                        let (theirs, version) = self.taken_out(edit, &place, &came, journal.now)?;
                        (there, kept) = (Some(came), Some(version));
                        theirs
                    } else {
                        self.put_back(edit, &place, &text, journal.now)?;
                        (ours, kept) = (None, None);
                        there = self.settled(&place, edit.file(), patience)?;
                        self.text(edit.file(), there.as_deref())?.to_owned()
                    }
                }
                // It is there now and was not, or the other way round.
                Out::Other => {
                    (ours, kept) = (None, None);
                    there = self.settled(&place, edit.file(), patience)?;
                    self.text(edit.file(), there.as_deref())?.to_owned()
                }
            };
            let changed = edit.apply(&theirs, journal.now);
            (text, done) = (changed.text, changed.done);
            if ours.is_none() {
                // What lies beside is ours from here on, and what was read is theirs.
                let journal = journal.with(edit, there.as_deref(), &text);
                journal.write(&self.state).map_err(unnoted)?;
            }
            place.stage(&text, level)?;
        }
        Err(FileError::Busy(edit.file().to_owned()))
    }

    /// Keeps what came out and was read before; what stood there for a moment was ours, and goes.
    fn keep_out(
        &self,
        edit: &Edit,
        keeps: bool,
        now: DateTime<Utc>,
    ) -> Result<Option<PathBuf>, FileError> {
        let keep = Keep::of(&self.state, edit.file());
        let kept = if keeps { keep.keep(now).map(Some) } else { keep.drop_staged().map(|()| None) };
        let kept = kept.map_err(|source| written(edit.file(), source))?;
        self.at(Edge::Kept)?;
        Ok(kept)
    }

    /// Looks once more at the file that came out: what somebody wrote into it meanwhile, once they are done.
    fn later(
        &self,
        edit: &Edit,
        kept: Option<&Path>,
        was: Option<&[u8]>,
        patience: &mut Patience,
    ) -> Result<Option<String>, FileError> {
        let file = edit.file();
        let aside = || FileError::Aside { file: file.to_owned() };
        let look = |path| Look::at(path).map_err(|source| written(file, source));
        let Some(kept) = kept else { return Ok(None) };
        loop {
            let Some(before) = look(kept)? else { return Ok(None) };
            let bytes = std::fs::read(kept).map_err(|source| written(file, source))?;
            if was == Some(&bytes[..]) {
                return Ok(None);
            }
            if before.rests(true, self.time.now()) && look(kept)? == Some(before) {
                return decode(&bytes).map(|text| Some(text.to_owned())).map_err(|_| aside());
            }
            if !patience.wait(&self.time) {
                return Err(aside());
            }
        }
    }

    /// Puts back what came out and is being written; ours comes out again.
    fn put_back(
        &self,
        edit: &Edit,
        place: &Place,
        ours: &str,
        now: DateTime<Utc>,
    ) -> Result<(), FileError> {
        if place.exchange(true)? == Out::Moved && place.came_out()? != ours.as_bytes() {
            // Somebody was quick enough to write into ours: it is kept, theirs stands.
            let keep = Keep::of(&self.state, edit.file());
            keep.also_keep(now).map_err(|source| written(edit.file(), source))?;
        }
        Ok(())
    }

    /// Keeps what came out and is somebody's own: it stays beside the file, too, until ours stands on top of it.
    fn taken_out(
        &self,
        edit: &Edit,
        place: &Place,
        came: &[u8],
        now: DateTime<Utc>,
    ) -> Result<(String, PathBuf), FileError> {
        let text = match self.text(edit.file(), Some(came)) {
            Ok(text) => text.to_owned(),
            Err(why) => {
                place.exchange(true)?;
                return Err(why);
            }
        };
        let keep = Keep::of(&self.state, edit.file());
        let kept = keep.also_keep(now).map_err(|source| written(edit.file(), source))?;
        self.at(Edge::Kept)?;
        Ok((text, kept))
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
