//! Who the bot is, or an agent of its: files of the state folder, read anew when they have changed, so that the system
//! prompt stays the same for as long as they do.

use std::io::{ErrorKind, Read as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use selkie_channel_core::locked;

/// The bot's own files below the state folder, in the order of the prompt.
const FILES: [&str; 2] = ["persona/IDENTITY.md", "persona/SOUL.md"];
/// A file is read up to here.
const MAX_BYTES: usize = 16 * 1024;

/// Who the bot is, as its files say now.
pub struct Persona {
    files: Vec<PathBuf>,
    read: Mutex<PersonaCache>,
}

/// What was read last.
struct PersonaCache {
    of: Vec<Version>,
    text: Arc<str>,
}

/// What tells a file from what it was; `None` for one that is not there.
type Version = Option<Stamp>;

#[derive(PartialEq, Eq)]
struct Stamp {
    inode: u64,
    bytes: u64,
    /// In seconds and nanoseconds.
    changed: [i64; 2],
}

impl Persona {
    /// Reads the persona of a state folder.
    pub fn of(state_dir: &Path) -> Self {
        Self::of_files(state_dir, FILES.map(str::to_owned).to_vec())
    }

    /// Reads a persona of these files below a state folder.
    pub fn of_files(state_dir: &Path, names: Vec<String>) -> Self {
        let files: Vec<PathBuf> = names.iter().map(|name| state_dir.join(name)).collect();
        let read = Mutex::new(PersonaCache { of: versions(&files), text: read(&files).into() });
        Self { files, read }
    }

    /// Returns it; empty when every file is missing, empty or a draft. Looks at its files and reads them when they
    /// have changed.
    pub fn now(&self) -> Arc<str> {
        let mut last = locked(&self.read);
        let of = versions(&self.files);
        if of != last.of {
            *last = PersonaCache { of, text: read(&self.files).into() };
            tracing::info!("the persona has changed and was read again");
        }
        Arc::clone(&last.text)
    }
}

fn versions(files: &[PathBuf]) -> Vec<Version> {
    let version = |path: &PathBuf| {
        let found = std::fs::metadata(path).ok()?;
        let changed = [found.ctime(), found.ctime_nsec()];
        Some(Stamp { inode: found.ino(), bytes: found.len(), changed })
    };
    files.iter().map(version).collect()
}

/// Reads the persona; empty when every file is missing, empty or a draft.
fn read(files: &[PathBuf]) -> String {
    let texts = files.iter().filter_map(|path| one(path));
    texts.collect::<Vec<_>>().join("\n\n")
}

/// One file's words. One that cannot be read is told and left out: the bot speaks without it.
fn one(path: &Path) -> Option<String> {
    let shown = path.display();
    let bytes = match bytes(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == ErrorKind::NotFound => return None,
        Err(error) => {
            tracing::warn!(path = %shown, %error, "this part of the persona cannot be read: it is left out");
            return None;
        }
    };
    let Some(text) = whole(&bytes) else {
        tracing::warn!(path = %shown, "this part of the persona is not UTF-8: it is left out");
        return None;
    };
    if bytes.len() > MAX_BYTES {
        tracing::warn!(path = %shown, "this part of the persona is cut after 16 KiB");
    }
    let Page { words, is_draft } = page(text);
    (!is_draft && !words.is_empty()).then(|| words.to_owned())
}

/// At most one byte more than is used.
fn bytes(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    std::fs::File::open(path)?.take(MAX_BYTES as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The text up to the limit, cut between two characters.
fn whole(bytes: &[u8]) -> Option<&str> {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        // The limit may have cut a character in two.
        Err(error) if error.error_len().is_none() && bytes.len() > MAX_BYTES => {
            std::str::from_utf8(&bytes[..error.valid_up_to()]).ok()?
        }
        Err(_) => return None,
    };
    Some(&text[..text.floor_char_boundary(MAX_BYTES)])
}

struct Page<'a> {
    words: &'a str,
    is_draft: bool,
}

/// Takes the front matter off: `---`, lines, `---`. Without its end it is text like any other.
fn page(text: &str) -> Page<'_> {
    let text = text.trim_start_matches('\u{feff}');
    let plain = Page { words: text.trim(), is_draft: false };
    let Some(rest) = after_fence(text) else { return plain };
    let mut front = rest;
    let mut is_draft = false;
    while !front.is_empty() {
        if let Some(words) = after_fence(front) {
            return Page { words: words.trim(), is_draft };
        }
        let (line, next) = front.split_once('\n').unwrap_or((front, ""));
        is_draft |= line.split_once(':').is_some_and(|(key, value)| {
            let value = value.split('#').next().unwrap_or_default();
            key.trim() == "status" && value.trim().trim_matches(['"', '\'']) == "draft"
        });
        front = next;
    }
    plain
}

