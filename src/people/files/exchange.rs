//! Puts what is staged in its file's place by an exchange, and again while somebody was quicker.

use std::path::PathBuf;

use super::done::FileResult;
use super::error::{FileError, unnoted, written};
use super::journal::Journal;
use super::kept_versions::Keep;
use super::loaded::{LoadedFile, PendingChange};
use super::place::{Out, Place};
use super::save_in_progress::{Look, Patience};
use super::{Edge, Edit, Files};
use crate::text::decode;
use selkie_domain::taint::Taint;

/// How often somebody may be quicker than we before we give up.
const TRIES: usize = 8;

impl Files {
    /// Puts what is staged in its file's place.
    pub(super) fn put(
        &self,
        begun: PendingChange<'_>,
        journal: &Journal,
        patience: &mut Patience,
    ) -> Result<FileResult, FileError> {
        let mut exchange = Exchange::new(self, begun, journal);
        for _ in 0..TRIES {
            match exchange.exchange(patience)? {
                Some(theirs) => exchange.stage(&theirs)?,
                None => return Ok(exchange.done),
            }
        }
        Err(FileError::Busy(exchange.edit.file().to_owned()))
    }
}

/// The exchanges of one change, and what they have come to so far.
struct Exchange<'e> {
    files: &'e Files,
    journal: &'e Journal,
    edit: &'e Edit,
    place: Place,
    /// What was read last; `None` where there was no file.
    there: Option<Vec<u8>>,
    level: Taint,
    /// What is staged.
    text: String,
    done: FileResult,
    /// What is in the file's place since the exchange before: ours, which nobody has to be told of.
    ours: Option<String>,
    /// Where the file lies that came out last.
    kept: Option<PathBuf>,
}

impl<'e> Exchange<'e> {
    fn new(files: &'e Files, begun: PendingChange<'e>, journal: &'e Journal) -> Self {
        let PendingChange { edit, loaded, text, done } = begun;
        let LoadedFile { place, there, content } = loaded;
        let level = content.level;
        Self { files, journal, edit, place, there, level, text, done, ours: None, kept: None }
    }

    /// Exchanges once. Returns what somebody has written meanwhile, which is to be changed in its turn.
    fn exchange(&mut self, patience: &mut Patience) -> Result<Option<String>, FileError> {
        match self.place.exchange(self.there.is_some())? {
            Out::Nothing => self.files.at(Edge::Exchanged).map(|()| None),
            Out::Moved => {
                self.files.at(Edge::Exchanged)?;
                self.compare(patience)
            }
            // It is there now and was not, or the other way round.
            Out::Other => self.read_again(patience).map(Some),
        }
    }

    /// Stages the change of what somebody has written.
    fn stage(&mut self, theirs: &str) -> Result<(), FileError> {
        let changed = self.edit.apply(theirs, self.journal.now);
        self.text = changed.text;
        self.done = changed.done;
        if self.ours.is_none() {
            // What lies beside is ours from here on, and what was read is theirs.
            let journal = self.journal.with(self.edit, self.there.as_deref(), &self.text);
            journal.write(&self.files.state).map_err(unnoted)?;
        }
        self.place.stage(&self.text, self.level)
    }

    /// Compares what came out with what was read.
    fn compare(&mut self, patience: &mut Patience) -> Result<Option<String>, FileError> {
        let came = self.place.came_out()?;
        let ours = self.ours.as_deref().map(str::as_bytes);
        if ours.or(self.there.as_deref()) == Some(&came[..]) {
            self.keep_out()?;
            let Some(later) = self.later(patience)? else { return Ok(None) };
            self.ours = Some(std::mem::take(&mut self.text));
            self.there = Some(later.clone().into_bytes());
            return Ok(Some(later));
        }
        if self.place.out_rests(self.files.time.now())? {
            let theirs = self.take_out(&came)?;
            self.ours = Some(std::mem::take(&mut self.text));
            self.there = Some(came);
            return Ok(Some(theirs));
        }
        self.put_back()?;
        self.read_again(patience).map(Some)
    }

    /// Reads the file anew, once nobody is writing it.
    fn read_again(&mut self, patience: &mut Patience) -> Result<String, FileError> {
        let file = self.edit.file();
        self.ours = None;
        self.kept = None;
        self.there = self.files.settled(&self.place, file, patience)?;
        self.files.text(file, self.there.as_deref()).map(str::to_owned)
    }

    /// Keeps what came out and was read before; what stood there for a moment was ours, and goes.
    fn keep_out(&mut self) -> Result<(), FileError> {
        let keep = Keep::of(&self.files.state, self.edit.file());
        let kept = match self.ours {
            None => keep.keep(self.journal.now).map(Some),
            Some(_) => keep.drop_staged().map(|()| None),
        };
        let kept = kept.map_err(|source| written(self.edit.file(), source))?;
        self.files.at(Edge::Kept)?;
        self.kept = kept.or(self.kept.take());
        Ok(())
    }

    /// Looks once more at the file that came out: what somebody wrote into it meanwhile, once they are done.
    fn later(&self, patience: &mut Patience) -> Result<Option<String>, FileError> {
        let file = self.edit.file();
        let aside = || FileError::Aside { file: file.to_owned() };
        let look = |path| Look::at(path).map_err(|source| written(file, source));
        let Some(kept) = self.kept.as_deref() else { return Ok(None) };
        loop {
            let Some(before) = look(kept)? else { return Ok(None) };
            let bytes = std::fs::read(kept).map_err(|source| written(file, source))?;
            if self.there.as_deref() == Some(&bytes[..]) {
                return Ok(None);
            }
            let time = &self.files.time;
            if before.rests(true, time.now()) && look(kept)? == Some(before) {
                return decode(&bytes).map(|text| Some(text.to_owned())).map_err(|_| aside());
            }
            if !patience.wait(time) {
                return Err(aside());
            }
        }
    }

    /// Puts back what came out and is being written; ours comes out again.
    fn put_back(&self) -> Result<(), FileError> {
        if self.place.exchange(true)? == Out::Moved
            && self.place.came_out()? != self.text.as_bytes()
        {
            // Somebody was quick enough to write into ours: it is kept, theirs stands.
            let keep = Keep::of(&self.files.state, self.edit.file());
            let kept = keep.also_keep(self.journal.now);
            kept.map_err(|source| written(self.edit.file(), source))?;
        }
        Ok(())
    }

    /// Keeps what came out and is somebody's own: it stays beside the file, too, until ours stands on top of it.
    fn take_out(&mut self, came: &[u8]) -> Result<String, FileError> {
        let text = match self.files.text(self.edit.file(), Some(came)) {
            Ok(text) => text.to_owned(),
            Err(why) => {
                self.place.exchange(true)?;
                return Err(why);
            }
        };
        let keep = Keep::of(&self.files.state, self.edit.file());
        let kept = keep.also_keep(self.journal.now);
        self.kept = Some(kept.map_err(|source| written(self.edit.file(), source))?);
        self.files.at(Edge::Kept)?;
        Ok(text)
    }
}
