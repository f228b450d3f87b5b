//! What a model wrote for a path → one file beneath a root that this task may touch.
//!
//! A path is resolved to its real place first (links and `..` followed), judged there, and then opened
//! beneath the root's handle without following any link: what was judged is what is opened.

mod beneath;
mod rules;

use std::io;
use std::path::{Component, Path, PathBuf};

use crate::tools::ToolError;
use crate::tools::scope::Roots;

pub use beneath::{Kind, Listed, Stop};
pub use rules::denied;

/// Longest path and longest name that Linux takes, in bytes.
const MAX_PATH: usize = 4095;
const MAX_NAME: usize = 255;

/// What is to be done with a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Want {
    /// Open, list, send it.
    Read,
    /// Make or change it.
    Write,
}

/// Which root a file lies under.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Zone {
    /// The conversation's own folder of the cache.
    Own,
    /// The conversation's workspace.
    Workspace,
    /// The state folder.
    State,
    /// Outside of all roots: read only, where the scope allows.
    Elsewhere,
}

/// Finds files for one tool in one scope.
#[derive(Clone, Copy)]
pub struct Finder<'a> {
    /// For refusals.
    pub tool: &'static str,
    /// The scope's roots.
    pub roots: &'a Roots,
    /// `tools.<name>.deny_paths`.
    pub deny: &'a [String],
}

/// A real place beneath a root, judged and not yet opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Located {
    /// Which root.
    pub zone: Zone,
    root: PathBuf,
    relative: PathBuf,
}

impl Finder<'_> {
    /// Finds something that exists.
    ///
    /// # Errors
    /// Why not, for the model.
    pub fn existing(&self, written: &str) -> Result<Located, ToolError> {
        let asked = self.asked(written)?;
        self.near_a_root(&asked, written, Want::Read)?;
        let real = asked.path.canonicalize().map_err(|e| unreachable_path(written, &e))?;
        self.judge(&real, asked.confined, written, Want::Read)
    }

    /// Finds a place for a file that need not exist; its folders need not either.
    ///
    /// # Errors
    /// Why not, for the model.
    pub fn writable(&self, written: &str) -> Result<Located, ToolError> {
        if written.ends_with('/') {
            return Err(ToolError::tell(format!("path is a directory: {written}")));
        }
        let asked = self.asked(written)?;
        self.near_a_root(&asked, written, Want::Write)?;
        let real = settle(&asked.path, written)?;
        self.judge(&real, asked.confined, written, Want::Write)
    }

    /// The folder that relative paths start from.
    pub fn home(&self) -> &Path {
        self.roots.workspace.as_deref().unwrap_or(&self.roots.own)
    }

    /// Whether something inside a located folder may be seen, too.
    pub fn may_see(&self, located: &Located) -> bool {
        let real = located.real();
        self.root_of(&real).is_some_and(|(zone, root)| {
            zone == Some(located.zone) && self.verdict(located.zone, &root, &real, Want::Read).is_ok()
        })
    }

    fn asked(&self, written: &str) -> Result<Asked, ToolError> {
        check_form(written)?;
        if let Some(rest) = alias(written, "file_cache_dir")? {
            let whole = self.roots.cache.join(rest);
            let own = whole.starts_with(&self.roots.own);
            let path = if own { whole } else { self.roots.own.join(rest) };
            return Ok(Asked { path, confined: Some(Zone::Own) });
        }
        if let Some(rest) = alias(written, "file_state_dir")? {
            let Some(state) = &self.roots.state else {
                return Err(ToolError::tell(format!(
                    "file_state_dir is closed here: {} takes paths in file_cache_dir",
                    self.tool
                )));
            };
            return Ok(Asked { path: state.join(rest), confined: Some(Zone::State) });
        }
        Ok(Asked { path: self.home().join(written), confined: None })
    }

    /// Refuses what lies outside by its own words, before the disk is asked: whether a file outside
    /// exists is nobody's business.
    fn near_a_root(&self, asked: &Asked, written: &str, want: Want) -> Result<(), ToolError> {
        let plain = without_dots(&asked.path);
        let open = self.all_roots().filter(|(zone, _)| match asked.confined {
            Some(confined) => *zone == Some(confined),
            None => zone.is_some(),
        });
        let mut open = open.map(|(_, root)| root);
        if open.any(|root| plain.starts_with(root) || plain.starts_with(real_or_same(root)))
            || (want == Want::Read && self.roots.elsewhere && asked.confined.is_none())
        {
            return Ok(());
        }
        Err(self.outside(written, want))
    }

    fn judge(
        &self,
        real: &Path,
        confined: Option<Zone>,
        written: &str,
        want: Want,
    ) -> Result<Located, ToolError> {
        let (zone, root) = match self.root_of(real) {
            Some((Some(zone), root)) => (zone, root),
            // Somewhere in the cache, but not in the conversation's own folder.
            Some((None, _)) => return Err(self.outside(written, want)),
            None if want == Want::Read && self.roots.elsewhere => {
                (Zone::Elsewhere, PathBuf::from("/"))
            }
            None => return Err(self.outside(written, want)),
        };
        if confined.is_some_and(|c| c != zone) {
            return Err(self.outside(written, want));
        }
        self.verdict(zone, &root, real, want)
            .map_err(|why| ToolError::tell(format!("{} denied for path: {written} ({why})", self.tool)))?;
        let relative = real.strip_prefix(&root).unwrap_or(real).to_owned();
        Ok(Located { zone, root, relative })
    }

    fn verdict(&self, zone: Zone, root: &Path, real: &Path, want: Want) -> Result<(), String> {
        let relative = real.strip_prefix(root).unwrap_or(real);
        if let Some(why) = rules::closed(zone, relative, want) {
            return Err(why.to_owned());
        }
        if denied(self.deny, real) {
            return Err(format!("tools.{}.deny_paths", self.tool));
        }
        Ok(())
    }

    /// The innermost root around a real path; `None` as zone for the rest of the cache.
    fn root_of(&self, real: &Path) -> Option<(Option<Zone>, PathBuf)> {
        let roots = self.all_roots().map(|(zone, root)| (zone, real_or_same(root)));
        let around = roots.filter(|(_, root)| real.starts_with(root));
        around.reduce(|best, next| {
            if next.1.components().count() > best.1.components().count() { next } else { best }
        })
    }

    fn all_roots(&self) -> impl Iterator<Item = (Option<Zone>, &Path)> {
        let roots = self.roots;
        let own = (Some(Zone::Own), roots.own.as_path());
        let cache = (None, roots.cache.as_path());
        let workspace = roots.workspace.as_deref().map(|p| (Some(Zone::Workspace), p));
        let state = roots.state.as_deref().map(|p| (Some(Zone::State), p));
        std::iter::once(own).chain(workspace).chain(state).chain(std::iter::once(cache))
    }

    fn outside(&self, written: &str, want: Want) -> ToolError {
        let mut open = vec!["file_cache_dir/<path>"];
        open.extend(self.roots.workspace.as_ref().map(|_| "the workspace"));
        open.extend(self.roots.state.as_ref().map(|_| "file_state_dir/<path>"));
        let open = open.join(", ");
        ToolError::tell(match want {
            Want::Read => format!(
                "refusing to read outside allowed base dir: {written} (open here: {open})"
            ),
            Want::Write => format!(
                "refusing to write outside allowed base dirs: {written} (open here: {open})"
            ),
        })
    }
}

