//! `read_schema`: what a file of the bot may hold, one level at a time.

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::Schemas;
use super::blocking::on_disk;
use super::schemas::unknown;
use crate::args::typed;
use crate::paths::Finder;
use crate::scope::Scope;
use crate::{Handler, Output, ToolError, spec};
use selkie_domain::schema::describe;
use selkie_domain::spelling::nearest;
use selkie_domain::tool::{Class, Recovery, ToolSpec};

const NAME: &str = "read_schema";
/// Choices nest at most so deep; deeper means that a schema holds itself.
const DEEPEST: usize = 8;
/// Keys of one level at most: choices that hold their own choices have them without end.
const MAX_KEYS: usize = 2_000;
/// Bytes of one answer; dispatch cuts what is longer than a model takes.
const MAX_PAGE: usize = 256 * 1024;

/// The tool.
pub(crate) struct ReadSchema(pub(crate) Schemas);

#[derive(Deserialize, JsonSchema)]
struct Args {
    /// `config`, `contacts`, `schedules`, or a file of `file_state_dir/schemas/` without `.json`.
    schema: String,
    /// Keys with dots: `tools.read_file`. Default: the root.
    #[serde(default)]
    path: String,
}

#[async_trait]
impl Handler for ReadSchema {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            description: "Look up a bot file's keys, and what they take and mean.".to_owned(),
            group: "files",
            sources: &["S1"],
            doing: "reading a file",
            ..spec::<Args>(NAME, Class::Read, Recovery::NotTwice)
        }
    }

    async fn call(&self, scope: &Scope, args: Value) -> Result<Output, ToolError> {
        let Args { schema: name, path } = typed(args)?;
        let roots = scope.roots.clone();
        let schemas = self.0.clone();
        on_disk(scope, move |stop| {
            let finder = Finder { tool: NAME, roots: &roots, deny: &[] };
            let Some(root) = schemas.find(&finder, &name)? else {
                return Err(unknown(&name, &schemas.names(&finder, stop)));
            };
            let mut at = &root;
            let mut walked = name.clone();
            for key in path.split('.').filter(|key| !key.is_empty()) {
                at = step(&root, at, key).ok_or_else(|| no_key(&root, at, &walked, key))?;
                walked = format!("{walked}.{key}");
            }
            Ok(Output::ok(page(&root, at, &walked)))
        })
        .await
    }
}

fn page(root: &Value, at: &Value, walked: &str) -> String {
    let mut lines = vec![format!("{walked}: {}", summary(root, at))];
    lines.extend(words(root, at).map(str::to_owned));
    let mut left = MAX_PAGE;
    for (key, schema, required) in item_keys(root, at) {
        let size = key.len() + words(root, schema).map_or(0, str::len) + 100;
        let Some(less) = left.checked_sub(size) else {
            lines.push("[+more keys]".to_owned());
            break;
        };
        left = less;
        let needed = if required { ", required" } else { "" };
        let says =
            words(root, schema).map(|w| format!(": {}", w.replace('\n', " "))).unwrap_or_default();
        lines.push(format!("- {key} ({}{needed}){says}", summary(root, schema)));
    }
    lines.join("\n")
}

fn summary(root: &Value, schema: &Value) -> String {
    let real = resolved(root, schema);
    let mut text = describe(root, schema);
    if let Some(list) = real.get("enum").and_then(Value::as_array) {
        let list: Vec<String> = list.iter().take(MAX_KEYS).map(plain).collect();
        text = format!("one of {}", list.join(", "));
    }
    for (key, word) in [("minimum", "at least"), ("maximum", "at most")] {
        if let Some(limit) = real.get(key) {
            text = format!("{text}, {word} {limit}");
        }
    }
    match schema
        .get("default")
        .or_else(|| real.get("default"))
        .filter(|d| !d.is_object() && !d.is_null())
    {
        Some(default) => format!("{text}, default {default}"),
        None => text,
    }
}

