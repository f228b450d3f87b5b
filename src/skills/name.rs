//! Names of skills: which a model may read, and which only look like another.

use crate::error::SkillError;

pub(crate) const MAX: usize = 64;

/// Says why a name is against the specification; nothing where it is not.
pub(crate) fn fault(name: &str) -> Option<String> {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if name.is_empty() {
        return Some("is empty".to_owned());
    }
    if let Some(odd) = name.chars().find(|c| !is_plain(*c)) {
        let why = if odd.is_ascii() { "" } else { ", and other letters can pose as these" };
        return Some(format!("takes a to z, 0 to 9 and -, not {:?}{why}", odd));
    }
    if name.len() > MAX {
        return Some(format!("has {} characters: {MAX} are allowed", name.len()));
    }
    let dashes = name.starts_with('-') || name.ends_with('-') || name.contains("--");
    dashes.then(|| "begins or ends with -, or has two of them in a row".to_owned())
}

/// Brings a name that differs in nothing but case, spaces and underscores into the form of the specification.
///
/// # Errors
/// When it has other characters: a model would read them.
pub(crate) fn usable(written: &str) -> Result<String, SkillError> {
    let name = written.trim().to_ascii_lowercase().replace([' ', '_', '.'], "-");
    match fault(&name) {
        None => Ok(name),
        Some(why) => Err(SkillError::unfit(format!("the name {written:?} {why}"))),
    }
}

/// Finds the name among these that a new one could be taken for.
pub(crate) fn similar<'a>(new: &str, mut known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let looks = skeleton(new);
    known.find(|other| *other != new && skeleton(other) == looks)
}

/// What a name looks like at a glance.
fn skeleton(name: &str) -> String {
    let letters = name.replace("rn", "m").replace("vv", "w").replace("cl", "d");
    let shape = |c: char| match c {
        '1' | 'i' | 'j' => 'l',
        '0' => 'o',
        '5' => 's',
        '2' => 'z',
        '8' => 'b',
        other => other,
    };
    letters.chars().filter(|c| *c != '-').map(shape).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_letters_of_the_specification_are_read_by_a_model() {
        for good in ["pdf", "a-1", &"x".repeat(64)] {
            assert_eq!(fault(good), None, "{good}");
        }
        for bad in ["", "PDF", "p_df", "-a", "a-", "a--b", "pdf\n", "p\u{430}df", &"x".repeat(65)] {
            assert!(fault(bad).is_some(), "{bad}");
        }
        assert_eq!(usable("PDF tools").unwrap(), "pdf-tools");
        let posing = usable("p\u{430}df").unwrap_err().to_string();
        assert!(posing.contains("pose as these"), "{posing}");
    }

    #[test]
    fn a_name_that_passes_for_another_is_found() {
        let known = ["pdf", "web-search", "modern", "docs"];
        let found = |new: &str| similar(new, known.into_iter());
        assert_eq!(found("websearch"), Some("web-search"));
        assert_eq!(found("modem"), Some("modern"));
        assert_eq!(found("d0cs"), Some("docs"));
        assert_eq!(found("pdf"), None, "the same name is the same skill");
        assert_eq!(found("xlsx"), None);
    }
}
