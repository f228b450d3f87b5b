//! A question to a person: what is asked, how their words answer it, and what came of it.

use selkie_channel_core::{Choice, PersonId};
use serde::{Deserialize, Serialize};

use crate::named::named;
use crate::span::Span;

/// What a person is asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ask {
    /// Version of this layout; see [`Ask::VERSION`].
    pub v: u16,
    /// The question, in CommonMark.
    pub markdown: String,
    /// What can be chosen, in order; none when only words answer it.
    pub choices: Vec<Choice>,
    /// Several may be chosen.
    #[serde(default)]
    pub many: bool,
    /// The person may also answer in their own words.
    pub free_text: bool,
    /// A hint for those words; empty for none.
    #[serde(default)]
    pub placeholder: String,
    /// How long it stays open.
    pub within: Span,
}

/// What came of a question, for whoever asked it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "given", rename_all = "snake_case")]
pub enum QuestionResult {
    /// These were chosen.
    Chosen {
        /// Ids of choices, in the question's order.
        choices: Vec<String>,
    },
    /// The person answered in their own words.
    Words {
        /// As written.
        text: String,
    },
    /// Nobody answered in time.
    Expired,
    /// The platform did not take the question.
    NotAsked {
        /// In the platform's words.
        why: String,
    },
}

named! {
    /// Where a question stands. A question of `ask_user` or a plan is answered; a request to approve a call
    /// is approved or denied, and consumed by the call.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum QuestionState {
        /// Waits for its person.
        Open = "open",
        /// Answered.
        Answered = "answered",
        /// The call may be made.
        Approved = "approved",
        /// The approved call was started.
        Consumed = "consumed",
        /// The call may not be made.
        Denied = "denied",
        /// Nobody answered in time.
        Expired = "expired",
        /// Taken back, by `/stop` or `/reset`, or because it could not be asked.
        Withdrawn = "withdrawn",
    }
}

/// Who is asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Person {
    /// Their id.
    pub id: PersonId,
    /// The name the platform shows; may be empty.
    #[serde(default)]
    pub name: String,
}

impl Ask {
    /// The layout written today.
    pub const VERSION: u16 = 1;

    /// Reads a person's words as an answer: numbers or labels of choices, else free text where it is
    /// taken. `None` when they answer nothing here.
    pub fn read(&self, text: &str) -> Option<QuestionResult> {
        let text = text.trim();
        if text.is_empty() {
            return None;
        }
        if let Some(choices) = self.chosen(text) {
            return Some(QuestionResult::Chosen { choices });
        }
        self.free_text.then(|| QuestionResult::Words { text: text.to_owned() })
    }

    /// Whether words are a number or a label of its choices, so that they are meant for it alone.
    pub fn names_choice(&self, text: &str) -> bool {
        self.chosen(text.trim()).is_some()
    }

    /// Writes an answer for people and models.
    pub fn says(&self, given: &QuestionResult) -> String {
        match given {
            QuestionResult::Chosen { choices } => self.labels(choices).join(", "),
            QuestionResult::Words { text } => text.clone(),
            QuestionResult::Expired => format!("No answer within {}", self.within),
            QuestionResult::NotAsked { why } => format!("The question could not be asked: {why}"),
        }
    }

    /// Returns the labels of choices, in the question's order.
    pub fn labels(&self, ids: &[String]) -> Vec<&str> {
        let chosen = self.choices.iter().filter(|c| ids.contains(&c.id));
        chosen.map(|c| c.label.as_str()).collect()
    }

    /// Reads `2`, `tea`, and where several may be chosen `1, 3` or `tea, milk`.
    fn chosen(&self, text: &str) -> Option<Vec<String>> {
        if let Some(one) = self.choice(text) {
            return Some(vec![one.id.clone()]);
        }
        if !self.many {
            return None;
        }
        let by_comma: Option<Vec<&Choice>> =
            text.split([',', ';']).map(|piece| self.choice(piece)).collect();
        let by_space = || text.split([',', ' ']).filter(|p| !p.is_empty());
        let found = by_comma.or_else(|| by_space().map(|piece| self.choice(piece)).collect())?;
        // In the question's order, each once.
        let ids = self.choices.iter().filter(|c| found.iter().any(|f| f.id == c.id));
        let ids: Vec<String> = ids.map(|c| c.id.clone()).collect();
        // Commas alone choose nothing.
        (!ids.is_empty()).then_some(ids)
    }

