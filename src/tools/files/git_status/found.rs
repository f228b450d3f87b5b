//! Which repository a folder lies in, read by us: plain files of bounded size, no link followed, nothing
//! opened that could be a pipe or a device.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{Mode, OFlags};

use crate::ToolError;

/// Bytes of a file that names something: HEAD, a reference, `.git` of a worktree.
const NAME: u64 = 4 * 1024;
/// Bytes of the list of references.
const REFS: u64 = 64 * 1024 * 1024;
/// References that name references.
const CHAIN: usize = 5;

/// A repository that may be looked at.
pub(super) struct Repository {
    /// The folder of its files.
    pub(super) top: PathBuf,
    /// Its own folder: HEAD and index.
    pub(super) own: PathBuf,
    /// The folder that its worktrees share: objects and references.
    pub(super) common: PathBuf,
}

/// Finds the repository around a real folder. `open`: real folders that it may lie in; `None` for anywhere.
///
/// # Errors
/// For the model: there is none, or it leads to a place that is not open.
pub(super) fn around(folder: &Path, open: Option<&[PathBuf]>) -> Result<Repository, ToolError> {
    let is_open = |at: &Path| open.is_none_or(|open| open.iter().any(|root| at.starts_with(root)));
    for top in folder.ancestors().take_while(|at| is_open(at)) {
        let Some(own) = own_folder(top)? else { continue };
        let own = real(&own, is_open)?;
        let common = match small(&own.join("commondir"))? {
            Some(text) => real(&own.join(text.trim_end()), is_open)?,
            None => own.clone(),
        };
        if small(&own.join("HEAD"))?.is_some() {
            return Ok(Repository { top: top.to_owned(), own, common });
        }
    }
    Err(ToolError::tell(
        "git: not a git repository (or any of the parent folders that are open here)",
    ))
}

impl Repository {
    /// Returns the id of the commit that HEAD names; `None` before the first one.
    ///
    /// # Errors
    /// For the model: when its references cannot be read.
    pub(super) fn head(&self) -> Result<Option<String>, ToolError> {
        if self.common.join("reftable").symlink_metadata().is_ok() {
            return Err(ToolError::tell(
                "git: references in the reftable format are not read here",
            ));
        }
        let mut text = small(&self.own.join("HEAD"))?.unwrap_or_default();
        for _ in 0..CHAIN {
            let said = text.trim();
            if is_id(said) {
                return Ok(Some(said.to_owned()));
            }
            let name = said.strip_prefix("ref:").map(str::trim).filter(|name| is_reference(name));
            let Some(name) = name else { return Err(broken("HEAD names no reference")) };
            let loose = self.common.join(name);
            match loose.canonicalize() {
                Ok(at) if !at.starts_with(&self.common) => {
                    return Err(broken("a reference is a link"));
                }
                Ok(at) => text = small(&at)?.unwrap_or_default(),
                Err(_) => return self.packed(name),
            }
        }
        Err(broken("references lead back to themselves"))
    }

    fn packed(&self, name: &str) -> Result<Option<String>, ToolError> {
        let Some(all) = regular(&self.common.join("packed-refs"), REFS)? else { return Ok(None) };
        let mut lines =
            all.split(|b| *b == b'\n').filter_map(|line| std::str::from_utf8(line).ok());
        Ok(lines.find_map(|line| {
            let (id, of) = line.trim_end().split_once(' ')?;
            (of == name && is_id(id)).then(|| id.to_owned())
        }))
    }
}

/// The folder that `.git` is or names.
fn own_folder(top: &Path) -> Result<Option<PathBuf>, ToolError> {
    let at = top.join(".git");
    let Ok(what) = at.symlink_metadata() else { return Ok(None) };
    if what.is_dir() {
        return Ok(Some(at));
    }
    if !what.is_file() {
        return Err(broken(".git is a link, a pipe or a device: it is not followed"));
    }
    let text = small(&at)?.unwrap_or_default();
    let Some(named) = text.strip_prefix("gitdir:").map(str::trim) else {
        return Err(broken(".git is a file that names no folder"));
    };
    Ok(Some(top.join(named)))
}

fn real(path: &Path, is_open: impl Fn(&Path) -> bool) -> Result<PathBuf, ToolError> {
    let real = path.canonicalize().map_err(|_| broken("a folder that it names is not there"))?;
    if is_open(&real) {
        return Ok(real);
    }
    Err(ToolError::tell("the repository lies outside of what is open here"))
}

fn is_id(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|b| b.is_ascii_hexdigit())
}

fn is_reference(name: &str) -> bool {
    let plain = |c: Component<'_>| matches!(c, Component::Normal(_));
    name.starts_with("refs/") && Path::new(name).components().all(plain)
}

fn small(path: &Path) -> Result<Option<String>, ToolError> {
    Ok(regular(path, NAME)?.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
}

fn regular(path: &Path, most: u64) -> Result<Option<Vec<u8>>, ToolError> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let file = match open_regular(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(broken(&format!("{name} cannot be read: {error}"))),
    };
    let mut bytes = Vec::new();
    file.take(most + 1)
        .read_to_end(&mut bytes)
        .map_err(|e| broken(&format!("{name} cannot be read: {e}")))?;
    if bytes.len() as u64 > most {
        return Err(broken(&format!("{name} is larger than {most} bytes")));
    }
    Ok(Some(bytes))
}

/// Opens a regular file and nothing else; opening waits for nobody.
pub(super) fn open_regular(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty())?);
    if file.metadata()?.is_file() {
        return Ok(file);
    }
    Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"))
}

/// Says what is wrong with a repository.
pub(super) fn broken(why: &str) -> ToolError {
    ToolError::tell(format!("git: the repository is not looked at: {why}"))
}
