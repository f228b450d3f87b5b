//! The fields of a form that a server wants filled in: how a person is asked for one, and what their answer comes to.

use selkie_channel_core::Choice;
use selkie_domain::question::QuestionResult;
use selkie_domain::schema::check;
use selkie_guard::visible::code;
use selkie_tools::args::fault_words;
use serde_json::{Number, Value, json};

use crate::text::short;

/// Choices of one field: more have no room on buttons.
const MAX_CHOICES: usize = 10;
/// Characters of a choice, of a field's name, and of what is said of it.
const MAX_LABEL: usize = 60;
const MAX_NAME: usize = 100;
const MAX_ABOUT: usize = 300;
/// Characters of an answer.
const MAX_ANSWER: usize = 2_000;

/// The choices that give no value, and the words that stand for them where a field is answered in words.
pub(crate) const LEFT_OUT: &str = "skip";
pub(crate) const DECLINED: &str = "decline";

pub(crate) struct Field<'a> {
    pub(crate) name: &'a str,
    schema: &'a Value,
    is_required: bool,
    /// What is chosen from; where there is nothing, it is answered in the person's own words.
    listed: Vec<FieldChoice>,
}

struct FieldChoice {
    value: Value,
    label: String,
}

/// What an answer comes to.
#[derive(Debug, PartialEq)]
pub(crate) enum FieldAnswer {
    Value(Value),
    LeftOut,
    Declined,
    /// Nobody has answered.
    None,
}

pub(crate) fn fields(schema: &Value) -> Result<Vec<Field<'_>>, String> {
    let required = schema["required"].as_array();
    let properties = schema["properties"].as_object().into_iter().flatten();
    let read = properties.map(|(name, schema)| {
        let listed = listed(schema).map_err(|why| format!("{} {why}", short(name, MAX_NAME)))?;
        let is_required = required.is_some_and(|all| all.iter().any(|one| one == name));
        Ok(Field { name, schema, is_required, listed })
    });
    read.collect()
}

fn listed(schema: &Value) -> Result<Vec<FieldChoice>, String> {
    let listed = choices(schema)?;
    match schema["type"].as_str() {
        Some("boolean") => {
            let yes = FieldChoice { value: true.into(), label: "Yes".to_owned() };
            let no = FieldChoice { value: false.into(), label: "No".to_owned() };
            Ok(vec![yes, no])
        }
        Some("array") => match choices(&schema["items"])? {
            listed if listed.is_empty() => Err("is a list of whatever".to_owned()),
            listed => Ok(listed),
        },
        Some("string") => Ok(listed),
        Some("integer" | "number") => Ok(Vec::new()),
        _ => Err("is no text, number, yes or no, or choice".to_owned()),
    }
}

/// What a schema lets choose: `enum` with or without `enumNames`, or values with titles.
fn choices(schema: &Value) -> Result<Vec<FieldChoice>, String> {
    let labels = &schema["enumNames"];
    let plain = schema["enum"].as_array().into_iter().flatten().enumerate();
    let plain = plain.map(|(at, value)| (value, labels.get(at)));
    let titled = schema.get("oneOf").or_else(|| schema.get("anyOf")).and_then(Value::as_array);
    let titled = titled.into_iter().flatten().map(|one| (&one["const"], one.get("title")));
    let mut choices = Vec::new();
    for (value, label) in plain.chain(titled) {
        let Some(text) = value.as_str().filter(|_| choices.len() < MAX_CHOICES) else {
            return Err(format!("offers more than {MAX_CHOICES} choices, or no texts"));
        };
        let label = label.and_then(Value::as_str).unwrap_or(text);
        choices.push(FieldChoice { value: value.clone(), label: short(label, MAX_LABEL) });
    }
    Ok(choices)
}

pub(crate) fn button(id: &str, label: &str) -> Choice {
    Choice { id: id.to_owned(), label: label.to_owned(), description: String::new() }
}

