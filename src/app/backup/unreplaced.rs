//! Names that are taken and changed so that nothing which lies there is replaced, whoever makes something meanwhile.

use std::fs::{self, DirBuilder};
use std::io::{self, ErrorKind};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;

use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;

/// Makes a folder for us alone under this name, or one like it that nothing has; returns which.
pub fn reserved(folder: &Path, name: &str) -> io::Result<String> {
    for name in alike(name) {
        match DirBuilder::new().mode(0o700).create(folder.join(&name)) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            made => return made.map(|()| name),
        }
    }
    Err(none_free())
}

/// Moves something into a folder, under this name or one like it that is free there.
pub fn put(from: &Path, folder: &Path, name: &str) -> io::Result<()> {
    for name in alike(name) {
        if moved(from, &folder.join(name))? {
            return Ok(());
        }
    }
    Err(none_free())
}

/// Gives something another name; `false`: something has that name.
pub fn moved(from: &Path, to: &Path) -> io::Result<bool> {
    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        Ok(()) => Ok(true),
        Err(Errno::EXIST) => Ok(false),
        // A file system that cannot do it in one step does it in two.
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => match to.symlink_metadata() {
            Ok(_) => Ok(false),
            Err(_) => fs::rename(from, to).map(|()| true),
        },
        Err(error) => Err(error.into()),
    }
}

/// This name, and then with a number behind it.
fn alike(name: &str) -> impl Iterator<Item = String> {
    let numbered = (2_u64..).map(move |number| format!("{name}-{number}"));
    std::iter::once(name.to_owned()).chain(numbered)
}

/// A folder has fewer entries than there are numbers: this is never said.
fn none_free() -> io::Error {
    io::Error::other("no name is free")
}
