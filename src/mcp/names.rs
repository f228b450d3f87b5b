//! What a server's tool is called here: `server__tool`, in letters that every provider takes.

use sha2::{Digest as _, Sha256};

/// Characters of a tool's name that every provider takes.
const MAX_NAME: usize = 64;
/// Characters of the hash that tells tools apart whose names look the same here.
const SUFFIX: usize = 6;

/// Returns the name of a server's tool. One that cannot be written as the server has it ends in a part of its hash.
pub fn tool_name(server: &str, tool: &str) -> String {
    let is_taken = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let plain: String = tool.chars().map(|c| if is_taken(c) { c } else { '_' }).collect();
    let name = format!("{server}__{plain}");
    if plain == tool && name.len() <= MAX_NAME {
        return name;
    }
    let kept = &name[..name.floor_char_boundary(MAX_NAME - SUFFIX - 1)];
    format!("{kept}_{}", &hash(tool.as_bytes())[..SUFFIX])
}

/// Returns the SHA-256 of bytes, as 64 hexadecimal digits.
pub(crate) fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_what_providers_take_and_tell_tools_apart() {
        let long = "x".repeat(100);
        let tools = ["now", "get.time", "get time", "get_time", &long, "日本"];
        let names = tools.map(|tool| tool_name("clock", tool));
        assert_eq!((names[0].as_str(), names[3].as_str()), ("clock__now", "clock__get_time"));
        assert!(names[1..3].iter().all(|name| name.starts_with("clock__get_time_")), "{names:?}");
        let mut once = names.to_vec();
        once.sort();
        once.dedup();
        assert_eq!(once.len(), tools.len(), "{names:?}");
        let fits = |name: &String| {
            name.len() <= MAX_NAME
                && name.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c))
        };
        assert!(names.iter().all(fits), "{names:?}");
    }
}
