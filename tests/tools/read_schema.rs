//! `read_schema`: the house's schemas and the state folder's, by a dotted path.

use serde_json::json;

use crate::desk::Desk;

#[test]
fn schemas_are_looked_up() {
    let desk = Desk::new();
    let folder = desk.folder().join("state/schemas");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("job.json"), r#"{"type": "object", "properties": {"name": {"type": "string", "description": "Its name"}}}"#).unwrap();
    let answers = desk.calls(&[
        ("read_schema", json!({"schema": "config", "path": ""})),
        ("read_schema", json!({"schema": "config", "path": "tools.bash.timeout"})),
        ("read_schema", json!({"schema": "job", "path": "name"})),
        ("read_schema", json!({"schema": "job", "path": "nam"})),
        ("read_schema", json!({"schema": "jobs"})),
        ("read_schema", json!({"schema": "contacts"})),
        ("read_schema", json!({"schema": "contacts", "path": "kind"})),
        ("read_schema", json!({"schema": "schedules"})),
        ("read_schema", json!({"schema": "schedules", "path": "misfire"})),
    ]);
    let holds = [
        "worker",
        "timeout",
        "Its name",
        "nam",
        "did you mean job?",
        "- tg_username",
        "one of human, agent",
        "- cron (a string): When",
        "",
    ];
    for (answer, part) in answers.iter().zip(holds) {
        assert!(answer.text.contains(part), "{part} is not in {}", answer.text);
    }
}