impl Field<'_> {
    /// Says what it is for, in the server's words.
    pub(crate) fn about(&self) -> String {
        let said = [&self.schema["title"], &self.schema["description"]];
        let said = said.into_iter().filter_map(Value::as_str);
        said.map(|text| short(text, MAX_ABOUT)).collect::<Vec<_>>().join(": ")
    }

    /// Says what is to be answered, and how, in our words.
    pub(crate) fn wants(&self) -> String {
        let name = code(&short(self.name, MAX_NAME));
        if !self.listed.is_empty() {
            return format!("Which {name}?");
        }
        let kind = match self.schema["type"].as_str() {
            Some("integer") => "a whole number",
            Some("number") => "a number",
            _ => "text",
        };
        let bound =
            |word: &str, key: &str| self.schema[key].as_f64().map(|at| format!(" {word} {at}"));
        let bounds = [bound("from", "minimum"), bound("to", "maximum")];
        let bounds: String = bounds.into_iter().flatten().collect();
        let skips = match self.is_required {
            true => String::new(),
            false => format!("`{LEFT_OUT}` to leave it out, "),
        };
        format!("Write {name}: {kind}{bounds}. Write {skips}`{DECLINED}` to answer nothing.")
    }

    /// Returns its buttons; none where it is answered in words: a number would be one of a button.
    pub(crate) fn buttons(&self) -> Vec<Choice> {
        if self.listed.is_empty() {
            return Vec::new();
        }
        let numbered = self.listed.iter().enumerate();
        let mut buttons: Vec<Choice> =
            numbered.map(|(at, choice)| button(&(at + 1).to_string(), &choice.label)).collect();
        buttons.extend((!self.is_required).then(|| button(LEFT_OUT, "Leave it out")));
        buttons.push(button(DECLINED, "Do not answer"));
        buttons
    }

    pub(crate) fn is_many(&self) -> bool {
        self.schema["type"] == "array"
    }

    pub(crate) fn read(&self, given: &QuestionResult) -> Result<FieldAnswer, String> {
        let value = match given {
            QuestionResult::Expired | QuestionResult::NotAsked { .. } => {
                return Ok(FieldAnswer::None);
            }
            QuestionResult::Words { text } if self.listed.is_empty() => {
                match text.trim().to_lowercase().as_str() {
                    DECLINED => return Ok(FieldAnswer::Declined),
                    LEFT_OUT if !self.is_required => return Ok(self.left_out()),
                    _ => self.value(text.trim())?,
                }
            }
            QuestionResult::Chosen { choices } if !self.listed.is_empty() => {
                if choices.iter().any(|id| id == DECLINED) {
                    return Ok(FieldAnswer::Declined);
                }
                if choices.iter().any(|id| id == LEFT_OUT) {
                    return Ok(self.left_out());
                }
                let at = |id: &String| self.listed.get(id.parse::<usize>().ok()?.checked_sub(1)?);
                let mut values = choices.iter().filter_map(at).map(|choice| choice.value.clone());
                match self.is_many() {
                    true => values.collect(),
                    false => values.next_back().ok_or_else(|| "choose one".to_owned())?,
                }
            }
            _ => return Err("it is no answer to this".to_owned()),
        };
        self.fault(&value).map_or(Ok(FieldAnswer::Value(value)), Err)
    }

    fn value(&self, text: &str) -> Result<Value, String> {
        if text.chars().count() > MAX_ANSWER {
            return Err(format!("it has more than {MAX_ANSWER} characters"));
        }
        let whole = || text.parse::<i64>().ok().map(Value::from);
        let number = || text.parse::<f64>().ok().and_then(Number::from_f64).map(Value::Number);
        match self.schema["type"].as_str() {
            Some("integer") => whole().ok_or_else(|| "it is no whole number".to_owned()),
            Some("number") => {
                whole().or_else(number).ok_or_else(|| "it is no number such as 2.5".to_owned())
            }
            _ => Ok(Value::from(text)),
        }
    }

    /// What stands for it where nobody gives another value.
    fn left_out(&self) -> FieldAnswer {
        let usual = self.schema.get("default").filter(|usual| self.fault(usual).is_none());
        usual.map_or(FieldAnswer::LeftOut, |usual| FieldAnswer::Value(usual.clone()))
    }

    fn fault(&self, value: &Value) -> Option<String> {
        let form = json!({ "properties": { self.name: self.schema } });
        let faults = check(&form, &json!({ self.name: value }));
        let fault = faults.first().map(|fault| short(&fault_words(&form, fault), MAX_ABOUT));
        fault.or_else(|| length_fault(self.schema, value))
    }
}

/// Says how a value is too short or too long.
fn length_fault(schema: &Value, value: &Value) -> Option<String> {
    let length = match value {
        Value::String(text) => text.chars().count(),
        Value::Array(items) => items.len(),
        _ => return None,
    } as u64;
    let limit = |keys: [&str; 2]| keys.iter().find_map(|key| schema.get(key)?.as_u64());
    let least = limit(["minLength", "minItems"]).filter(|least| length < *least);
    let most = limit(["maxLength", "maxItems"]).filter(|most| length > *most);
    let least = least.map(|least| format!("it takes at least {least}, not {length}"));
    least.or_else(|| most.map(|most| format!("it takes at most {most}, not {length}")))
}
