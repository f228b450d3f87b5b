//! `powershell`: off where it is no custom, refused clearly where there is none.

use serde_json::json;

use crate::desk::Desk;

#[test]
fn it_says_why_it_does_not_run() {
    let desk = Desk::new();
    assert_eq!(
        desk.call("powershell", json!({"cmd": "Get-Date"})),
        "✗ powershell tool is disabled"
    );
    let desk = Desk::with("tools: {powershell: {enabled: true}}\n");
    let mut line = desk.command();
    line.env("PATH", "/nowhere").args(["tools", "call", "powershell", r#"{"cmd": "Get-Date"}"#]);
    let said = String::from_utf8(line.output().unwrap().stdout).unwrap();
    assert_eq!(said, "powershell needs pwsh, which is not installed here: use bash\n");
}
