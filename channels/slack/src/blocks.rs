//! A question as Block Kit: its text as a section, its choices as buttons, all within Slack's limits.

use selkie_channel_core::styled::{StyledText, Tag};
use selkie_channel_core::{Choice, Question};
use serde_json::{Value, json};

use crate::cut;

/// A section's text, characters.
pub const MAX_SECTION: usize = 3000;
/// A button's label, characters.
const MAX_LABEL: usize = 75;
/// Elements in one `actions` block.
const MAX_ELEMENTS: usize = 25;
/// Blocks in one message.
const MAX_BLOCKS: usize = 50;
/// What our `action_id`s begin with.
const OURS: &str = "selkie:";

/// Writes the blocks of a question whose last (or only) piece of text is `mrkdwn`. What the choices mean
/// stands in a section of its own; choices over Slack's limit of blocks are left to words.
pub fn question(mrkdwn: &str, question: &Question) -> Value {
    let mut blocks = vec![section(mrkdwn)];
    let meanings = cut::pieces(&meanings(question), MAX_SECTION);
    blocks.extend(meanings.iter().take(MAX_BLOCKS / 5).map(|piece| section(&piece.mrkdwn)));
    let buttons: Vec<Value> = question
        .choices
        .iter()
        .enumerate()
        .map(|(n, choice)| button(&question.key, n, choice))
        .collect();
    let room = MAX_BLOCKS - blocks.len();
    let rows = buttons.chunks(MAX_ELEMENTS).take(room).enumerate();
    blocks.extend(rows.map(|(row, buttons)| {
        json!({
            "type": "actions",
            "block_id": format!("{OURS}{}:{row}", question.key),
            "elements": buttons,
        })
    }));
    blocks.into()
}

/// Adds what the choices mean, where a button has no room for it, and that own words count.
fn meanings(question: &Question) -> StyledText {
    let mut styled = StyledText::default();
    for choice in question.choices.iter().filter(|choice| !choice.description.trim().is_empty()) {
        let gap = if styled.text().is_empty() { "• " } else { "\n• " };
        styled.push(gap, &[]);
        styled.push(choice.label.trim(), &[Tag::Bold]);
        styled.push(&format!(": {}", choice.description.trim()), &[]);
    }
    if let Some(hint) = question.hint() {
        let gap = if styled.text().is_empty() { "" } else { "\n\n" };
        styled.push(gap, &[]);
        styled.push(hint, &[Tag::Italic]);
    }
    styled
}

/// Returns the question's key of one of our `action_id`s; `None` for any other.
pub fn asked(action_id: &str) -> Option<&str> {
    let (key, number) = action_id.strip_prefix(OURS)?.rsplit_once(':')?;
    let sound = !key.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
    sound.then_some(key)
}

/// A section of mrkdwn.
pub fn section(mrkdwn: &str) -> Value {
    json!({ "type": "section", "text": { "type": "mrkdwn", "text": mrkdwn } })
}

/// The choice's number keeps `action_id`s apart, its id is the value.
fn button(key: &str, number: usize, choice: &Choice) -> Value {
    json!({
        "type": "button",
        "action_id": format!("{OURS}{key}:{number}"),
        "text": { "type": "plain_text", "text": label(choice), "emoji": true },
        "value": choice.id,
    })
}

fn label(choice: &Choice) -> String {
    let label = choice.label.trim();
    let label = if label.is_empty() { choice.id.as_str() } else { label };
    if label.chars().count() <= MAX_LABEL {
        return label.to_owned();
    }
    let cut: String = label.chars().take(MAX_LABEL - 1).collect();
    cut.trim_end().to_owned() + "…"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_buttons_are_told_from_others() {
        assert_eq!(asked("selkie:q7:0"), Some("q7"));
        for other in ["yes", "selkie:", "selkie:q7", "selkie::0", "selkie:q7:x", ""] {
            assert_eq!(asked(other), None, "{other}");
        }
    }

    #[test]
    fn a_long_label_is_shortened_and_an_empty_one_is_the_id() {
        let choice = |label: &str| Choice {
            id: "a".to_owned(),
            label: label.to_owned(),
            description: String::new(),
        };
        assert_eq!(label(&choice(&"é".repeat(80))).chars().count(), 75);
        assert_eq!(label(&choice(" ")), "a");
    }
}
