//! Buttons: what LINE shows of a question's choices, and what a tap on one tells.

use selkie_channel_core::{Question, split};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// LINE's limit of quick replies beside a message.
const MAX_QUICK: usize = 13;
/// LINE's limit of a label, and what a person is shown to have tapped.
const MAX_LABEL: usize = 20;
const MAX_DISPLAY: usize = 300;
/// LINE's limit of the words on a card without a title.
pub const MAX_CARD: usize = 160;
/// Stands before the data of our own buttons.
const OURS: &str = "q:";

/// The buttons of a message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Buttons {
    /// How they are shown.
    pub form: Form,
    /// In order.
    pub items: Vec<Button>,
}

/// How buttons are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// Below the newest message; they go with the next one.
    Quick,
    /// On the message itself; they stay.
    Card,
}

/// One button.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Button {
    /// What stands on it.
    pub label: String,
    /// What a tap brings back.
    pub data: String,
    /// What the chat shows the person to have said.
    pub display: String,
}

impl Buttons {
    /// Makes the buttons of a question; none when it has no choices or more than LINE shows.
    pub fn of(question: &Question, form: Form) -> Option<Self> {
        let button = |choice: &selkie_channel_core::Choice| Button {
            label: split::shorten(choice.label.trim(), MAX_LABEL),
            data: format!("{OURS}{}:{}", question.key, choice.id),
            display: split::shorten(choice.label.trim(), MAX_DISPLAY),
        };
        let items: Vec<Button> = question.choices.iter().map(button).collect();
        let shown = (1..=MAX_QUICK).contains(&items.len())
            && items.iter().all(|item| !item.label.trim().is_empty());
        shown.then_some(Self { form, items })
    }

    /// Puts the buttons on a text message.
    pub fn dress(&self, message: &mut Value) {
        let actions = self.items.iter().map(|item| {
            json!({
                "type": "postback", "label": item.label, "data": item.data, "displayText": item.display,
            })
        });
        match self.form {
            Form::Quick => {
                let items: Vec<Value> =
                    actions.map(|action| json!({ "type": "action", "action": action })).collect();
                message["quickReply"] = json!({ "items": items });
            }
            Form::Card => {
                let text = message["text"].take();
                let actions: Vec<Value> = actions.collect();
                *message = json!({
                    "type": "template", "altText": text,
                    "template": { "type": "buttons", "text": text, "actions": actions },
                });
            }
        }
    }
}

/// Reads what a tap brought back: the question's key and the choice's id; `None` for buttons that are
/// none of ours.
pub fn read(data: &str) -> Option<(String, String)> {
    let (key, choice) = data.strip_prefix(OURS)?.split_once(':')?;
    let word = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_alphanumeric());
    (word(key) && word(choice) && key.len() <= 24 && choice.len() <= 8)
        .then(|| (key.to_owned(), choice.to_owned()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use selkie_channel_core::Choice;

    use super::*;

    fn question(labels: &[&str]) -> Question {
        let choice = |(at, label): (usize, &&str)| Choice {
            id: at.to_string(),
            label: (*label).to_owned(),
            description: String::new(),
        };
        Question {
            key: "k7".to_owned(),
            markdown: "Tea?".to_owned(),
            choices: labels.iter().enumerate().map(choice).collect(),
            free_text: false,
            placeholder: String::new(),
        }
    }

    #[test]
    fn a_button_fits_and_tells_what_was_tapped() {
        let long = "a choice that is much longer than a button";
        let buttons = Buttons::of(&question(&["yes", long]), Form::Quick).unwrap();
        assert_eq!(buttons.items[1].label, "a choice that is mu…");
        assert_eq!(buttons.items[1].display, long);
        assert_eq!(read(&buttons.items[1].data), Some(("k7".to_owned(), "1".to_owned())));
    }

    #[test]
    fn what_line_would_refuse_has_no_buttons() {
        assert_eq!(Buttons::of(&question(&[]), Form::Quick), None);
        assert_eq!(Buttons::of(&question(&["x"; 14]), Form::Quick), None);
        assert_eq!(Buttons::of(&question(&["yes", " "]), Form::Quick), None);
        assert!(Buttons::of(&question(&["x"; 13]), Form::Quick).is_some());
    }

    #[test]
    fn buttons_of_others_are_not_ours() {
        for data in ["", "buy=1", "q:", "q:k", "q::1", "q:k:", "q:k!:1", "q:k:123456789", "Q:k:1"] {
            assert_eq!(read(data), None, "{data}");
        }
    }

    proptest! {
        #[test]
        fn every_label_fits(label in "\\PC{0,60}") {
            let cut = split::shorten(label.trim(), MAX_LABEL);
            prop_assert!(split::utf16_len(&cut) <= MAX_LABEL);
        }

        #[test]
        fn no_data_harms(data in ".{0,60}") {
            if let Some((key, choice)) = read(&data) {
                prop_assert_eq!(data, format!("q:{}:{}", key, choice));
            }
        }
    }
}
