//! `list_files`: what is in a folder, or what matches a pattern.

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::blocking::{on_disk, refused};
use super::pattern::Pattern;
use super::tame::is_tame;
use super::walk::with_closed;
use crate::args::typed;
use crate::paths::{Finder, FolderEntry, Kind, Location, RealRoots, Stop};
use crate::scope::Scope;
use crate::{Handler, Output, ToolError, spec};
use selkie_domain::tool::{Also, Class, ImpliedValue, OtherName, Recovery, ToolSpec};

const NAME: &str = "list_files";
/// Entries shown at most.
const MAX_SHOWN: usize = 500;
/// Entries looked at, at most; what lies behind is said to be missing.
const MAX_SEEN: usize = 100_000;
/// Folders inside folders at most; deeper ones are said to be missing.
const MAX_DEPTH: usize = 64;
/// Folders that are never entered, beside hidden ones.
const SKIPPED: [&str; 2] = ["node_modules", "__pycache__"];

/// Other harnesses' words for it.
const ALSO: Also = Also::called(&[OtherName::meaning("ls", "details", ImpliedValue::Flag(true))]);

/// `tools.list_files`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "ListFiles")]
pub struct Settings {
    /// Whether it may be used.
    pub enabled: bool,
    /// Names and paths that it never lists.
    pub deny_paths: Vec<String>,
}

impl Default for Settings {
    fn default() -> Self {
        Self { enabled: true, deny_paths: Vec::new() }
    }
}

/// The tool.
pub(crate) struct ListFiles(pub(crate) Settings);

#[derive(Deserialize, JsonSchema)]
struct Args {
    /// Folder or pattern (`**/*.md`). Default: workspace, else cache folder.
    path: Option<String>,
    /// Default: false.
    #[serde(default)]
    recursive: bool,
    include: Option<String>,
    /// Type and size. Default: false.
    #[serde(default)]
    details: bool,
}

#[async_trait]
impl Handler for ListFiles {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            description:
                "List a folder, or what matches a pattern, sorted. Hidden names are skipped."
                    .to_owned(),
            group: "files",
            sources: &["S0", "S4"],
            doing: "looking through files",
            also: ALSO,
            ..spec::<Args>(NAME, Class::Read, Recovery::CallAgain)
        }
    }

    async fn call(&self, scope: &Scope, args: Value) -> Result<Output, ToolError> {
        let args: Args = typed(args)?;
        let roots = scope.roots.clone();
        let deny = self.0.deny_paths.clone();
        on_disk(scope, move |stop| {
            let finder = Finder { tool: NAME, roots: &roots, deny: &deny };
            Ok(Output::outside(list(&finder, &args, stop)?))
        })
        .await
    }
}

fn list(finder: &Finder<'_>, args: &Args, stop: &Stop) -> Result<String, ToolError> {
    if [&args.path, &args.include].into_iter().flatten().any(|pattern| !is_tame(pattern)) {
        return Err(ToolError::tell(
            "invalid path or include: it is too long, or nests too many braces",
        ));
    }
    let Some((folder, pattern)) = start(finder, args.path.as_deref())? else {
        return Ok("(no entries)".to_owned());
    };
    let shown = folder.shown();
    if folder.kind().map_err(|e| refused(&shown, &e))?.0 != Kind::Folder {
        return Err(ToolError::tell(format!("{shown} is a file: use read_file")));
    }
    let depth = match &pattern {
        Some(pattern) => pattern.depth().unwrap_or(usize::MAX),
        None if args.recursive => usize::MAX,
        None => 1,
    };
    let include = args.include.as_deref().map(Pattern::new);
    let roots = finder.real_roots();
    let found = Vec::new();
    let mut walk = Walk { finder, roots, stop, left: MAX_SEEN, too_deep: false, closed: 0, found };
    walk.folder(&folder, "", depth.min(MAX_DEPTH), depth > MAX_DEPTH)?;
    let cut_short = walk.left == 0 || walk.too_deep;
    let closed = walk.closed;
    let mut found = walk.found;
    found.retain(|f| {
        pattern.as_ref().is_none_or(|p| p.matches(&f.path))
            && include.as_ref().is_none_or(|i| f.entry.kind != Kind::Folder && i.matches(&f.name()))
    });
    // What a pattern found is named as a path that the next call can take.
    let before = args.path.as_deref().filter(|_| pattern.is_some()).map(plain_folder);
    if let Some(before) = before.filter(|before| !before.is_empty()) {
        found.iter_mut().for_each(|f| f.path.insert_str(0, &before));
    }
    Ok(with_closed(print(found, args.details, cut_short), closed))
}

/// The folder that stands before the first name with something special in it, with its slash.
fn plain_folder(path: &str) -> String {
    let plain = path.split('/').take_while(|name| !Pattern::is_in(name));
    plain.map(|name| format!("{name}/")).collect()
}

