//! What the deciding model answers: a strict contract, read tolerantly, and judged by the mode. Pure.

use serde_json::{Map, Value};

use crate::intake::gate::settings::GateSettings;
use crate::work::settings::TriggerMode;
use selkie_domain::gate::GatePass;

/// The longest reason that is kept, in bytes.
const REASON: usize = 300;

/// The model's answer.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Decision {
    /// The bot is meant.
    pub(super) addressed: bool,
    /// How sure the model is of that.
    pub(super) confidence: f64,
    /// The bot has something to say.
    pub(super) wanna_interject: bool,
    /// How fitting that would be.
    pub(super) interject: f64,
    /// How strong the wish to speak is.
    pub(super) impulse: f64,
    /// A reaction or a short line is enough.
    pub(super) is_lightweight: bool,
    /// In the model's words.
    pub(super) reason: String,
    /// Which of the new lines it is about, from 1; the last when it does not say.
    pub(super) line: Option<usize>,
}

impl Decision {
    /// Reads an answer. The error is for the model, which is asked once more, and for the log.
    pub(super) fn read(text: &str) -> Result<Self, String> {
        let object = object(text).ok_or("there is no JSON object in it")?;
        let boolean = |key: &str| {
            object.get(key).and_then(truth).ok_or_else(|| format!("`{key}` must be true or false"))
        };
        let share = |key: &str| {
            let number = object.get(key).and_then(number).filter(|n| (0.0..=1.0).contains(n));
            number.ok_or_else(|| format!("`{key}` must be a number from 0 to 1"))
        };
        let reason = object.get("reason").and_then(Value::as_str).unwrap_or_default().trim();
        Ok(Self {
            addressed: boolean("addressed")?,
            confidence: share("confidence")?,
            wanna_interject: boolean("wanna_interject")?,
            interject: share("interject")?,
            impulse: share("impulse")?,
            is_lightweight: object.get("is_lightweight").and_then(truth).unwrap_or(false),
            reason: reason[..reason.floor_char_boundary(REASON)].to_owned(),
            line: object.get("about").and_then(number).filter(|n| *n >= 1.0).map(|n| n as usize),
        })
    }

    /// Returns whether the bot speaks; `None` when it does not.
    pub(super) fn judge(&self, mode: TriggerMode, settings: &GateSettings) -> Option<GatePass> {
        let speaks = match mode {
            TriggerMode::Strict => false,
            TriggerMode::Smart => self.addressed && self.confidence >= settings.confidence.0,
            TriggerMode::Talkative => self.wanna_interject && self.interject > settings.interject.0,
        };
        speaks.then(|| GatePass {
            quotes: self.impulse > settings.quote_above.0,
            is_lightweight: self.is_lightweight,
            reason: self.reason.clone(),
        })
    }
}

/// The first whole JSON object of a text: models put words and fences around it.
fn object(text: &str) -> Option<Map<String, Value>> {
    text.match_indices('{').find_map(|(at, _)| {
        let mut values = serde_json::Deserializer::from_str(&text[at..]).into_iter();
        match values.next() {
            Some(Ok(Value::Object(object))) => Some(object),
            _ => None,
        }
    })
}

fn truth(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(truth) => Some(*truth),
        Value::Number(number) => number.as_f64().map(|n| n != 0.0),
        Value::String(word) => match word.trim().to_lowercase().as_str() {
            "true" | "yes" | "1" => Some(true),
            "false" | "no" | "0" => Some(false),
            _ => None,
        },
        _ => None,
    }
}

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::String(word) => word.trim().parse().ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::intake::gate::settings::Share;

    fn answer() -> Value {
        json!({ "addressed": true, "confidence": 0.7, "wanna_interject": false, "interject": 0.2,
                "impulse": 0.9, "is_lightweight": false, "reason": "it asks for tea" })
    }

    fn with(key: &str, value: Value) -> Result<Decision, String> {
        let mut answer = answer();
        answer[key] = value;
        Decision::read(&answer.to_string())
    }

    #[test]
    fn words_and_fences_around_it_and_numbers_in_quotes_are_read() {
        let fenced = format!("I think {{so}}:\n```json\n{}\n```\nDone.", answer());
        assert_eq!(Decision::read(&fenced), Decision::read(&answer().to_string()));
        for yes in [json!("true"), json!(" Yes "), json!(1), json!("1")] {
            assert!(with("wanna_interject", yes).unwrap().wanna_interject);
        }
        assert_eq!(with("interject", json!("0.25")).unwrap().interject, 0.25);
        assert_eq!(with("about", json!("2")).unwrap().line, Some(2));
        assert_eq!(with("about", json!(0)).unwrap().line, None);
    }

    #[test]
    fn what_is_missing_or_out_of_range_is_named() {
        for (key, value) in
            [("addressed", json!("maybe")), ("confidence", json!(7)), ("impulse", json!(null))]
        {
            let error = with(key, value).unwrap_err();
            assert!(error.contains(&format!("`{key}` must be")), "{error}");
        }
        assert!(Decision::read("yes, answer").unwrap_err().contains("no JSON object"));
        assert!(Decision::read("[]").is_err());
    }

    #[test]
    fn each_mode_has_its_own_measure() {
        let settings = GateSettings::default();
        let decision = Decision::read(&answer().to_string()).unwrap();
        let smart = decision.judge(TriggerMode::Smart, &settings).unwrap();
        assert!(smart.quotes, "0.9 is above 0.8");
        assert_eq!(decision.judge(TriggerMode::Talkative, &settings), None);
        assert_eq!(decision.judge(TriggerMode::Strict, &settings), None);
        let exactly = Decision { confidence: 0.6, impulse: 0.8, ..decision.clone() };
        assert!(!exactly.judge(TriggerMode::Smart, &settings).unwrap().quotes, "not above");
        let unsure = Decision { confidence: 0.59, ..decision.clone() };
        assert_eq!(unsure.judge(TriggerMode::Smart, &settings), None);
        let keen = Decision { wanna_interject: true, interject: 0.6, ..decision.clone() };
        assert_eq!(keen.judge(TriggerMode::Talkative, &settings), None, "more than, not as much");
        let keener = Decision { interject: 0.61, ..keen };
        assert!(keener.judge(TriggerMode::Talkative, &settings).is_some());
        let zero = GateSettings { confidence: Share(0.0), interject: Share(0.0), ..settings };
        let faint =
            Decision { confidence: 0.0, wanna_interject: true, interject: 0.01, ..decision };
        assert!(faint.judge(TriggerMode::Smart, &zero).is_some(), "zero is a threshold");
        assert!(faint.judge(TriggerMode::Talkative, &zero).is_some());
    }

    proptest! {
        #[test]
        fn any_answer_is_survived(text in "(\\{|\\}|\"|addressed|:|true|,|\\PC){0,40}") {
            let _ = Decision::read(&text);
        }

        #[test]
        fn a_long_reason_is_cut_between_characters(reason in "\\PC{0,400}") {
            let decision = with("reason", json!(reason)).unwrap();
            prop_assert!(decision.reason.len() <= REASON);
        }
    }
}
