//! `notebook_edit`: cells come, change and go; every other byte stays.

use insta::assert_snapshot;
use serde_json::json;

use crate::desk::Desk;

#[test]
fn cells_are_spliced() {
    let desk = Desk::new();
    let book = "{\"nbformat\":4, \"nbformat_minor\":5,\"metadata\":{ \"odd\" : 1.0e3 },\n \"cells\": [\n  {\"cell_type\":\"markdown\",\"id\":\"t\",\"metadata\":{},\"source\":\"# T\"}\n ]}";
    desk.put("n.ipynb", book).put("broken.ipynb", "{");
    assert_snapshot!(desk.said(&[
        ("notebook_edit", json!({"notebook_path": "n.ipynb", "cell_id": "t", "new_source": "x = 1", "cell_type": "code", "edit_mode": "insert"})),
        ("notebook_edit", json!({"notebook_path": "n.ipynb", "cell_number": 1, "edit_mode": "delete"})),
        ("notebook_edit", json!({"notebook_path": "n.ipynb", "cell_number": 4, "edit_mode": "delete"})),
        ("notebook_edit", json!({"notebook_path": "n.ipynb", "cell_id": "none", "new_source": "x"})),
        ("notebook_edit", json!({"notebook_path": "broken.ipynb", "cell_number": 0, "new_source": "x"})),
    ]), @r##"
inserted cell 1 of n.ipynb
--
deleted cell 1 of n.ipynb
--
✗ there is no cell 4: the notebook has one cell, 0
--
✗ there is no cell with the id none: the notebook has one cell, 0
--
✗ broken.ipynb: not a notebook: EOF while parsing an object at line 1 column 1
"##);
    assert_eq!(desk.get("n.ipynb"), book, "what came and went left nothing behind");
}
