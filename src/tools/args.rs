//! Arguments as models write them → arguments a tool can trust, or every fault in words it can act on.

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Number, Value};

use crate::ToolError;
use selkie_domain::schema::{Fault, FaultKind, check, describe};

/// Arguments that passed.
#[derive(Clone, Debug, PartialEq)]
pub struct ValidArgs {
    /// With numbers as numbers and absent things absent.
    pub args: Value,
    /// What was changed that the model should know of: a number brought to its limit.
    pub notes: Vec<String>,
}

/// Checks what a model wrote against a tool's parameters.
///
/// `"10"` and `10.0` count as 10, `null` as absent, offset 0 as 1; a number beyond its limit is brought
/// to the limit and noted.
///
/// # Errors
/// Every fault, in the words of the reference documents, for the model.
pub fn accept(parameters: &Value, written: &Value) -> Result<ValidArgs, String> {
    let Value::Object(written) = written else {
        return Err(format!("the arguments must be one JSON object like {}", example(parameters)));
    };
    let mut args = Value::Object(convert_all(parameters, written));
    let notes = bring_to_limits(parameters, &mut args);
    let mut faults: Vec<String> =
        check(parameters, &args).iter().map(|f| fault_words(parameters, f)).collect();
    faults.extend(empty_required(parameters, &args));
    faults.dedup();
    if faults.is_empty() { Ok(ValidArgs { args, notes }) } else { Err(faults.join("\n")) }
}

/// Checks what a model wrote against the parameters of somebody else's tool, and leaves it as it is: what it takes beyond
/// its schema, and in which form, is its own affair.
///
/// # Errors
/// Every fault, in the same words.
pub fn accept_as_written(parameters: &Value, written: &Value) -> Result<ValidArgs, String> {
    if !written.is_object() {
        return Err(format!("the arguments must be one JSON object like {}", example(parameters)));
    }
    let faults: Vec<String> =
        check(parameters, written).iter().map(|f| fault_words(parameters, f)).collect();
    match faults.is_empty() {
        true => Ok(ValidArgs { args: written.clone(), notes: Vec::new() }),
        false => Err(faults.join("\n")),
    }
}

/// Returns the parameters of a tool from its typed arguments: one root object, nothing a model need not
/// read (`$schema`, titles, number formats, null as a type), every `$ref` written out.
pub fn parameters<T: JsonSchema>() -> Value {
    tidy(schemars::schema_for!(T).to_value())
}

/// Brings a derived schema into the form that [`parameters`] gives.
pub fn tidy(schema: Value) -> Value {
    let definitions = schema.get("$defs").cloned().unwrap_or(Value::Null);
    let mut root = plain(&schema, &definitions, 0);
    if let Value::Object(map) = &mut root {
        map.remove("$defs");
        map.remove("description");
        map.entry("type").or_insert_with(|| "object".into());
        map.entry("properties").or_insert_with(|| Value::Object(Map::new()));
        map.insert("additionalProperties".to_owned(), Value::Bool(false));
    }
    root
}

/// Reads checked arguments into their type.
///
/// # Errors
/// A defect of the tool's schema, told to the model.
pub fn typed<T: DeserializeOwned>(args: Value) -> Result<T, ToolError> {
    serde_json::from_value(args).map_err(|e| ToolError::tell(format!("invalid arguments: {e}")))
}

/// References nest at most so deep; deeper means that a type holds itself.
const DEEPEST: usize = 12;

