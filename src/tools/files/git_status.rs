//! `git_status`: what git says of a folder, in its short form. A repository is foreign data: git is given
//! a folder of our own making over its files, so that nothing in it can name a program.

mod found;
mod private;
mod run;

use std::path::PathBuf;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::DenyList;
use super::blocking::{on_disk, refused};
use super::list_files::start;
use crate::args::typed;
use crate::paths::{Kind, Roots};
use crate::scope::Scope;
use crate::{Handler, Output, ToolError, spec};
use selkie_domain::tool::{Class, Recovery, ToolSpec};

const NAME: &str = "git_status";

/// The tool.
pub(crate) struct GitStatus(pub(crate) DenyList);

#[derive(Deserialize, JsonSchema)]
struct Args {
    /// Default: workspace, else cache folder.
    path: Option<String>,
}

#[async_trait]
impl Handler for GitStatus {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            description: "Show a git repository's changed files, in git's short form.".to_owned(),
            group: "files",
            sources: &["S0"],
            doing: "looking through files",
            ..spec::<Args>(NAME, Class::Read, Recovery::CallAgain)
        }
    }

    async fn call(&self, scope: &Scope, args: Value) -> Result<Output, ToolError> {
        let Args { path } = typed(args)?;
        let folder = self.folder(scope, path).await?;
        let roots = scope.roots.clone();
        let now = scope.clock.now();
        let (folder, top, private) = on_disk(scope, move |stop| {
            let repository = found::around(&folder, open(&roots).as_deref())?;
            let private = private::Private::of(&repository, &roots.cache, now, stop)?;
            Ok((folder, repository.top, private))
        })
        .await?;
        let said = run::status(&private, &top, &folder).await?;
        let said = said.trim_end();
        Ok(Output::outside(if said.is_empty() { "(nothing is changed)" } else { said }))
    }
}