    fn choice(&self, text: &str) -> Option<&Choice> {
        let bare = text.trim().trim_end_matches(['.', ')', '!']).trim();
        if let Ok(number) = bare.parse::<usize>() {
            return self.choices.get(number.checked_sub(1)?);
        }
        let plain =
            |text: &str| text.trim().trim_end_matches(['.', ')', '!']).trim().to_lowercase();
        let wanted = plain(text);
        // Exactly as written first: two labels may differ in their last mark alone.
        let exact = self.choices.iter().find(|c| c.label.trim().eq_ignore_ascii_case(text.trim()));
        exact.or_else(|| self.choices.iter().find(|c| plain(&c.label) == wanted))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn ask(labels: &[&str], many: bool, free_text: bool) -> Ask {
        let choice = |(n, label): (usize, &&str)| Choice {
            id: (n + 1).to_string(),
            label: (*label).to_owned(),
            description: String::new(),
        };
        Ask {
            v: Ask::VERSION,
            markdown: "What?".to_owned(),
            choices: labels.iter().enumerate().map(choice).collect(),
            many,
            free_text,
            placeholder: String::new(),
            within: Span::seconds(86_400),
        }
    }

    fn read(ask: &Ask, text: &str) -> String {
        ask.read(text).map_or("nothing".to_owned(), |given| match &given {
            QuestionResult::Chosen { .. } => format!("chose {}", ask.says(&given)),
            _ => format!("said {}", ask.says(&given)),
        })
    }

    #[test]
    fn commas_alone_choose_nothing() {
        assert_eq!(ask(&["tea", "milk"], true, false).read(", ;"), None);
        assert_eq!(ask(&["tea", "milk"], true, false).read(","), None);
    }

    #[test]
    fn numbers_labels_and_words_answer() {
        let one = ask(&["Tea", "Coffee!"], false, false);
        let many = ask(&["Tea", "Milk", "Sugar cane"], true, false);
        let free = ask(&["Tea"], false, true);
        let said = [
            read(&one, " 2. "),
            read(&one, "coffee"),
            read(&one, "TEA"),
            read(&one, "1, 2"),
            read(&one, "0"),
            read(&one, "3"),
            read(&one, "rather water"),
            read(&many, "3, 1"),
            read(&many, "1 2"),
            read(&many, "sugar cane, tea"),
            read(&many, "1, 7"),
            read(&free, "rather water"),
            read(&free, "tea"),
            read(&free, "  "),
        ];
        insta::assert_snapshot!(said.join("\n"), @r"
        chose Coffee!
        chose Coffee!
        chose Tea
        nothing
        nothing
        nothing
        nothing
        chose Tea, Sugar cane
        chose Tea, Milk
        chose Tea, Sugar cane
        nothing
        said rather water
        chose Tea
        nothing
        ");
    }

    #[test]
    fn states_have_names() {
        for state in QuestionState::ALL {
            assert_eq!(QuestionState::parse(state.name()), Some(state));
        }
    }

    proptest! {
        /// Every choice is reached by its number and by its label, whatever the label is.
        #[test]
        fn every_choice_is_reached(labels in prop::collection::btree_set("[a-z]{1,6}( [a-z!]{1,4})?", 2..5)) {
            let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
            let ask = ask(&labels, false, false);
            for (n, label) in labels.iter().enumerate() {
                let by_number = ask.read(&(n + 1).to_string());
                prop_assert_eq!(by_number, Some(QuestionResult::Chosen { choices: vec![(n + 1).to_string()] }));
                prop_assert!(ask.read(label).is_some());
            }
        }

        #[test]
        fn a_question_without_free_text_takes_choices_alone(text in "\\PC{0,20}", many: bool) {
            let ask = ask(&["tea", "milk"], many, false);
            if let Some(QuestionResult::Chosen { choices }) = ask.read(&text) {
                prop_assert!(!choices.is_empty() && choices.len() <= 2);
            }
        }
    }
}