fn plain(schema: &Value, definitions: &Value, depth: usize) -> Value {
    let map = match schema {
        Value::Object(map) => map,
        Value::Array(list) => {
            return list.iter().map(|s| plain(s, definitions, depth + 1)).collect();
        }
        other => return other.clone(),
    };
    let target = map.get("$ref").and_then(Value::as_str).and_then(|r| r.strip_prefix("#/$defs/"));
    if let Some(target) = target.and_then(|name| definitions.get(name)).filter(|_| depth < DEEPEST)
    {
        let mut written_out = plain(target, definitions, depth + 1);
        if let (Value::Object(out), Some(words)) = (&mut written_out, map.get("description")) {
            out.insert("description".to_owned(), words.clone());
        }
        return written_out;
    }
    let mut out = Map::new();
    for (key, value) in map {
        match key.as_str() {
            "$schema" | "title" | "format" => {}
            "default" if value.is_null() => {}
            "type" => drop(out.insert(key.clone(), without_null(value))),
            "properties" => drop(out.insert(key.clone(), properties(value, definitions, depth))),
            "enum" => drop(out.insert(key.clone(), not_null(value))),
            "anyOf" | "oneOf" => choices(&mut out, key, &plain(value, definitions, depth)),
            _ => drop(out.insert(key.clone(), plain(value, definitions, depth + 1))),
        }
    }
    Value::Object(out)
}

/// Names of parameters are not keywords: a parameter called `title` or `format` stays.
fn properties(value: &Value, definitions: &Value, depth: usize) -> Value {
    let Value::Object(map) = value else { return value.clone() };
    map.iter().map(|(name, s)| (name.clone(), plain(s, definitions, depth + 1))).collect()
}

/// `{"anyOf": [X, null]}` is X that may be absent.
fn choices(out: &mut Map<String, Value>, key: &str, list: &Value) {
    let all = list.as_array().cloned().unwrap_or_default();
    let mut kept: Vec<Value> =
        all.into_iter().filter(|c| c.get("type").is_none_or(|t| t != "null")).collect();
    match (kept.len(), kept.pop()) {
        (1, Some(Value::Object(only))) => {
            for (key, value) in only {
                out.entry(key).or_insert(value);
            }
        }
        (_, last) => {
            kept.extend(last);
            out.insert(key.to_owned(), Value::Array(kept));
        }
    }
}

fn without_null(value: &Value) -> Value {
    let Value::Array(many) = value else { return value.clone() };
    let kept: Vec<Value> = many.iter().filter(|t| *t != "null").cloned().collect();
    match <[Value; 1]>::try_from(kept) {
        Ok([only]) => only,
        Err(kept) => Value::Array(kept),
    }
}

fn not_null(value: &Value) -> Value {
    let Value::Array(many) = value else { return value.clone() };
    many.iter().filter(|v| !v.is_null()).cloned().collect()
}

fn convert_all(schema: &Value, written: &Map<String, Value>) -> Map<String, Value> {
    let known = written.iter().filter(|(_, value)| !value.is_null());
    known.map(|(key, value)| (key.clone(), convert(property(schema, key), value))).collect()
}

/// Reads a value the way it was meant: numbers and truth values written as text, whole numbers with
/// a point.
fn convert(schema: Option<&Value>, value: &Value) -> Value {
    let Some(schema) = schema else { return value.clone() };
    if let (Value::Array(items), Some(each)) = (value, schema.get("items")) {
        return items.iter().map(|item| convert(Some(each), item)).collect();
    }
    if let Value::Object(map) = value {
        return Value::Object(convert_all(schema, map));
    }
    let meant = match schema.get("type").and_then(Value::as_str) {
        Some("integer") => whole(value),
        Some("number") => value.as_str().and_then(|s| s.trim().parse().ok()).map(Value::Number),
        Some("boolean") => match value.as_str() {
            Some("true") => Some(Value::Bool(true)),
            Some("false") => Some(Value::Bool(false)),
            _ => None,
        },
        _ => None,
    };
    meant.unwrap_or_else(|| value.clone())
}

/// The largest whole number that a floating-point number holds exactly: 2⁵³.
const EXACT: f64 = 9_007_199_254_740_992.0;

fn whole(value: &Value) -> Option<Value> {
    let number = match value {
        Value::Number(number) => number.clone(),
        Value::String(text) => text.trim().parse::<Number>().ok()?,
        _ => return None,
    };
    if number.is_i64() || number.is_u64() {
        return Some(Value::Number(number));
    }
    let float = number.as_f64().filter(|f| f.fract() == 0.0 && f.abs() <= EXACT)?;
    #[expect(clippy::cast_possible_truncation, reason = "a whole number within ±2⁵³")]
    let exact = float as i64;
    Some(exact.into())
}

