//! Which folder a conversation works in: what the owner has set for its place, else what config gives it.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use selkie_domain::facts::Trust;
use selkie_store::TaskClaim;
use selkie_tools::paths::{CommandLog, Ours};

/// Folders of the machine that are no place for files.
const MACHINE: [&str; 4] = ["/proc", "/sys", "/dev", "/run"];

/// `workspace`: where files of private conversations live. Not set: in the cache folder.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct WorkspaceSettings {
    /// The folder. Each private conversation gets one of its own beneath it, named like the one in the
    /// cache (`c7`). Groups have none until an owner sets one with /workspace.
    pub dir: Option<PathBuf>,
    /// Owners work in `dir` itself; others then have no workspace.
    pub shared: bool,
}

/// What decides about workspaces.
#[derive(Clone, Debug)]
pub struct Workspaces {
    pub(crate) settings: WorkspaceSettings,
    pub(crate) state_dir: PathBuf,
    pub(crate) cache_dir: PathBuf,
    /// What is the bot's own: closed to every tool.
    pub ours: Ours,
    /// What commands may have written.
    pub commands: Arc<CommandLog>,
}

impl Workspaces {
    /// Returns the folder of a task's conversation. `closed`: a place that has only what was set for it.
    pub fn of(&self, claimed: &TaskClaim, trust: Trust, closed: bool) -> Option<PathBuf> {
        if trust == Trust::Stranger {
            return None;
        }
        if let Some(own) = of_agent(claimed) {
            return Some(own);
        }
        if let Some(set) = &claimed.workspace {
            return Some(set.into());
        }
        let by_config = self.by_config(claimed.conversation_row, trust).filter(|_| !closed)?;
        create(&by_config, "workspace.dir");
        Some(by_config)
    }

    /// Judges the folder that an owner wants to set, and returns its real place.
    ///
    /// # Errors
    /// Why it is not taken, for the owner.
    pub fn judged(&self, written: &str) -> Result<PathBuf, String> {
        let path = Path::new(written);
        if !path.is_absolute() {
            return Err(format!("`{written}` is not absolute: begin it with /"));
        }
        let real = path.canonicalize().map_err(|e| match e.kind() {
            ErrorKind::NotFound => format!("`{written}` does not exist: create it first"),
            _ => format!("`{written}` cannot be used: {e}"),
        })?;
        if !real.is_dir() {
            return Err(format!("`{written}` is not a folder"));
        }
        if real.parent().is_none() || MACHINE.iter().any(|m| real.starts_with(m)) {
            return Err(format!("`{written}` belongs to the system: choose a folder for work"));
        }
        let inner = [&self.state_dir, &self.cache_dir];
        let inner = inner.map(|dir| dir.canonicalize().unwrap_or_else(|_| dir.clone()));
        if inner.iter().any(|dir| dir.starts_with(&real) || real.starts_with(dir)) {
            return Err(format!("`{written}` contains, or is inside, the bot's own folders"));
        }
        Ok(real)
    }

    /// Returns what config gives a private conversation, by its place's row.
    pub fn by_config(&self, row: i64, trust: Trust) -> Option<PathBuf> {
        let dir = self.settings.dir.clone()?;
        match (self.settings.shared, trust) {
            (true, Trust::Owner) => Some(dir),
            (true, _) => None,
            (false, _) => Some(dir.join(own_folder(row))),
        }
    }
}

/// Returns the folder that the agent of a task works in, where it has one of its own.
pub fn of_agent(claimed: &TaskClaim) -> Option<PathBuf> {
    let agent = claimed.agent.as_ref()?;
    let own = agent.workspace.clone()?;
    create(&own, &format!("agents.{}.workspace", agent.name));
    Some(own)
}

/// Programs need a folder to stand in; files would make it themselves.
fn create(folder: &Path, key: &str) {
    if let Err(error) = std::fs::create_dir_all(folder) {
        let folder = folder.display();
        tracing::warn!(%folder, %error, key, "the workspace cannot be created: see its key in the config");
    }
}

