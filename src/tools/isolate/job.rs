//! A job: what is to be done with foreign bytes, and what doing it may take.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::web::page::Format;
use crate::web::search::Engine;

const MIB: u64 = 1024 * 1024;
/// Bytes of what usually comes out.
pub(super) const RESULT: u64 = 8 * MIB;

/// What is to be done. It comes with its bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Job {
    /// The HTML of a page → what is to be read of it, cut to an answer.
    Page {
        /// Where it was found: links are told from there.
        url: String,
        /// The form that is wanted.
        format: Format,
    },
    /// What a search engine answered → its results, as JSON.
    Results {
        /// Which engine it was.
        engine: Engine,
    },
    /// A picture file → `<mime>\n` and the bytes of a picture that every model takes.
    Picture,
    /// A document → its pages, as [`selkie_documents::Document::to_bytes`] writes them.
    Document {
        /// What its file is called.
        name: String,
    },
    /// A PDF → the picture of one of its pages, as for [`Job::Picture`].
    Scan {
        /// Which page, from 1.
        page: u32,
    },
    /// An OGG file with speech in Opus → WAV, 16 kHz, mono.
    Speech,
    /// Takes all the memory, time or stack that it can get: for tests of the limits.
    #[cfg(any(test, debug_assertions))]
    Misbehave(Misbehaviour),
}

/// What goes wrong in a test.
#[cfg(any(test, debug_assertions))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Misbehaviour {
    /// It takes memory.
    Memory,
    /// It never ends.
    Time,
    /// It calls itself.
    Stack,
    /// It says too much.
    Words,
}

/// What one job may take.
pub(super) struct Limits {
    /// Bytes of address space.
    pub(super) memory: u64,
    /// Seconds of one processor, and a few more by the clock.
    pub(super) seconds: u64,
    /// Bytes of what comes out.
    pub(super) result: u64,
}

impl Job {
    pub(super) fn limits(&self) -> Limits {
        match self {
            Self::Picture | Self::Scan { .. } => {
                Limits { memory: 768 * MIB, seconds: 20, result: RESULT }
            }
            Self::Document { .. } => Limits { memory: 512 * MIB, seconds: 20, result: RESULT },
            // An hour of it: the longest recording that config takes.
            Self::Speech => Limits { memory: 512 * MIB, seconds: 60, result: 128 * MIB },
            _ => Limits { memory: 512 * MIB, seconds: 10, result: RESULT },
        }
    }

    /// What the words for people call it.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Picture | Self::Scan { .. } => "the picture",
            Self::Document { .. } => "the document",
            Self::Speech => "the recording",
            _ => "the page",
        }
    }
}

impl Limits {
    pub(super) fn by_the_clock(&self) -> Duration {
        // A busy machine gives it a part of a processor.
        Duration::from_secs(6 * self.seconds)
    }
}
