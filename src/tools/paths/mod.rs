//! What a model wrote for a path → one file beneath a root that this task may touch.
//!
//! A path is resolved to its real place first (links and `..` followed), judged there, and then opened
//! beneath the root's handle without following any link: what was judged is what is opened.

mod beneath;
mod commands;
mod form;
mod level;
mod lists;
mod ours;
mod reading;
mod roots;
mod rules;
mod skills;
mod staged;
mod stop;
mod zone;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use form::{alias, cannot_reach, check_form, in_any_form, real_or_same, settle, without_dots};

use crate::ToolError;

pub use beneath::{FolderEntry, Kind};
pub use commands::{CommandLog, OpenRun};
pub use form::refused;
pub use level::{Level, level_of, mark_level};
pub use lists::{ListWriter, Lists};
pub use ours::{CREDENTIALS, ClosedPaths, Ours};
pub use reading::{note_command, note_program, of_command};
pub use roots::{RealRoots, Roots};
pub use rules::denied;
pub use skills::{SkillFolder, SkillFolders};
pub use staged::{StageWriter, StagedContent};
pub use stop::Stop;
pub use zone::{Want, Zone};

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
pub struct Location {
    /// Which root.
    pub zone: Zone,
    root: PathBuf,
    relative: PathBuf,
    closed: Arc<ClosedPaths>,
    level: Level,
    lists: Lists,
    skills: SkillFolders,
}

