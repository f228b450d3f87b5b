//! Buttons: a question's choices as an inline keyboard, and what a tap on one of them says.

use selkie_channel_core::{Choice, Question, split};
use teloxide::types::{InlineKeyboardButton, InlineKeyboardMarkup};

/// Telegram's limit of one keyboard.
const MAX_BUTTONS: usize = 100;
/// Telegram's limit of what a button carries, bytes.
const MAX_DATA: usize = 64;
/// A phone cuts longer labels, UTF-16 units.
const MAX_LABEL: usize = 40;
/// Buttons share a row while their labels fit it together.
const ROW_ROOM: usize = 30;
const ROW_BUTTONS: usize = 4;
/// What every button of ours carries first.
const OURS: &str = "q";

/// Returns the keyboard of a question. `None` when there is nothing to tap: no choices, more than a
/// keyboard holds, or ids that no button can carry.
pub fn inline(question: &Question) -> Option<InlineKeyboardMarkup> {
    let choices = &question.choices;
    if choices.is_empty() || choices.len() > MAX_BUTTONS {
        return None;
    }
    let mut rows: Vec<Vec<InlineKeyboardButton>> = Vec::new();
    let mut room = 0;
    for choice in choices {
        let label = label(choice);
        let width = split::utf16_len(&label);
        let button = InlineKeyboardButton::callback(label, data(question, choice)?);
        match rows.last_mut().filter(|row| row.len() < ROW_BUTTONS && width <= room) {
            Some(row) => {
                row.push(button);
                room -= width;
            }
            None => {
                rows.push(vec![button]);
                room = ROW_ROOM.saturating_sub(width);
            }
        }
    }
    Some(InlineKeyboardMarkup::new(rows))
}

/// Returns what stands on a choice's button.
pub fn label(choice: &Choice) -> String {
    let line = choice.label.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.is_empty() {
        return choice.id.clone();
    }
    if split::utf16_len(&line) <= MAX_LABEL {
        return line;
    }
    let cut = split::fitting(&line, MAX_LABEL - 1);
    format!("{}…", line[..cut].trim_end())
}

/// Reads what a button carries: a question's key and a choice's id. `None` for a button that is none
/// of today's.
pub fn read(data: &str) -> Option<(&str, &str)> {
    let (key, choice) = data.strip_prefix(OURS)?.strip_prefix(':')?.split_once(':')?;
    (is_id(key, 24) && is_id(choice, 8)).then_some((key, choice))
}

fn data(question: &Question, choice: &Choice) -> Option<String> {
    let data = format!("{OURS}:{}:{}", question.key, choice.id);
    (read(&data).is_some() && data.len() <= MAX_DATA).then_some(data)
}

fn is_id(text: &str, most: usize) -> bool {
    (1..=most).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn choice(id: &str, label: &str) -> Choice {
        Choice { id: id.to_owned(), label: label.to_owned(), description: String::new() }
    }

    fn question(choices: Vec<Choice>) -> Question {
        Question {
            key: "k1".to_owned(),
            markdown: "Which?".to_owned(),
            choices,
            free_text: false,
            placeholder: String::new(),
        }
    }

    #[test]
    fn short_buttons_share_a_row_and_long_ones_are_cut() {
        let long = "the one that goes on and on, much further than a phone is wide";
        let choices = [("a", "Yes"), ("b", "No"), ("c", long), ("d", " \n")];
        let choices = choices.map(|(id, label)| choice(id, label)).to_vec();
        insta::assert_snapshot!(json!(inline(&question(choices)).unwrap()), @r#"{"inline_keyboard":[[{"text":"Yes","callback_data":"q:k1:a"},{"text":"No","callback_data":"q:k1:b"}],[{"text":"the one that goes on and on, much furth…","callback_data":"q:k1:c"}],[{"text":"d","callback_data":"q:k1:d"}]]}"#);
    }

    #[test]
    fn what_no_keyboard_holds_is_none() {
        let many = |count| (0..count).map(|n| choice(&n.to_string(), "x")).collect::<Vec<_>>();
        assert!(inline(&question(many(0))).is_none());
        assert!(inline(&question(many(100))).is_some());
        assert!(inline(&question(many(101))).is_none());
        for id in ["", "a:b", "é", "123456789"] {
            assert!(inline(&question(vec![choice(id, "x")])).is_none(), "{id}");
        }
    }

    #[test]
    fn other_buttons_are_not_ours() {
        for data in ["", "yes", "q:", "q:k1", "q::a", "q:k1:", "q:k1:a:b", "x:k1:a", "q:k 1:a"] {
            assert_eq!(read(data), None, "{data}");
        }
    }

    proptest! {
        #[test]
        fn every_button_fits_and_says_its_choice(
            key in "[A-Za-z0-9]{1,24}",
            ids in prop::collection::vec("[A-Za-z0-9]{1,8}", 1..100),
            text in "\\PC{0,90}",
        ) {
            let choices: Vec<_> = ids.iter().map(|id| choice(id, &text)).collect();
            let keyboard = inline(&Question { key: key.clone(), ..question(choices) }).unwrap();
            let keyboard = json!(keyboard);
            let rows = keyboard["inline_keyboard"].as_array().unwrap();
            let buttons: Vec<_> = rows.iter().flat_map(|row| row.as_array().unwrap()).collect();
            prop_assert_eq!(buttons.len(), ids.len());
            for (button, id) in buttons.into_iter().zip(&ids) {
                let data = button["callback_data"].as_str().unwrap();
                prop_assert!(data.len() <= MAX_DATA);
                prop_assert_eq!(read(data), Some((key.as_str(), id.as_str())));
                let label = button["text"].as_str().unwrap();
                prop_assert!(!label.trim().is_empty());
                prop_assert!(split::utf16_len(label) <= MAX_LABEL);
            }
        }

        #[test]
        fn any_data_at_all_is_read_or_not_ours(data in "\\PC{0,70}") {
            if let Some((key, choice)) = read(&data) {
                prop_assert_eq!(format!("q:{key}:{choice}"), data);
            }
        }
    }
}
