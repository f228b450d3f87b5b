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
/// holds one. A line may be said again right away when that copy bears the mark. Returns how many bear it.
pub fn marks(said: &[String], expected: &[Vec<&str>]) -> usize {
    let complaint = || format!("\nsaid: {said:#?}\nexpected: {expected:#?}");
    let holds = |line: &str, wanted: Option<&Vec<&str>>| {
        wanted.is_some_and(|wanted| wanted.iter().any(|text| line.contains(text)))
    };
    let (mut done, mut marked, mut repeated) = (0, 0, false);
    for line in said {
        let mark = line.contains(MARK);
        marked += usize::from(mark);
        let copy = mark && !repeated && done > 0 && holds(line, expected.get(done - 1));
        if holds(line, expected.get(done)) {
            done += 1;
            repeated = mark;
        } else {
            assert!(copy, "{line:?} has no place here{}", complaint());
            repeated = true;
        }
    }
    assert_eq!(done, expected.len(), "something was lost{}", complaint());
    marked
}
