//! One process per store: an exclusive lock on a file beside the database.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::{FlockOperation, flock};

use crate::store::{Result, StoreError};

/// Holds the store for this process until it is dropped.
#[derive(Debug)]
pub struct StoreLock {
    _file: File,
}

impl StoreLock {
    /// Takes the lock without waiting and writes this process's id into the file.
    ///
    /// # Errors
    /// `Held` when another process has it, `Broken` when the file cannot be made.
    pub fn take(path: &Path) -> Result<Self> {
        let broken = |e: std::io::Error| {
            StoreError::Broken(format!("the lock file {} cannot be used: {e}", path.display()))
        };
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(path)
            .map_err(broken)?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(rustix::io::Errno::WOULDBLOCK) => return Err(held(&mut file, path)),
            Err(e) => return Err(broken(e.into())),
        }
        file.set_len(0).map_err(broken)?;
        file.write_all(format!("{}\n", std::process::id()).as_bytes()).map_err(broken)?;
        Ok(Self { _file: file })
    }
}

fn held(file: &mut File, path: &Path) -> StoreError {
    let mut pid = String::new();
    let read = file.rewind().and_then(|()| file.read_to_string(&mut pid));
    let who = match (read, pid.trim()) {
        (Ok(_), pid) if !pid.is_empty() => format!("process {pid}"),
        _ => "another process".to_owned(),
    };
    let folder = path.parent().unwrap_or(path).display();
    StoreError::Held(format!(
        "{who} holds the store in {folder}: stop it first, or name another state folder"
    ))
}
