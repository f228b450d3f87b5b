//! What is closed to tools and commands: the config, the files of its secrets, systemd's credentials.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::config::paths::Folders;
use crate::config::settings::ToolsSettings;
use crate::daemon::Binary;
use crate::tools::paths::Ours;

/// Closes the config and the files of its secrets to tools and commands.
pub fn closed(
    binary: &Binary,
    tools: &ToolsSettings,
    config: Option<&Path>,
    named: &[PathBuf],
) -> ToolsSettings {
    let real = named.iter().filter_map(|file| file.canonicalize().ok());
    let credentials = binary.env.get("CREDENTIALS_DIRECTORY").map(PathBuf::from);
    let secrets: BTreeSet<PathBuf> = named.iter().cloned().chain(real).chain(credentials).collect();
    let tools = tools.clone().closing_secrets(secrets.iter().map(PathBuf::as_path));
    let tools = config.map_or_else(|| tools.clone(), |file| tools.clone().closing(file));
    match binary.env.get("HOME") {
        Some(home) if !home.is_empty() => tools.at_home(home),
        _ => tools,
    }
}

/// Lists what is closed to every tool: the config and what it names, where a config and an environment
/// would be read from at the next start, and systemd's credentials.
pub fn ours(
    binary: &Binary,
    folders: &Folders,
    config: Option<PathBuf>,
    mut files: Vec<PathBuf>,
) -> Ours {
    files.extend(config);
    files.extend(["config.yaml", ".env"].map(|name| binary.here.join(name)));
    let credentials = binary.env.get("CREDENTIALS_DIRECTORY").map(PathBuf::from);
    Ours::new(folders.state.clone(), credentials.into_iter().collect(), files)
}
