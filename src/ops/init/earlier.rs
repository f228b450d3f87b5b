//! The config that is there already: what a package has brought and nobody has changed gives way, and its folders stay.

use std::path::Path;

use super::Answers;
use selkie_app::Binary;
use selkie_config::paths::ConfigFile;
use selkie_config::source::Environment;
use selkie_config::{Sources, read};

/// The config that packages bring.
const PACKAGED: &str = include_str!("../../packaging/config.yaml");

/// Whether a config is a package's, as it came.
pub fn is_as_packaged(config: &Path) -> bool {
    std::fs::read(config).is_ok_and(|bytes| bytes == PACKAGED.as_bytes())
}

/// Takes over where the config that is there keeps state and cache, unless the answers say otherwise.
pub fn keep_folders(binary: &Binary, config: &Path, answers: &mut Answers) {
    let sources = Sources {
        file: ConfigFile::Named(config.to_owned()),
        env: Environment::new(),
        flags: Vec::new(),
        here: binary.here.clone(),
    };
    let Ok(reading) = read(&sources, &binary.kits) else { return };
    let Some(settings) = reading.settings() else { return };
    let folders = [
        ("file_state_dir", &settings.file_state_dir),
        ("file_cache_dir", &settings.file_cache_dir),
    ];
    for (key, folder) in folders {
        if let Some(folder) = folder.as_ref().filter(|_| !answers.has(key)) {
            answers.set(key, binary.here.join(folder).display().to_string());
        }
    }
}
