//! Both grammars against an independent differ, and what a patch may not do.

use proptest::prelude::*;
use serde_json::json;
use similar::TextDiff;

use super::*;
use crate::files::hunk_parse;
use crate::testkit::Folders;

async fn call(scope: &Scope, patch: &str) -> String {
    let tool = ApplyPatch(DenyList::new(vec!["diary".to_owned()]));
    let called = tool.call(scope, json!({"patch": patch})).await;
    called.map_or_else(|e| e.to_string(), |o| o.text)
}

/// Applies a patch to one file in memory.
fn applied(text: &str, patch: &str) -> Result<String, String> {
    match hunk_parse::parse(patch).map_err(|e| e.to_string())?.as_slice() {
        [Change::Update { hunks, .. }] => fit::apply(text, hunks).map_err(|e| e.to_string()),
        other => Err(format!("{other:?}")),
    }
}

/// The hunks of a unified diff in the other grammar: marks and lines are the same, line numbers go.
fn as_envelope(unified: &str) -> String {
    let body = unified.lines().skip(2).map(|l| if l.starts_with("@@") { "@@" } else { l });
    let body: Vec<_> = body.filter(|l| !l.starts_with('\\')).collect();
    format!("*** Begin Patch\n*** Update File: f\n{}\n*** End Patch", body.join("\n"))
}

fn text() -> impl Strategy<Value = String> {
    // Lines that look like marks of both grammars, and lines that repeat.
    let line = prop_oneof![
        4 => "[a-c]{0,2}",
        1 => Just("-- x".to_owned()), 1 => Just("++ y".to_owned()), 1 => Just("@@ -1 +1 @@".to_owned()),
        1 => Just(" ".to_owned()), 1 => Just("*** End".to_owned()), 1 => Just("漢字".to_owned()),
    ];
    (prop::collection::vec(line, 0..12), any::<bool>(), any::<bool>()).prop_map(
        |(lines, ends, windows)| {
            let by = if windows { "\r\n" } else { "\n" };
            let mut text = lines.join(by);
            if ends && !text.is_empty() {
                text.push_str(by);
            }
            text
        },
    )
}

/// Lines that all end, and at least one of them.
fn ended() -> impl Strategy<Value = String> {
    prop::collection::vec("[a-c]{0,2}|-- x|@@ y", 1..12).prop_map(|all| all.join("\n") + "\n")
}

proptest! {
    #[test]
    fn a_unified_diff_gives_the_new_text(a in text(), b in text(), around in 0_usize..5) {
        prop_assume!(a != b);
        let diff = TextDiff::from_lines(&a, &b);
        let patch = diff.unified_diff().context_radius(around).header("a/f", "b/f").to_string();
        prop_assert_eq!(applied(&a, &patch), Ok(b), "{}", patch);
    }

    /// Wrong numbers are only a hint: the right text comes out, or an error, never another text.
    #[test]
    fn wrong_line_numbers_never_give_a_wrong_text(a in text(), b in text(), shift in 1_usize..9) {
        prop_assume!(a != b && !a.contains("@@") && !b.contains("@@"));
        let diff = TextDiff::from_lines(&a, &b);
        let patch = diff.unified_diff().context_radius(a.len()).header("a/f", "b/f").to_string();
        let head = patch.lines().nth(2).unwrap();
        let wrong = patch.replacen(head, &format!("@@ -{shift},7 +1,{shift} @@"), 1);
        if let Ok(text) = applied(&a, &wrong) {
            prop_assert_eq!(text, b);
        }
    }

    /// Without line numbers the whole file is the context: it fits in one place.
    #[test]
    fn an_envelope_gives_the_new_text(a in ended(), b in ended()) {
        prop_assume!(a != b);
        let diff = TextDiff::from_lines(&a, &b);
        let patch = as_envelope(&diff.unified_diff().context_radius(a.len()).header("f", "f").to_string());
        prop_assert_eq!(applied(&a, &patch), Ok(b), "{}", patch);
    }

    /// With less context: the new text or an error, never another text.
    #[test]
    fn an_envelope_with_little_context_is_right_or_refused(a in ended(), b in ended(), around in 0_usize..4) {
        prop_assume!(a != b);
        let diff = TextDiff::from_lines(&a, &b);
        let patch = as_envelope(&diff.unified_diff().context_radius(around).header("f", "f").to_string());
        if let Ok(text) = applied(&a, &patch) {
            prop_assert_eq!(text, b, "{}", patch);
        }
    }

    #[test]
    fn any_text_is_a_patch_or_an_error(text in "\\PC{0,80}", marks in "[-+ @*\\\\\n/a]{0,80}") {
        let _ = hunk_parse::parse(&text);
        let _ = hunk_parse::parse(&format!("--- a\n+++ b\n@@ -1 +1 @@\n{marks}"));
        let _ = hunk_parse::parse(&format!("*** Begin Patch\n*** Update File: a\n{marks}\n*** End Patch"));
    }
}

