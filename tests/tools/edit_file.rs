//! `edit_file`: one place or all, in files of any line ends.

use insta::assert_snapshot;
use serde_json::json;

use crate::desk::Desk;

#[test]
fn an_exact_text_is_replaced_or_the_reason_is_told() {
    let desk = Desk::new();
    desk.put("a.txt", "one\ntwo\none\n").put("crlf.txt", "one\r\ntwo\r\n").put("end.txt", "last");
    assert_snapshot!(desk.said(&[
        ("edit", json!({"path": "a.txt", "old_text": "two", "new_text": "2"})),
        ("file_edit", json!({"path": "a.txt", "old_string": "one", "new_string": "1"})),
        ("edit_file", json!({"path": "a.txt", "old_string": "one", "new_string": "1", "replace_all": "true"})),
        ("edit_file", json!({"path": "a.txt", "old_string": "none", "new_string": "1"})),
        ("edit_file", json!({"path": "crlf.txt", "old_string": "one\ntwo", "new_string": "1\n2"})),
        ("edit_file", json!({"path": "end.txt", "old_string": "last", "new_string": "end"})),
        ("edit", json!({"path": "a.txt", "old_text": "1", "old_string": "2", "new_text": "x"})),
        ("edit_file", json!({"path": "a.txt", "old_string": "", "new_string": "1"})),
    ]), @r##"
changed 1 place of a.txt
@@ line 2 @@
 one
-two
+2
 one
--
✗ old_string occurs in 2 places of a.txt: add lines around it until it is unique, or set replace_all
--
changed 2 places of a.txt
@@ line 1 @@
-one
+1
 2
 1
@@ line 3 @@
 one
 2
-one
+1
--
✗ old_string was not found in a.txt: read the file again and copy the text exactly
--
changed 1 place of crlf.txt
@@ line 1 @@
-one
-two
+1
+2
--
changed 1 place of end.txt
@@ line 1 @@
-last
+end
--
✗ old_string and old_text are the same parameter with different values: give only old_string
--
✗ old_string is required
"##);
    assert_eq!(desk.get("crlf.txt"), "1\r\n2\r\n");
    assert_eq!(desk.get("end.txt"), "end");
}
