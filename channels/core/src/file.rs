//! A file on its way out: what it is called, and whether it can go.

/// The longest name, characters.
const MAX_LENGTH: usize = 120;

/// Returns a name that is one on every system: no folders, no control characters, never empty.
pub fn name(path: &str) -> String {
    let last = path.rsplit(['/', '\\']).next().unwrap_or_default();
    let clean: String = last.chars().filter(|c| !c.is_control()).collect();
    let clean = clean.trim().trim_matches('.');
    if clean.is_empty() { "file".to_owned() } else { clean.chars().take(MAX_LENGTH).collect() }
}

/// Returns a file's size in bytes.
///
/// # Errors
/// In words for a person when there is no such file.
pub async fn size(path: &str, name: &str) -> Result<u64, String> {
    let meta = tokio::fs::metadata(path).await;
    let meta = meta.map_err(|e| format!("the file {name} cannot be read: {e}"))?;
    if meta.is_file() { Ok(meta.len()) } else { Err(format!("{name} is not a file")) }
}

/// Says why a file of this size cannot go where `most` bytes can.
pub fn objection(name: &str, size: u64, most: u64) -> Option<String> {
    match size {
        0 => Some(format!("the file {name} is empty")),
        size if size > most => Some(format!("{name} has {size} bytes, at most {most} can be sent")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_everywhere() {
        for (path, wanted) in
            [("../../etc/pa\0ss.txt", "pass.txt"), ("..", "file"), ("a\\b.c", "b.c")]
        {
            assert_eq!(name(path), wanted, "{path:?}");
        }
        assert_eq!(name(&"x".repeat(500)).len(), MAX_LENGTH);
    }

    #[test]
    fn nothing_and_too_much_do_not_go() {
        assert_eq!(objection("a", 7, 7), None);
        assert_eq!(objection("a", 0, 7).as_deref(), Some("the file a is empty"));
        let large = "a has 8 bytes, at most 7 can be sent";
        assert_eq!(objection("a", 8, 7).as_deref(), Some(large));
    }
}
