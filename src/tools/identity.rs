//! Which file or folder something is, whatever it is called.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt as _;

/// Which file or folder something is, whatever it is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The device.
    pub device: u64,
    /// The number on it.
    pub number: u64,
}

impl Identity {
    /// Returns which one was found.
    pub fn of(found: &Metadata) -> Self {
        Self { device: found.dev(), number: found.ino() }
    }
}