impl Located {
    /// Returns the real path.
    pub fn real(&self) -> PathBuf {
        if self.relative.as_os_str().is_empty() {
            return self.root.clone();
        }
        self.root.join(&self.relative)
    }

    /// Returns the path as a tool takes it again.
    pub fn shown(&self) -> String {
        let relative = self.relative.to_string_lossy();
        match self.zone {
            Zone::Own => format!("file_cache_dir/{relative}"),
            Zone::State => format!("file_state_dir/{relative}"),
            Zone::Workspace if relative.is_empty() => ".".to_owned(),
            Zone::Workspace => relative.into_owned(),
            Zone::Elsewhere => format!("/{relative}"),
        }
    }

    /// Returns what lies under this name in a located folder.
    #[must_use]
    pub fn child(&self, name: &std::ffi::OsStr) -> Self {
        Self { relative: self.relative.join(name), ..self.clone() }
    }

    /// Whether people beside the bot's own user may read what is made here.
    fn is_private(&self) -> bool {
        self.zone != Zone::Workspace
    }
}

struct Asked {
    path: PathBuf,
    confined: Option<Zone>,
}

fn check_form(written: &str) -> Result<(), ToolError> {
    if written.is_empty() {
        return Err(ToolError::tell("path is required"));
    }
    if written.contains('\0') {
        return Err(ToolError::tell("invalid path: it holds a NUL character"));
    }
    if written.len() > MAX_PATH || written.split('/').any(|name| name.len() > MAX_NAME) {
        return Err(ToolError::tell(format!(
            "invalid path: too long (a name takes {MAX_NAME} bytes, a path {MAX_PATH})"
        )));
    }
    Ok(())
}

fn alias<'a>(written: &'a str, name: &str) -> Result<Option<&'a str>, ToolError> {
    let Some(rest) = written.strip_prefix(name) else { return Ok(None) };
    if !rest.is_empty() && !rest.starts_with('/') {
        return Ok(None);
    }
    let rest = rest.trim_start_matches('/');
    if rest.is_empty() {
        return Err(ToolError::tell("invalid path: alias requires a relative file path"));
    }
    Ok(Some(rest))
}

/// Where a file would really be made: the deepest folder that exists, and plain names below it.
fn settle(path: &Path, written: &str) -> Result<PathBuf, ToolError> {
    let mut missing = Vec::new();
    let mut existing = path;
    loop {
        match existing.canonicalize() {
            Ok(real) => {
                return Ok(missing.iter().rev().fold(real, |at, name| at.join(name)));
            }
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(unreachable_path(written, &error));
            }
            Err(_) if existing.is_symlink() => {
                return Err(ToolError::tell(format!("{written} is a link that leads nowhere")));
            }
            Err(_) => {}
        }
        let (Some(name), Some(parent)) = (existing.file_name(), existing.parent()) else {
            return Err(ToolError::tell(format!("invalid path: {written}")));
        };
        missing.push(name);
        existing = parent;
    }
}

fn without_dots(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => drop(plain.pop()),
            Component::CurDir => {}
            other => plain.push(other),
        }
    }
    plain
}

/// A root may not be made yet: then its real place is below the real place of what is there.
fn real_or_same(root: &Path) -> PathBuf {
    match (root.canonicalize(), root.parent(), root.file_name()) {
        (Ok(real), ..) => real,
        (Err(_), Some(parent), Some(name)) => real_or_same(parent).join(name),
        _ => root.to_owned(),
    }
}

fn unreachable_path(written: &str, error: &io::Error) -> ToolError {
    let why = match error.kind() {
        io::ErrorKind::NotFound => return ToolError::tell(format!("no such file: {written}")),
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        io::ErrorKind::NotADirectory => "a part of it is a file, not a folder".to_owned(),
        _ => error.to_string(),
    };
    ToolError::tell(format!("{written} cannot be reached: {why}"))
}

#[cfg(test)]
mod tests;
