//! What a program reads and prints to.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;

/// A program's standard input, output and error.
#[derive(Debug)]
pub struct Streams {
    /// What it reads.
    pub input: OwnedFd,
    /// What it prints.
    pub output: OwnedFd,
    /// Where it complains.
    pub errors: OwnedFd,
}

impl Streams {
    /// Nothing to read, and nobody who listens.
    ///
    /// # Errors
    /// There is no /dev/null.
    pub fn null() -> io::Result<Self> {
        let null = || File::options().read(true).write(true).open("/dev/null").map(OwnedFd::from);
        Ok(Self { input: null()?, output: null()?, errors: null()? })
    }
}