fn words<'a>(root: &'a Value, schema: &'a Value) -> Option<&'a str> {
    let own = schema.get("description").or_else(|| resolved(root, schema).get("description"));
    own.and_then(Value::as_str)
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn resolved<'a>(root: &'a Value, mut schema: &'a Value) -> &'a Value {
    for _ in 0..DEEPEST {
        let reference =
            schema.get("$ref").and_then(Value::as_str).and_then(|r| r.strip_prefix('#'));
        let Some(next) = reference.and_then(|pointer| root.pointer(pointer)) else { break };
        schema = next;
    }
    schema
}

type Key<'a> = (&'a str, &'a Value, bool);

/// Every key of an object, or of the objects among its choices; `<key>` stands for any.
fn keys<'a>(root: &'a Value, schema: &'a Value) -> Vec<Key<'a>> {
    let mut all = Vec::new();
    collect(root, schema, 0, &mut 0, &mut all);
    all
}

/// Those of an array's items, where they have some, instead of `<item>` alone.
fn item_keys<'a>(root: &'a Value, schema: &'a Value) -> Vec<Key<'a>> {
    let mut all = keys(root, schema);
    for _ in 0..DEEPEST {
        let [("<item>", item, _)] = all[..] else { break };
        let below = keys(root, item);
        if below.is_empty() {
            break;
        }
        all = below;
    }
    all
}

fn collect<'a>(
    root: &'a Value,
    schema: &'a Value,
    depth: usize,
    seen: &mut usize,
    all: &mut Vec<Key<'a>>,
) {
    let schema = resolved(root, schema);
    let required = schema.get("required").and_then(Value::as_array);
    let required: Vec<&str> =
        required.into_iter().flatten().take(MAX_KEYS).filter_map(Value::as_str).collect();
    let own = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
    all.extend(
        own.take(MAX_KEYS).map(|(key, s)| (key.as_str(), s, required.contains(&key.as_str()))),
    );
    if let Some(any) = schema.get("additionalProperties").filter(|s| s.is_object()) {
        all.push(("<key>", any, false));
    }
    if let Some(item) = schema.get("items").filter(|s| s.is_object()) {
        all.push(("<item>", item, false));
    }
    for choice in choices(schema).filter(|_| depth < DEEPEST) {
        *seen += 1;
        if *seen > MAX_KEYS || all.len() > MAX_KEYS {
            return;
        }
        collect(root, choice, depth + 1, seen, all);
    }
}

fn choices(schema: &Value) -> impl Iterator<Item = &Value> {
    let lists =
        ["anyOf", "oneOf", "allOf"].into_iter().filter_map(|word| schema.get(word)?.as_array());
    lists.flatten()
}

/// The schema below a key; an array's items are passed through, so that `steps.container` is found.
fn step<'a>(root: &'a Value, mut schema: &'a Value, key: &str) -> Option<&'a Value> {
    let number = key.parse::<usize>().is_ok();
    for _ in 0..DEEPEST {
        let all = keys(root, schema);
        let find = |wanted: &str| all.iter().find(|(k, ..)| *k == wanted).map(|(_, s, _)| *s);
        match (find(key), find("<item>")) {
            (Some(found), _) => return Some(found),
            (None, Some(item)) if number => return Some(item),
            (None, Some(item)) => schema = item,
            (None, None) => return find("<key>"),
        }
    }
    None
}

