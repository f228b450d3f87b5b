//! The stand-in as whoever sums up a conversation: the newest things that people said, the same way every time.

use serde_json::{Value, json};

use crate::model::TalkTurn;

/// So many things are kept.
const MAX: usize = 3;
/// The most characters of one.
const MAX_LENGTH: usize = 120;

/// Answers such a question; `None` when the turns are none.
pub(super) fn answer(turns: &[TalkTurn]) -> Option<String> {
    let [TalkTurn::User(asked)] = turns else { return None };
    let asked: Value = serde_json::from_str(asked).ok()?;
    if asked.get("contract")?.as_str()? != "conversation_summary" {
        return None;
    }
    let talk = asked["talk"].as_array().map_or(&[][..], Vec::as_slice);
    let people = talk.iter().filter(|one| one["who"] != "you");
    let mut lines: Vec<String> = people.rev().take(MAX).map(line).collect();
    lines.reverse();
    Some(json!({ "lines": lines }).to_string())
}

fn line(one: &Value) -> String {
    let who = &one["who"];
    let said = &one["said"];
    let said = said.as_str().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ");
    let line = format!("{} said: {said}", who.as_str().unwrap_or("Somebody"));
    line.chars().take(MAX_LENGTH).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_things_that_people_said_are_kept() {
        let said = |who: &str, said: &str| json!({ "who": who, "said": said });
        let talk = json!([
            said("Ada", "one"),
            said("Ada", "two"),
            said("you", "yes"),
            said("Bo", "three\nlines"),
            said("Ada", &"x".repeat(300))
        ]);
        let asked = json!({ "contract": "conversation_summary", "before": [], "talk": talk });
        let answer = answer(&[TalkTurn::User(asked.to_string())]).unwrap();
        let read: Value = serde_json::from_str(&answer).unwrap();
        assert_eq!(read["lines"][0], "Ada said: two");
        assert_eq!(read["lines"][1], "Bo said: three lines");
        assert_eq!(read["lines"][2].as_str().unwrap().chars().count(), MAX_LENGTH);
        assert_eq!(super::answer(&[TalkTurn::User("hello".to_owned())]), None);
    }
}
