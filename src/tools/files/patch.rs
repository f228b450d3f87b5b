//! `patch`: creates, changes or deletes one file, and says whether it is still what it should be.

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::blocking::{on_disk, refused};
use super::replace::{Replace, Replacement};
use super::validate::{Validate, Validator};
use super::whole::{self, Whole};
use super::{DenyList, Schemas};
use crate::args::typed;
use crate::paths::{Finder, Location, Roots};
use crate::preview::marked;
use crate::scope::Scope;
use crate::shown::Preview;
use crate::{Handler, Output, ToolError, spec};
use selkie_domain::tool::{Class, Recovery, ToolSpec};

const NAME: &str = "patch";

/// `tools.patch`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "Patch")]
pub struct Settings {
    /// Whether it may be used.
    pub enabled: bool,
    /// Names and paths that it never touches, beside those of `write_file`.
    pub deny_paths: Vec<String>,
    /// Which files are checked after a change, and against which schema.
    pub validate: Vec<Validate>,
}

impl Default for Settings {
    fn default() -> Self {
        let state = Validate { glob: "file_state_dir/**/*.yaml".to_owned(), schema: None };
        Self { enabled: true, deny_paths: Vec::new(), validate: vec![state] }
    }
}

/// The tool.
pub(crate) struct Patch {
    denied: DenyList,
    validator: Validator,
}

#[derive(Deserialize, JsonSchema)]
struct Args {
    path: String,
    operation: Operation,
    /// For create.
    #[schemars(length(min = 0))]
    content: Option<String>,
    /// For replace: exact, in one place only.
    old_string: Option<String>,
    /// For replace.
    #[schemars(length(min = 0))]
    new_string: Option<String>,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Operation {
    Create,
    Replace,
    Delete,
}

impl Patch {
    pub(crate) fn new(denied: DenyList, rules: Vec<Validate>, schemas: Schemas) -> Self {
        Self { denied, validator: Validator { rules, schemas } }
    }
}

#[async_trait]
impl Handler for Patch {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            description: "Create, change or delete one file. The bot's YAML is checked against its schema; the \
                          answer has the findings."
                    .to_owned(),
            group: "files",
            sources: &["S1"],
            doing: "changing files",
            ..spec::<Args>(NAME, Class::Write, Recovery::Unknown)
        }
    }

    async fn call(&self, scope: &Scope, args: Value) -> Result<Output, ToolError> {
        let args: Args = typed(args)?;
        let roots = scope.roots.clone();
        let denied = self.denied.clone();
        let validator = self.validator.clone();
        on_disk(scope, move |_| {
            let finder = denied.finder(NAME, &roots);
            let done = match args.operation {
                Operation::Create => create(&finder, &args)?,
                Operation::Replace => replace(&finder, &args)?,
                Operation::Delete => delete(&finder, &args)?,
            };
            Ok(Output::ok(with_findings(done, &finder, &validator, &args.path)?))
        })
        .await
    }

    fn changes(&self, roots: &Roots, args: &Value) -> Result<Vec<Location>, ToolError> {
        let args: Args = typed(args.clone())?;
        Ok(vec![self.denied.finder(NAME, roots).writable(&args.path)?])
    }

    fn preview(&self, roots: &Roots, args: &Value) -> Option<Preview> {
        let args: Args = typed(args.clone()).ok()?;
        let finder = self.denied.finder(NAME, roots);
        let path = &args.path;
        let shown = match args.operation {
            Operation::Create => would_create(&finder, &args),
            Operation::Replace => {
                let shows = &["path", "operation", "old_string", "new_string"];
                let said = Preview::of(format!("change {path}"), shows);
                replaced(&finder, &args).map(|(_, done)| said.with(done.diff))
            }
            Operation::Delete => removable(&finder, &args).map(|(_, content)| {
                let gone = String::from_utf8_lossy(&content);
                Preview::of(format!("delete {path} ({} bytes)", content.len()), SHOWN)
                    .with(marked('-', &gone).trim_end_matches('\n'))
            }),
        };
        Some(shown.unwrap_or_else(|why| {
            Preview::of(format!("change {path}, which would fail: {why}"), &["path"])
        }))
    }
}

/// What the first line of each preview shows.
const SHOWN: &[&str] = &["path", "operation"];

fn would_create(finder: &Finder<'_>, args: &Args) -> Result<Preview, ToolError> {
    let content = given(args.content.as_ref(), "content")?;
    let there = finder.writable(&args.path)?.kind();
    let how = there.map_or("create".to_owned(), |(_, size)| format!("replace {size} bytes of"));
    let shows = &["path", "operation", "content"];
    Ok(Preview::of(format!("{how} {}", args.path), shows).with(content))
}

fn create(finder: &Finder<'_>, args: &Args) -> Result<String, ToolError> {
    let content = given(args.content.as_ref(), "content")?;
    let located = finder.writable(&args.path)?;
    let shown = located.shown();
    let was_there = located.kind().is_ok();
    located.replace(content.as_bytes()).map_err(|e| refused(&shown, &e))?;
    let bytes = content.len();
    Ok(if was_there {
        format!("wrote {bytes} bytes to {shown}, which was there and is overwritten")
    } else {
        format!("created {shown} ({bytes} bytes)")
    })
}

fn replace(finder: &Finder<'_>, args: &Args) -> Result<String, ToolError> {
    let (file, done) = replaced(finder, args)?;
    file.replace(&done.content)?;
    Ok(format!("changed {}\n{}", file.shown(), done.diff))
}

