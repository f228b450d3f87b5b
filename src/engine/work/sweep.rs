//! Takes old files out of a folder: by age, then the oldest while all together take too much.

use std::fs::{self, DirEntry, Metadata};
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;

use chrono::{DateTime, Utc};

/// So many files are looked at in one sweep; the next one finds the others.
const MAX: usize = 200_000;
/// Folders deeper than this are left alone.
const DEEP: usize = 16;

/// What is to be swept.
#[derive(Debug)]
pub struct Sweep {
    /// The folder.
    pub root: PathBuf,
    /// A folder in it that is left alone.
    pub spared: &'static str,
    /// Files that were changed before are too old.
    pub since: DateTime<Utc>,
    /// What all files may take, in bytes.
    pub most: u64,
    /// Whose new files are left alone.
    pub in_use: Vec<InUse>,
}

/// A folder whose files are in use when they are not older than this.
#[derive(Debug)]
pub struct InUse {
    pub(crate) folder: String,
    pub(crate) since: DateTime<Utc>,
}

/// What went.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Swept {
    pub(crate) files: u64,
    pub(crate) bytes: u64,
}

struct File {
    path: PathBuf,
    changed: DateTime<Utc>,
    bytes: u64,
    in_use: bool,
}

impl Sweep {
    /// Sweeps. What cannot be read or removed is left: the next sweep finds it.
    pub fn run(&self) -> Swept {
        let (mut files, mut folders) = (Vec::new(), Vec::new());
        // No folder: nothing was ever kept.
        for entry in fs::read_dir(&self.root).into_iter().flatten().flatten() {
            let name = entry.file_name();
            if name != self.spared {
                let used = self.in_use.iter().find(|used| *name == *used.folder);
                look(&entry, used.map(|used| used.since), 0, &mut files, &mut folders);
            }
        }
        files.sort_by_key(|file: &File| file.changed);
        let mut kept: u64 = files.iter().map(|file| file.bytes).sum();
        let mut swept = Swept::default();
        for file in files.iter().filter(|file| !file.in_use) {
            if file.changed >= self.since && kept <= self.most {
                break;
            }
            if fs::remove_file(&file.path).is_ok() {
                kept -= file.bytes;
                swept.files += 1;
                swept.bytes += file.bytes;
            }
        }
        // One that is not empty stays. A folder that has just been made may be waiting for its first file.
        for (folder, changed) in &folders {
            if *changed < self.since {
                fs::remove_dir(folder).ok();
            }
        }
        swept
    }
}

/// Lists the files beneath an entry; a link is a file, and never followed.
fn look(
    entry: &DirEntry,
    in_use: Option<DateTime<Utc>>,
    depth: usize,
    files: &mut Vec<File>,
    folders: &mut Vec<(PathBuf, DateTime<Utc>)>,
) {
    let path = entry.path();
    let Ok(found) = entry.metadata() else { return };
    let Some(changed) = changed(&found) else { return };
    if files.len() >= MAX {
        return;
    }
    if !found.is_dir() {
        let in_use = in_use.is_some_and(|since| changed >= since);
        // What a hole claims to hold takes nothing.
        let bytes = found.len().min(found.blocks() * 512);
        files.push(File { path, changed, bytes, in_use });
        return;
    }
    if depth == DEEP {
        return;
    }
    // Depth is bounded above, so this comes to an end.
    for inner in fs::read_dir(&path).into_iter().flatten().flatten() {
        look(&inner, in_use, depth + 1, files, folders);
    }
    // Behind what is in it, so that the deepest are removed first.
    if depth > 0 {
        folders.push((path, changed));
    }
}

