//! Checks a value against a JSON Schema and lists every fault, for config and for tool arguments alike.
//!
//! Speaks the part of JSON Schema that our derived schemas use: `type`, `properties`, `required`,
//! `additionalProperties`, `items`, `enum`, `minimum`/`maximum`, `anyOf`/`oneOf`, `$ref` to `$defs`. The
//! words for people are made by the caller from [`Fault`].

use serde_json::Value;

use crate::domain::spelling::nearest;

/// Something wrong with a value.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// Keys and indices from the root; empty for the root itself.
    pub path: Vec<String>,
    /// What is wrong.
    pub kind: FaultKind,
}

/// What is wrong.
#[derive(Clone, Debug, PartialEq)]
pub enum FaultKind {
    /// A required key is missing.
    Missing,
    /// A key that the schema does not know.
    Unknown {
        /// The known key that looks most like it.
        nearest: Option<String>,
        /// Every key that is taken there.
        taken: Vec<String>,
    },
    /// Another type is taken.
    Type {
        /// In plain words: `a string`, `an array of strings`.
        takes: String,
        /// The value that stands there, shortened.
        got: String,
    },
    /// Not in the list.
    NotListed {
        /// The value that stands there.
        got: String,
        /// What is taken.
        takes: Vec<String>,
    },
    /// Below or above what is taken.
    Range {
        /// The value that stands there.
        got: String,
        /// The least.
        least: Option<f64>,
        /// The greatest.
        most: Option<f64>,
    },
}

/// Lists every fault of `value`, in the order of the value's keys and then of the schema's.
pub fn check(schema: &Value, value: &Value) -> Vec<Fault> {
    let mut checker = Checker { root: schema, path: Vec::new(), faults: Vec::new() };
    checker.value(schema, value);
    checker.faults
}

struct Checker<'a> {
    root: &'a Value,
    path: Vec<String>,
    faults: Vec<Fault>,
}

impl Checker<'_> {
    fn fault(&mut self, kind: FaultKind) {
        self.faults.push(Fault { path: self.path.clone(), kind });
    }

    fn at(&mut self, key: &str, check: impl FnOnce(&mut Self)) {
        self.path.push(key.to_owned());
        check(self);
        self.path.pop();
    }

    fn value(&mut self, schema: &Value, value: &Value) {
        let schema = resolve(self.root, schema);
        if let Some(choices) = choices(schema) {
            return self.any(schema, choices, value);
        }
        if !types_fit(schema, value) {
            let takes = describe(self.root, schema);
            return self.fault(FaultKind::Type { takes, got: short(value) });
        }
        self.listed(schema, value);
        self.range(schema, value);
        if let Value::Object(map) = value {
            self.object(schema, map);
        }
        if let (Value::Array(items), Some(each)) = (value, schema.get("items")) {
            for (index, item) in items.iter().enumerate() {
                self.at(&index.to_string(), |c| c.value(each, item));
            }
        }
    }

    /// Takes the first choice that fits; else reports the choice that came nearest, or the type.
    fn any(&mut self, schema: &Value, choices: &[Value], value: &Value) {
        let mut best: Option<Vec<Fault>> = None;
        for choice in choices {
            let mut probe =
                Checker { root: self.root, path: self.path.clone(), faults: Vec::new() };
            probe.value(choice, value);
            if probe.faults.is_empty() {
                return;
            }
            let deeper = probe.faults.iter().all(|f| f.path.len() > self.path.len());
            if deeper && best.as_ref().is_none_or(|b| probe.faults.len() < b.len()) {
                best = Some(probe.faults);
            }
        }
        match best {
            Some(faults) => self.faults.extend(faults),
            None => match constants(self.root, choices) {
                Some(takes) if !value.is_object() => {
                    self.fault(FaultKind::NotListed { got: plain(value), takes });
                }
                _ => {
                    let takes = describe(self.root, schema);
                    self.fault(FaultKind::Type { takes, got: short(value) });
                }
            },
        }
    }

    fn listed(&mut self, schema: &Value, value: &Value) {
        let Some(list) = schema.get("enum").and_then(Value::as_array) else { return };
        if !list.contains(value) {
            let takes = list.iter().filter(|v| !v.is_null()).map(plain).collect();
            self.fault(FaultKind::NotListed { got: plain(value), takes });
        }
    }

    fn range(&mut self, schema: &Value, value: &Value) {
        let Some(number) = value.as_f64() else { return };
        let least = schema.get("minimum").and_then(Value::as_f64);
        let most = schema.get("maximum").and_then(Value::as_f64);
        if least.is_some_and(|l| number < l) || most.is_some_and(|m| number > m) {
            self.fault(FaultKind::Range { got: plain(value), least, most });
        }
    }

    fn object(&mut self, schema: &Value, map: &serde_json::Map<String, Value>) {
        let known = schema.get("properties").and_then(Value::as_object);
        let others = schema.get("additionalProperties");
        for (key, value) in map {
            match (known.and_then(|k| k.get(key)), others) {
                (Some(schema), _) => self.at(key, |c| c.value(schema, value)),
                (None, Some(Value::Bool(false))) => {
                    let taken: Vec<String> =
                        known.map(|k| k.keys().cloned().collect()).unwrap_or_default();
                    let nearest = nearest(key, taken.iter().map(String::as_str)).map(str::to_owned);
                    self.at(key, |c| c.fault(FaultKind::Unknown { nearest, taken }));
                }
                (None, Some(schema @ Value::Object(_))) => self.at(key, |c| c.value(schema, value)),
                (None, _) => {}
            }
        }
        for key in schema.get("required").and_then(Value::as_array).into_iter().flatten() {
            let Some(key) = key.as_str() else { continue };
            if !map.contains_key(key) {
                self.at(key, |c| c.fault(FaultKind::Missing));
            }
        }
    }
}

