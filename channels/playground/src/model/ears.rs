//! The handle of the server of speech: what it knows, what it was sent, and what it does.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};

use bytes::Bytes;
use selkie_channel_core::locked;
use tokio::sync::watch;

/// What the server of speech does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SpeechMode {
    /// It writes down what it hears.
    #[default]
    Good,
    /// It answers when it is told to do something else.
    Silent,
    /// It is overloaded, once.
    BusyOnce,
    /// It is overloaded.
    Busy,
    /// It refuses the recording.
    Refuses,
    /// It takes WAV alone.
    WavAlone,
    /// It answers with a page.
    Page,
    /// Its answer has 10 MB.
    Huge,
    /// The connection breaks.
    Away,
}

/// A recording that came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentRecording {
    /// The file's name.
    pub name: String,
    /// The file.
    pub bytes: Bytes,
    /// Which model was asked.
    pub model: String,
    /// The language, where one was told.
    pub language: Option<String>,
}

/// The handle of the server of speech.
#[derive(Clone, Default)]
pub struct Speech {
    inner: Arc<Inner>,
}

#[derive(Default)]
struct Inner {
    does: watch::Sender<SpeechMode>,
    state: Mutex<SpeechState>,
}

#[derive(Default)]
struct SpeechState {
    words: HashMap<Bytes, String>,
    sent: Vec<SentRecording>,
}

impl Speech {
    /// Tells what is said in a recording; in all others nothing is.
    pub fn says(&self, recording: impl Into<Bytes>, words: &str) {
        self.state().words.insert(recording.into(), words.to_owned());
    }

    /// Changes what it does.
    pub fn set(&self, does: SpeechMode) {
        self.inner.does.send_replace(does);
    }

    /// The recordings that came whole and in good form, oldest first.
    pub fn sent(&self) -> Vec<SentRecording> {
        self.state().sent.clone()
    }

    /// What it does, as soon as it does anything.
    pub(super) async fn does_when_it_speaks(&self) -> SpeechMode {
        let mut does = self.inner.does.subscribe();
        let speaks = does.wait_for(|does| *does != SpeechMode::Silent).await;
        speaks.map_or(SpeechMode::Away, |does| *does)
    }

    /// Keeps a recording that came.
    pub(super) fn keep(&self, sent: SentRecording) {
        self.state().sent.push(sent);
    }

    /// What is said in one.
    pub(super) fn words_of(&self, recording: &Bytes) -> String {
        self.state().words.get(recording).cloned().unwrap_or_default()
    }

    fn state(&self) -> MutexGuard<'_, SpeechState> {
        locked(&self.inner.state)
    }
}