/// Commands may set a file's time; nobody makes it newer than its last change.
fn changed(found: &Metadata) -> Option<DateTime<Utc>> {
    let set = found.modified().ok().map(DateTime::<Utc>::from)?;
    DateTime::from_timestamp(found.ctime(), 0).map(|changed| set.min(changed))
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::time::{Duration, SystemTime};

    use super::*;

    const DAY: u64 = 86_400;

    fn at(day: u64) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(day * DAY)
    }

    fn put(root: &Path, name: &str, day: u64, bytes: usize) {
        let path = root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, vec![7; bytes]).unwrap();
        fs::File::options().write(true).open(&path).unwrap().set_modified(at(day)).unwrap();
    }

    fn names(root: &Path) -> Vec<String> {
        let mut found = Vec::new();
        let mut folders = vec![root.to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                match path.is_dir() && !path.is_symlink() {
                    true => folders.push(path),
                    false => found.push(path.strip_prefix(root).unwrap().display().to_string()),
                }
            }
        }
        found.sort();
        found
    }

    fn sweep(root: &Path, since: u64, most: u64) -> Sweep {
        let since = DateTime::<Utc>::from(at(since));
        Sweep { root: root.to_owned(), spared: "outbox", since, most, in_use: Vec::new() }
    }

    /// A command could send everybody else's files away with them.
    #[test]
    fn neither_a_hole_nor_a_time_to_come_sends_others_away() {
        let root = tempfile::tempdir().unwrap();
        put(root.path(), "c2/mine.txt", 12, 100);
        put(root.path(), "c1.sandbox/hole", 13, 0);
        let hole = fs::File::options().write(true).open(root.path().join("c1.sandbox/hole"));
        hole.unwrap().set_len(1 << 40).unwrap();
        assert_eq!(sweep(root.path(), 10, 1_000).run(), Swept::default());
        put(root.path(), "c1.sandbox/later", 40_000, 100);
        let later = root.path().join("c1.sandbox/later").metadata().unwrap();
        assert!(changed(&later).unwrap() < DateTime::<Utc>::from(at(40_000)));
    }

    #[test]
    fn old_files_go_then_the_oldest_while_there_are_too_many() {
        let root = tempfile::tempdir().unwrap();
        for (name, day) in
            [("c1/in/old.txt", 1), ("c1/in/b.txt", 11), ("c2/a.txt", 12), ("c2/c.txt", 13)]
        {
            put(root.path(), name, day, 100);
        }
        put(root.path(), "outbox/7-x/old.txt", 1, 100);
        let swept = sweep(root.path(), 10, 1_000).run();
        assert_eq!(swept, Swept { files: 1, bytes: 100 });
        assert_eq!(
            names(root.path()),
            ["c1/in/b.txt", "c2/a.txt", "c2/c.txt", "outbox/7-x/old.txt"]
        );
        sweep(root.path(), 10, 250).run();
        assert_eq!(names(root.path()), ["c2/a.txt", "c2/c.txt", "outbox/7-x/old.txt"]);
        assert_eq!(sweep(root.path(), 10, 250).run(), Swept::default());
    }

    #[test]
    fn what_an_open_task_was_given_stays() {
        let root = tempfile::tempdir().unwrap();
        put(root.path(), "c1/before.txt", 4, 100);
        put(root.path(), "c1/given.txt", 6, 100);
        put(root.path(), "c2/given.txt", 6, 100);
        let since = DateTime::<Utc>::from(at(5));
        let in_use = vec![InUse { folder: "c1".to_owned(), since }];
        Sweep { in_use, ..sweep(root.path(), 10, 0) }.run();
        assert_eq!(names(root.path()), ["c1/given.txt"]);
    }

    #[test]
    fn a_link_goes_and_what_it_names_stays() {
        let (root, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        put(other.path(), "mine.txt", 1, 10);
        fs::create_dir(root.path().join("c1")).unwrap();
        std::os::unix::fs::symlink(other.path(), root.path().join("c1/link")).unwrap();
        let since = u64::from(u32::MAX);
        sweep(root.path(), since / DAY, 0).run();
        assert!(names(root.path()).is_empty());
        assert_eq!(names(other.path()), ["mine.txt"]);
    }

    #[test]
    fn a_folder_that_is_not_there_is_no_trouble() {
        let root = tempfile::tempdir().unwrap();
        assert_eq!(sweep(&root.path().join("no"), 10, 0).run(), Swept::default());
    }
}
