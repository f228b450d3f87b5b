//! Checks a value against a JSON Schema and lists every fault, for config and for tool arguments alike.
//!
//! Speaks the part of JSON Schema that our derived schemas use: `type`, `properties`, `required`,
//! `additionalProperties`, `items`, `enum`, `minimum`/`maximum`, `anyOf`/`oneOf`, `$ref` to `$defs`. The
//! words for people are made by the caller from [`Fault`].
//!
//! A schema may be anybody's file: it may lead back to itself, and a few lines of it may branch without
//! end. Every step is paid for, and a check that takes too many is a fault of its own.

mod describe;
mod effort;
mod follow;

use self::describe::{constants, describe_within, got, short};
use effort::{Effort, EffortExhausted};
use follow::{choices, resolve};
use serde_json::Value;

use crate::spelling::{MAX_WORD, nearest};

pub use self::describe::describe;

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
    /// The schema leads back to itself, or checking by it takes too long; nothing else is told then.
    Endless,
}

/// Lists every fault of `value`, in the order of the value's keys and then of the schema's; nothing but
/// [`FaultKind::Endless`] when there is no end to the check.
pub fn check(schema: &Value, value: &Value) -> Vec<Fault> {
    let effort = Effort::of_a_check();
    let mut checker =
        Checker { root: schema, path: Vec::new(), faults: Vec::new(), effort: &effort };
    match checker.value(schema, value) {
        Ok(()) => checker.faults,
        Err(EffortExhausted) => vec![Fault { path: Vec::new(), kind: FaultKind::Endless }],
    }
}

struct Checker<'a> {
    root: &'a Value,
    path: Vec<String>,
    faults: Vec<Fault>,
    effort: &'a Effort,
}

impl Checker<'_> {
    fn fault(&mut self, kind: FaultKind) -> Result<(), EffortExhausted> {
        self.effort.copy(self.path.iter().map(String::len).sum())?;
        self.faults.push(Fault { path: self.path.clone(), kind });
        Ok(())
    }

    fn at(
        &mut self,
        key: &str,
        check: impl FnOnce(&mut Self) -> Result<(), EffortExhausted>,
    ) -> Result<(), EffortExhausted> {
        self.effort.copy(key.len())?;
        self.path.push(key.to_owned());
        check(self)?;
        self.path.pop();
        Ok(())
    }

    fn value(&mut self, schema: &Value, value: &Value) -> Result<(), EffortExhausted> {
        let _level = self.effort.level()?;
        let schema = resolve(self.root, schema, self.effort)?;
        if let Some(choices) = choices(schema) {
            return self.any(schema, choices, value);
        }
        if !types_fit(schema, value, self.effort)? {
            let takes = describe_within(self.root, schema, self.effort)?;
            return self.fault(FaultKind::Type { takes, got: short(value) });
        }
        self.listed(schema, value)?;
        self.range(schema, value)?;
        if let Value::Object(map) = value {
            self.object(schema, map)?;
        }
        if let (Value::Array(items), Some(each)) = (value, schema.get("items")) {
            for (index, item) in items.iter().enumerate() {
                self.at(&index.to_string(), |c| c.value(each, item))?;
            }
        }
        Ok(())
    }

    /// Takes the first choice that fits; else reports the choice that came nearest, or the type.
    fn any(
        &mut self,
        schema: &Value,
        choices: &[Value],
        value: &Value,
    ) -> Result<(), EffortExhausted> {
        let mut best: Option<Vec<Fault>> = None;
        for choice in choices {
            self.effort.copy(self.path.iter().map(String::len).sum())?;
            let mut probe = Checker { faults: Vec::new(), path: self.path.clone(), ..*self };
            probe.value(choice, value)?;
            if probe.faults.is_empty() {
                return Ok(());
            }
            let deeper = probe.faults.iter().all(|f| f.path.len() > self.path.len());
            if deeper && best.as_ref().is_none_or(|b| probe.faults.len() < b.len()) {
                best = Some(probe.faults);
            }
        }
        match best {
            Some(faults) => self.faults.extend(faults),
            None => match constants(self.root, choices, self.effort)? {
                Some(takes) if !value.is_object() => {
                    let got = got(value, self.effort)?;
                    self.fault(FaultKind::NotListed { got, takes })?;
                }
                _ => {
                    let takes = describe_within(self.root, schema, self.effort)?;
                    self.fault(FaultKind::Type { takes, got: short(value) })?;
                }
            },
        }
        Ok(())
    }

    fn listed(&mut self, schema: &Value, value: &Value) -> Result<(), EffortExhausted> {
        let Some(list) = schema.get("enum").and_then(Value::as_array) else { return Ok(()) };
        for listed in list {
            if self.effort.same(listed, value)? {
                return Ok(());
            }
        }
        let takes = list.iter().filter(|v| !v.is_null()).map(|v| got(v, self.effort));
        let takes = takes.collect::<Result<_, _>>()?;
        let got = got(value, self.effort)?;
        self.fault(FaultKind::NotListed { got, takes })
    }

    fn range(&mut self, schema: &Value, value: &Value) -> Result<(), EffortExhausted> {
        let Some(number) = value.as_f64() else { return Ok(()) };
        let least = schema.get("minimum").and_then(Value::as_f64);
        let most = schema.get("maximum").and_then(Value::as_f64);
        if least.is_some_and(|l| number < l) || most.is_some_and(|m| number > m) {
            let got = got(value, self.effort)?;
            self.fault(FaultKind::Range { got, least, most })?;
        }
        Ok(())
    }

    fn object(
        &mut self,
        schema: &Value,
        map: &serde_json::Map<String, Value>,
    ) -> Result<(), EffortExhausted> {
        let known = schema.get("properties").and_then(Value::as_object);
        let others = schema.get("additionalProperties");
        for (key, value) in map {
            match (known.and_then(|k| k.get(key)), others) {
                (Some(schema), _) => self.at(key, |c| c.value(schema, value))?,
                (None, Some(Value::Bool(false))) => self.unknown(key, known)?,
                (None, Some(schema @ Value::Object(_))) => {
                    self.at(key, |c| c.value(schema, value))?;
                }
                (None, _) => {}
            }
        }
        for key in schema.get("required").and_then(Value::as_array).into_iter().flatten() {
            let Some(key) = key.as_str() else { continue };
            self.effort.copy(key.len())?;
            if !map.contains_key(key) {
                self.at(key, |c| c.fault(FaultKind::Missing))?;
            }
        }
        Ok(())
    }

    fn unknown(
        &mut self,
        key: &str,
        known: Option<&serde_json::Map<String, Value>>,
    ) -> Result<(), EffortExhausted> {
        let known = || known.into_iter().flat_map(serde_json::Map::keys);
        // The distance between two words takes a step for each pair of letters.
        self.effort.copy(known().map(|k| k.len().min(MAX_WORD) * 16 + k.len()).sum())?;
        let taken: Vec<String> = known().cloned().collect();
        let nearest = nearest(key, taken.iter().map(String::as_str)).map(str::to_owned);
        self.at(key, |c| c.fault(FaultKind::Unknown { nearest, taken }))
    }
}

