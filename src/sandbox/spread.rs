//! A folder that may be read but for what lies in it: the folder as a whole, or what it holds one by one.

use std::collections::BTreeSet;
use std::fs::{self, DirEntry};
use std::path::{Path, PathBuf};

use crate::boundary::real_or_same;

/// How deep, and into how many pieces, a folder is taken apart. What is left then stays closed.
const MAX_DEPTH: usize = 16;
const MAX_PIECES: usize = 4_000;

/// Returns the files and folders that are open below one, without what is closed. Both name real paths.
pub(crate) fn spread(folder: &Path, closed: &[PathBuf]) -> BTreeSet<PathBuf> {
    let mut open = BTreeSet::new();
    let mut entered = BTreeSet::new();
    let mut left = vec![(real_or_same(folder), MAX_DEPTH)];
    while let Some((real, depth)) = left.pop() {
        if closed.iter().any(|shut| real.starts_with(shut)) || open.len() >= MAX_PIECES {
            continue;
        }
        if !closed.iter().any(|shut| shut.starts_with(&real)) {
            open.insert(real);
        } else if depth > 0 && entered.insert(real.clone()) {
            let entries = fs::read_dir(&real).into_iter().flatten().flatten();
            left.extend(entries.map(|entry| (real_path(&entry), depth - 1)));
        }
    }
    open
}

/// The real path of an entry of a folder that is named by its own: a link counts by where it leads.
fn real_path(entry: &DirEntry) -> PathBuf {
    let path = entry.path();
    let is_link = entry.file_type().is_ok_and(|kind| kind.is_symlink());
    if is_link { real_or_same(&path) } else { path }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_closed_takes_a_folder_apart() {
        let home = tempfile::tempdir().unwrap();
        let top = home.path().canonicalize().unwrap();
        for folder in ["etc/bot", "etc/ssl/private", "etc/ssl/certs", "usr"] {
            fs::create_dir_all(top.join(folder)).unwrap();
        }
        fs::write(top.join("etc/hosts"), "").unwrap();
        std::os::unix::fs::symlink(top.join("etc/bot"), top.join("etc/link")).unwrap();
        std::os::unix::fs::symlink(top.join("etc"), top.join("etc/ring")).unwrap();
        let closed = [top.join("etc/bot"), top.join("etc/ssl/private")];
        let open = |folder: &str| Vec::from_iter(spread(&top.join(folder), &closed));
        assert_eq!(open("etc"), [top.join("etc/hosts"), top.join("etc/ssl/certs")]);
        assert_eq!(open("usr"), [top.join("usr")]);
        assert!(open("etc/link").is_empty());
    }
}