impl GitStatus {
    async fn folder(&self, scope: &Scope, path: Option<String>) -> Result<PathBuf, ToolError> {
        let roots = scope.roots.clone();
        let denied = self.0.clone();
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
                _ => Err(ToolError::tell(format!("{shown} is not a folder"))),
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

#[cfg(test)]
mod tests {
    use std::path::Path;

    use serde_json::json;

    use super::*;
    use crate::testkit::Folders;

    fn git(folder: &Path, words: &[&str]) {
        let mut command = std::process::Command::new("git");
        command.args(["-c", "user.name=t", "-c", "user.email=t@example.invalid"]).args(words);
        command.current_dir(folder).env("GIT_CONFIG_GLOBAL", "/dev/null");
        assert!(command.output().unwrap().status.success(), "{words:?}");
    }

    async fn call(scope: &Scope, args: Value) -> String {
        let tool = GitStatus(DenyList::default());
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
        assert_eq!(call(&scope, json!({"path": "a.txt"})).await, "a.txt is not a folder");
    }

    /// A repository around the workspace is not the workspace's.
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
        git(&folders.at("work"), &["init", "-q"]);
        std::fs::write(folders.at("work/.git/commondir"), "../../.git\n").unwrap();
        let shared = call(&scope, json!({})).await;
        assert_eq!(shared, "the repository lies outside of what is open here");
        std::fs::write(folders.at("work/.git/commondir"), ".\n").unwrap();
        std::fs::write(folders.at("work/.git/HEAD"), "ref: refs/../../../outside/secret\n")
            .unwrap();
        let above = call(&scope, json!({})).await;
        assert!(above.contains("HEAD names no reference"), "{above}");
    }

    /// Nothing that a repository's settings name runs: no filter whatever its name, no daemon, no hook, and
    /// nothing is fetched that a commit misses.
    #[tokio::test]
    async fn nothing_in_a_repository_runs() {
        let folders = Folders::new();
        let work = folders.at("work");
        git(&work, &["init", "-q"]);
        folders.put("work/f", "one\n");
        folders.put("work/g", "one\n");
        git(&work, &["add", "f", "g"]);
        git(&work, &["commit", "-qm", "x"]);
        let ran = folders.at("outside/ran");
        let touch = format!("touch {}; cat", ran.display());
        let mut settings = format!(
            "[core]\n\tfsmonitor = {touch}\n\thooksPath = {}\n[include]\n\tpath = more\n",
            folders.at("work/hooks").display()
        )
        .into_bytes();
        for name in [&b"evil"[..], b"a=b", b"\xff", b"x.y\nz"] {
            let name = name.escape_ascii().to_string().replace("\\xff", "\u{fffd}");
            settings.extend(
                format!(
                    "[filter \"{}\"]\n\tclean = \"{touch}\"\n\tprocess = \"{touch}\"\n",
                    name.replace('\\', "\\\\")
                )
                .bytes(),
            );
        }
        settings.extend(b"[filter \"\xff\"]\n\tclean = \"");
        settings.extend(touch.bytes());
        settings.extend(b"\"\n");
        std::fs::write(folders.at("work/.git/config"), settings).unwrap();
        folders.put("work/.git/more", format!("[core]\n\tfsmonitor = {touch}\n"));
        folders.put("work/.gitattributes", b"f filter=evil\ng filter=a=b\n* filter=\xff\n");
        folders.put("work/.git/info/attributes", "* filter=evil\n");
        folders.put("work/f", "two\n");
        folders.put("work/g", "two\n");
        assert_eq!(call(&folders.scope(), json!({})).await, " M f\n M g\n?? .gitattributes");
        assert!(!ran.exists());
        assert!(std::fs::read_dir(folders.at("cache/.git-status")).unwrap().next().is_none());
    }

    /// A commit that is not there, a remote that promises it, and a command that would bring it.
    #[tokio::test]
    async fn nothing_is_fetched() {
        let folders = Folders::new();
        let ran = folders.at("outside/ran");
        folders.put("work/.git/HEAD", "a".repeat(40));
        folders.put("work/.git/objects/x", "");
        folders.put("work/.git/refs/x", "");
        folders.put("work/.git/config", format!(
            "[core]\n\trepositoryformatversion = 1\n\tbare = false\n[extensions]\n\tpartialclone = o\n\
             [remote \"o\"]\n\turl = .\n\tpromisor = true\n\tuploadpack = \"touch {}; false\"\n",
            ran.display()
        ));
        let said = call(&folders.scope(), json!({})).await;
        assert!(said.starts_with("git: "), "{said}");
        assert!(!ran.exists());
    }

    /// Pipes never end, devices and links lead elsewhere: none is opened.
    #[tokio::test]
    async fn pipes_and_links_are_refused_at_once() {
        use rustix::fs::{CWD, FileType, Mode, mknodat};
        for file in
            ["HEAD", "index", "commondir", "packed-refs", "objects/pack/x.idx", "refs/heads/x"]
        {
            for link in [false, true] {
                let folders = Folders::new();
                let work = folders.at("work");
                git(&work, &["init", "-q", "-b", "x"]);
                let at = work.join(".git").join(file);
                let _ = std::fs::remove_file(&at);
                if link {
                    std::os::unix::fs::symlink("/dev/zero", &at).unwrap();
                } else {
                    mknodat(CWD, &at, FileType::Fifo, Mode::RWXU, 0).unwrap();
                }
                let scope = folders.scope();
                let limit = std::time::Duration::from_secs(10);
                let said = tokio::time::timeout(limit, call(&scope, json!({})));
                let said = said.await.unwrap();
                assert!(said.contains("the repository is not looked at"), "{file} {link}: {said}");
            }
        }
        let folders = Folders::new();
        mknodat(CWD, folders.at("work/.git"), FileType::Fifo, Mode::RWXU, 0).unwrap();
        assert!(call(&folders.scope(), json!({})).await.contains("is not followed"));
    }

    /// What is common is read: references in one file, worktrees, files changed within the same second.
    #[tokio::test]
    async fn usual_repositories_are_read() {
        let folders = Folders::new();
        let work = folders.at("work");
        git(&work, &["init", "-q"]);
        folders.put("work/a", "1\n");
        git(&work, &["add", "a"]);
        folders.put("work/a", "2\n");
        assert_eq!(call(&folders.scope(), json!({})).await, "AM a");
        git(&work, &["add", "a"]);
        git(&work, &["commit", "-qm", "x"]);
        git(&work, &["pack-refs", "--all"]);
        git(&work, &["gc", "-q"]);
        assert_eq!(call(&folders.scope(), json!({})).await, "(nothing is changed)");
        git(&work, &["worktree", "add", "-q", "tree"]);
        folders.put("work/tree/b", "1\n");
        assert_eq!(call(&folders.scope(), json!({"path": "tree"})).await, "?? b");
    }
}
