//! How a conversation's key follows its place.

/// Returns a conversation's key after its place moved. Keys are opaque: only one that is the place's
/// own, or begins with it (a topic), changes.
pub fn rename(key: &str, old_place: &str, new_place: &str) -> String {
    match key.strip_prefix(old_place) {
        Some(suffix) => format!("{new_place}{suffix}"),
        None => key.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::rename;

    #[test]
    fn only_keys_of_the_place_change() {
        assert_eq!(rename("tg:-5", "tg:-5", "tg:-1005"), "tg:-1005");
        assert_eq!(rename("tg:-5:7", "tg:-5", "tg:-1005"), "tg:-1005:7");
        assert_eq!(rename("tg:99", "tg:-5", "tg:-1005"), "tg:99");
    }
}
