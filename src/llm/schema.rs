//! Schemas in the forms that providers take: one place for what each of them refuses.

use serde_json::{Map, Value, json};

/// Which keywords a server takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    /// JSON Schema as OpenAI and Anthropic take it for tools: any keyword below the root; a root that is a
    /// plain object, nothing by reference.
    Full,
    /// The few keywords that every server takes: types, descriptions, properties, items, enums of texts,
    /// bounds. For servers that refuse more (Gemini's compatible API, grammars of local servers).
    Plain,
}

/// References and lists nest at most so deep; deeper means that a schema holds itself.
const DEEPEST: usize = 16;
/// Keywords of a choice between schemas.
const CHOICES: [&str; 3] = ["anyOf", "oneOf", "allOf"];
/// Keywords that say nothing to a model.
const MARKS: [&str; 7] =
    ["$schema", "$id", "$comment", "$defs", "definitions", "title", "examples"];
/// What is left in the plain form, beside `type`, `properties`, `items` and `enum`.
const PLAIN: [&str; 6] = ["description", "required", "minimum", "maximum", "minItems", "maxItems"];

/// Returns a tool's parameters in a form: always an object with `type` and `properties`.
pub fn parameters(schema: &Value, form: Form) -> Value {
    let walk = Walk { root: schema, form };
    let mut root = match walk.schema(schema, 0) {
        Value::Object(map) => map,
        _ => Map::new(),
    };
    // No provider takes a choice as the root: what only one branch has, the tool's own check demands.
    for key in CHOICES.iter().chain(&["not", "enum", "const"]) {
        root.shift_remove(*key);
    }
    root.insert("type".to_owned(), json!("object"));
    root.entry("properties").or_insert_with(|| json!({}));
    Value::Object(root)
}

struct Walk<'a> {
    root: &'a Value,
    form: Form,
}

impl Walk<'_> {
    fn schema(&self, schema: &Value, depth: usize) -> Value {
        let Value::Object(map) = schema else {
            // `true` and `{}` both take anything; a list stands where no schema can.
            return json!({});
        };
        if depth > DEEPEST {
            return json!({});
        }
        if let Some(target) = self.target(map) {
            return with_words(self.schema(target, depth + 1), map);
        }
        match self.form {
            Form::Full => self.full(map, depth),
            Form::Plain => self.plain(map, depth),
        }
    }

    /// The schema that a `$ref` names; one that leads nowhere is as good as none.
    fn target(&self, map: &Map<String, Value>) -> Option<&Value> {
        let pointer = map.get("$ref")?.as_str()?.strip_prefix('#')?;
        self.root.pointer(pointer)
    }

    fn full(&self, map: &Map<String, Value>, depth: usize) -> Value {
        let mut out = Map::new();
        for (key, value) in map {
            match key.as_str() {
                "$ref" => {}
                mark if MARKS.contains(&mark) => {}
                "properties" => drop(out.insert(key.clone(), self.properties(value, depth))),
                "items" | "additionalProperties" | "not" if value.is_object() => {
                    out.insert(key.clone(), self.schema(value, depth + 1));
                }
                choice if CHOICES.contains(&choice) => {
                    out.insert(key.clone(), self.list(value, depth));
                }
                "const" => drop(out.insert("enum".to_owned(), json!([value]))),
                _ if says_nothing(key, value) => {}
                _ => drop(out.insert(key.clone(), value.clone())),
            }
        }
        Value::Object(out)
    }

    fn plain(&self, map: &Map<String, Value>, depth: usize) -> Value {
        if let Some(branch) = chosen(map) {
            return with_words(self.schema(branch, depth + 1), map);
        }
        let mut out = Map::new();
        if let Some(kind) = kind(map) {
            out.insert("type".to_owned(), json!(kind));
        }
        for (key, value) in map {
            match key.as_str() {
                "properties" => drop(out.insert(key.clone(), self.properties(value, depth))),
                "items" => drop(out.insert(key.clone(), self.schema(value, depth + 1))),
                "enum" | "const" => {
                    let values = value.as_array().cloned().unwrap_or_else(|| vec![value.clone()]);
                    if values.iter().all(Value::is_string) {
                        out.insert("enum".to_owned(), Value::Array(values));
                    }
                }
                kept if PLAIN.contains(&kept) => drop(out.insert(key.clone(), value.clone())),
                _ => {}
            }
        }
        Value::Object(out)
    }

    fn properties(&self, value: &Value, depth: usize) -> Value {
        let Value::Object(map) = value else { return json!({}) };
        map.iter().map(|(name, schema)| (name.clone(), self.schema(schema, depth + 1))).collect()
    }

    fn list(&self, value: &Value, depth: usize) -> Value {
        let list = value.as_array().map(Vec::as_slice).unwrap_or_default();
        list.iter().map(|schema| self.schema(schema, depth + 1)).collect()
    }
}

