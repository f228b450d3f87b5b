//! Whose memory it is: each place has a folder of its own, and owners alone have a general one beside it.

use selkie_channel_core::PlaceId;
use sha2::{Digest as _, Sha256};

/// The folder of all memory, in the state folder.
pub const FOLDER: &str = "memory";
/// The file that is written into.
const MAIN: &str = "MEMORY.md";
/// The name of the general one.
const GENERAL: &str = "owner";
/// The longest name of a folder, in bytes; of a longer one its beginning is taken, and what tells it from others.
const MAX_LENGTH: usize = 100;
const BEGINNING: usize = 60;

/// Whose memory it is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Subject {
    name: String,
}

impl Subject {
    /// The general one: what owners see in private and at the command line.
    pub fn general() -> Self {
        Self { name: GENERAL.to_owned() }
    }

    /// That of a place: a private chat, a group.
    pub fn of(place: &PlaceId) -> Self {
        Self::of_key(place.key())
    }

    /// That of a place by its id: `tg:-100`.
    pub fn of_key(key: &str) -> Self {
        Self { name: folder_name(key) }
    }

    /// That of a folder of memory, by its name.
    pub fn named(name: &str) -> Self {
        Self { name: name.to_owned() }
    }

    /// Returns its name, which its folder has, too.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether it is the general one.
    pub fn is_general(&self) -> bool {
        self.name == GENERAL
    }

    /// Returns its folder in the state folder.
    pub fn folder(&self) -> String {
        format!("{FOLDER}/{}", self.name)
    }

    /// Returns the file that is written into, in the state folder.
    pub fn main(&self) -> String {
        if self.is_general() { MAIN.to_owned() } else { self.file(MAIN) }
    }

    /// Returns the path of a file of its folder.
    pub fn file(&self, name: &str) -> String {
        format!("{FOLDER}/{}/{name}", self.name)
    }

    /// Whether a path in the state folder is one of its files.
    pub fn has(&self, path: &str) -> bool {
        let inside = path.strip_prefix(&format!("{}/", self.folder()));
        path == self.main() || inside.is_some_and(is_file_name)
    }
}

/// Whether a name is that of a file of memory.
pub fn is_file_name(name: &str) -> bool {
    name.ends_with(".md") && !name.starts_with('.') && !name.contains(['/', '\0'])
}

/// Writes a place's key so that any file system takes it, each another way: `tg:-100` as `tg.-100`.
fn folder_name(key: &str) -> String {
    let mut name = String::with_capacity(key.len());
    for byte in key.bytes() {
        match byte {
            b':' => name.push('.'),
            b'-' | b'_' => name.push(byte.into()),
            byte if byte.is_ascii_alphanumeric() => name.push(byte.into()),
            byte => name.push_str(&format!("%{byte:02X}")),
        }
    }
    if name == GENERAL {
        name.push('.');
    }
    // No name of its own to the file system, and none that it hides.
    if name.is_empty() || name.starts_with('.') {
        name.insert(0, '%');
    }
    if name.len() > MAX_LENGTH {
        let digest = Sha256::digest(key.as_bytes());
        name.truncate(BEGINNING);
        name.push('~');
        digest.iter().take(16).for_each(|byte| name.push_str(&format!("{byte:02x}")));
    }
    name
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use selkie_channel_core::AccountId;

    use super::*;

    fn of(key: &str) -> Subject {
        Subject::of(&PlaceId::new(AccountId::new("a"), key))
    }

    #[test]
    fn folders_are_named_by_ids() {
        for (key, folder) in [
            ("tg:-1001", "memory/tg.-1001"),
            ("bird:T1:C.2", "memory/bird.T1.C%2E2"),
            ("owner", "memory/owner."),
            ("::", "memory/%.."),
            ("", "memory/%"),
            ("../é", "memory/%2E%2E%2F%C3%A9"),
        ] {
            assert_eq!(of(key).folder(), folder);
        }
        assert_eq!(Subject::general().main(), "MEMORY.md");
        assert_eq!(of("tg:1").main(), "memory/tg.1/MEMORY.md");
    }

    #[test]
    fn a_subject_has_its_own_files_alone() {
        let own = of("tg:1");
        for (path, is) in [
            ("memory/tg.1/MEMORY.md", true),
            ("memory/tg.1/more.md", true),
            ("memory/tg.1/more.txt", false),
            ("memory/tg.1/../tg.2/MEMORY.md", false),
            ("memory/tg.1/.x.md", false),
            ("memory/tg.11/MEMORY.md", false),
            ("MEMORY.md", false),
            ("memory/owner/x.md", false),
        ] {
            assert_eq!(own.has(path), is, "{path}");
        }
        assert!(Subject::general().has("MEMORY.md") && Subject::general().has("memory/owner/x.md"));
        assert!(!Subject::general().has("memory/owner./x.md"));
    }

    proptest! {
        #[test]
        fn no_two_places_share_a_folder(one in ".{0,90}", other in ".{0,90}") {
            let names = [&one, &other].map(|key| of(key).name);
            prop_assert_eq!(one == other, names[0] == names[1]);
            for name in names {
                prop_assert!(name.len() <= MAX_LENGTH && !name.starts_with(['/', ' ']) && !name.contains(['/', ' ']));
                prop_assert!(name != "." && name != ".." && name != GENERAL);
            }
        }
    }
}
