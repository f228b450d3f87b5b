//! What the stand-in knows of people: what it is shown of its memory, word by word.

use crate::model::TalkTurn;

/// How the note begins that shows it.
const SHOWN: &str = "[note] What you remember here";

/// Says what it was shown last.
pub(super) fn told(turns: &[TalkTurn]) -> String {
    let notes = turns.iter().rev().filter_map(TalkTurn::user);
    let lines: Vec<&str> = notes
        .flat_map(|note| note.split("\n\n"))
        .find(|part| part.starts_with(SHOWN))
        .map(|part| part.lines().skip(1).collect())
        .unwrap_or_default();
    match lines.as_slice() {
        [] => "I remember nothing here. Write: remember that …".to_owned(),
        [others] if others.starts_with('(') => {
            format!("{}.", others.trim_matches(['(', ')']))
        }
        lines => format!("I remember:\n{}", lines.join("\n")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_tells_what_it_is_shown() {
        let user = |text: &str| TalkTurn::User(text.to_owned());
        let shown = user("[note] What you remember here:\n- tea\n- cake\n\n[note] Another");
        assert_eq!(told(&[shown, user("[now · Ann]\nwhat?")]), "I remember:\n- tea\n- cake");
        let others = "[note] What you remember here:\n(I keep 2 lines here; /memory shows them)";
        assert_eq!(told(&[user(others)]), "I keep 2 lines here; /memory shows them.");
        assert!(told(&[user("What you remember here\n- x")]).starts_with("I remember nothing"));
    }
}