/// The branch that stands for a choice: the first that is not null. A schema that says itself what it is
/// needs none.
fn chosen(map: &Map<String, Value>) -> Option<&Value> {
    if map.contains_key("type") || map.contains_key("properties") {
        return None;
    }
    let branches = CHOICES.iter().find_map(|key| map.get(*key)?.as_array())?;
    branches.iter().find(|branch| branch.get("type") != Some(&json!("null")))
}

/// One type: the first of several that is not null; that of an enum's values where none is said.
fn kind(map: &Map<String, Value>) -> Option<&str> {
    match map.get("type") {
        Some(Value::String(kind)) => Some(kind),
        Some(Value::Array(kinds)) => {
            kinds.iter().filter_map(Value::as_str).find(|kind| *kind != "null")
        }
        _ if map.contains_key("enum") || map.contains_key("const") => Some("string"),
        _ if map.contains_key("properties") => Some("object"),
        _ => None,
    }
}

/// What a call is checked by, and a model need not read: every request would carry it.
fn says_nothing(key: &str, value: &Value) -> bool {
    match key {
        "additionalProperties" => *value == json!(false),
        "minLength" => *value == json!(0),
        "default" => [json!(false), json!("")].contains(value),
        _ => false,
    }
}

/// The words beside a reference or a choice are nearer to the reader than those of what it leads to.
fn with_words(mut schema: Value, map: &Map<String, Value>) -> Value {
    if let (Value::Object(out), Some(words)) = (&mut schema, map.get("description")) {
        out.insert("description".to_owned(), words.clone());
    }
    schema
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn foreign() -> Value {
        json!({
            "$schema": "x", "title": "T", "anyOf": [{ "required": ["a"] }],
            "$defs": { "Node": { "type": "object", "title": "N", "properties": {
                "next": { "$ref": "#/$defs/Node" }, "kind": { "const": "leaf" } } } },
            "properties": {
                "a": { "$ref": "#/$defs/Node", "description": "The node." },
                "b": { "anyOf": [{ "type": "null" }, { "type": "string", "format": "uri" }],
                       "description": "A page.", "default": null },
                "c": { "type": ["integer", "null"], "minimum": 1, "exclusiveMaximum": 9 },
                "d": { "enum": [1, 2] },
                "e": { "type": "array", "items": { "$ref": "#/nowhere" } },
                "title": { "type": "string" },
            },
        })
    }

    #[test]
    fn a_foreign_schema_becomes_one_that_providers_take() {
        let full = parameters(&foreign(), Form::Full);
        assert!(full.get("anyOf").is_none() && full.get("$defs").is_none());
        assert_eq!(full["type"], "object");
        assert_eq!(full["properties"]["a"]["description"], "The node.");
        assert_eq!(full["properties"]["a"]["properties"]["kind"], json!({ "enum": ["leaf"] }));
        assert_eq!(
            full["properties"]["title"],
            json!({ "type": "string" }),
            "a name is no keyword"
        );
        let plain = parameters(&foreign(), Form::Plain);
        insta::assert_snapshot!(
            serde_json::to_string(&json!({
                "b": plain["properties"]["b"], "c": plain["properties"]["c"],
                "d": plain["properties"]["d"], "e": plain["properties"]["e"] })).unwrap(),
            @r#"{"b":{"type":"string","description":"A page."},"c":{"type":"integer","minimum":1},"d":{"type":"string"},"e":{"type":"array","items":{}}}"#
        );
        assert!(!plain.to_string().contains("$ref") && !full.to_string().contains("$ref"));
    }

    fn schemas() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(json!(true)),
            Just(json!({ "type": "string" })),
            Just(json!({ "$ref": "#/$defs/loop" })),
            Just(json!({ "$ref": "#" })),
            Just(json!({ "const": 3 })),
            Just(json!([1])),
        ];
        leaf.prop_recursive(4, 24, 3, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..3).prop_map(|l| json!({ "anyOf": l })),
                inner.clone().prop_map(|s| json!({ "type": "array", "items": s })),
                (inner.clone(), inner).prop_map(|(a, b)| json!({
                    "properties": { "a": a, "enum": b }, "$defs": { "loop": { "$ref": "#/$defs/loop" } }
                })),
            ]
        })
    }

    proptest! {
        #[test]
        fn any_schema_ends_as_an_object_without_references(schema in schemas()) {
            for form in [Form::Full, Form::Plain] {
                let out = parameters(&schema, form);
                prop_assert_eq!(&out["type"], "object");
                prop_assert!(out["properties"].is_object());
                prop_assert!(!out.to_string().contains("\"$ref\""));
                prop_assert_eq!(&parameters(&out, form), &out, "twice is once");
            }
        }
    }
}
