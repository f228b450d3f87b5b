//! `patch`: one file made, changed, deleted, and checked against its schema.

use insta::assert_snapshot;
use serde_json::json;

use crate::desk::Desk;

#[test]
fn a_file_is_changed_and_its_findings_are_told() {
    let desk = Desk::with("tools: {patch: {validate: [{glob: 'jobs/*.yaml', schema: job}]}}\n");
    let schema = json!({"type": "object", "additionalProperties": false, "required": ["name"],
        "properties": {"name": {"type": "string"}}});
    std::fs::create_dir_all(desk.folder().join("state/schemas")).unwrap();
    std::fs::write(desk.folder().join("state/schemas/job.json"), schema.to_string()).unwrap();
    assert_snapshot!(desk.said(&[
        ("patch", json!({"path": "jobs/a.yaml", "operation": "create", "content": "nam: x\n"})),
        ("patch", json!({"path": "jobs/a.yaml", "operation": "replace", "old_string": "nam:", "new_string": "name:"})),
        ("patch", json!({"path": "jobs/a.yaml", "operation": "create", "content": "[\n"})),
        ("patch", json!({"path": "jobs/a.yaml", "operation": "delete"})),
        ("patch", json!({"path": "jobs/a.yaml", "operation": "delete"})),
        ("patch", json!({"path": "a", "operation": "create"})),
        ("patch", json!({"path": "a", "operation": "remove"})),
    ]), @r##"
created jobs/a.yaml (7 bytes)
not valid by the schema job (read_schema shows it):
- unknown parameter nam: did you mean name? (takes name)
- name is required
--
changed jobs/a.yaml
@@ line 1 @@
-nam: x
+name: x
valid by the schema job
--
wrote 2 bytes to jobs/a.yaml, which was there and is overwritten
not valid YAML: unclosed bracket '[' at line 1, column 1
--
deleted jobs/a.yaml
--
✗ no such file: jobs/a.yaml
--
✗ content is required
--
✗ invalid operation: remove (takes create, replace, delete)
"##);
}
