//! Where things lie: the config file, the state folder, the cache folder.

use std::path::{Path, PathBuf};

use crate::config::env::Environment;
use crate::config::settings::Settings;

/// The file that is read when none is named and the working folder has none.
const SYSTEM_FILE: &str = "/etc/selkie/config.yaml";

/// Which file is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConfigFile {
    /// Named by a flag: must be there.
    Named(PathBuf),
    /// Found where it is looked for.
    Found(PathBuf),
    /// None; everything has a default.
    None,
}

impl ConfigFile {
    /// Looks for `./config.yaml`, then `/etc/selkie/config.yaml`, unless one is named.
    pub fn choose(named: Option<PathBuf>, here: &Path) -> Self {
        if let Some(path) = named {
            return Self::Named(path);
        }
        if here.join("config.yaml").is_file() {
            return Self::Found(PathBuf::from("config.yaml"));
        }
        let system = PathBuf::from(SYSTEM_FILE);
        if system.is_file() { Self::Found(system) } else { Self::None }
    }

    /// Returns the path, if there is one.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::Named(path) | Self::Found(path) => Some(path),
            Self::None => None,
        }
    }

    /// Returns the folder where relative names in the file begin.
    pub fn folder(&self, here: &Path) -> PathBuf {
        let parent = self.path().and_then(Path::parent);
        parent.map_or_else(|| here.to_owned(), |p| here.join(p))
    }
}

/// The folders of one daemon.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folders {
    /// Everything durable.
    pub state: PathBuf,
    /// Fetched and made files.
    pub cache: PathBuf,
}

impl Folders {
    /// Decides by settings, systemd's variables, a checkout, XDG; in this order. `--state` has become
    /// `file_state_dir`; a cache folder of its own goes with it unless one is set.
    pub fn choose(settings: &Settings, env: &Environment, here: &Path) -> Self {
        let set = |name: &str| env.get(name).filter(|v| !v.is_empty()).map(PathBuf::from);
        let home = || set("HOME").unwrap_or_else(|| here.to_owned());
        let checkout = is_checkout(here);
        let state = settings.file_state_dir.clone();
        let state_given = state.is_some();
        // systemd separates several folders by a colon: the first is ours.
        let first = |path: PathBuf| {
            path.to_str().and_then(|p| p.split(':').next()).map(PathBuf::from).unwrap_or(path)
        };
        let state = state
            .or_else(|| set("STATE_DIRECTORY").map(first))
            .or_else(|| checkout.then(|| here.join("state/run")))
            .or_else(|| set("XDG_STATE_HOME").map(|p| p.join("selkie")))
            .unwrap_or_else(|| home().join(".local/state/selkie"));
        let beside = state.join("cache");
        let cache = settings
            .file_cache_dir
            .clone()
            .or_else(|| state_given.then(|| beside.clone()))
            .or_else(|| set("CACHE_DIRECTORY").map(first))
            .or_else(|| checkout.then_some(beside))
            .or_else(|| set("XDG_CACHE_HOME").map(|p| p.join("selkie")))
            .unwrap_or_else(|| home().join(".cache/selkie"));
        Self { state: here.join(state), cache: here.join(cache) }
    }
}

/// Whether `here` is a checkout of selkie.
fn is_checkout(here: &Path) -> bool {
    std::fs::read_to_string(here.join("Cargo.toml"))
        .is_ok_and(|text| text.lines().any(|line| line.trim() == "name = \"selkie\""))
}
