//! `git_status`: what git says of a folder, in its short form. Runs git, and nothing that a repository's
//! own settings name.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use tokio::process::Command;

use super::Denied;
use super::blocking::{on_disk, refused};
use super::list_files::start;
use crate::domain::tool::{Class, Recovery, ToolSpec};
use crate::tools::args::{parameters, typed};
use crate::tools::paths::Kind;
use crate::tools::scope::{Roots, Scope};
use crate::tools::{Output, Tool, ToolError};

const NAME: &str = "git_status";
/// Where git is looked for: the daemon's own environment does not reach it.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// The tool.
pub(in crate::tools) struct GitStatus {
    spec: Arc<ToolSpec>,
    denied: Denied,
}

#[derive(Deserialize, JsonSchema)]
struct Args {
    /// The folder. Default: the workspace, else the cache folder.
    path: Option<String>,
}

impl GitStatus {
    pub(in crate::tools) fn new(denied: Denied) -> Self {
        let spec = ToolSpec {
            name: NAME,
            description: "Show which files of a git repository are changed, in git's short form."
                .to_owned(),
            parameters: parameters::<Args>(),
            class: Class::Read,
            group: "files",
            sources: &["S0"],
            recovery: Recovery::CallAgain,
        };
        Self { spec: Arc::new(spec), denied }
    }
}

#[async_trait]
impl Tool for GitStatus {
    fn spec(&self) -> &Arc<ToolSpec> {
        &self.spec
    }

    async fn call(&self, scope: &Scope, args: Value) -> Result<Output, ToolError> {
        let Args { path } = typed(args)?;
        let folder = self.folder(scope, path).await?;
        let repository = Repository { folder, open: open(&scope.roots) };
        repository.check().await?;
        let filters = repository.filters().await;
        let mut words: Vec<&str> = filters.iter().flat_map(|f| ["-c", f.as_str()]).collect();
        words.extend(["status", "--short", "--ignore-submodules=dirty", "--", "."]);
        let said = repository.git(&words).await?;
        let said = said.trim_end();
        Ok(Output::outside(if said.is_empty() { "(nothing is changed)" } else { said }))
    }
}

impl GitStatus {
    async fn folder(&self, scope: &Scope, path: Option<String>) -> Result<PathBuf, ToolError> {
        let (roots, denied) = (scope.roots.clone(), self.denied.clone());
        on_disk(scope, move |_| {
            let finder = denied.finder(NAME, &roots);
            let place = match path.as_deref().filter(|p| !p.is_empty()) {
                Some(path) => Some(finder.existing(path)?),
                None => start(&finder, None)?.map(|(folder, _)| folder),
            };
            let Some(place) = place else {
                return Err(ToolError::tell("not a git repository: the folder is not made yet"));
            };
            let shown = place.shown();
            match place.kind().map_err(|e| refused(&shown, &e))?.0 {
                Kind::Folder => Ok(place.real()),
                _ => Err(ToolError::tell(format!("{shown} is no folder"))),
            }
        })
        .await
    }
}

/// Real folders that a repository may lie in; `None` for anywhere.
fn open(roots: &Roots) -> Option<Vec<PathBuf>> {
    if roots.elsewhere {
        return None;
    }
    let all = [Some(&roots.own), roots.state.as_ref(), roots.workspace.as_ref()];
    Some(all.into_iter().flatten().filter_map(|root| root.canonicalize().ok()).collect())
}

struct Repository {
    folder: PathBuf,
    open: Option<Vec<PathBuf>>,
}

impl Repository {
    /// A repository's files and its own folder may lie elsewhere than the folder that was asked for.
    async fn check(&self) -> Result<(), ToolError> {
        let said = self.git(&["rev-parse", "--show-toplevel", "--absolute-git-dir"]).await?;
        let Some(open) = &self.open else { return Ok(()) };
        let inside = |line: &str| {
            let real = Path::new(line).canonicalize();
            real.is_ok_and(|real| open.iter().any(|root| real.starts_with(root)))
        };
        match said.lines().all(inside) {
            true => Ok(()),
            false => Err(ToolError::tell("the repository lies outside of what is open here")),
        }
    }

    /// A filter is a program that a repository's settings name: each one is switched off.
    async fn filters(&self) -> Vec<String> {
        let names =
            ["config", "--name-only", "--get-regexp", r"^filter\..*\.(clean|process|required)$"];
        let said = self.git(&names).await.unwrap_or_default();
        let off = |key: &str| match key.ends_with(".required") {
            true => format!("{key}=false"),
            false => format!("{key}="),
        };
        said.lines().map(off).collect()
    }

