//! Files of the state folder that are their owner's alone: bounded when they are read, and written whole.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;

use serde::Serialize;

/// Reads a file of at most so many bytes; nothing where there is none.
pub(crate) fn read(path: &Path, most: u64) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    match File::open(path).and_then(|file| file.take(most + 1).read_to_end(&mut bytes)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Ok(read) if read as u64 > most => {
            Err(io::Error::new(io::ErrorKind::InvalidData, "it is too large"))
        }
        read => read.map(|_| Some(bytes)),
    }
}

/// Writes a file: it is on the disk when this returns, and never there in half.
pub(crate) fn write(folder: &Path, name: &str, value: &impl Serialize) -> io::Result<()> {
    make_folder(folder)?;
    let new = folder.join(format!("{name}.new"));
    remove(&new)?;
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&new)?;
    file.write_all(&serde_json::to_vec_pretty(value)?)?;
    file.sync_all()?;
    fs::rename(&new, folder.join(name))?;
    File::open(folder)?.sync_all()
}

/// Removes a file, where there is one.
pub(crate) fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

pub(crate) fn make_folder(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}