impl Finder<'_> {
    /// Finds something that exists.
    ///
    /// # Errors
    /// Why not, for the model.
    pub fn existing(&self, written: &str) -> Result<Location, ToolError> {
        let asked = self.asked(written)?;
        self.near_a_root(&asked, written, Want::Read)?;
        let path = in_any_form(&asked.path);
        let real = path.canonicalize().map_err(|e| cannot_reach(written, &e))?;
        self.judge(&real, asked.confined, written, Want::Read)
    }

    /// Finds a place for a file that need not exist; its folders need not either.
    ///
    /// # Errors
    /// Why not, for the model.
    pub fn writable(&self, written: &str) -> Result<Location, ToolError> {
        self.changeable(written, Want::Write)
    }

    /// The same for a file that says who the bot is, and for no other.
    ///
    /// # Errors
    /// Why not, for the model.
    pub fn defining(&self, written: &str) -> Result<Location, ToolError> {
        self.changeable(written, Want::Define)
    }

    fn changeable(&self, written: &str, want: Want) -> Result<Location, ToolError> {
        if written.ends_with('/') {
            return Err(ToolError::tell(format!("path is a directory: {written}")));
        }
        let asked = self.asked(written)?;
        self.near_a_root(&asked, written, want)?;
        let real = settle(&in_any_form(&asked.path), written)?;
        self.judge(&real, asked.confined, written, want)
    }

    /// The folder that relative paths start from.
    pub fn home(&self) -> &Path {
        self.roots.workspace.as_deref().unwrap_or(&self.roots.own)
    }

    /// Returns the real places of the roots, for many looks with [`Finder::may_see`].
    pub fn real_roots(&self) -> RealRoots {
        RealRoots {
            roots: self.all_roots().map(|(zone, root)| (zone, real_or_same(root))).collect(),
            closed: Arc::new(self.roots.ours.closed()),
        }
    }

    /// Whether something inside a located folder may be seen, too.
    pub fn may_see(&self, roots: &RealRoots, located: &Location) -> bool {
        let real = located.real();
        let same = match roots.around(&real) {
            Some((zone, root)) => *zone == Some(located.zone) && *root == located.root,
            None => located.zone == Zone::Elsewhere,
        };
        same && !roots.closed.place(&real)
            && self.verdict(located.zone, &located.root, &real, Want::Read).is_ok()
    }

    fn asked(&self, written: &str) -> Result<PathQuery, ToolError> {
        check_form(written)?;
        if let Some(rest) = alias(written, "file_cache_dir")? {
            let whole = self.roots.cache.join(rest);
            let own = whole.starts_with(&self.roots.own);
            let path = if own { whole } else { self.roots.own.join(rest) };
            return Ok(PathQuery { path, confined: Some(Zone::Own) });
        }
        if let Some(rest) = alias(written, "file_state_dir")? {
            let path = self.roots.ours.state().map(|state| state.join(rest));
            if let Some(path) = path.filter(|path| self.roots.skills.hold(&real_or_same(path))) {
                return Ok(PathQuery { path, confined: Some(Zone::Skills) });
            }
            let Some(state) = &self.roots.state else {
                return Err(ToolError::tell(format!(
                    "file_state_dir is closed here: {} takes paths in {}",
                    self.tool,
                    self.open_here()
                )));
            };
            return Ok(PathQuery { path: state.join(rest), confined: Some(Zone::State) });
        }
        Ok(PathQuery { path: self.home().join(written), confined: None })
    }

    /// Refuses what lies outside by its own words, before the disk is asked: whether a file outside
    /// exists is nobody's business.
    fn near_a_root(&self, asked: &PathQuery, written: &str, want: Want) -> Result<(), ToolError> {
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
    ) -> Result<Location, ToolError> {
        let roots = self.real_roots();
        let (zone, root) = match roots.around(real) {
            Some((Some(zone), root)) => (*zone, root.clone()),
            // In the cache, but not in the conversation's own folder; or a state folder that is closed.
            Some((None, _)) => return Err(self.outside(written, want)),
            None if want == Want::Read && self.roots.elsewhere => {
                (Zone::Elsewhere, PathBuf::from("/"))
            }
            None => return Err(self.outside(written, want)),
        };
        if confined.is_some_and(|c| c != zone) {
            return Err(self.outside(written, want));
        }
        let verdict = match roots.closed.holds(real) {
            true => Err(ours::SAYS.to_owned()),
            false => self.verdict(zone, &root, real, want),
        };
        verdict.map_err(|why| {
            ToolError::tell(format!("{} denied for path: {written} ({why})", self.tool))
        })?;
        let relative = real.strip_prefix(&root).unwrap_or(real).to_owned();
        let level = self.roots.level.clone();
        let lists = self.roots.lists.clone();
        let skills = self.roots.skills.clone();
        Ok(Location { zone, root, relative, closed: roots.closed, level, lists, skills })
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

    fn all_roots(&self) -> impl Iterator<Item = (Option<Zone>, &Path)> {
        let roots = self.roots;
        let own = (Some(Zone::Own), roots.own.as_path());
        let cache = (None, roots.cache.as_path());
        let workspace = roots.workspace.as_deref().map(|p| (Some(Zone::Workspace), p));
        let state = roots.state.as_deref().map(|p| (Some(Zone::State), p));
        // Where it is closed it is nobody's, whatever root it lies in.
        let closed = roots.ours.state().filter(|_| state.is_none()).map(|p| (None, p));
        let skills = roots.skills.paths().map(|p| (Some(Zone::Skills), p));
        std::iter::once(own)
            .chain(workspace)
            .chain(state)
            .chain(closed)
            .chain([cache])
            .chain(skills)
    }

    fn open_here(&self) -> String {
        let mut open = vec!["file_cache_dir/<path>"];
        open.extend(self.roots.workspace.as_ref().map(|_| "the workspace"));
        open.extend(self.roots.state.as_ref().map(|_| "file_state_dir/<path>"));
        open.join(", ")
    }

    fn outside(&self, written: &str, want: Want) -> ToolError {
        let open = self.open_here();
        ToolError::tell(match want {
            Want::Read => {
                format!("refusing to read outside allowed base dir: {written} (open here: {open})")
            }
            Want::Write | Want::Define => format!(
                "refusing to write outside allowed base dirs: {written} (open here: {open})"
            ),
        })
    }
}

impl Location {
    /// Returns the real path.
    pub fn real(&self) -> PathBuf {
        if self.relative.as_os_str().is_empty() {
            return self.root.clone();
        }
        self.root.join(&self.relative)
    }

    /// The same place for content that is others' words.
    #[must_use]
    pub fn foreign(self) -> Self {
        Self { level: self.level.foreign(), ..self }
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
            Zone::Skills => self.real().to_string_lossy().into_owned(),
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

struct PathQuery {
    path: PathBuf,
    confined: Option<Zone>,
}

#[cfg(test)]
mod tests;