    async fn git(&self, words: &[&str]) -> Result<String, ToolError> {
        let mut command = Command::new("git");
        command
            .args([
                "-c",
                "core.fsmonitor=false",
                "-c",
                "core.quotePath=false",
                "-c",
                "color.status=never",
            ])
            .args(["-c", "status.relativePaths=true", "-c", "submodule.recurse=false"])
            .args(words)
            .current_dir(&self.folder)
            .env_clear()
            .envs([("PATH", PATH), ("LC_ALL", "C"), ("GIT_OPTIONAL_LOCKS", "0")])
            .envs([("GIT_CONFIG_NOSYSTEM", "1"), ("GIT_CONFIG_GLOBAL", "/dev/null")])
            .stdin(Stdio::null())
            .kill_on_drop(true);
        let ceilings = self.open.iter().flatten().filter_map(|root| root.parent());
        if let Ok(ceilings) = std::env::join_paths(ceilings) {
            command.env("GIT_CEILING_DIRECTORIES", ceilings);
        }
        let done = command.output().await.map_err(|e| match e.kind() {
            std::io::ErrorKind::NotFound => ToolError::tell("git is not installed here"),
            _ => ToolError::tell(format!("git did not start: {e}")),
        })?;
        if done.status.success() {
            return Ok(String::from_utf8_lossy(&done.stdout).into_owned());
        }
        let why = String::from_utf8_lossy(&done.stderr);
        let why = why.lines().next().unwrap_or("no reason given").trim_start_matches("fatal: ");
        Err(ToolError::tell(format!("git: {why}")))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::tools::testkit::Folders;

    fn git(folder: &Path, words: &[&str]) {
        let mut command = std::process::Command::new("git");
        command.args(["-c", "user.name=t", "-c", "user.email=t@example.invalid"]).args(words);
        command.current_dir(folder).env("GIT_CONFIG_GLOBAL", "/dev/null");
        assert!(command.output().unwrap().status.success(), "{words:?}");
    }

    async fn call(scope: &Scope, args: Value) -> String {
        let tool = GitStatus::new(Denied::default());
        tool.call(scope, args).await.map_or_else(|e| e.to_string(), |o| o.text)
    }

    #[tokio::test]
    async fn it_says_what_is_changed() {
        let folders = Folders::new();
        let work = folders.at("work");
        let scope = folders.scope();
        let before = call(&scope, json!({})).await;
        assert!(before.starts_with("git: not a git repository"), "{before}");
        git(&work, &["init", "-q"]);
        folders.put("work/a.txt", "one\n");
        folders.put("work/sub/b ö.txt", "one\n");
        git(&work, &["add", "."]);
        git(&work, &["commit", "-qm", "x"]);
        assert_eq!(call(&scope, json!({"path": "."})).await, "(nothing is changed)");
        folders.put("work/a.txt", "two\n");
        folders.put("work/sub/c.txt", "new\n");
        assert_eq!(call(&scope, json!({})).await, " M a.txt\n?? sub/c.txt");
        assert_eq!(call(&scope, json!({"path": "sub"})).await, "?? c.txt");
        assert_eq!(call(&scope, json!({"path": "a.txt"})).await, "a.txt is no folder");
    }

    /// A repository around the workspace is not the workspace's; programs of its settings do not run.
    #[tokio::test]
    async fn a_repository_reaches_nothing_outside() {
        let folders = Folders::new();
        git(&folders.at(""), &["init", "-q"]);
        let scope = folders.scope();
        let around = call(&scope, json!({})).await;
        assert!(around.starts_with("git: not a git repository"), "{around}");
        folders.put("work/.git", format!("gitdir: {}\n", folders.at(".git").display()));
        let elsewhere = call(&scope, json!({})).await;
        assert_eq!(elsewhere, "the repository lies outside of what is open here");
        std::fs::remove_file(folders.at("work/.git")).unwrap();
        let work = folders.at("work");
        git(&work, &["init", "-q"]);
        folders.put("work/f", "one\n");
        folders.put("work/.gitattributes", "* filter=evil\n");
        git(&work, &["add", "f"]);
        let touch = format!("touch {}; cat", folders.at("outside/ran").display());
        for key in ["filter.evil.clean", "filter.evil.process", "core.fsmonitor"] {
            git(&work, &["config", key, &touch]);
        }
        folders.put("work/f", "two\n");
        assert!(call(&scope, json!({})).await.contains("AM f"));
        assert!(!folders.at("outside/ran").exists());
    }
}
