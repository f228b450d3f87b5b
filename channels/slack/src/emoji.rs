//! How an emoji that a model wrote is called on Slack: names as they are, well-known characters by name.

/// The skin tones, lightest first: Slack counts them from two.
const TONES: &[char] = &['\u{1f3fb}', '\u{1f3fc}', '\u{1f3fd}', '\u{1f3fe}', '\u{1f3ff}'];
/// Asks for the coloured form of a character.
const COLOURED: char = '\u{fe0f}';

/// Returns the names that may be meant, the likeliest first; none for what is neither a name nor a
/// character that is known here. Workspaces list an emoji under one of its names only.
pub fn names(written: &str) -> Vec<String> {
    let written = written.trim();
    let tone = written.chars().find_map(|c| TONES.iter().position(|tone| *tone == c));
    let bare: String = written.chars().filter(|c| !TONES.contains(c) && *c != COLOURED).collect();
    if let Some((_, names)) = known().find(|(character, _)| *character == bare) {
        let toned = |name: &&str| match tone {
            Some(tone) => format!("{name}::skin-tone-{}", tone + 2),
            None => (*name).to_owned(),
        };
        return names.iter().map(toned).collect();
    }
    let Some(name) = name(written) else { return Vec::new() };
    let (base, tone) = match name.split_once("::") {
        Some((base, tone)) => (base, format!("::{tone}")),
        None => (name.as_str(), String::new()),
    };
    let twins = known().map(|(_, names)| names).find(|names| names.contains(&base));
    let others = twins.into_iter().flatten().filter(|twin| *twin != base);
    let others: Vec<String> = others.map(|twin| format!("{twin}{tone}")).collect();
    std::iter::once(name.clone()).chain(others).collect()
}

/// Whether every workspace has an emoji of this name.
pub fn is_standard(name: &str) -> bool {
    let base = name.split("::").next().unwrap_or(name);
    known().any(|(_, names)| names.contains(&base))
}

/// Returns a name as Slack takes it; `None` for what is none.
fn name(written: &str) -> Option<String> {
    let name = written.trim_matches(':').to_lowercase();
    let fits = |c: char| c.is_alphanumeric() || "_-+'.:".contains(c);
    let named = !name.is_empty() && name.len() <= 100 && name.chars().all(fits);
    named.then_some(name)
}

/// Characters, each with what Slack calls it.
const KNOWN: &str = include_str!("emoji.txt");

fn known() -> impl Iterator<Item = (&'static str, Vec<&'static str>)> {
    let row = |row: &'static str| {
        let (character, names) = row.split_once(' ')?;
        Some((character, names.split(' ').collect()))
    };
    KNOWN.lines().filter_map(row)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_taken_and_characters_get_theirs() {
        assert_eq!(names(":ThumbsUp:"), ["thumbsup", "+1"]);
        assert_eq!(names("+1"), ["+1", "thumbsup"]);
        assert_eq!(names("👍"), ["+1", "thumbsup"]);
        assert_eq!(names("👍🏽"), ["+1::skin-tone-4", "thumbsup::skin-tone-4"]);
        assert_eq!(names("❤️"), ["heart"]);
        assert_eq!(names("wave::skin-tone-3"), ["wave::skin-tone-3"]);
        assert_eq!(names("our_own"), ["our_own"]);
        assert_eq!(names("😮"), ["open_mouth"], "Slack refuses other names");
        for wrong in ["", "::", "two words", "🪿", "👍👍"] {
            assert!(names(wrong).is_empty(), "{wrong}");
        }
    }

    #[test]
    fn every_character_is_known_once() {
        assert_eq!(known().count(), KNOWN.lines().count());
        for (character, names) in known() {
            assert!(!character.contains(COLOURED) && !names.is_empty(), "{character}");
            assert_eq!(known().filter(|(other, _)| *other == character).count(), 1);
        }
    }
}
