//! Whether a glob is one that may be compiled: its compiler calls itself for every brace inside a brace.

use std::fs;
use std::io::Read;
use std::path::Path;

/// Bytes of a glob.
const MAX_LENGTH: usize = 4 * 1024;
/// Braces inside braces.
const DEEPEST: usize = 16;
/// Bytes of a file of globs, like `.gitignore`.
const LARGEST: u64 = 64 * 1024;

/// Whether a glob may be compiled.
pub(super) fn is_tame(glob: &str) -> bool {
    if glob.len() > MAX_LENGTH {
        return false;
    }
    let mut depth = 0_usize;
    for byte in glob.bytes() {
        match byte {
            // One that is closed, or escaped, still counts: it is a bound, not a parser.
            b'{' if depth == DEEPEST => return false,
            b'{' => depth += 1,
            b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    true
}

/// Whether a file of globs may be read and compiled: a file of that size, or none at all. A pipe in its
/// place would never end.
pub(super) fn is_tame_file(path: &Path) -> bool {
    let Ok(what) = fs::metadata(path) else { return true };
    if what.is_dir() {
        return true;
    }
    if !what.is_file() || what.len() > LARGEST {
        return false;
    }
    let mut text = Vec::new();
    match fs::File::open(path).and_then(|file| file.take(LARGEST + 1).read_to_end(&mut text)) {
        Ok(size) => size as u64 <= LARGEST && String::from_utf8_lossy(&text).lines().all(is_tame),
        // Nobody else can read it either.
        Err(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use globset::GlobBuilder;
    use ignore::gitignore::GitignoreBuilder;

    use super::*;

    #[test]
    fn usual_globs_are_tame_and_braces_without_a_floor_are_not() {
        for glob in [
            "*.rs",
            "src/**/*.{rs,{ts,tsx}}",
            "[!a]",
            "{",
            "}}}",
            "a{b,c}d{e,f}".repeat(20).as_str(),
        ] {
            assert!(is_tame(glob), "{glob}");
        }
        let deep = format!("{}{}", "{".repeat(100_000), "}".repeat(100_000));
        assert!(!is_tame(&deep) && !is_tame(&"{".repeat(17)) && !is_tame(&"*".repeat(5_000)));
        let folder = tempfile::tempdir().unwrap();
        for (text, tame) in
            [("target/\n*.o\n", true), (deep.as_str(), false), (&"x\n".repeat(40_000), false)]
        {
            let file = folder.path().join(".gitignore");
            fs::write(&file, text).unwrap();
            assert_eq!(is_tame_file(&file), tame);
        }
        assert!(is_tame_file(&folder.path().join("none")) && is_tame_file(folder.path()));
    }

    #[test]
    fn fuzz_globs() {
        selkie_fuzz::text("glob", |glob| {
            let Some(glob) = Some(glob).filter(|glob| is_tame(glob)) else { return };
            if let Ok(built) = GlobBuilder::new(glob).literal_separator(true).build() {
                built.compile_matcher().is_match("src/deep/main.rs");
            }
            let mut ignored = GitignoreBuilder::new("/");
            let _ = ignored.add_line(None, glob);
            let _ = ignored.build().map(|i| i.matched("/src/main.rs", false).is_ignore());
        });
    }
}
