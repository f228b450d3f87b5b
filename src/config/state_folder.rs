//! The state folder that a config names, however much else is wrong with it: so that a daemon that runs by what it read
//! before is found.

use std::path::PathBuf;

use selkie_channel_core::ChannelKit;
use serde_json::{Value, json};

use crate::paths::{ConfigFile, FolderPaths};
use crate::settings::Settings;
use crate::{Sources, home, read, yaml};

const KEY: &str = "file_state_dir";
/// The variable that names it.
const VARIABLE: &str = "SELKIE__FILE_STATE_DIR";

/// Finds the folder: the one that is named as far as that can be read, else the usual one. `None` for a file that was named
/// and is not there: nobody knows what was meant.
pub fn state_folder(sources: &Sources, kits: &[ChannelKit]) -> Option<PathBuf> {
    let file = sources.file.path().map(|path| sources.here.join(path));
    let is_named = matches!(sources.file, ConfigFile::Named(_));
    if is_named && file.as_ref().is_some_and(|file| !file.exists()) {
        return None;
    }
    let reading = read(sources, kits).ok();
    if let Some(found) = reading.and_then(|reading| reading.folders()) {
        return Some(found.folders.state);
    }
    let text = file.and_then(|file| read::text(&file, read::CONFIG, read::Pipes::None).ok());
    let flagged = sources.flags.iter().rev().find_map(|flag| flag.value.get(KEY)).cloned();
    let variable = sources.env.get(VARIABLE).filter(|value| !value.is_empty());
    let named = flagged
        .or_else(|| variable.map(|value| Value::from(value.as_str())))
        .or_else(|| text.as_deref().and_then(named));
    let home = sources.env.get("HOME").map(String::as_str);
    let file_state_dir = named.and_then(|named| whole(&named, home));
    let settings = Settings { file_state_dir, ..Settings::default() };
    Some(FolderPaths::choose(&settings, &sources.env, &sources.here).folders.state)
}

/// Reads the one line of a broken file that names it; two that differ name none.
fn named(text: &str) -> Option<Value> {
    let lines = text.lines().filter_map(|line| line.strip_prefix(KEY)?.strip_prefix(':'));
    let mut values = lines.filter_map(yaml::value).filter(Value::is_string);
    let first = values.next()?;
    values.all(|other| other == first).then_some(first)
}

fn whole(named: &Value, home: Option<&str>) -> Option<PathBuf> {
    let mut value = json!({ KEY: named });
    let wrong = home::expand(&mut value, home);
    let path = value[KEY].as_str().filter(|path| wrong.is_empty() && !path.is_empty())?;
    Some(PathBuf::from(path))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::Path;

    use super::*;

    fn found(here: &Path, text: &str, variable: Option<&str>) -> Option<PathBuf> {
        std::fs::write(here.join("config.yaml"), text).unwrap();
        let mut env = BTreeMap::from([("HOME".to_owned(), "/home/ada".to_owned())]);
        env.extend(variable.map(|value| (VARIABLE.to_owned(), value.to_owned())));
        let (file, here) = (ConfigFile::Found("config.yaml".into()), here.to_owned());
        state_folder(&Sources { file, env, flags: Vec::new(), here }, &[])
    }

    #[test]
    fn a_broken_config_still_says_where_the_state_lies() {
        let home = tempfile::tempdir().unwrap();
        let usual = "/home/ada/.local/state/selkie";
        for (text, folder) in [
            ("file_state_dir: /srv/s\nworker: 7\n", "/srv/s"),
            ("worker: [\nfile_state_dir: '/srv/s'   # here\n", "/srv/s"),
            ("file_state_dir: ~/s\nworker: [\n", "/home/ada/s"),
            ("file_state_dir: /srv/s\nfile_state_dir: /srv/t\n", usual),
            ("file_state_dir: 7\n", usual),
            ("{", usual),
        ] {
            assert_eq!(found(home.path(), text, None), Some(folder.into()), "{text}");
        }
        assert_eq!(found(home.path(), "{", Some("/srv/v")), Some("/srv/v".into()));
        let file = ConfigFile::Named(home.path().join("none.yaml"));
        let (env, here) = (BTreeMap::new(), home.path().to_owned());
        let nobody = Sources { file, env, flags: Vec::new(), here };
        assert_eq!(state_folder(&nobody, &[]), None);
    }
}
