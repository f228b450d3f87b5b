//! `apply_patch`: both grammars, wrong counts, and all or nothing.

use insta::assert_snapshot;
use serde_json::json;

use crate::desk::Desk;

#[test]
fn a_patch_is_applied_whole_or_not_at_all() {
    let desk = Desk::new();
    desk.put("a.txt", "one\ntwo\nthree\n")
        .put("b.txt", "alike\nx\nalike\nx\n")
        .put("gone.txt", "x\n");
    let patch = |text: &str| json!({ "patch": text });
    assert_snapshot!(desk.said(&[
        // Counts and line numbers are wrong.
        ("patch_apply", patch("--- a/a.txt\n+++ b/a.txt\n@@ -40,9 +41,1 @@\n one\n-two\n+2\n three\n")),
        ("patch", patch("--- /dev/null\n+++ b/sub/new.txt\n@@ -0,0 +1 @@\n+new\n\\ No newline at end of file\n")),
        ("apply_patch", patch("*** Begin Patch\n*** Update File: a.txt\n*** Move to: c.txt\n@@ one\n-2\n+two\n*** Delete File: gone.txt\n*** End Patch")),
        // The second file does not fit: the first stays as it is.
        ("apply_patch", patch("--- a/c.txt\n+++ b/c.txt\n@@ -1 +1 @@\n-one\n+1\n--- a/b.txt\n+++ b/b.txt\n@@ -1 +1 @@\n-other\n+1\n")),
        ("apply_patch", patch("--- a/b.txt\n+++ b/b.txt\n@@ @@\n-x\n+y\n")),
        ("apply_patch", patch("--- a/c.txt\n+++ b/c.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n@@ -2,2 +2,2 @@\n-two\n+zwei\n three\n")),
        ("apply_patch", patch("*** Begin Patch\n*** Add File: c.txt\n+x\n*** End Patch")),
        ("apply_patch", patch("*** Begin Patch\n*** Add File: ../out.txt\n+x\n*** End Patch")),
        ("apply_patch", patch("no patch")),
    ]), @r##"
updated a.txt (1 hunk)
--
added sub/new.txt
--
moved a.txt to c.txt (1 hunk)
deleted gone.txt
--
✗ b.txt: hunk 1: its first line was not found: "other": read the file again
Nothing was changed.
--
✗ b.txt: hunk 1: its lines fit in 2 places (lines 2, 4): add lines around them until they fit in one
Nothing was changed.
--
✗ c.txt: hunk 2: it overlaps another one
Nothing was changed.
--
✗ c.txt is there already: update it
Nothing was changed.
--
✗ refusing to write outside allowed base dirs: ../out.txt (open here: file_cache_dir/<path>, the workspace, file_state_dir/<path>)
--
✗ this is not a patch: write a unified diff (--- a/file, +++ b/file, @@ … @@) or *** Begin Patch … *** End Patch
"##);
    assert_eq!(desk.get("c.txt"), "one\ntwo\nthree\n");
    assert_eq!(desk.get("sub/new.txt"), "new");
    assert_eq!(desk.get("b.txt"), "alike\nx\nalike\nx\n");
    assert!(!desk.at("a.txt").exists() && !desk.at("gone.txt").exists());
}
