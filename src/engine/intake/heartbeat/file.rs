//! What the heartbeat is to look at: the owner's file, which may hold nothing.

use std::fs::File;
use std::io::{self, ErrorKind, Read as _};
use std::path::Path;

use rustix::fs::OFlags;

use selkie_domain::screen::is_unseen;

/// Its name in the state folder.
pub const NAME: &str = "HEARTBEAT.md";
/// A longer file is not read: cut, it might say something else.
const MAX_BYTES: u64 = 16 * 1024;

/// Reads the file of a state folder.
///
/// # Errors
/// Why there is nothing to look at, in words.
pub fn read(state_dir: &Path) -> Result<String, String> {
    let mut bytes = Vec::new();
    let opened = regular(&state_dir.join(NAME));
    let read = opened.and_then(|file| file.take(MAX_BYTES + 1).read_to_end(&mut bytes));
    match read {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Err(format!("{NAME} is not there"));
        }
        // It is not followed.
        Err(error) if error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) => {
            return Err(format!(
                "{NAME} is a symbolic link, which is not followed: put the file itself there"
            ));
        }
        Err(error) => return Err(format!("{NAME} cannot be read: {error}")),
        Ok(length) if length as u64 > MAX_BYTES => {
            return Err(format!("{NAME} is longer than {} KiB", MAX_BYTES / 1024));
        }
        Ok(_) => {}
    }
    let text = String::from_utf8(bytes).map_err(|_| format!("{NAME} is not UTF-8"))?;
    match is_empty(&text) {
        true => Err(format!("{NAME} contains only headings and comments")),
        false => Ok(text.trim().to_owned()),
    }
}

/// Opens a file that is no link, no pipe and no device: what waits for a writer would hold up all schedules.
fn regular(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::open(path, flags, rustix::fs::Mode::empty())?);
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::other("it is not a file")),
    }
}

/// Whether nothing is left without headings, comments, empty points, rules, and characters that do not show.
fn is_empty(text: &str) -> bool {
    let text: String = text.chars().filter(|c| c.is_whitespace() || !is_unseen(*c)).collect();
    let mut rest = text.as_str();
    let mut bare = String::new();
    while let Some((before, comment)) = rest.split_once("<!--") {
        bare.push_str(before);
        // One that is not closed goes on to the end.
        rest = comment.split_once("-->").map_or("", |(_, after)| after);
    }
    bare.push_str(rest);
    bare.lines().all(|line| {
        let line = line.trim();
        let point =
            ["- [ ]", "* [ ]", "-", "*", "+"].iter().find_map(|mark| line.strip_prefix(mark));
        let bare = point.unwrap_or(line).trim();
        let is_heading =
            bare.starts_with('#') && bare.trim_start_matches('#').starts_with([' ', '\t']);
        bare.is_empty() || is_heading || bare.chars().all(|c| "-*_=#".contains(c))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_and_comments_are_nothing() {
        for text in [
            "",
            "# Heartbeat\n\n## Every day\n\n",
            "# Heartbeat\n<!-- look at\nthe list -->\n- \n- [ ]\n---\n",
            "<!-- not closed: look at the list",
            "\u{feff}# Heartbeat\r\n\u{200b}<!-- look at the list -->\u{2060}\n",
            include_str!("../../../../state/templates/HEARTBEAT.md"),
        ] {
            assert!(is_empty(text), "{text:?}");
        }
        for text in [
            "look at the list",
            "# Daily\n- [ ] look at the list",
            "<!-- a --> look <!-- b -->",
            "#todo",
        ] {
            assert!(!is_empty(text), "{text:?}");
        }
    }

    #[test]
    fn why_there_is_nothing_is_said() {
        let dir = tempfile::tempdir().unwrap();
        let says = |bytes: &[u8]| {
            std::fs::write(dir.path().join(NAME), bytes).unwrap();
            read(dir.path())
        };
        assert_eq!(read(dir.path()).unwrap_err(), "HEARTBEAT.md is not there");
        assert!(says(b"# Heartbeat\n").unwrap_err().contains("only headings and comments"));
        assert!(says(b"look \xff").unwrap_err().contains("not UTF-8"));
        assert!(says(&[b'a'; 17_000]).unwrap_err().contains("longer than 16 KiB"));
        assert_eq!(says(b" look at the list\n").unwrap(), "look at the list");
    }

    #[test]
    fn what_is_no_file_is_not_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        let (file, elsewhere) = (dir.path().join(NAME), dir.path().join("elsewhere"));
        rustix::fs::mkfifoat(rustix::fs::CWD, &file, rustix::fs::Mode::RUSR).unwrap();
        assert!(read(dir.path()).unwrap_err().contains("it is not a file"));
        std::fs::remove_file(&file).unwrap();
        std::fs::write(&elsewhere, "look at the list").unwrap();
        std::os::unix::fs::symlink(&elsewhere, &file).unwrap();
        assert!(
            read(dir.path()).unwrap_err().contains("is a symbolic link, which is not followed")
        );
    }
}
