//! The heartbeat: of the owner's file the stand-in does the phrases that it knows, and is silent about all else.

use super::parse::{Wish, wishes};
use crate::model::TalkTurn;

/// How the note begins that comes with the owner's file.
const NOTE: &str = "[note] the heartbeat came due at ";
/// The answer of who has nothing to tell.
pub(super) const NOTHING: &str = "NOTHING";

/// Whether these turns are the heartbeat's.
pub(super) fn is_heartbeat(turns: &[TalkTurn]) -> bool {
    turns.iter().filter_map(TalkTurn::user).any(|text| text.trim_start().starts_with(NOTE))
}

/// Reads what of the owner's file is a phrase, each on a line or a point of its own.
pub(super) fn known(text: &str) -> Vec<Wish> {
    let points = text.lines().map(|line| line.trim().trim_start_matches(['-', '*', '+']).trim());
    let read = points.flat_map(wishes);
    read.filter(|wish| !matches!(wish, Wish::Unknown(_))).collect()
}

/// Answers with what there is to tell.
pub(super) fn told(mut said: Vec<String>) -> String {
    said.retain(|text| *text != super::messages::EMPTY_LIST);
    if said.is_empty() { NOTHING.to_owned() } else { said.join("\n") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phrases_of_the_file_are_done_and_prose_is_left() {
        let file = "# Heartbeat\n\n- is the tide high?\n- tell me my list\n* my schedules\n";
        assert_eq!(known(file), [Wish::List, Wish::Schedules]);
        assert_eq!(told(vec![super::super::messages::EMPTY_LIST.to_owned()]), NOTHING);
        assert_eq!(told(vec!["This chat's list:".to_owned()]), "This chat's list:");
    }
}
