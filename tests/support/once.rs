//! Holds what a chat shows against what it should show: everything once, in order, repeated only with
//! the visible mark.

use selkie_playground::Spot;
use selkie_playground::telegram::MessageView;

use crate::support::world::World;

/// Stands in what may be there twice.
pub const MARK: &str = "(possibly repeated)";

/// What the bot said in a chat, oldest first; a file as `[file name] caption`.
pub fn said(world: &World, spot: impl Into<Spot>) -> Vec<String> {
    let messages = world.telegram().messages(spot).into_iter();
    messages.filter(|m| m.from.is_bot).map(shown).collect()
}

fn shown(message: MessageView) -> String {
    match message.file {
        Some(file) => format!("[file {}] {}", file.name, file.caption.unwrap_or_default()),
        None => message.text,
    }
}

/// Demands that every expected line was said once and in order; each is given as the texts of which it
/// holds one. A line may be said again right away when one of both bears the mark: on a busy machine the platform may
/// take what a killed process has sent only after it was repeated. Returns how many bear it.
pub fn marks(said: &[String], expected: &[Vec<&str>]) -> usize {
    let complaint = || format!("\nsaid: {said:#?}\nexpected: {expected:#?}");
    let holds = |line: &str, wanted: Option<&Vec<&str>>| {
        wanted.is_some_and(|wanted| wanted.iter().any(|text| line.contains(text)))
    };
    // Whether the last line, if it may still be said again, bears the mark.
    let (mut done, mut marked, mut last) = (0, 0, None);
    for line in said {
        let mark = line.contains(MARK);
        marked += usize::from(mark);
        let copy = last == Some(!mark) && holds(line, expected.get(done - 1));
        if holds(line, expected.get(done)) {
            done += 1;
            last = Some(mark);
        } else {
            assert!(copy, "{line:?} has no place here{}", complaint());
            last = None;
        }
    }
    assert_eq!(done, expected.len(), "something was lost{}", complaint());
    marked
}
