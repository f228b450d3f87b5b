//! Bytes on their way, counted and digested.

use std::io::{self, Read};

use sha2::{Digest as _, Sha256};

/// A reader that knows what has come through it.
pub struct DigestReader<R> {
    from: R,
    sha: Sha256,
    bytes: u64,
    fault: Option<io::Error>,
}

impl<R: Read> DigestReader<R> {
    /// Begins.
    pub fn new(from: R) -> Self {
        Self { from, sha: Sha256::new(), bytes: 0, fault: None }
    }

    /// Returns how many bytes came.
    pub fn count(&self) -> u64 {
        self.bytes
    }

    /// Returns why no more of them could be read, once.
    pub fn fault(&mut self) -> Option<io::Error> {
        self.fault.take()
    }

    /// Returns their digest.
    pub fn sha256(self) -> String {
        self.sha.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

impl<R: Read> Read for DigestReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = match self.from.read(buffer) {
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Err(error),
            Err(error) => {
                // Whoever reads may take it for a fault of where they write.
                let same = io::Error::new(error.kind(), error.to_string());
                self.fault = Some(error);
                return Err(same);
            }
        };
        self.sha.update(buffer.get(..read).unwrap_or_default());
        self.bytes += read as u64;
        Ok(read)
    }
}
