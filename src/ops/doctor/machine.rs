//! The look at this machine: room on the disk, the programs that tools start, the installed unit.

use std::path::{Path, PathBuf};

use rustix::fs::statvfs;

use super::finding::Finding;
use super::look::Look;
use crate::service::is_this_selkies;
use selkie_app::Binary;

/// Where the unit is installed.
const INSTALLED: &str = "/etc/systemd/system/selkie.service";
/// Programs, and what does not work without them.
const PROGRAMS: [(&str, &str); 2] =
    [("bash", "the tool bash cannot run commands"), ("git", "the tool git_status does not work")];
/// Where programs are looked for when nobody says.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin";
/// With less room than this nothing can be stored soon.
const NO_ROOM: u64 = 100_000_000;
const LITTLE_ROOM: u64 = 1_000_000_000;
const FEW_FILES: u64 = 1000;

/// What needs no config.
pub fn looks(binary: &Binary) -> Vec<Look> {
    let path = binary.env.get("PATH").cloned().unwrap_or_else(|| PATH.to_owned());
    vec![
        Look::here("commands", move || programs(&path)),
        Look::here("unit", || unit(Path::new(INSTALLED)).into_iter().collect()),
    ]
}

/// Looks how much room there is for a folder, which need not be there.
pub fn disk(name: &'static str, folder: &Path) -> Look {
    let folder = folder.to_owned();
    Look::here("disk", move || vec![room(&folder).of(name)])
}

fn programs(path: &str) -> Vec<Finding> {
    const WHAT: &str = "commands";
    let there = |name: &str| std::env::split_paths(path).any(|folder| folder.join(name).is_file());
    let missing: Vec<Finding> = PROGRAMS
        .iter()
        .filter(|(name, _)| !there(name))
        .map(|(name, without)| {
            let message = format!("{name} is not in PATH: {without}");
            Finding::warning(WHAT, message, format!("install {name}, or name its folder in PATH"))
        })
        .collect();
    match missing.is_empty() {
        true => vec![Finding::fine(WHAT, "bash and git are installed")],
        false => missing,
    }
}

/// Without a unit there is nothing to say.
fn unit(installed: &Path) -> Option<Finding> {
    const WHAT: &str = "unit";
    let path = installed.display();
    match std::fs::read_to_string(installed) {
        Ok(text) if is_this_selkies(&text) => {
            Some(Finding::fine(WHAT, "the installed unit is this selkie's"))
        }
        Ok(_) => Some(Finding::warning(
            WHAT,
            format!("{path} is not the unit that comes with this selkie"),
            "run selkie service install, which shows what it would write; your own settings belong in systemctl \
             edit selkie",
        )),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        Err(error) => {
            let message = format!("{path} cannot be read: {error}");
            Some(Finding::warning(WHAT, message, "run selkie doctor as root to compare it"))
        }
    }
}

fn room(folder: &Path) -> Finding {
    const WHAT: &str = "disk";
    let there = folder.ancestors().find(|path| path.exists()).map(PathBuf::from);
    let there = there.unwrap_or_else(|| PathBuf::from("/"));
    match statvfs(&there) {
        Ok(found) => {
            let files = (found.f_files > 0).then_some(found.f_favail);
            judged(folder, found.f_bavail.saturating_mul(found.f_frsize), files)
        }
        Err(error) => {
            let message = format!(
                "could not find out how much room there is for {}: {error}",
                folder.display()
            );
            Finding::warning(WHAT, message, "look at it with df")
        }
    }
}

/// `files` is how many more can be made, where the file system counts them.
fn judged(folder: &Path, bytes: u64, files: Option<u64>) -> Finding {
    const WHAT: &str = "disk";
    let place = folder.display();
    let megabytes = bytes / 1_000_000;
    let advice = "make room, or name a folder on another disk (file_state_dir, file_cache_dir)";
    let message = format!("{megabytes} MB are free for {place}");
    match (bytes, files) {
        (0..NO_ROOM, _) => Finding::error(WHAT, message, advice),
        (_, Some(0)) => {
            Finding::error(WHAT, format!("no more files can be made for {place}"), advice)
        }
        (_, Some(files @ 1..FEW_FILES)) => {
            let message = format!("only {files} more files can be made for {place}");
            Finding::warning(WHAT, message, advice)
        }
        (NO_ROOM..LITTLE_ROOM, _) => Finding::warning(WHAT, message, advice),
        _ => Finding::fine(WHAT, message),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::finding::Level;

    #[test]
    fn a_disk_is_as_bad_as_it_is_full() {
        let level = |bytes, files| judged(Path::new("/x"), bytes, files).level;
        assert_eq!(level(99_999_999, None), Level::Error);
        assert_eq!(level(100_000_000, None), Level::Warning);
        assert_eq!(level(LITTLE_ROOM, Some(FEW_FILES)), Level::Fine);
        assert_eq!(level(LITTLE_ROOM, Some(999)), Level::Warning);
        assert_eq!(level(LITTLE_ROOM, Some(0)), Level::Error);
        assert_ne!(room(Path::new("/no/such/folder")).message, "");
    }

    #[test]
    fn a_unit_of_another_version_and_missing_programs_are_told() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("selkie.service");
        assert_eq!(unit(&file), None);
        std::fs::write(&file, include_str!("../../../systemd/selkie.service")).unwrap();
        assert_eq!(unit(&file).unwrap().level, Level::Fine);
        std::fs::write(&file, "[Unit]\n").unwrap();
        assert_eq!(unit(&file).unwrap().level, Level::Warning);
        std::fs::write(folder.path().join("bash"), "").unwrap();
        let found = programs(folder.path().to_str().unwrap());
        assert!(found.len() == 1 && found[0].message.starts_with("git "), "{found:?}");
    }
}
