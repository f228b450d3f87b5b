//! `glob`: files whose path matches a pattern, the newest first.

use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use async_trait::async_trait;
use globset::GlobBuilder;
use schemars::JsonSchema;
use selkie_channel_core::locked;
use serde::Deserialize;
use serde_json::Value;

use super::DenyList;
use super::blocking::{on_disk, refused};
use super::list_files::start;
use super::tame::is_tame;
use super::walk::{Sight, files, with_closed};
use crate::args::typed;
use crate::paths::{Finder, Kind, Location, Stop};
use crate::scope::Scope;
use crate::{Handler, Output, ToolError, spec};
use selkie_domain::tool::{Class, Recovery, ToolSpec};

const NAME: &str = "glob";
/// Files shown at most.
const MAX_SHOWN: usize = 500;

/// The tool.
pub(crate) struct Glob(pub(crate) DenyList);

#[derive(Deserialize, JsonSchema)]
struct Args {
    /// `src/**/*.{ts,tsx}`; `*` stays within one folder.
    pattern: String,
    /// Default: workspace, else cache folder.
    path: Option<String>,
}

#[async_trait]
impl Handler for Glob {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            description: "Find files by path, the newest first. Hidden ones and what .gitignore names are left \
                          out."
                .to_owned(),
            group: "files",
            sources: &["S2", "S4"],
            doing: "looking through files",
            ..spec::<Args>(NAME, Class::Read, Recovery::NotTwice)
        }
    }

    async fn call(&self, scope: &Scope, args: Value) -> Result<Output, ToolError> {
        let args: Args = typed(args)?;
        let sight = Sight { tool: NAME, roots: scope.roots.clone(), denied: self.0.clone() };
        on_disk(scope, move |stop| Ok(Output::outside(find(sight, &args, stop)?))).await
    }
}

fn find(sight: Sight, args: &Args, stop: &Stop) -> Result<String, ToolError> {
    let denied = sight.denied.clone();
    let roots = sight.roots.clone();
    let Some((folder, pattern)) = place(&denied.finder(NAME, &roots), args)? else {
        return Ok("No files found.".to_owned());
    };
    let shown = folder.shown();
    if folder.kind().map_err(|e| refused(&shown, &e))?.0 != Kind::Folder {
        return Err(ToolError::tell(format!("{shown} is a file: name the folder it is in")));
    }
    if !is_tame(&pattern) {
        return Err(ToolError::tell("invalid pattern: it is too long, or nests too many braces"));
    }
    let wrong = |e: globset::Error| ToolError::tell(format!("invalid pattern: {}", e.kind()));
    let pattern = GlobBuilder::new(&pattern).literal_separator(true).build().map_err(wrong)?;
    let matcher = pattern.compile_matcher();
    let base = folder.real();
    let found: Mutex<Vec<(SystemTime, String)>> = Mutex::default();
    let walked = files(&folder, sight, stop, |file, entry| {
        if entry.path().strip_prefix(&base).is_ok_and(|relative| matcher.is_match(relative)) {
            let changed = entry.metadata().ok().and_then(|m| m.modified().ok());
            file.saw_name();
            let line = (changed.unwrap_or(SystemTime::UNIX_EPOCH), file.shown());
            locked(&found).push(line);
        }
    });
    let closed = walked.map_err(|e| refused(&shown, &e))?;
    let list = print(found.into_inner().unwrap_or_else(PoisonError::into_inner));
    Ok(with_closed(list, closed))
}

/// The folder to look in and the pattern below it; `None` for the default folder before it is made.
fn place(finder: &Finder<'_>, args: &Args) -> Result<Option<(Location, String)>, ToolError> {
    let pattern = args.pattern.trim_start_matches("./");
    let from_alias =
        ["/", "file_cache_dir/", "file_state_dir/"].iter().any(|a| pattern.starts_with(a));
    if let (None, true) = (&args.path, from_alias) {
        let names: Vec<&str> = pattern.split('/').collect();
        let special = names.iter().position(|n| n.contains(['*', '?', '[', '{']));
        let at = special.unwrap_or(names.len() - 1);
        // An alias takes a path below it.
        let folder = format!("{}/.", names[..at].join("/"));
        return Ok(Some((finder.existing(&folder)?, names[at..].join("/"))));
    }
    Ok(start(finder, args.path.as_deref())?.map(|(folder, _)| (folder, pattern.to_owned())))
}

