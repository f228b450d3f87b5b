//! A file as it was found, and a change of it that is about to be made.

use super::done::FileResult;
use super::edit::Edit;
use super::journal::Step;
use super::place::Place;
use selkie_domain::taint::Taint;

/// A file's text, and how far it comes from others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Content {
    /// What stands there; nothing where there is no file.
    pub text: String,
    /// The level with which it was written.
    pub level: Taint,
}

/// A file as it was found.
pub(super) struct LoadedFile {
    pub place: Place,
    /// Its bytes; `None` where there is no file.
    pub there: Option<Vec<u8>>,
    pub content: Content,
}

/// A change that is about to be made.
pub(super) struct PendingChange<'e> {
    pub edit: &'e Edit,
    pub loaded: LoadedFile,
    pub text: String,
    pub done: FileResult,
}

impl PendingChange<'_> {
    pub fn step(&self) -> Step {
        Step::new(self.edit.clone(), self.loaded.there.as_deref(), &self.text)
    }
}
