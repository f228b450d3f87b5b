//! Opens, lists and writes beneath a root's handle; no link is followed, so that what was judged is
//! what is touched.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Component, Path};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rustix::fs::{self, AtFlags, FileType, FlockOperation, Mode, OFlags, Stat};
use rustix::io::Errno;

use super::lists::List;
use super::{Location, Stop, level};
use selkie_domain::provenance::Provenance;
use selkie_domain::taint::Taint;

pub(super) const FOLDER: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
/// Opening must not wait for the other end of a pipe.
pub(super) const FILE: OFlags = OFlags::NONBLOCK.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// What something on the disk is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A link, not followed.
    Link,
    /// A device, a pipe, a socket.
    Other,
}

/// An entry of a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FolderEntry {
    /// Its name.
    pub name: OsString,
    /// What it is.
    pub kind: Kind,
    /// Bytes, of a file.
    pub size: u64,
}

impl Location {
    /// Tells what it is.
    ///
    /// # Errors
    /// When it is gone or may not be seen.
    pub fn kind(&self) -> io::Result<(Kind, u64)> {
        let stat = match self.parts() {
            Some((parent, name)) => {
                let folder = open(self, parent, FOLDER, Mode::empty())?;
                fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW)?
            }
            None => fs::stat(&self.root)?,
        };
        Ok((kind(FileType::from_raw_mode(stat.st_mode)), size(&stat)))
    }

    /// Opens a regular file for reading.
    ///
    /// # Errors
    /// When it is no regular file, or a link was put in its place.
    pub fn open(&self) -> io::Result<File> {
        let (file, level) = self.look()?;
        self.saw(level);
        Ok(file)
    }

    /// Opens a folder.
    ///
    /// # Errors
    /// When it is no folder, or a link was put in its place.
    pub fn open_folder(&self) -> io::Result<File> {
        Ok(File::from(open(self, &self.relative, FOLDER, Mode::empty())?))
    }

    /// Opens it the same way, for a look that may show nothing of it: [`Location::saw`] tells that it did.
    ///
    /// # Errors
    /// As [`Location::open`].
    pub fn look(&self) -> io::Result<(File, Taint)> {
        let (file, whose) = self.whose()?;
        Ok((file, self.level.of(whose)))
    }

    fn whose(&self) -> io::Result<(File, Provenance)> {
        let file = open(self, &self.relative, FILE | OFlags::RDONLY, Mode::empty())?;
        regular(&fs::fstat(&file)?)?;
        let file = File::from(file);
        self.closed.check(&file.metadata()?)?;
        let least = |level| Provenance { level, ..Provenance::CLEAN };
        let whose = match self.kept_list() {
            Some(list) => least(list.level(&file)),
            None => self
                .level
                .whose(&file, &self.real(), self.zone)
                .and(least(level::of_place(self.zone, &self.relative)))
                .and(least(self.of_skill(&file.metadata()?))),
        };
        Ok((file, whose))
    }

    /// Notes that words of this level were read.
    pub fn saw(&self, level: Taint) {
        self.level.saw(level);
    }

    /// Notes that its name was shown.
    pub fn saw_name(&self) {
        let real = self.real();
        self.level.saw(self.level.of(self.level.whose_name(&real, self.zone)));
        if let Ok(found) = real.symlink_metadata() {
            self.level.saw(self.of_skill(&found));
        }
    }

    /// Returns the level of a file of a skill; of any other the least.
    fn of_skill(&self, found: &std::fs::Metadata) -> Taint {
        self.skills.level(&self.real(), found).unwrap_or_default()
    }

    /// Returns whose words are written here: those of what stands there, and of who writes.
    pub(super) fn written(&self) -> Provenance {
        let before = match self.whose() {
            Ok((_, whose)) => whose,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Provenance::CLEAN,
            // It is there and cannot be looked at.
            Err(_) => level::unmarked(self.zone),
        };
        self.level.writes().and(before)
    }

    /// Lists a folder, sorted by name.
    ///
    /// # Errors
    /// When it cannot be read, or `stop` says so.
    pub fn list(&self, stop: &Stop) -> io::Result<Vec<FolderEntry>> {
        let folder = open(self, &self.relative, FOLDER, Mode::empty())?;
        let mut all = Vec::new();
        for entry in fs::Dir::read_from(&folder)? {
            stop.check()?;
            let entry = entry?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if name == "." || name == ".." {
                continue;
            }
            // Gone since: not there.
            let Ok(stat) = fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW) else { continue };
            let kind = kind(FileType::from_raw_mode(stat.st_mode));
            all.push(FolderEntry { name: name.to_owned(), kind, size: size(&stat) });
        }
        all.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(all)
    }

    /// Replaces a file, or makes it with its folders: all of it or nothing. An existing file keeps its
    /// mode.
    ///
    /// # Errors
    /// When something else than a file of one name stands there, or the disk refuses.
    pub fn replace(&self, content: &[u8]) -> io::Result<()> {
        self.stage(content, None)?.commit()
    }

    /// Appends to a file, or makes it with its folders: one write under the file's lock.
    ///
    /// # Errors
    /// As [`Location::replace`]; when the disk takes only a part, the file is as it was.
    pub fn append(&self, content: &[u8], stop: &Stop) -> io::Result<()> {
        if self.kept_list().is_some() {
            return self.replace(&self.with_more(content)?);
        }
        let whose = self.written();
        let (folder, name) = self.make_folders()?;
        let flags = FILE | OFlags::WRONLY | OFlags::APPEND | OFlags::CREATE;
        let file = File::from(fs::openat(&folder, name, flags, self.file_mode())?);
        lock(&file, stop)?;
        // What was opened is what counts: another file may have been put in its place meanwhile.
        ours_alone(&fs::fstat(&file)?)?;
        self.closed.check(&file.metadata()?)?;
        level::mark(&file, whose, self.zone)?;
        let before = size(&fs::fstat(&file)?);
        let written = rustix::io::write(&file, content)?;
        if written < content.len() {
            fs::ftruncate(&file, before)?;
            return Err(io::Error::new(io::ErrorKind::StorageFull, "the disk is full"));
        }
        Ok(fs::fsync(&file)?)
    }

    /// Returns the list that it is, if it is one.
    pub(super) fn kept_list(&self) -> Option<List> {
        self.lists.find(self.zone, &self.relative)
    }

    /// What a list says now, with more at its end.
    ///
    /// # Errors
    /// When it cannot be read.
    pub(super) fn with_more(&self, more: &[u8]) -> io::Result<Vec<u8>> {
        let mut text = match self.open() {
            Ok(mut file) => {
                let mut text = Vec::new();
                file.read_to_end(&mut text)?;
                text
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(error),
        };
        text.extend_from_slice(more);
        Ok(text)
    }

    pub(super) fn parts(&self) -> Option<(&Path, &OsStr)> {
        Some((self.relative.parent()?, self.relative.file_name()?))
    }

    pub(super) fn make_folders(&self) -> io::Result<(OwnedFd, &OsStr)> {
        let Some((parent, name)) = self.parts() else {
            return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a folder"));
        };
        if !self.root.exists() {
            std::fs::DirBuilder::new().recursive(true).mode(0o750).create(&self.root)?;
        }
        let mode = if self.is_private() { 0o750 } else { 0o755 };
        let mut at = fs::open(&self.root, FOLDER, Mode::empty())?;
        for component in parent.components() {
            let Component::Normal(folder) = component else { continue };
            at = match fs::openat(&at, folder, FOLDER, Mode::empty()) {
                Err(Errno::NOENT) => {
                    let made = match fs::mkdirat(&at, folder, Mode::from_raw_mode(mode)) {
                        Ok(()) => true,
                        Err(Errno::EXIST) => false,
                        Err(error) => return Err(error.into()),
                    };
                    let inside = fs::openat(&at, folder, FOLDER, Mode::empty())?;
                    if made {
                        level::mark(&inside, self.level.writes(), self.zone)?;
                    }
                    inside
                }
                other => other?,
            };
        }
        Ok((at, name))
    }

    pub(super) fn file_mode(&self) -> Mode {
        Mode::from_raw_mode(if self.is_private() { 0o600 } else { 0o644 })
    }
}

