//! People as they stand in a content: `[Name](id)`.

/// Somebody who is named with an id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reference<'a> {
    /// The name.
    pub name: &'a str,
    /// The id.
    pub id: &'a str,
}

/// Returns a content with the names alone.
pub fn plain(content: &str) -> String {
    let mut plain = content.to_owned();
    for Reference { name, id } in references(content) {
        plain = plain.replace(&format!("[{name}]({id})"), name);
    }
    plain
}

/// Finds them, in their order. A link to a page is none.
pub fn references(content: &str) -> Vec<Reference<'_>> {
    let mut found = Vec::new();
    let mut rest = content;
    while let Some(middle) = rest.find("](") {
        let before = &rest[..middle];
        let after = &rest[middle + 2..];
        let Some(end) = after.find(')') else { break };
        if let Some(start) = before.rfind('[') {
            let name = &before[start + 1..];
            let id = &after[..end];
            if !id.contains("://") {
                found.push(Reference { name, id });
            }
        }
        rest = &after[end + 1..];
    }
    found
}
