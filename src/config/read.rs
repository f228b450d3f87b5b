//! Reads a file that somebody named: a regular one, up to a limit, so that neither a pipe nor a device holds us.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

/// Bytes of the longest config.
pub const CONFIG: u64 = 4 * 1024 * 1024;
/// Bytes of the longest secret.
pub const SECRET: u64 = 64 * 1024;

/// Whether what stands behind a name may be a pipe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pipes {
    /// The program's own open files: `/dev/stdin`, and what a shell writes for `<(…)`.
    Own,
    /// None.
    None,
}

/// Reads a text of at most `most` bytes, without the mark of byte order that some editors put first.
///
/// # Errors
/// Why not, in words that go on after the file's name.
pub fn text(path: &Path, most: u64, pipes: Pipes) -> Result<String, String> {
    let cannot = |error: std::io::Error| format!("cannot be read: {error}");
    let found = std::fs::metadata(path).map_err(cannot)?;
    if found.is_dir() {
        return Err("is a folder: a file is taken".to_owned());
    }
    let readable = found.is_file() || (pipes == Pipes::Own && is_own(path));
    if !readable {
        return Err("is not a regular file: nothing else is read".to_owned());
    }
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(cannot)?;
    file.take(most.saturating_add(1)).read_to_end(&mut bytes).map_err(cannot)?;
    if bytes.len() as u64 > most {
        return Err(format!("is too large: at most {most} bytes are taken"));
    }
    let text = String::from_utf8(bytes).map_err(|_| "is not UTF-8 text".to_owned())?;
    Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
}

/// A file that is open already, by the names that the system has for it.
fn is_own(path: &Path) -> bool {
    path == Path::new("/dev/stdin")
        || ["/dev/fd", "/proc/self/fd"].iter().any(|open| path.starts_with(open))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_regular_file_of_text_is_read() {
        let home = tempfile::tempdir().unwrap();
        let at = |name: &str| home.path().join(name);
        std::fs::write(at("marked"), "\u{feff}a: 1").unwrap();
        std::fs::write(at("bytes"), b"\xff").unwrap();
        rustix::fs::mknodat(
            rustix::fs::CWD,
            at("pipe"),
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::RWXU,
            0,
        )
        .unwrap();
        let said = |name: &str| text(&at(name), 10, Pipes::Own).unwrap_or_else(|why| why);
        assert_eq!(said("marked"), "a: 1");
        assert_eq!(said("bytes"), "is not UTF-8 text");
        assert_eq!(said("pipe"), "is not a regular file: nothing else is read");
        assert_eq!(said(""), "is a folder: a file is taken");
        assert_eq!(
            text(&at("marked"), 3, Pipes::None).unwrap_err(),
            "is too large: at most 3 bytes are taken"
        );
        assert!(text(Path::new("/dev/zero"), 10, Pipes::Own).is_err());
    }
}
