//! Whose memory it is: each place has a folder of its own, agents there may have others beside it, and owners alone have a
//! general one.

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
/// Parts a place's name from that of an agent's memory there: no place's name holds it.
const OF_AGENT: char = '@';

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

    /// One that an agent has for itself in this place, by its name.
    pub fn of_agent(&self, memory: &str) -> Self {
        Self { name: format!("{}{OF_AGENT}{memory}", self.name) }
    }

    /// Whether it is one that an agent has for itself in that place.
    pub fn is_within(&self, place: &Self) -> bool {
        self.agents().is_some_and(|(of, _)| of == place.name)
    }

    /// An agent's whose file has left earlier versions in a folder of this name: its path with points for slashes.
    pub fn of_kept(folder: &str) -> Option<Self> {
        let name = folder.strip_prefix(FOLDER)?.strip_prefix('.')?;
        let (place, rest) = name.split_once(OF_AGENT)?;
        // No name of an agent's memory has a point.
        Some(Self { name: place.to_owned() }.of_agent(rest.split('.').next()?))
    }

    /// The same agent's in another place; itself where it is a place's.
    pub fn moved_to(&self, place: &Self) -> Self {
        self.agents().map_or_else(|| place.clone(), |(_, memory)| place.of_agent(memory))
    }

    /// The name of the place and that of the memory, where it is an agent's.
    fn agents(&self) -> Option<(&str, &str)> {
        self.name.split_once(OF_AGENT)
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

    #[test]
    fn an_agent_has_a_memory_in_each_place() {
        let place = of("tg:-1001");
        let own = place.of_agent("reader");
        assert_eq!(own.main(), "memory/tg.-1001@reader/MEMORY.md");
        assert!(
            own.is_within(&place) && !place.is_within(&place) && !own.is_within(&of("tg:-100"))
        );
        assert_eq!(Subject::of_kept("memory.tg.-1001@reader.MEMORY.md"), Some(own.clone()));
        assert_eq!(Subject::of_kept("memory.tg.-1001.MEMORY.md"), None);
        assert_eq!(own.moved_to(&of("tg:-7")), of("tg:-7").of_agent("reader"));
        assert_eq!(place.moved_to(&of("tg:-7")), of("tg:-7"));
        assert!(!of("tg:-1001@reader").is_within(&place), "a place is no agent's");
        assert!(!place.has(&own.main()) && !own.has(&place.main()));
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