fn types_fit(schema: &Value, value: &Value, effort: &Effort) -> Result<bool, EffortExhausted> {
    if let Some(constant) = schema.get("const") {
        return effort.same(constant, value);
    }
    Ok(match schema.get("type") {
        Some(Value::String(one)) => type_fits(one, value),
        Some(Value::Array(many)) => {
            effort.copy(many.len())?;
            many.iter().filter_map(Value::as_str).any(|one| type_fits(one, value))
        }
        _ => true,
    })
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

    /// Schemas that lead back to themselves, or branch without end, are a fault of their own; one that
    /// holds itself below a key is a tree, and checks one.
    #[test]
    fn a_schema_without_an_end_is_a_fault_and_not_the_end() {
        let endless = [Fault { path: vec![], kind: FaultKind::Endless }];
        for schema in [
            json!({"anyOf": [{"$ref": "#"}]}),
            json!({"$ref": "#"}),
            json!({"$ref": "#/a", "a": {"$ref": "#/b"}, "b": {"$ref": "#/a"}}),
            json!({"oneOf": vec![json!({"$ref": "#"}); 50]}),
            json!({"type": "array", "items": {"anyOf": [{"$ref": "#/items"}]}}),
            json!({"type": "array", "items": {"type": "array", "items": {"$ref": "#/items"}}}),
        ] {
            let found = check(&schema, &json!(["x", 1]));
            let described = describe(&schema, &schema);
            assert!(found == endless || found.len() == 2, "{schema}: {found:?}");
            assert!(described.len() < 3_000, "{schema}: {described}");
        }
        let branching: Vec<Value> = (0..40)
            .map(|n| json!({"anyOf": vec![json!({"$ref": format!("#/defs/{}", n + 1)}); 8]}))
            .chain([json!({"type": "string"})])
            .collect();
        let schema = json!({"$ref": "#/defs/0", "defs": branching});
        assert_eq!(check(&schema, &json!(1)), endless);
        let tree = json!({"type": "object", "properties": {"in": {"$ref": "#"}}, "additionalProperties": false});
        let deep = (0..100).fold(json!({}), |inner, _| json!({"in": inner}));
        assert_eq!(check(&tree, &deep), []);
    }

    #[test]
    fn what_is_told_is_no_multiple_of_what_was_given() {
        let key = "k".repeat(100_000);
        let schema =
            json!({"type": "object", "additionalProperties": false, "properties": {key: {}}});
        let value: Value = (0..10_000)
            .map(|n| (format!("x{n}"), json!(1)))
            .collect::<serde_json::Map<_, _>>()
            .into();
        assert_eq!(check(&schema, &value), [Fault { path: vec![], kind: FaultKind::Endless }]);
    }

    #[test]
    fn fuzz_schemas() {
        selkie_fuzz::text("schema", |text| {
            let (schema, value) = text.split_once("---").unwrap_or((text, "{}"));
            let read = |text| serde_json::from_str::<Value>(text).unwrap_or_default();
            let (schema, value) = (read(schema), read(value));
            check(&schema, &value);
            check(&schema, &schema);
            describe(&schema, &schema);
        });
    }
}
