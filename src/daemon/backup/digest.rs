//! Bytes on their way, counted and digested.

use std::io::{self, Read};

use sha2::{Digest as _, Sha256};

/// A reader that knows what has come through it.
pub struct Digested<R> {
    from: R,
    sha: Sha256,
    bytes: u64,
}

impl<R: Read> Digested<R> {
    /// Begins.
    pub fn new(from: R) -> Self {
        Self { from, sha: Sha256::new(), bytes: 0 }
    }

    /// Returns how many bytes came.
    pub fn count(&self) -> u64 {
        self.bytes
    }

    /// Returns their digest.
    pub fn sha256(self) -> String {
        self.sha.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

impl<R: Read> Read for Digested<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.from.read(buffer)?;
        self.sha.update(buffer.get(..read).unwrap_or_default());
        self.bytes += read as u64;
        Ok(read)
    }
}
