//! Demands that no secret stands where it must not.

use std::fs;
use std::path::Path;

/// Demands that none of the needles stands in these bytes.
pub fn demand(needles: &[&str], what: &str, bytes: &[u8]) {
    for needle in needles {
        let found = bytes.windows(needle.len()).position(|window| window == needle.as_bytes());
        let around = found.map(|at| {
            let from = at.saturating_sub(120);
            String::from_utf8_lossy(&bytes[from..(at + 80).min(bytes.len())]).into_owned()
        });
        assert_eq!(around, None, "{needle} stands in {what}");
    }
}

/// Demands it of every file below a folder, whatever it is.
pub fn files(needles: &[&str], folder: &Path) {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry"));
    for path in entries.map(|entry| entry.path()) {
        if path.is_dir() {
            files(needles, &path);
        } else if path.is_file() {
            demand(needles, &path.display().to_string(), &fs::read(&path).expect("bytes"));
        }
    }
}

/// Names the files below a folder that hold the needle; none where there is no folder.
pub fn holding(needle: &str, folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().map_while(Result::ok);
    let holds = |path: &Path| {
        let bytes = fs::read(path).unwrap_or_default();
        bytes.windows(needle.len()).any(|window| window == needle.as_bytes())
    };
    entries
        .flat_map(|entry| match entry.path() {
            path if path.is_dir() => holding(needle, &path),
            path if holds(&path) => vec![path.display().to_string()],
            _ => Vec::new(),
        })
        .collect()
}