/// The folder to list and the pattern below it; `None` for the default folder before it is made.
pub(super) fn start(
    finder: &Finder<'_>,
    path: Option<&str>,
) -> Result<Option<(Location, Option<Pattern>)>, ToolError> {
    let Some(path) = path.filter(|p| !matches!(*p, "" | "." | "./")) else {
        let home = finder.home().to_string_lossy().into_owned();
        return if finder.home().is_dir() {
            Ok(Some((finder.existing(&home)?, None)))
        } else {
            Ok(None)
        };
    };
    if !Pattern::is_in(path) {
        return Ok(Some((finder.existing(path)?, None)));
    }
    // The folder is what stands before the first name with something special in it.
    let names: Vec<&str> = path.split('/').collect();
    let plain = names.iter().position(|n| Pattern::is_in(n)).unwrap_or(names.len());
    let folder = names[..plain].join("/");
    let pattern = names[plain..].join("/");
    let folder = match folder.as_str() {
        "" if path.starts_with('/') => "/",
        "" => ".",
        // An alias takes a path below it.
        "file_cache_dir" => "file_cache_dir/.",
        "file_state_dir" => "file_state_dir/.",
        folder => folder,
    };
    if folder == "." && !finder.home().is_dir() {
        return Ok(None);
    }
    Ok(Some((finder.existing(folder)?, Some(Pattern::new(&pattern)))))
}

struct ListResult {
    path: String,
    entry: FolderEntry,
}

impl ListResult {
    fn name(&self) -> String {
        self.entry.name.to_string_lossy().into_owned()
    }
}

struct Walk<'a> {
    finder: &'a Finder<'a>,
    roots: RealRoots,
    stop: &'a Stop,
    left: usize,
    too_deep: bool,
    /// Entries that are there and closed.
    closed: usize,
    found: Vec<ListResult>,
}

impl Walk<'_> {
    /// `more`: whether the folders behind the last level were wanted, too.
    fn folder(
        &mut self,
        folder: &Location,
        before: &str,
        depth: usize,
        more: bool,
    ) -> Result<(), ToolError> {
        let entries = match folder.list(self.stop) {
            Ok(entries) => entries,
            // One closed folder inside does not spoil the list; the asked one does.
            Err(e) if !before.is_empty() && e.kind() == std::io::ErrorKind::PermissionDenied => {
                return Ok(());
            }
            Err(e) => return Err(refused(&folder.shown(), &e)),
        };
        for entry in entries.into_iter().filter(|e| !skipped(e)) {
            if self.left == 0 {
                return Ok(());
            }
            self.left -= 1;
            let inside = folder.child(&entry.name);
            if !self.finder.may_see(&self.roots, &inside) {
                self.closed += 1;
                continue;
            }
            let name = entry.name.to_string_lossy();
            let path =
                if before.is_empty() { name.into_owned() } else { format!("{before}/{name}") };
            let enters = entry.kind == Kind::Folder && depth > 1;
            self.too_deep |= entry.kind == Kind::Folder && depth == 1 && more;
            inside.saw_name();
            self.found.push(ListResult { path: path.clone(), entry });
            if enters {
                self.folder(&inside, &path, depth - 1, more)?;
            }
        }
        Ok(())
    }
}

fn skipped(entry: &FolderEntry) -> bool {
    let name = entry.name.to_string_lossy();
    name.starts_with('.') || (entry.kind == Kind::Folder && SKIPPED.contains(&name.as_ref()))
}

