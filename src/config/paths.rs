//! Where things lie: the config file, the state folder, the cache folder.

use std::path::{Path, PathBuf};

use serde_json::json;

use crate::settings::Settings;
use crate::source::{Environment, Flag};

/// The machine's file, which is read last.
const SYSTEM_FILE: &str = "/etc/selkie/config.yaml";
/// A config's name.
const NAME: &str = "config.yaml";

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
    /// Looks for one where [`places`] says, unless one is named.
    pub fn choose(named: Option<PathBuf>, here: &Path, env: &Environment) -> Self {
        if let Some(path) = named {
            return Self::Named(path);
        }
        let found = places(here, env).into_iter().find(|path| path.is_file());
        // One that lies here is told by its name alone.
        found.map_or(Self::None, |path| match path == here.join(NAME) {
            true => Self::Found(NAME.into()),
            false => Self::Found(path),
        })
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

/// Lists where a config is looked for, in this order: the working folder, one's own folder of configs, the machine's.
pub fn places(here: &Path, env: &Environment) -> Vec<PathBuf> {
    [here.join(NAME)].into_iter().chain(own_file(env)).chain([SYSTEM_FILE.into()]).collect()
}

/// `$XDG_CONFIG_HOME/selkie/config.yaml`, by default in `~/.config`.
fn own_file(env: &Environment) -> Option<PathBuf> {
    let folder = |name| env.get(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let configs = folder("XDG_CONFIG_HOME").or_else(|| Some(folder("HOME")?.join(".config")));
    Some(configs?.join("selkie").join(NAME))
}

/// Says where a config was looked for that was not found.
pub fn looked_for(here: &Path, env: &Environment) -> String {
    let own = own_file(env).map(|own| format!(", no {}", own.display())).unwrap_or_default();
    format!("there is no {NAME} here ({}){own} and no {SYSTEM_FILE}", here.display())
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
    /// Returns the flag that has these used, whatever the config says.
    pub fn as_flag(&self) -> Flag {
        let value = json!({ "file_state_dir": self.state, "file_cache_dir": self.cache });
        Flag { name: "the folders in use".to_owned(), value }
    }
}

/// Where a folder's place comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum From {
    /// `file_state_dir`, `file_cache_dir` or `--state`.
    Config,
    /// A variable of the system's.
    Variable(&'static str),
    /// The other folder, or a checkout.
    Beside,
    /// Nobody said where home is: the working folder.
    Nowhere,
}

impl From {
    /// The variable, when it was one.
    pub fn variable(self) -> Option<&'static str> {
        match self {
            Self::Variable(name) => Some(name),
            _ => None,
        }
    }
}

/// The folders of one daemon, and why they are these.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FolderPaths {
    /// The folders.
    pub folders: Folders,
    /// Why the state is there.
    pub state: From,
    /// Why the cache is there.
    pub cache: From,
}

impl FolderPaths {
    /// Decides by settings, systemd's variables, a checkout, XDG; in this order. `--state` has become
    /// `file_state_dir`; a cache folder of its own goes with it unless one is set.
    pub fn choose(settings: &Settings, env: &Environment, here: &Path) -> Self {
        let set = |name: &'static str| {
            let value = env.get(name).filter(|v| !v.is_empty())?;
            Some((PathBuf::from(value), From::Variable(name)))
        };
        let below = |name: &'static str, folder: &str| {
            set(name).map(|(path, from)| (path.join(folder), from))
        };
        // systemd separates several folders by a colon: the first is ours.
        let first = |(path, from): (PathBuf, From)| {
            let first = path.to_str().and_then(|p| p.split(':').next()).map(PathBuf::from);
            (first.unwrap_or(path), from)
        };
        let checkout = is_checkout(here);
        let (state, state_from) = settings
            .file_state_dir
            .clone()
            .map(|path| (path, From::Config))
            .or_else(|| set("STATE_DIRECTORY").map(first))
            .or_else(|| checkout.then(|| (here.join("state/run"), From::Beside)))
            .or_else(|| below("XDG_STATE_HOME", "selkie"))
            .or_else(|| below("HOME", ".local/state/selkie"))
            .unwrap_or_else(|| (here.join(".local/state/selkie"), From::Nowhere));
        let beside = || (state.join("cache"), From::Beside);
        let (cache, cache_from) = settings
            .file_cache_dir
            .clone()
            .map(|path| (path, From::Config))
            .or_else(|| (state_from == From::Config).then(beside))
            .or_else(|| set("CACHE_DIRECTORY").map(first))
            .or_else(|| checkout.then(beside))
            .or_else(|| below("XDG_CACHE_HOME", "selkie"))
            .or_else(|| below("HOME", ".cache/selkie"))
            .unwrap_or_else(|| (here.join(".cache/selkie"), From::Nowhere));
        let folders = Folders { state: here.join(state), cache: here.join(cache) };
        Self { folders, state: state_from, cache: cache_from }
    }

    /// Says that a folder lies where nobody may look for it, because nobody said where home is.
    pub fn note(&self) -> Option<String> {
        let Folders { state, cache } = &self.folders;
        let folders = [("state", state, self.state), ("cache", cache, self.cache)];
        let lost: Vec<String> = folders
            .iter()
            .filter(|(_, _, from)| *from == From::Nowhere)
            .map(|(name, path, _)| format!("the {name} lies in {}", path.display()))
            .collect();
        (!lost.is_empty()).then(|| {
            format!("HOME is not set, so {}: set HOME, or file_state_dir", lost.join(" and "))
        })
    }
}

/// Whether `here` is a checkout of selkie.
fn is_checkout(here: &Path) -> bool {
    std::fs::read_to_string(here.join("Cargo.toml"))
        .is_ok_and(|text| text.lines().any(|line| line.trim() == "name = \"selkie\""))
}