/// The file, and what comes of it.
fn replaced(finder: &Finder<'_>, args: &Args) -> Result<(Whole, Replacement), ToolError> {
    let old = given(args.old_string.as_ref().filter(|old| !old.is_empty()), "old_string")?;
    let new = given(args.new_string.as_ref(), "new_string")?;
    let file = Whole::of(finder, &args.path)?;
    let done =
        Replace { old, new, all: false, may_all: false }.apply(&file.shown(), &file.content)?;
    Ok((file, done))
}

fn delete(finder: &Finder<'_>, args: &Args) -> Result<String, ToolError> {
    let (located, _) = removable(finder, args)?;
    located.remove().map_err(|e| refused(&located.shown(), &e))?;
    Ok(format!("deleted {}", located.shown()))
}

fn removable(finder: &Finder<'_>, args: &Args) -> Result<(Location, Vec<u8>), ToolError> {
    let located = finder.writable(&args.path)?;
    match whole::content(&located)? {
        Some(content) => Ok((located, content)),
        None => Err(ToolError::tell(format!("no such file: {}", args.path))),
    }
}

fn given<'a>(value: Option<&'a String>, name: &str) -> Result<&'a str, ToolError> {
    value.map(String::as_str).ok_or_else(|| ToolError::tell(format!("{name} is required")))
}

fn with_findings(
    done: String,
    finder: &Finder<'_>,
    validator: &Validator,
    path: &str,
) -> Result<String, ToolError> {
    let located = finder.writable(path)?;
    let Some(content) = whole::content(&located)? else { return Ok(done) };
    let text = String::from_utf8_lossy(&content);
    let findings = validator.findings(finder, &located, &text);
    Ok(findings.map_or_else(|| done.clone(), |found| format!("{done}\n{found}")))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::testkit::Folders;

    #[tokio::test]
    async fn it_creates_changes_deletes_and_checks() {
        let folders = Folders::new();
        folders.put("state/schemas/jobs.json", json!({
            "type": "object", "additionalProperties": false, "required": ["name"],
            "properties": {"name": {"type": "string"}, "steps": {"type": "array", "items": {"type": "string"}}}
        }).to_string());
        let mut rules = Settings::default().validate;
        rules.push(Validate { glob: "flows/*.yaml".to_owned(), schema: Some("jobs".to_owned()) });
        rules.push(Validate { glob: "other/*".to_owned(), schema: Some("none".to_owned()) });
        let tool = Patch::new(DenyList::default(), rules, Schemas::default());
        let scope = folders.scope();
        let mut said = Vec::new();
        for args in [
            json!({"path": "a.txt", "operation": "create", "content": "one\ntwo\n"}),
            json!({"path": "a.txt", "operation": "create", "content": "one\n2\n"}),
            json!({"path": "a.txt", "operation": "replace", "old_string": "2", "new_string": "3"}),
            json!({"path": "a.txt", "operation": "replace", "old_string": "3"}),
            json!({"path": "a.txt", "operation": "create"}),
            json!({"path": "a.txt", "operation": "delete"}),
            json!({"path": "a.txt", "operation": "delete"}),
            json!({"path": "file_state_dir/jobs.yaml", "operation": "create", "content": "nam: x\nsteps: [1]\n"}),
            json!({"path": "file_state_dir/jobs.yaml", "operation": "replace", "old_string": "nam: x\nsteps: [1]", "new_string": "name: x"}),
            json!({"path": "file_state_dir/free.yaml", "operation": "create", "content": "a: 1"}),
            json!({"path": "flows/a.yaml", "operation": "create", "content": "a: [1"}),
            json!({"path": "other/a.yaml", "operation": "create", "content": "a: 1"}),
        ] {
            said.push(tool.call(&scope, args).await.map_or_else(|e| e.to_string(), |o| o.text));
        }
        insta::assert_snapshot!(said.join("\n--\n"), @r##"
created a.txt (8 bytes)
--
wrote 6 bytes to a.txt, which was there and is overwritten
--
changed a.txt
@@ line 2 @@
 one
-2
+3
--
new_string is required
--
content is required
--
deleted a.txt
--
no such file: a.txt
--
created file_state_dir/jobs.yaml (18 bytes)
not valid by the schema jobs (read_schema shows it):
- unknown parameter nam: did you mean name? (takes name, steps)
- steps must be an array of strings
- name is required
--
changed file_state_dir/jobs.yaml
@@ line 1 @@
-nam: x
-steps: [1]
+name: x
valid by the schema jobs
--
created file_state_dir/free.yaml (4 bytes)
valid YAML
--
created flows/a.yaml (5 bytes)
not valid YAML: unclosed bracket '[' at line 1, column 4
--
created other/a.yaml (4 bytes)
valid YAML; there is no schema none to check it against
"##);
    }

    /// The file is written, and the reader is told why it was not checked.
    #[tokio::test]
    async fn a_schema_without_an_end_checks_nothing() {
        let folders = Folders::new();
        folders.put("state/schemas/zx.json", r##"{"anyOf":[{"$ref":"#"}]}"##);
        let rules = Settings::default().validate;
        let tool = Patch::new(DenyList::default(), rules, Schemas::default());
        let args =
            json!({"path": "file_state_dir/zx.yaml", "operation": "create", "content": "a: 1\n"});
        let said = tool.call(&folders.scope(), args).await.unwrap().text;
        let why =
            "not checked against zx: the schema leads back to itself or is too large to check by";
        assert!(said.contains(why), "{said}");
    }
}
