//! The handle of the servers that say words aloud and make pictures: what they were sent, and what they do.

use std::sync::{Arc, Mutex, MutexGuard};

use bytes::Bytes;
use selkie_channel_core::locked;
use tokio::sync::watch;

/// What these servers do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MakerMode {
    /// They make what is wanted: OGG with Opus, PNG in base64.
    #[default]
    Good,
    /// They answer when they are told to do something else.
    Silent,
    /// They are overloaded, once.
    BusyOnce,
    /// They refuse what they are sent.
    Refuses,
    /// Recordings are WAV, pictures lie at an address.
    Other,
    /// They answer with a page.
    Page,
    /// They answer with nothing.
    Empty,
    /// They answer with 30 MB.
    Huge,
}

/// Words that were to be said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SaidWords {
    /// The words.
    pub text: String,
    /// In which voice.
    pub voice: String,
}

/// A picture that was wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WantedPicture {
    /// What it shows.
    pub prompt: String,
    /// How large, where that was told.
    pub size: Option<String>,
    /// The picture that was to be changed.
    pub picture: Option<Bytes>,
}

/// The handle of these servers.
#[derive(Clone, Default)]
pub struct Maker {
    inner: Arc<Inner>,
}

#[derive(Default)]
struct Inner {
    does: watch::Sender<MakerMode>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    said: Vec<SaidWords>,
    wanted: Vec<WantedPicture>,
}

impl Maker {
    /// Changes what they do.
    pub fn set(&self, does: MakerMode) {
        self.inner.does.send_replace(does);
    }

    /// The words that came in good form, oldest first.
    pub fn said(&self) -> Vec<SaidWords> {
        self.state().said.clone()
    }

    /// The pictures that were wanted in good form, oldest first.
    pub fn wanted(&self) -> Vec<WantedPicture> {
        self.state().wanted.clone()
    }

    /// The recording of words.
    pub fn recording(words: &str) -> Vec<u8> {
        let mut recording = b"OggS\0\x02".to_vec();
        recording.resize(28, 0);
        recording.extend(b"OpusHead\x01");
        recording.extend(words.as_bytes());
        recording
    }

    /// The picture of words; nobody decodes it.
    pub fn picture(prompt: &str) -> Vec<u8> {
        [b"\x89PNG\r\n\x1a\n", prompt.as_bytes()].concat()
    }

    /// What they do, as soon as they do anything.
    pub(super) async fn does_when_it_answers(&self) -> MakerMode {
        let mut does = self.inner.does.subscribe();
        let answers = does.wait_for(|does| *does != MakerMode::Silent).await;
        answers.map_or(MakerMode::Refuses, |does| *does)
    }

    pub(super) fn keep_said(&self, said: SaidWords) {
        self.state().said.push(said);
    }

    pub(super) fn keep_wanted(&self, wanted: WantedPicture) {
        self.state().wanted.push(wanted);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        locked(&self.inner.state)
    }
}
