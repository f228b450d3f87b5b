//! `edit_file`: replaces an exact text in a file.

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::DenyList;
use super::blocking::on_disk;
use super::replace::{Replace, Replacement};
use super::whole::Whole;
use crate::args::typed;
use crate::paths::{Finder, Location, Roots};
use crate::scope::Scope;
use crate::shown::Preview;
use crate::{Handler, Output, ToolError, spec};
use selkie_domain::tool::{Also, Class, OtherName, OtherParameter, Recovery, ToolSpec};

const NAME: &str = "edit_file";

/// Other harnesses' words for it.
const ALSO: Also = Also {
    names: &[OtherName::plain("file_edit"), OtherName::plain("edit")],
    parameters: &[
        OtherParameter::new("old_text", "old_string"),
        OtherParameter::new("new_text", "new_string"),
    ],
    absent: &[],
};

/// The tool.
pub(crate) struct EditFile(pub(crate) DenyList);

#[derive(Deserialize, JsonSchema)]
struct Args {
    path: String,
    /// Exact, with its whitespace, without `read_file`'s line numbers.
    old_string: String,
    /// Empty to take it out.
    #[schemars(length(min = 0))]
    new_string: String,
    /// Default: false: one place only.
    #[serde(default)]
    replace_all: bool,
}

#[async_trait]
impl Handler for EditFile {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            description:
                "Replace an exact text in a file. Read it first; for several places or files use \
                          apply_patch."
                    .to_owned(),
            group: "files",
            sources: &["S0", "S2", "S4"],
            doing: "changing files",
            also: ALSO,
            ..spec::<Args>(NAME, Class::Write, Recovery::Unknown)
        }
    }

    async fn call(&self, scope: &Scope, args: Value) -> Result<Output, ToolError> {
        let args: Args = typed(args)?;
        let roots = scope.roots.clone();
        let denied = self.0.clone();
        on_disk(scope, move |_| {
            let (file, done) = edited(&denied.finder(NAME, &roots), &args)?;
            file.replace(&done.content)?;
            let places = places(done.count);
            let shown = file.shown();
            Ok(Output::ok(format!("changed {places} of {shown}\n{}", done.diff)))
        })
        .await
    }

    fn changes(&self, roots: &Roots, args: &Value) -> Result<Vec<Location>, ToolError> {
        let args: Args = typed(args.clone())?;
        Ok(vec![self.0.finder(NAME, roots).writable(&args.path)?])
    }

    fn preview(&self, roots: &Roots, args: &Value) -> Option<Preview> {
        let args: Args = typed(args.clone()).ok()?;
        let path = &args.path;
        Some(match edited(&self.0.finder(NAME, roots), &args) {
            Ok((_, done)) => {
                let shows = &["path", "old_string", "new_string"];
                Preview::of(format!("edit {path} ({})", places(done.count)), shows).with(done.diff)
            }
            Err(why) => Preview::of(format!("edit {path}, which would fail: {why}"), &["path"]),
        })
    }
}

/// The file, and what comes of it.
fn edited(finder: &Finder<'_>, args: &Args) -> Result<(Whole, Replacement), ToolError> {
    let file = Whole::of(finder, &args.path)?;
    let replace = Replace {
        old: &args.old_string,
        new: &args.new_string,
        all: args.replace_all,
        may_all: true,
    };
    let done = replace.apply(&file.shown(), &file.content)?;
    Ok((file, done))
}

fn places(count: usize) -> String {
    if count == 1 { "1 place".to_owned() } else { format!("{count} places") }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::testkit::Folders;

    async fn call(scope: &Scope, args: Value) -> String {
        let tool = EditFile(DenyList::new(vec!["diary".to_owned()]));
        tool.call(scope, args).await.map_or_else(|e| e.to_string(), |o| o.text)
    }

    #[tokio::test]
    async fn it_edits_and_refuses() {
        let folders = Folders::new();
        let file = folders.put("work/main.go", "func main() {\n\tfmt.Println(\"hello\")\n}\n");
        std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o755))
            .unwrap();
        folders.put("work/diary", "x");
        folders.put("work/bytes", b"a\xff\nb\n");
        folders.put("outside/x", "x");
        std::os::unix::fs::symlink(folders.at("outside/x"), folders.at("work/link")).unwrap();
        let two = folders.put("work/two", "x");
        std::fs::hard_link(two, folders.at("work/three")).unwrap();
        let scope = folders.scope();
        let mut said = Vec::new();
        for (path, old, new) in [
            ("main.go", "\"hello\"", "\"hello, world\""),
            ("bytes", "b", "c"),
            ("none", "a", "b"),
            ("diary", "x", "y"),
            ("link", "x", "y"),
            ("two", "x", "y"),
            (".", "x", "y"),
        ] {
            let args = json!({"path": path, "old_string": old, "new_string": new});
            said.push(call(&scope, args).await);
        }
        insta::assert_snapshot!(said.join("\n--\n"), @r##"
changed 1 place of main.go
@@ line 2 @@
 func main() {
-	fmt.Println("hello")
+	fmt.Println("hello, world")
 }
--
changed 1 place of bytes
@@ line 2 @@
 a�
-b
+c
--
no such file: none
--
edit_file denied for path: diary (tools.edit_file.deny_paths)
--
refusing to write outside allowed base dirs: link (open here: file_cache_dir/<path>, the workspace, file_state_dir/<path>)
--
two: the file has several names (hard links): writing would change them all
--
. is a directory: name a file in it
"##);
        assert!(folders.get("work/main.go").contains("hello, world"));
        assert_eq!(std::fs::read(folders.at("work/bytes")).unwrap(), b"a\xff\nc\n");
        assert_eq!(folders.get("outside/x"), "x");
        let mode = std::os::unix::fs::MetadataExt::mode(&std::fs::metadata(file).unwrap());
        assert_eq!(mode & 0o777, 0o755, "an existing file keeps its mode");
    }
}