fn bring_to_limits(parameters: &Value, args: &mut Value) -> Vec<String> {
    let mut notes = Vec::new();
    for fault in check(parameters, args) {
        let FaultKind::Range { got, least, most } = &fault.kind else { continue };
        let Some(limit) = limit(got, *least, *most) else { continue };
        let Some(place) = args.pointer_mut(&format!("/{}", fault.path.join("/"))) else { continue };
        let name = fault.path.join(".");
        if !(name == "offset" && got == "0") {
            notes.push(format!("[{name} {got} was brought to its limit, {limit}.]"));
        }
        *place = limit;
    }
    notes
}

fn limit(got: &str, least: Option<f64>, most: Option<f64>) -> Option<Value> {
    let number: f64 = got.parse().ok()?;
    let limit = least.filter(|l| number < *l).or(most)?;
    whole(&Value::from(limit)).or_else(|| Some(Value::from(limit)))
}

/// A required text that is empty was not given, unless its schema says that it may be (`minLength` 0).
fn empty_required(parameters: &Value, args: &Value) -> Vec<String> {
    let required = parameters.get("required").and_then(Value::as_array).into_iter().flatten();
    let empty = required.filter_map(Value::as_str).filter(|name| {
        let may_be = property(parameters, name).and_then(|p| p.get("minLength"));
        args.get(name).is_some_and(|v| v == "") && may_be.is_none_or(|least| least != 0)
    });
    empty.map(|name| format!("{name} is required")).collect()
}

/// Says a fault in the words of the reference documents.
pub fn fault_words(parameters: &Value, fault: &Fault) -> String {
    let name = fault.path.join(".");
    match &fault.kind {
        FaultKind::Missing => format!("{name} is required"),
        FaultKind::Unknown { nearest, taken } => {
            let meant = nearest.as_ref().map(|n| format!(": did you mean {n}?"));
            let takes = if taken.is_empty() { "none".to_owned() } else { taken.join(", ") };
            format!("unknown parameter {name}{} (takes {takes})", meant.unwrap_or_default())
        }
        FaultKind::Type { takes, .. } => match in_list(parameters, &fault.path) {
            Some((list, takes)) => format!("{list} must be {takes}"),
            None => format!("{name} must be {takes}"),
        },
        FaultKind::NotListed { got, takes } => {
            format!("invalid {name}: {got} (takes {})", takes.join(", "))
        }
        FaultKind::Range { got, .. } => format!("invalid {name}: {got}"),
        FaultKind::Endless => {
            "the schema leads back to itself or is too large to check by".to_owned()
        }
    }
}

/// A wrong item is a wrong list: `people must be an array of strings`.
fn in_list(parameters: &Value, path: &[String]) -> Option<(String, String)> {
    let (last, list) = path.split_last()?;
    last.parse::<usize>().ok()?;
    let mut schema = parameters;
    for step in list {
        schema = property(schema, step).or_else(|| schema.get("items"))?;
    }
    Some((list.join("."), describe(parameters, schema)))
}

fn property<'a>(schema: &'a Value, name: &str) -> Option<&'a Value> {
    schema.get("properties")?.get(name)
}