/// Its counts are wrong, as models write them: marks alone tell where the hunk ends.
#[test]
fn lines_that_look_like_a_header_stay_in_their_hunk() {
    let patch = "--- a/f\n+++ b/f\n@@ -1,9 +3,5 @@\n-a\n ++ y\n--- x\n+++ y\n";
    assert_eq!(applied("a\n++ y\n-- x\n", patch), Ok("++ y\n++ y\n".to_owned()));
    let two = format!("{patch}--- a/g\n+++ b/g\n@@ -1 +1 @@\n-1\n+2\n");
    assert_eq!(hunk_parse::parse(&two).unwrap().len(), 2, "another file begins with a hunk");
}

#[tokio::test]
async fn both_grammars_change_files() {
    let folders = Folders::new();
    folders.put("work/main.go", "package main\n\nfunc main() {\n\tfmt.Println(\"hello\")\n}\n");
    folders.put("work/old.txt", "one\ntwo\n");
    folders.put("work/gone.txt", "x\n");
    let scope = folders.scope();
    let mut said = Vec::new();
    for patch in [
        "--- a/main.go\n+++ b/main.go\n@@ -10,3 +10,4 @@\n func main() {\n \tfmt.Println(\"hello\")\n+\tfmt.Println(\"world\")\n }\n",
        "*** Begin Patch\n*** Add File: new/new.go\n+package main\n+// new\n*** Update File: old.txt\n*** Move to: moved.txt\n@@ one @@\n one\n-two\n+2\n\n*** Delete File: gone.txt\n*** End Patch",
        "diff --git a/moved.txt b/again.txt\nsimilarity index 100%\nrename from moved.txt\nrename to again.txt\n",
        "--- /dev/null\n+++ b/fresh\n@@ -0,0 +1,1 @@\n+fresh\n\\ No newline at end of file\n--- a/new/new.go\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-package main\n-// new\n",
        "```diff\n--- a/fresh\n+++ b/fresh\n@@ @@\n-fresh\n+stale\n```",
    ] {
        said.push(call(&scope, patch).await);
    }
    insta::assert_snapshot!(said.join("\n--\n"), @r##"
updated main.go (1 hunk)
--
added new/new.go
moved old.txt to moved.txt (1 hunk)
deleted gone.txt
--
moved moved.txt to again.txt (0 hunks)
--
added fresh
deleted new/new.go
--
updated fresh (1 hunk)
"##);
    assert!(
        folders
            .get("work/main.go")
            .contains("\tfmt.Println(\"hello\")\n\tfmt.Println(\"world\")\n}\n")
    );
    assert_eq!(folders.get("work/again.txt"), "one\n2\n");
    assert_eq!(folders.get("work/fresh"), "stale");
    for gone in ["old.txt", "moved.txt", "gone.txt", "new/new.go"] {
        assert!(!folders.at("work").join(gone).exists(), "{gone}");
    }
}

#[tokio::test]
async fn a_patch_that_half_applies_changes_nothing() {
    let folders = Folders::new();
    folders.put("work/a", "1\n2\n3\n2\n");
    folders.put("work/b", "x\n");
    folders.put("work/diary", "x\n");
    folders.put("work/bytes", b"\xff\n");
    folders.put("outside/x", "x\n");
    std::fs::create_dir(folders.at("work/dir")).unwrap();
    let scope = folders.scope();
    let mut said = Vec::new();
    for second in [
        "--- a/b\n+++ b/b\n@@ -1 +1 @@\n-y\n+z\n",
        "--- a/none\n+++ b/none\n@@ -1 +1 @@\n-y\n+z\n",
        "--- a/diary\n+++ b/diary\n@@ -1 +1 @@\n-x\n+z\n",
        "--- a/../outside/x\n+++ b/../outside/x\n@@ -1 +1 @@\n-x\n+z\n",
        "--- a/bytes\n+++ b/bytes\n@@ -1 +1 @@\n-x\n+z\n",
        "--- a/dir\n+++ b/dir\n@@ -1 +1 @@\n-x\n+z\n",
        "--- /dev/null\n+++ b/b\n@@ -0,0 +1 @@\n+z\n",
        "--- a/b\n+++ b/b\n@@ -1 +1 @@\n*x\n",
        "--- a/a\n+++ b/a\n@@ -9 +9 @@\n-2\n+z\n",
        "--- a/b\n+++ b/b\n@@ -1 +1 @@\n-x\n+z\n@@ -1 +1 @@\n-x\n+z\n",
    ] {
        let first = "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-1\n+one\n";
        said.push(call(&scope, &format!("{first}{second}")).await);
    }
    for whole in [
        "hello",
        "*** Begin Patch\n*** Update File: a\n-1\n+one\n",
        "*** Begin Patch\n*** Update File: a\n@@\n-2\n+two\n*** End Patch",
        "*** Begin Patch\n*** Update File: a\n@@ nowhere\n-1\n+two\n*** End Patch",
        "*** Begin Patch\n*** Update File: a\n1\n*** End Patch",
        "*** Begin Patch\n*** Add File: n\nx\n*** End Patch",
        "*** Begin Patch\n*** End Patch",
    ] {
        said.push(call(&scope, whole).await);
    }
    insta::assert_snapshot!(said.join("\n--\n"), @r##"
b: hunk 1: its first line was not found: "y": read the file again
Nothing was changed.
--
no such file: none
Nothing was changed.
--
apply_patch denied for path: diary (tools.apply_patch.deny_paths)
Nothing was changed.
--
refusing to write outside allowed base dirs: ../outside/x (open here: file_cache_dir/<path>, the workspace, file_state_dir/<path>)
Nothing was changed.
--
bytes is not UTF-8 text: it cannot be patched
Nothing was changed.
--
dir is a directory: name a file in it
Nothing was changed.
--
b is there already: update it
Nothing was changed.
--
line 6 of the patch: b has no hunk
--
a: hunk 1: its lines fit in 2 places (lines 2, 4): add lines around them until they fit in one
Nothing was changed.
--
b: hunk 2: it overlaps another one
Nothing was changed.
--
this is not a patch: write a unified diff (--- a/file, +++ b/file, @@ … @@) or *** Begin Patch … *** End Patch
--
the patch has no *** End Patch: it may have been cut
--
a: hunk 1: its lines fit in 2 places (lines 2, 4): add lines around them until they fit in one
Nothing was changed.
--
a: hunk 1: its @@ line was not found: nowhere
Nothing was changed.
--
line 3 of the patch: a line of an update begins with a space, - or +
--
line 3 of the patch: every line of an added file begins with +
--
the patch changes nothing
"##);
    assert_eq!(folders.get("work/a"), "1\n2\n3\n2\n");
    assert_eq!(folders.get("work/b"), "x\n");
    let left = std::fs::read_dir(folders.at("work")).unwrap().count();
    assert_eq!(left, 5, "nothing temporary stays");
}

#[tokio::test]
async fn an_anchor_says_where() {
    let folders = Folders::new();
    folders.put("work/f", "class A\n  def go\n    x\nclass B\n  def go\n    x\n");
    let patch =
        "*** Begin Patch\n*** Update File: f\n@@ class B\n@@ def go\n-    x\n+    y\n*** End Patch";
    insta::assert_snapshot!(call(&folders.scope(), patch).await, @"updated f (1 hunk)");
    assert_eq!(folders.get("work/f"), "class A\n  def go\n    x\nclass B\n  def go\n    y\n");
}