pub(super) fn open(
    located: &Location,
    relative: &Path,
    flags: OFlags,
    mode: Mode,
) -> io::Result<OwnedFd> {
    let root = fs::open(&located.root, FOLDER, Mode::empty())?;
    if relative.as_os_str().is_empty() {
        return Ok(root);
    }
    #[cfg(target_os = "linux")]
    match by_kernel(&root, relative, flags, mode) {
        // An old kernel, or a filter that forbids the call.
        Err(Errno::NOSYS | Errno::PERM) => {}
        other => return Ok(other?),
    }
    by_steps(root, relative, flags, mode)
}

#[cfg(target_os = "linux")]
fn by_kernel(
    root: &OwnedFd,
    relative: &Path,
    flags: OFlags,
    mode: Mode,
) -> rustix::io::Result<OwnedFd> {
    use rustix::fs::ResolveFlags;
    let beneath = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS | ResolveFlags::NO_SYMLINKS;
    loop {
        match fs::openat2(root, relative, flags, mode, beneath) {
            // Something was renamed meanwhile: the kernel asks to try again.
            Err(Errno::AGAIN) => {}
            other => return other,
        }
    }
}

/// One folder at a time, none of them a link.
fn by_steps(root: OwnedFd, relative: &Path, flags: OFlags, mode: Mode) -> io::Result<OwnedFd> {
    let mut at = root;
    let mut steps = relative.components().peekable();
    while let Some(step) = steps.next() {
        let Component::Normal(name) = step else {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a plain path"));
        };
        let flags = if steps.peek().is_some() { FOLDER } else { flags | OFlags::NOFOLLOW };
        at = fs::openat(&at, name, flags, mode)?;
    }
    Ok(at)
}