fn example(parameters: &Value) -> String {
    let required = parameters.get("required").and_then(Value::as_array).into_iter().flatten();
    let shown: Vec<String> =
        required.filter_map(Value::as_str).map(|name| format!("\"{name}\": …")).collect();
    format!("{{{}}}", shown.join(", "))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde::Deserialize;
    use serde_json::json;

    use super::*;

    /// Words about the struct that a model need not read.
    #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
    struct Sample {
        /// A path.
        path: String,
        /// May be empty.
        #[schemars(length(min = 0))]
        content: String,
        #[schemars(range(min = 1))]
        offset: Option<u64>,
        #[schemars(range(min = 1, max = 20))]
        limit: Option<u64>,
        /// How.
        mode: Option<Mode>,
        people: Option<Vec<String>>,
        loud: Option<bool>,
        score: Option<f64>,
        title: Option<String>,
        todos: Option<Vec<Item>>,
    }

    #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    enum Mode {
        Overwrite,
        Append,
    }

    #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
    struct Item {
        id: String,
    }

    fn says(written: Value) -> String {
        match accept(&parameters::<Sample>(), &written) {
            Ok(accepted) => format!("{} {:?}", accepted.args, accepted.notes),
            Err(faults) => faults,
        }
    }

    #[test]
    fn the_schema_holds_what_a_model_needs() {
        let schema = serde_json::to_string(&parameters::<Sample>()).unwrap();
        insta::assert_snapshot!(schema, @r#"{"type":"object","properties":{"path":{"type":"string","description":"A path."},"content":{"type":"string","description":"May be empty.","minLength":0},"offset":{"type":"integer","minimum":1},"limit":{"type":"integer","minimum":1,"maximum":20},"mode":{"type":"string","enum":["overwrite","append"],"description":"How."},"people":{"type":"array","items":{"type":"string"}},"loud":{"type":"boolean"},"score":{"type":"number"},"title":{"type":"string"},"todos":{"type":"array","items":{"type":"object","properties":{"id":{"type":"string"}},"required":["id"]}}},"required":["path","content"],"additionalProperties":false}"#);
    }

    #[test]
    fn faults_are_said_in_the_words_of_the_seeds() {
        let wrong = json!({
            "path": "", "content": 5, "mode": "apend", "people": [1], "pth": "x",
            "todos": [{"title": "t"}], "loud": "perhaps", "limit": "ten"
        });
        insta::assert_snapshot!(says(wrong), @r"
        content must be a string
        invalid mode: apend (takes overwrite, append)
        people must be an array of strings
        unknown parameter pth: did you mean path? (takes path, content, offset, limit, mode, people, loud, score, title, todos)
        todos.0.id is required
        loud must be true or false
        limit must be a whole number
        path is required
        ");
        assert_eq!(says(json!({})), "path is required\ncontent is required");
        assert_eq!(
            says(json!("{\"path\": ")),
            "the arguments must be one JSON object like {\"path\": …, \"content\": …}"
        );
    }

    #[test]
    fn numbers_are_read_as_they_were_meant() {
        let meant = json!({
            "path": "p", "content": "", "offset": 0, "limit": "10", "score": "0.5", "loud": "true",
            "mode": null
        });
        assert_eq!(
            says(meant),
            r#"{"path":"p","content":"","offset":1,"limit":10,"score":0.5,"loud":true} []"#
        );
        assert_eq!(
            says(json!({"path": "p", "content": "c", "limit": 99.0})),
            r#"{"path":"p","content":"c","limit":20} ["[limit 99 was brought to its limit, 20.]"]"#
        );
        assert_eq!(
            says(json!({"path": "p", "content": "c", "offset": -4})),
            r#"{"path":"p","content":"c","offset":1} ["[offset -4 was brought to its limit, 1.]"]"#
        );
        assert_eq!(
            says(json!({"path": "p", "content": "c", "limit": 1.5})),
            "limit must be a whole number"
        );
    }

    fn anything() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            ".{0,8}".prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 16, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::hash_map("[a-z]{1,6}", inner, 0..4)
                    .prop_map(|m| m.into_iter().collect()),
            ]
        })
    }

    proptest! {
        /// Whatever a model writes: what is accepted can be read into the type, the rest is told.
        #[test]
        fn what_is_accepted_fits_the_type(
            path in anything(), content in anything(), offset in anything(), limit in anything(),
            mode in anything(), people in anything(), todos in anything()
        ) {
            let schema = parameters::<Sample>();
            let written = json!({"path": path, "content": content, "offset": offset, "limit": limit,
                "mode": mode, "people": people, "todos": todos});
            match accept(&schema, &written) {
                Ok(accepted) => {
                    prop_assert!(typed::<Sample>(accepted.args.clone()).is_ok());
                    let again = accept(&schema, &accepted.args).unwrap();
                    prop_assert_eq!((again.args, again.notes), (accepted.args, vec![]));
                }
                Err(faults) => prop_assert!(!faults.is_empty()),
            }
        }
    }
}