fn print(mut found: Vec<ListResult>, details: bool, cut_short: bool) -> String {
    if found.is_empty() {
        return "(no entries)".to_owned();
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    let all = found.len();
    let mut lines: Vec<String> = found.iter().take(MAX_SHOWN).map(|f| line(f, details)).collect();
    if all > MAX_SHOWN || cut_short {
        let more = if cut_short { "many more".to_owned() } else { all.to_string() };
        lines.push(format!(
            "[Showing {} of {more} entries. Name a folder inside, or use include, for the rest.]",
            lines.len()
        ));
    }
    lines.join("\n")
}

fn line(found: &ListResult, details: bool) -> String {
    let slash = if found.entry.kind == Kind::Folder { "/" } else { "" };
    let path = format!("{}{slash}", found.path);
    if !details {
        return path;
    }
    match found.entry.kind {
        Kind::File => format!("{path} (file, {} bytes)", found.entry.size),
        Kind::Folder => format!("{path} (folder)"),
        Kind::Link => format!("{path} (link)"),
        Kind::Other => format!("{path} (other)"),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use serde_json::json;

    use super::*;
    use crate::testkit::Folders;

    async fn call(scope: &Scope, args: Value) -> String {
        let called = ListFiles(Settings::default()).call(scope, args).await;
        called.map_or_else(|e| e.to_string(), |o| o.text)
    }

    #[tokio::test]
    async fn it_lists_folders_patterns_and_nothing_hidden() {
        let folders = Folders::new();
        for file in ["b.md", "a/c.md", "a/d/e.rs", ".git/x", "node_modules/x", ".hidden", "a.txt"] {
            folders.put(&format!("work/{file}"), "12345");
        }
        folders.put("cache/bird/one/mine.txt", "x");
        folders.put("state/memory/owner.md", "x");
        folders.put("state/TODO.md", "x");
        folders.put("state/selkie.db", "x");
        folders.put("outside/secret", "x");
        symlink(folders.at("outside"), folders.at("work/out")).unwrap();
        let scope = folders.scope();
        let mut said = Vec::new();
        for args in [
            json!({}),
            json!({"recursive": true}),
            json!({"recursive": true, "include": "*.md"}),
            json!({"path": "a", "details": true}),
            json!({"path": "**/*.md"}),
            json!({"path": "a/*"}),
            json!({"path": "a/[cd]*"}),
            json!({"path": "file_cache_dir/*"}),
            json!({"path": "file_state_dir/.", "recursive": true}),
            json!({"path": "file_state_dir/memory"}),
            json!({"path": "b.md"}),
            json!({"path": "out/*"}),
            json!({"path": "../*"}),
            json!({"path": "none"}),
        ] {
            said.push(format!("{args}\n{}", call(&scope, args.clone()).await));
        }
        insta::assert_snapshot!(said.join("\n--\n"), @r#"
        {}
        a/
        a.txt
        b.md
        out
        --
        {"recursive":true}
        a/
        a.txt
        a/c.md
        a/d/
        a/d/e.rs
        b.md
        out
        --
        {"recursive":true,"include":"*.md"}
        a/c.md
        b.md
        --
        {"path":"a","details":true}
        c.md (file, 5 bytes)
        d/ (folder)
        --
        {"path":"**/*.md"}
        a/c.md
        b.md
        --
        {"path":"a/*"}
        a/c.md
        a/d/
        --
        {"path":"a/[cd]*"}
        a/c.md
        a/d/
        --
        {"path":"file_cache_dir/*"}
        file_cache_dir/mine.txt
        --
        {"path":"file_state_dir/.","recursive":true}
        TODO.md
        [2 entries are closed to tools.]
        --
        {"path":"file_state_dir/memory"}
        list_files denied for path: file_state_dir/memory (it is the bot's memory, not a file)
        --
        {"path":"b.md"}
        b.md is a file: use read_file
        --
        {"path":"out/*"}
        refusing to read outside allowed base dir: out (open here: file_cache_dir/<path>, the workspace, file_state_dir/<path>)
        --
        {"path":"../*"}
        refusing to read outside allowed base dir: .. (open here: file_cache_dir/<path>, the workspace, file_state_dir/<path>)
        --
        {"path":"none"}
        no such file: none
        "#);
    }

    #[tokio::test]
    async fn the_default_folder_is_empty_before_it_is_made() {
        let folders = Folders::new();
        let mut scope = folders.scope();
        scope.roots.workspace = None;
        scope.roots.own = folders.at("cache/not-yet");
        for path in ["", ".", "./", "*", "./*.md"] {
            assert_eq!(call(&scope, json!({ "path": path })).await, "(no entries)", "{path:?}");
        }
        let none = call(&scope, json!({ "path": "none" })).await;
        assert!(none.contains("no such file"), "{none}");
    }

    #[tokio::test]
    async fn a_long_list_says_that_it_is_cut() {
        let folders = Folders::new();
        for number in 0..MAX_SHOWN + 3 {
            folders.put(&format!("work/{number:04}"), "");
        }
        let text = call(&folders.scope(), json!({})).await;
        assert_eq!(text.lines().count(), MAX_SHOWN + 1);
        assert!(text.ends_with(
            "[Showing 500 of 503 entries. Name a folder inside, or use include, for the rest.]"
        ));
    }

    /// A checkout's own state folder lies in the workspace: it is another root with other rules.
    #[tokio::test]
    async fn a_root_inside_a_root_is_not_walked_into() {
        let folders = Folders::new();
        folders.put("work/state/TODO.md", "x");
        folders.put("work/state/memory/owner.md", "x");
        folders.put("work/a", "x");
        let mut scope = folders.scope();
        scope.roots.state = Some(folders.at("work/state"));
        let said = call(&scope, json!({"recursive": true})).await;
        assert_eq!(said, "a\n[1 entry is closed to tools.]");
        let said = call(&scope, json!({"path": "state"})).await;
        assert_eq!(said, "TODO.md\n[1 entry is closed to tools.]");
        scope.roots.elsewhere = true;
        let outside = folders.put("outside/b", "x");
        let outside = outside.parent().unwrap();
        assert_eq!(call(&scope, json!({"path": outside})).await, "b");
    }

    #[tokio::test]
    async fn a_folder_that_is_not_made_yet_is_empty() {
        let folders = Folders::new();
        let mut scope = folders.scope();
        scope.roots.workspace = None;
        scope.roots.own = folders.at("cache/bird/new");
        assert_eq!(call(&scope, json!({})).await, "(no entries)");
    }

    #[tokio::test]
    async fn folders_without_a_floor_are_listed_as_far_as_they_go() {
        let folders = Folders::new();
        folders.put(&format!("work/{}x", "d/".repeat(500)), "x");
        let said = call(&folders.scope(), json!({"path": "**/d"})).await;
        assert!(said.contains("[Showing 64 of many more entries."), "{said}");
    }
}