fn lock(file: impl AsFd, stop: &Stop) -> io::Result<()> {
    loop {
        match fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
            // Another call appends: it holds the lock for one write.
            Err(Errno::WOULDBLOCK) => std::thread::sleep(Duration::from_millis(2)),
            other => return Ok(other?),
        }
        stop.check()?;
    }
}

pub(super) fn temporary_name() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    format!(".selkie-{}-{number}.tmp", std::process::id())
}

pub(super) fn ours_alone(stat: &Stat) -> io::Result<()> {
    regular(stat)?;
    if stat.st_nlink > 1 {
        let why = "the file has several names (hard links): writing would change them all";
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
    }
    Ok(())
}

pub(super) fn regular(stat: &Stat) -> io::Result<()> {
    let why = match kind(FileType::from_raw_mode(stat.st_mode)) {
        Kind::File => return Ok(()),
        Kind::Folder => "it is a folder",
        Kind::Link => "it is a link",
        Kind::Other => "it is a device, a pipe or a socket, not a file",
    };
    Err(io::Error::new(io::ErrorKind::InvalidInput, why))
}

fn kind(file_type: FileType) -> Kind {
    match file_type {
        FileType::RegularFile => Kind::File,
        FileType::Directory => Kind::Folder,
        FileType::Symlink => Kind::Link,
        _ => Kind::Other,
    }
}

fn size(stat: &Stat) -> u64 {
    u64::try_from(stat.st_size).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both ways of opening refuse the same things: old kernels are no hole.
    #[test]
    fn stepping_is_as_strict_as_the_kernel() {
        let dir = tempfile::TempDir::new().unwrap();
        std::fs::create_dir_all(dir.path().join("root/a")).unwrap();
        std::fs::write(dir.path().join("root/a/file"), "x").unwrap();
        std::fs::write(dir.path().join("secret"), "x").unwrap();
        std::os::unix::fs::symlink("../secret", dir.path().join("root/link")).unwrap();
        std::os::unix::fs::symlink("..", dir.path().join("root/up")).unwrap();
        for (path, opens) in
            [("a/file", true), ("link", false), ("up/secret", false), ("../secret", false)]
        {
            let flags = FILE | OFlags::RDONLY;
            let root = || fs::open(dir.path().join("root"), FOLDER, Mode::empty()).unwrap();
            let stepped = by_steps(root(), Path::new(path), flags, Mode::empty());
            assert_eq!(stepped.is_ok(), opens, "{path} by steps");
            #[cfg(target_os = "linux")]
            assert_eq!(
                by_kernel(&root(), Path::new(path), flags, Mode::empty()).is_ok(),
                opens,
                "{path} by the kernel"
            );
        }
    }
}