fn print(mut found: Vec<(SystemTime, String)>) -> String {
    if found.is_empty() {
        return "No files found.".to_owned();
    }
    found.sort_unstable_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    let all = found.len();
    let mut lines: Vec<String> = found.into_iter().take(MAX_SHOWN).map(|(_, path)| path).collect();
    if all > MAX_SHOWN {
        lines.push(format!(
            "[Showing the {MAX_SHOWN} newest of {all} files. Name a folder with path, or use a narrower pattern, for the rest.]"
        ));
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::time::Duration;

    use serde_json::json;

    use super::*;
    use crate::testkit::Folders;

    async fn call(scope: &Scope, args: Value) -> String {
        let tool = Glob(DenyList::new(vec!["diary.md".to_owned()]));
        tool.call(scope, args).await.map_or_else(|e| e.to_string(), |o| o.text)
    }

    #[tokio::test]
    async fn it_finds_the_newest_first_and_nothing_ignored() {
        let folders = Folders::new();
        let files = [
            "a.rs",
            "src/b.rs",
            "src/deep/c.rs",
            "src/d.ts",
            "target/e.rs",
            ".hid/f.rs",
            "diary.md",
        ];
        for (age, file) in files.iter().enumerate() {
            let at = folders.put(&format!("work/{file}"), "x");
            let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000 - age as u64);
            File::options().write(true).open(at).unwrap().set_modified(time).unwrap();
        }
        folders.put("work/.gitignore", "target/\n");
        folders.put("cache/bird/one/mine.rs", "x");
        folders.put("state/selkie.db", "x");
        folders.put("state/memory/m.md", "x");
        folders.put("state/TODO.md", "x");
        folders.put("outside/o.rs", "x");
        std::os::unix::fs::symlink(folders.at("outside"), folders.at("work/out")).unwrap();
        let scope = folders.scope();
        let mut said = Vec::new();
        for args in [
            json!({"pattern": "**/*.rs"}),
            json!({"pattern": "*.rs"}),
            json!({"pattern": "src/**/*.{rs,ts}"}),
            json!({"pattern": "*.rs", "path": "src"}),
            json!({"pattern": "**/*.md"}),
            json!({"pattern": "file_cache_dir/*.rs"}),
            json!({"pattern": "file_state_dir/**/*"}),
            json!({"pattern": "**/*", "path": "out"}),
            json!({"pattern": "/etc/*"}),
            json!({"pattern": "[", "path": "src"}),
            json!({"pattern": "*", "path": "a.rs"}),
        ] {
            said.push(format!("{args}\n{}", call(&scope, args.clone()).await));
        }
        insta::assert_snapshot!(said.join("\n--\n"), @r##"
{"pattern":"**/*.rs"}
a.rs
src/b.rs
src/deep/c.rs
[1 entry is closed to tools.]
--
{"pattern":"*.rs"}
a.rs
[1 entry is closed to tools.]
--
{"pattern":"src/**/*.{rs,ts}"}
src/b.rs
src/deep/c.rs
src/d.ts
[1 entry is closed to tools.]
--
{"pattern":"*.rs","path":"src"}
src/b.rs
--
{"pattern":"**/*.md"}
No files found.
[1 entry is closed to tools.]
--
{"pattern":"file_cache_dir/*.rs"}
file_cache_dir/mine.rs
--
{"pattern":"file_state_dir/**/*"}
file_state_dir/TODO.md
[2 entries are closed to tools.]
--
{"pattern":"**/*","path":"out"}
refusing to read outside allowed base dir: out (open here: file_cache_dir/<path>, the workspace, file_state_dir/<path>)
--
{"pattern":"/etc/*"}
refusing to read outside allowed base dir: /etc/. (open here: file_cache_dir/<path>, the workspace, file_state_dir/<path>)
--
{"pattern":"[","path":"src"}
invalid pattern: unclosed character class; missing ']'
--
{"pattern":"*","path":"a.rs"}
a.rs is a file: name the folder it is in
"##);
    }
}