fn resolve<'a>(root: &'a Value, schema: &'a Value) -> &'a Value {
    let Some(reference) = schema.get("$ref").and_then(Value::as_str) else { return schema };
    reference.strip_prefix('#').and_then(|p| root.pointer(p)).unwrap_or(schema)
}

fn choices(schema: &Value) -> Option<&Vec<Value>> {
    schema.get("anyOf").or_else(|| schema.get("oneOf")).and_then(Value::as_array)
}

/// The constants of a list of choices that is nothing but constants (a documented Rust enum).
fn constants(root: &Value, choices: &[Value]) -> Option<Vec<String>> {
    let mut all = Vec::new();
    for choice in choices.iter().map(|c| resolve(root, c)) {
        if choice.get("type").is_some_and(|t| t == "null") {
            continue;
        }
        match (
            choice.get("const"),
            choice.get("enum").and_then(Value::as_array),
            self::choices(choice),
        ) {
            (Some(one), _, _) => all.push(plain(one)),
            (None, Some(list), _) => all.extend(list.iter().filter(|v| !v.is_null()).map(plain)),
            (None, None, Some(inner)) => all.extend(constants(root, inner)?),
            _ => return None,
        }
    }
    (!all.is_empty()).then_some(all)
}

fn types_fit(schema: &Value, value: &Value) -> bool {
    if let Some(constant) = schema.get("const") {
        return constant == value;
    }
    match schema.get("type") {
        Some(Value::String(one)) => type_fits(one, value),
        Some(Value::Array(many)) => {
            many.iter().filter_map(Value::as_str).any(|one| type_fits(one, value))
        }
        _ => true,
    }
}

fn type_fits(name: &str, value: &Value) -> bool {
    match name {
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "null" => value.is_null(),
        _ => true,
    }
}

/// Says in plain words what a schema takes: `an array of strings`.
pub fn describe(root: &Value, schema: &Value) -> String {
    let schema = resolve(root, schema);
    if let Some(choices) = choices(schema) {
        let mut words: Vec<String> = Vec::new();
        for choice in choices.iter().map(|c| describe(root, c)).filter(|w| w != "nothing") {
            if !words.contains(&choice) {
                words.push(choice);
            }
        }
        return words.join(" or ");
    }
    if let Some(constant) = schema.get("const") {
        return plain(constant);
    }
    let name = match schema.get("type") {
        Some(Value::String(one)) => one.as_str(),
        Some(Value::Array(many)) => {
            many.iter().filter_map(Value::as_str).find(|n| *n != "null").unwrap_or("null")
        }
        _ => return "any value".to_owned(),
    };
    match name {
        "array" => {
            let items = schema.get("items").map(|i| describe(root, i)).unwrap_or_default();
            let plural = items.split_once(' ').map_or(items.as_str(), |(_, noun)| noun);
            if plural.is_empty() || plural == "value" {
                "an array".to_owned()
            } else {
                format!("an array of {plural}s")
            }
        }
        "integer" => "a whole number".to_owned(),
        "object" => "an object".to_owned(),
        "boolean" => "true or false".to_owned(),
        "null" => "nothing".to_owned(),
        other => format!("a {other}"),
    }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn short(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(60) {
        Some((cut, _)) => format!("{}…", &text[..cut]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn schema() -> Value {
        json!({
            "type": "object", "additionalProperties": false, "required": ["path"],
            "properties": {
                "path": {"type": "string"},
                "limit": {"type": ["integer", "null"], "minimum": 1},
                "mode": {"enum": ["overwrite", "append"]},
                "people": {"type": "array", "items": {"type": "string"}},
                "kind": {"$ref": "#/$defs/Kind"}
            },
            "$defs": {"Kind": {"oneOf": [{"const": "a"}, {"const": "b"}]}}
        })
    }

    #[test]
    fn every_fault_is_listed_at_once() {
        let value = json!({"limit": 0, "mode": "apend", "people": [1], "kind": "c", "pth": "x"});
        let said: Vec<String> = check(&schema(), &value)
            .into_iter()
            .map(|f| format!("{}: {:?}", f.path.join("."), f.kind))
            .collect();
        insta::assert_snapshot!(said.join("\n"), @r#"
        limit: Range { got: "0", least: Some(1.0), most: None }
        mode: NotListed { got: "apend", takes: ["overwrite", "append"] }
        people.0: Type { takes: "a string", got: "1" }
        kind: NotListed { got: "c", takes: ["a", "b"] }
        pth: Unknown { nearest: Some("path"), taken: ["path", "limit", "mode", "people", "kind"] }
        path: Missing
        "#);
    }

    #[test]
    fn a_good_value_has_none() {
        assert_eq!(check(&schema(), &json!({"path": "x", "limit": null, "kind": "a"})), []);
    }
}
