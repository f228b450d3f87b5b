//! Names that one file system keeps apart and another takes for one: by case, by how a letter with a mark is
//! written, and by what nobody sees.

use std::collections::HashMap;

use selkie_channel_core::has_no_width;
use unicode_normalization::UnicodeNormalization as _;

/// The names so far, with those of their folders.
#[derive(Debug, Default)]
pub struct Names(HashMap<String, TakenNames>);

#[derive(Debug)]
struct TakenNames {
    written: String,
    is_file: bool,
}

impl Names {
    /// Takes the name of a file, whose parts `/` parts.
    ///
    /// # Errors
    /// The name that stands in its place already, where names are not told apart so.
    pub fn take(&mut self, name: &str) -> Result<(), String> {
        let folders = name.match_indices('/').map(|(at, _)| &name[..at]);
        let all = || folders.clone().map(|folder| (folder, false)).chain([(name, true)]);
        for (written, is_file) in all() {
            if let Some(there) = self.0.get(&folded(written))
                && (there.is_file || is_file || there.written != written)
            {
                return Err(there.written.clone());
            }
        }
        for (written, is_file) in all() {
            let taken = TakenNames { written: written.to_owned(), is_file };
            self.0.entry(folded(written)).or_insert(taken);
        }
        Ok(())
    }
}

fn folded(name: &str) -> String {
    let seen: String = name.nfd().filter(|c| !has_no_width(*c)).collect();
    seen.to_lowercase().nfc().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_taken_once_however_it_is_written() {
        let mut names = Names::default();
        for name in ["state/a/Notes.md", "state/a/b", "state/caf\u{e9}.md", "state/c"] {
            assert_eq!(names.take(name), Ok(()), "{name}");
        }
        for (name, there) in [
            ("state/a/notes.md", "state/a/Notes.md"),
            ("state/A/c", "state/a"),
            ("state/cafe\u{301}.md", "state/caf\u{e9}.md"),
            ("state/a/No\u{200b}tes.md", "state/a/Notes.md"),
            ("state/c\u{ad}af\u{e9}.md", "state/caf\u{e9}.md"),
            ("state/c", "state/c"),
            ("state/c/d", "state/c"),
            ("state/a", "state/a"),
        ] {
            assert_eq!(names.take(name), Err(there.to_owned()), "{name}");
        }
        assert_eq!(names.take("state/a/c"), Ok(()), "what was refused took nothing");
    }
}