/// What follows a line that is a fence.
fn after_fence(text: &str) -> Option<&str> {
    let (line, rest) = text.split_once('\n').unwrap_or((text, ""));
    (line.trim_end() == "---").then_some(rest)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn persona(identity: impl AsRef<[u8]>, soul: impl AsRef<[u8]>) -> String {
        let state = tempfile::tempdir().unwrap();
        std::fs::create_dir(state.path().join("persona")).unwrap();
        std::fs::write(state.path().join(FILES[0]), identity).unwrap();
        std::fs::write(state.path().join(FILES[1]), soul).unwrap();
        Persona::of(state.path()).now().to_string()
    }

    #[test]
    fn identity_comes_before_soul_and_front_matter_is_not_said() {
        let identity = "---\nstatus: ready\nname: x\n---\n\n# I\nam Ina.\n";
        assert_eq!(persona(identity, "Be kind.\r\n"), "# I\nam Ina.\n\nBe kind.");
        assert_eq!(persona("---\r\nstatus: ready\r\n---\r\nI", ""), "I");
        assert_eq!(persona("", ""), "");
        assert_eq!(&*Persona::of(Path::new("/nowhere/at/all")).now(), "");
    }

    #[test]
    fn a_file_that_changes_is_read_anew() {
        let state = tempfile::tempdir().unwrap();
        let persona = Persona::of(state.path());
        assert_eq!(&*persona.now(), "");
        std::fs::create_dir(state.path().join("persona")).unwrap();
        let soul = state.path().join(FILES[1]);
        for words in ["Be kind.", "Be calm."] {
            let next = state.path().join("next");
            std::fs::write(&next, words).unwrap();
            std::fs::rename(&next, &soul).unwrap();
            assert_eq!(&*persona.now(), words);
        }
        assert!(Arc::ptr_eq(&persona.now(), &persona.now()));
        std::fs::remove_file(&soul).unwrap();
        assert_eq!(&*persona.now(), "");
    }

    #[test]
    fn a_draft_is_not_loaded() {
        for draft in ["---\nstatus: draft\n---\nI", "---\nname: x\nstatus: \"draft\" # yet\n---\nI"]
        {
            assert_eq!(persona(draft, "Be kind."), "Be kind.");
        }
        assert_eq!(persona("status: draft\nI", ""), "status: draft\nI", "no front matter");
        assert_eq!(persona("---\nstatus: draft\nI", ""), "---\nstatus: draft\nI", "it never ends");
    }

    #[test]
    fn the_templates_are_drafts() {
        let templates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../state/templates");
        for name in FILES {
            let text = std::fs::read_to_string(templates.join(name)).unwrap();
            assert!(page(&text).is_draft && page(&text).words.len() > 40, "{name}");
        }
        assert_eq!(&*Persona::of(&templates).now(), "");
    }

    #[test]
    fn what_is_too_long_or_no_text_does_no_harm() {
        let long = persona("é".repeat(MAX_BYTES), "Be kind.");
        assert_eq!(long.len(), MAX_BYTES + "\n\nBe kind.".len());
        let odd = persona(format!("a{}", "é".repeat(MAX_BYTES)), "");
        assert_eq!(odd.len(), MAX_BYTES - 1, "no half character");
        assert_eq!(persona(b"\xff\xfe", "Be kind."), "Be kind.");
    }

    proptest! {
        #[test]
        fn front_matter_never_takes_the_words_away(words in "[a-z][a-z -]{0,40}[a-z]") {
            let text = format!("---\nkey: value\n---\n{words}\n---\nmore\n");
            prop_assert_eq!(page(&text).words, format!("{words}\n---\nmore"));
        }
    }
}
