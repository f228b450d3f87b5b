//! A question with its choices, and how it is written where there are no buttons.

use serde::{Deserialize, Serialize};

/// A question to one person.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Question {
    /// Names it for ever; 1 to 24 ASCII letters and digits, so that it fits beside a choice into a button.
    pub key: String,
    /// What is asked, in CommonMark.
    pub markdown: String,
    /// The buttons, in order; none when only words answer it.
    #[serde(default)]
    pub choices: Vec<Choice>,
    /// The person may also answer in their own words.
    #[serde(default)]
    pub free_text: bool,
    /// A hint for those words; where only buttons answer it, the words that do the same where there are none. Empty for
    /// none.
    #[serde(default)]
    pub placeholder: String,
}

impl Question {
    /// Says that own words answer it, too, and which are meant.
    pub fn hint(&self) -> Option<&str> {
        let usual = match self.choices.is_empty() {
            true => "",
            false => "You can also answer in your own words.",
        };
        let hint = Some(self.placeholder.trim()).filter(|hint| !hint.is_empty()).unwrap_or(usual);
        (self.free_text && !hint.is_empty()).then_some(hint)
    }

    /// Writes it without buttons, its choices numbered from 1: a number, a label or own words answer it. Where other words
    /// stand for the buttons, they stand there instead.
    pub fn in_words(&self) -> String {
        let mut words = self.markdown.trim_end().to_owned();
        if !self.free_text && !self.placeholder.is_empty() {
            return format!("{words}\n\n{}", self.placeholder);
        }
        for (n, choice) in self.choices.iter().enumerate() {
            let gap = if n == 0 { "\n\n" } else { "\n" };
            words += &format!("{gap}{}. {}", n + 1, choice.label);
            if !choice.description.is_empty() {
                words += &format!(": {}", choice.description);
            }
        }
        words += &self.hint().map(|hint| format!("\n\n{hint}")).unwrap_or_default();
        words
    }
}

/// One button of a question.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Choice {
    /// Names it within its question; 1 to 8 ASCII letters and digits.
    pub id: String,
    /// What stands on the button; channels shorten it to what fits.
    pub label: String,
    /// What it means, shown with the question where a button has no room for it; empty for nothing.
    #[serde(default)]
    pub description: String,
}
