//! `write_file`: makes, replaces or appends to a text file.

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::blocking::{on_disk, refused};
use crate::args::typed;
use crate::paths::{Finder, Location, Roots};
use crate::scope::Scope;
use crate::shown::Preview;
use crate::{Handler, Output, ToolError, spec};
use selkie_domain::tool::{Also, Class, OtherName, Recovery, ToolSpec};

const NAME: &str = "write_file";

/// Other harnesses' names of it.
const ALSO: &[OtherName] = &[OtherName::plain("file_write"), OtherName::plain("write")];

/// `tools.write_file`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "WriteFile")]
pub struct Settings {
    /// Whether it may be used.
    pub enabled: bool,
    /// Bytes of one content.
    #[schemars(range(min = 1))]
    pub max_bytes: usize,
    /// Names and paths that it never writes.
    pub deny_paths: Vec<String>,
}

impl Default for Settings {
    fn default() -> Self {
        Self { enabled: true, max_bytes: 512 * 1024, deny_paths: Vec::new() }
    }
}

/// The tool.
pub(crate) struct WriteFile(pub(crate) Settings);

#[derive(Deserialize, JsonSchema)]
struct Args {
    /// As in read_file; without a workspace in the cache folder. Missing folders are made.
    path: String,
    #[schemars(length(min = 0))]
    content: String,
    /// Default: overwrite.
    mode: Option<Mode>,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Mode {
    Overwrite,
    Append,
}

#[async_trait]
impl Handler for WriteFile {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            description: "Write a text file: replace it whole, or append to it.".to_owned(),
            group: "files",
            sources: &["S3", "S0", "S2", "S4"],
            doing: "changing files",
            also: Also::called(ALSO),
            ..spec::<Args>(NAME, Class::Write, Recovery::Unknown)
        }
    }

    async fn call(&self, scope: &Scope, args: Value) -> Result<Output, ToolError> {
        let Args { path, content, mode } = typed(args)?;
        let bytes = content.len();
        let most = self.0.max_bytes;
        if bytes > most {
            return Err(ToolError::tell(format!(
                "content too large ({bytes} bytes > {most} max): write it in parts with mode append"
            )));
        }
        let roots = scope.roots.clone();
        let deny = self.0.deny_paths.clone();
        on_disk(scope, move |stop| {
            let located = Finder { tool: NAME, roots: &roots, deny: &deny }.writable(&path)?;
            let shown = located.shown();
            let (done, said) = match mode.unwrap_or(Mode::Overwrite) {
                Mode::Overwrite => (located.replace(content.as_bytes()), "wrote"),
                Mode::Append => (located.append(content.as_bytes(), stop), "appended"),
            };
            done.map_err(|e| refused(&shown, &e))?;
            Ok(Output::ok(format!("{said} {bytes} bytes to {shown}")))
        })
        .await
    }

    fn changes(&self, roots: &Roots, args: &Value) -> Result<Vec<Location>, ToolError> {
        let Args { path, .. } = typed(args.clone())?;
        let finder = Finder { tool: NAME, roots, deny: &self.0.deny_paths };
        Ok(vec![finder.writable(&path)?])
    }

    fn preview(&self, roots: &Roots, args: &Value) -> Option<Preview> {
        let Args { path, content, mode } = typed(args.clone()).ok()?;
        let finder = Finder { tool: NAME, roots, deny: &self.0.deny_paths };
        let there = finder.writable(&path).map(|located| located.kind());
        let lines = match content.lines().count() {
            1 => "1 line".to_owned(),
            all => format!("{all} lines"),
        };
        let (there, what) = match (there, mode) {
            (Err(why), _) => {
                let what = format!("write {path}, which would fail: {why}");
                return Some(Preview::of(what, &["path"]));
            }
            (Ok(Err(_)), _) => (false, format!("create {path} ({lines})")),
            (Ok(Ok((_, size))), Some(Mode::Append)) => {
                (true, format!("append {lines} to {path} ({size} bytes)"))
            }
            (Ok(Ok((_, size))), _) => (true, format!("replace {path} ({size} bytes) with {lines}")),
        };
        let shows: &[&str] = match there {
            true => &["path", "content", "mode"],
            false => &["path", "content"],
        };
        Some(Preview::of(what, shows).with(content))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::testkit::Folders;

    async fn call(scope: &Scope, args: Value) -> String {
        let settings = Settings { max_bytes: 20, ..Default::default() };
        let called = WriteFile(settings).call(scope, args).await;
        called.map_or_else(|e| e.to_string(), |o| o.text)
    }

    #[tokio::test]
    async fn it_writes_appends_and_refuses() {
        let folders = Folders::new();
        folders.put("work/dir/x", "x");
        folders.put("state/selkie.db", "x");
        let scope = folders.scope();
        let mut said = Vec::new();
        for args in [
            json!({"path": "a/b.txt", "content": "one"}),
            json!({"path": "a/b.txt", "content": " two", "mode": "append"}),
            json!({"path": "file_cache_dir/c.txt", "content": ""}),
            json!({"path": "file_state_dir/TODO.md", "content": "- x"}),
            json!({"path": "big", "content": "0123456789012345678901"}),
            json!({"path": "dir", "content": "x"}),
            json!({"path": "dir/", "content": "x"}),
            json!({"path": "dir/x/y", "content": "x"}),
            json!({"path": "../outside/x", "content": "x"}),
            json!({"path": "file_state_dir/selkie.db", "content": "x"}),
            json!({"path": "file_state_dir/HEARTBEAT.md", "content": "x"}),
            json!({"path": "file_state_dir/persona/SOUL.md", "content": "x"}),
            json!({"path": "file_state_dir", "content": "x"}),
        ] {
            said.push(call(&scope, args).await);
        }
        insta::assert_snapshot!(said.join("\n"), @r"
        wrote 3 bytes to a/b.txt
        appended 4 bytes to a/b.txt
        wrote 0 bytes to file_cache_dir/c.txt
        wrote 3 bytes to file_state_dir/TODO.md
        content too large (22 bytes > 20 max): write it in parts with mode append
        dir: it is a folder
        path is a directory: dir/
        dir/x/y cannot be reached: a part of it is a file, not a folder
        refusing to write outside allowed base dirs: ../outside/x (open here: file_cache_dir/<path>, the workspace, file_state_dir/<path>)
        write_file denied for path: file_state_dir/selkie.db (it is the bot's own: no tool touches it)
        write_file denied for path: file_state_dir/HEARTBEAT.md (it defines the bot: people change it, tools do not)
        write_file denied for path: file_state_dir/persona/SOUL.md (it defines the bot: people change it, tools do not)
        invalid path: alias requires a relative file path
        ");
        assert_eq!(folders.get("work/a/b.txt"), "one two");
        assert_eq!(folders.get("cache/bird/one/c.txt"), "");
        assert_eq!(folders.get("state/selkie.db"), "x");
    }

    #[tokio::test]
    async fn without_a_workspace_it_writes_into_its_own_folder_even_before_there_is_one() {
        let folders = Folders::new();
        let mut scope = folders.scope();
        scope.roots.workspace = None;
        scope.roots.own = folders.at("cache/bird/new");
        let said = call(&scope, json!({"path": "x.txt", "content": "x"})).await;
        assert_eq!(said, "wrote 1 bytes to file_cache_dir/x.txt");
        assert_eq!(folders.get("cache/bird/new/x.txt"), "x");
    }

    #[tokio::test]
    async fn appends_side_by_side_lose_nothing() {
        let folders = Folders::new();
        let scope = folders.scope();
        let line = json!({"path": "log", "content": "line\n", "mode": "append"});
        let all = (0..40).map(|_| call(&scope, line.clone()));
        futures_util::future::join_all(all).await;
        assert_eq!(folders.get("work/log"), "line\n".repeat(40));
    }
}
