//! The form that an answer has to have: an agent corrects itself once.

use serde_json::Value;

use super::Run;
use crate::messages;
use selkie_domain::schema::check;
use selkie_domain::transcript::Item;
use selkie_tools::args::fault_words;

/// So many faults of an answer are told.
const MAX_FAULTS: usize = 5;

impl Run {
    /// Says which JSON Schema the answer has to fit.
    pub fn answers_by(&mut self, schema: Option<&str>) {
        self.schema = schema.and_then(|text| serde_json::from_str(text).ok());
    }

    /// Holds an answer against its form. Returns it as it is told, or `None` where another turn or the end has come of it.
    pub(super) fn in_form(&mut self, text: String) -> Option<String> {
        let Some(schema) = &self.schema else { return Some(text) };
        let fault = match parsed(&text) {
            Err(why) => why,
            Ok(value) => match fault(schema, &value) {
                None => return Some(value.to_string()),
                Some(why) => why,
            },
        };
        self.items.push(Item::said(text, self.read));
        if self.header.corrected {
            let why = messages::answer_unfit(&fault);
            self.fail(why.clone(), why);
        } else {
            self.header.corrected = true;
            self.items.push(Item::Noted { text: messages::correct_answer(&fault) });
        }
        None
    }
}

/// The JSON of an answer, whatever fence stands around it.
fn parsed(text: &str) -> Result<Value, String> {
    let bare = text.trim();
    let fenced = bare.strip_prefix("```").and_then(|rest| rest.strip_suffix("```"));
    let inner = fenced.map(|inner| inner.split_once('\n').map_or(inner, |(_, body)| body));
    serde_json::from_str(inner.unwrap_or(bare).trim())
        .map_err(|error| format!("it is no JSON: {error}"))
}

/// The first thing that is wrong with a value.
fn fault(schema: &Value, value: &Value) -> Option<String> {
    let faults = check(schema, value);
    let said = faults.iter().take(MAX_FAULTS).map(|fault| {
        let whole = if fault.path.is_empty() { "the answer" } else { "" };
        format!("{whole}{}", fault_words(schema, fault))
    });
    let said: Vec<String> = said.collect();
    (!said.is_empty()).then(|| said.join("; "))
}