/// Returns the name of a place's own folder in the cache: every thread of a channel works in the same.
pub fn own_folder(place_row: i64) -> String {
    format!("c{place_row}")
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;
    use crate::flow::testing;
    use selkie_domain::own_agent::OwnAgent;

    fn at(dir: &TempDir) -> Workspaces {
        let real = dir.path().canonicalize().unwrap();
        for folder in ["state/x", "cache", "work", "projects"] {
            std::fs::create_dir_all(real.join(folder)).unwrap();
        }
        let settings = WorkspaceSettings { dir: Some(real.join("projects")), shared: false };
        let (state_dir, cache_dir) = (real.join("state"), real.join("cache"));
        Workspaces {
            settings,
            state_dir,
            cache_dir,
            ours: Ours::default(),
            commands: Arc::default(),
        }
    }

    #[test]
    fn what_is_set_comes_first_and_groups_have_only_that() {
        let dir = TempDir::new().unwrap();
        let mut spaces = at(&dir);
        let projects = spaces.settings.dir.clone().unwrap();
        let mut claimed = testing::claimed(1, &testing::message("tg:1", "hi"));
        claimed.conversation_row = 7;
        for trust in [Trust::Owner, Trust::Allowed] {
            assert_eq!(spaces.of(&claimed, trust, false), Some(projects.join("c7")));
            assert_eq!(spaces.of(&claimed, trust, true), None);
        }
        assert!(projects.join("c7").is_dir());
        spaces.settings.shared = true;
        assert_eq!(spaces.of(&claimed, Trust::Owner, false), Some(projects));
        assert_eq!(spaces.of(&claimed, Trust::Allowed, false), None);
        claimed.workspace = Some("/w".to_owned());
        assert_eq!(spaces.of(&claimed, Trust::Allowed, true), Some("/w".into()));
        assert_eq!(spaces.of(&claimed, Trust::Stranger, false), None);
        let agent = OwnAgent { workspace: Some(dir.path().join("agent")), ..OwnAgent::default() };
        claimed.agent = Some(Arc::new(agent));
        assert_eq!(spaces.of(&claimed, Trust::Allowed, true), Some(dir.path().join("agent")));
        assert!(dir.path().join("agent").is_dir());
        assert_eq!(spaces.of(&claimed, Trust::Stranger, false), None);
        claimed.agent = None;
        claimed.workspace = None;
        spaces.settings.dir = None;
        assert_eq!(spaces.of(&claimed, Trust::Owner, false), None);
    }

    #[test]
    fn only_folders_for_work_are_taken() {
        let dir = TempDir::new().unwrap();
        let spaces = at(&dir);
        let real = dir.path().canonicalize().unwrap();
        std::os::unix::fs::symlink(real.join("state"), real.join("link")).unwrap();
        std::fs::write(real.join("file"), "x").unwrap();
        let work = real.join("work");
        assert_eq!(spaces.judged(work.to_str().unwrap()), Ok(work));
        let said: Vec<String> = ["work", "/", "/proc/self", "/none/here"]
            .into_iter()
            .map(str::to_owned)
            .chain(
                ["file", "state", "state/x", "cache", "link", ""]
                    .map(|name| real.join(name).display().to_string()),
            )
            .map(|written| {
                spaces.judged(&written).unwrap_err().replace(real.to_str().unwrap(), "…")
            })
            .collect();
        insta::assert_snapshot!(said.join("\n"), @r"
        `work` is not absolute: begin it with /
        `/` belongs to the system: choose a folder for work
        `/proc/self` belongs to the system: choose a folder for work
        `/none/here` does not exist: create it first
        `…/file` is not a folder
        `…/state` contains, or is inside, the bot's own folders
        `…/state/x` contains, or is inside, the bot's own folders
        `…/cache` contains, or is inside, the bot's own folders
        `…/link` contains, or is inside, the bot's own folders
        `…/` contains, or is inside, the bot's own folders
        ");
    }
}