fn no_key(root: &Value, at: &Value, walked: &str, key: &str) -> ToolError {
    let all: Vec<&str> = item_keys(root, at).into_iter().map(|(k, ..)| k).collect();
    let near = nearest(key, all.iter().copied()).map(|n| format!(": did you mean {n}?"));
    let takes = if all.is_empty() { "none".to_owned() } else { all.join(", ") };
    ToolError::tell(format!(
        "{walked} has no key {key}{} (takes {takes})",
        near.unwrap_or_default()
    ))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::files::schemas::Make;
    use crate::testkit::Folders;

    #[tokio::test]
    async fn it_walks_a_schema_level_by_level() {
        let folders = Folders::new();
        folders.put(
            "state/schemas/steps.json",
            json!({"$ref": "#/$defs/Step", "$defs": {"Step": {
                "type": "object", "required": ["type"], "description": "One step.",
                "properties": {
                    "type": {"enum": ["run", "wait"], "description": "What it does."},
                    "container": {"$ref": "#/$defs/Container"},
                    "after": {"type": "array", "items": {"$ref": "#/$defs/Step"}}
                }}, "Container": {"type": "object", "properties": {
                    "image": {"type": "string", "default": "none"},
                    "env": {"type": "object", "additionalProperties": {"type": "string"}}
            }}}})
            .to_string(),
        );
        folders.put("state/schemas/broken.json", "{");
        let own = || {
            json!({"type": "object", "properties": {
            "limit": {"type": "integer", "minimum": 1, "maximum": 9}}})
        };
        let schemas = Schemas::new([("config", Box::new(own) as Make)]);
        let tool = ReadSchema(schemas);
        let mut scope = folders.scope();
        let mut said = Vec::new();
        for (schema, path) in [
            ("config", ""),
            ("steps", ""),
            ("steps", "container"),
            ("steps", "container.env.HOME"),
            ("steps", "after.0.container"),
            ("steps", "after.container"),
            ("steps", "after"),
            ("steps", "after.conatiner"),
            ("steps", "contianer"),
            ("step", ""),
            ("../memory/x", ""),
            ("broken", ""),
        ] {
            let called = tool.call(&scope, json!({"schema": schema, "path": path})).await;
            said.push(called.map_or_else(|e| e.to_string(), |o| o.text));
        }
        insta::assert_snapshot!(said.join("\n--\n"), @r##"
config: an object
- limit (a whole number, at least 1, at most 9)
--
steps: an object
One step.
- type (one of run, wait, required): What it does.
- container (an object)
- after (an array of objects)
--
steps.container: an object
- image (a string, default "none")
- env (an object)
--
steps.container.env.HOME: a string
--
steps.after.0.container: an object
- image (a string, default "none")
- env (an object)
--
steps.after.container: an object
- image (a string, default "none")
- env (an object)
--
steps.after: an array of objects
- type (one of run, wait, required): What it does.
- container (an object)
- after (an array of objects)
--
steps.after has no key conatiner: did you mean container? (takes type, container, after)
--
steps has no key contianer: did you mean container? (takes type, container, after)
--
invalid schema: step (takes broken, config, steps); did you mean steps?
--
invalid schema: ../memory/x (takes broken, config, steps)
--
file_state_dir/schemas/broken.json is not JSON: EOF while parsing an object at line 1 column 1
"##);
        scope.roots.state = None;
        let closed = tool.call(&scope, json!({"schema": "steps"})).await.unwrap_err();
        assert_eq!(closed.to_string(), "invalid schema: steps (takes config)");
    }

    #[tokio::test]
    async fn schemas_that_lead_back_to_themselves_are_read_as_far_as_they_go() {
        let folders = Folders::new();
        let twice =
            json!({"anyOf": vec![json!({"$ref": "#"}); 300], "properties": {"a": {"$ref": "#"}}});
        for (name, schema) in [
            ("loop", json!({"anyOf": [{"$ref": "#"}]})),
            ("items", json!({"items": {"$ref": "#"}})),
            ("self", json!({"$ref": "#"})),
            ("twice", twice),
        ] {
            folders.put(&format!("state/schemas/{name}.json"), schema.to_string());
        }
        let tool = ReadSchema(Schemas::default());
        for (name, path) in [
            ("loop", ""),
            ("loop", "a"),
            ("items", "a.b"),
            ("self", "x"),
            ("twice", "a.a.a"),
            ("twice", ""),
        ] {
            let said = tool.call(&folders.scope(), json!({"schema": name, "path": path})).await;
            let said = said.map_or_else(|e| e.to_string(), |o| o.text);
            assert!(said.len() < 2 * MAX_PAGE, "{name} {path}: {} bytes", said.len());
        }
    }
}
