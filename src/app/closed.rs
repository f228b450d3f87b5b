//! What is closed to tools and commands: the config, the files of its secrets, the daemon's environment, systemd's credentials.

use std::fs;
use std::path::{Path, PathBuf};

use crate::Binary;
use selkie_config::paths::{ConfigFile, Folders, places};
use selkie_tools::paths::Ours;

/// Lists what is closed to every tool, each by what it is and not by its name: the config and what it names, where one would
/// be read from at the next start unless it was named, files of the environment beside it, and systemd's credentials.
pub fn ours(
    binary: &Binary,
    folders: &Folders,
    config: &ConfigFile,
    mut files: Vec<PathBuf>,
) -> Ours {
    let here = &binary.here;
    files.extend(config.path().map(|path| here.join(path)));
    if !matches!(config, ConfigFile::Named(_)) {
        files.extend(places(here, &binary.env));
    }
    files.extend(environments(&config.folder(here)));
    let credentials = binary.env.get("CREDENTIALS_DIRECTORY").map(PathBuf::from);
    Ours::new(folders.state.clone(), credentials.into_iter().collect(), files)
}

/// The files of a folder that hold an environment: `.env`, `.env.local`, `selkie.env`.
fn environments(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let is_one = |name: &str| name == ".env" || name.starts_with(".env.") || name.ends_with(".env");
    let named = entries.filter(move |entry| is_one(&entry.file_name().to_string_lossy()));
    named.map(|entry| entry.path())
}
