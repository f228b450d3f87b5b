//! The example calls of the five reference documents, word for word, under the names that stand there.

use std::process::Command;

use serde_json::{Value, json};

use crate::desk::Desk;
use crate::server::{Server, answer, results};

/// S0's, as printed; of the one that reads a page only the host is another.
const S0: &[(&str, &str)] = &[
    ("file_read", r#"{"path": "main.go", "offset": 10, "limit": 30}"#),
    (
        "file_write",
        r#"{"path": "src/utils.go", "content": "package main\n\nfunc hello() string {\n\treturn \"hello\"\n}\n"}"#,
    ),
    (
        "patch_apply",
        r#"{"patch": "--- a/main.go\n+++ b/main.go\n@@ -10,3 +10,4 @@\n func main() {\n \tfmt.Println(\"hello\")\n+\tfmt.Println(\"world\")\n }\n"}"#,
    ),
    (
        "file_edit",
        r#"{"path": "main.go", "old_string": "fmt.Println(\"hello\")", "new_string": "fmt.Println(\"hello, world\")"}"#,
    ),
    ("bash", r#"{"command": "go test ./...", "timeout": 60}"#),
    ("grep", r#"{"pattern": "func Test", "include": "*.go", "context_lines": 2}"#),
    ("list_files", r#"{"path": "src", "recursive": true, "include": "*.go"}"#),
    ("todo_read", "{}"),
    (
        "todo_write",
        r#"{"todos": [{"id": "1", "title": "Read existing code", "status": "completed"}, {"id": "2", "title": "Implement new feature", "status": "in_progress"}, {"id": "3", "title": "Write tests", "status": "pending"}]}"#,
    ),
    ("web_search", r#"{"query": "Go context.WithTimeout best practices", "count": 5}"#),
    ("web_fetch", r#"{"url": "https://pkg.go.dev/context"}"#),
    ("git_status", r#"{"path": "."}"#),
];

fn desk(server: &Server) -> Desk {
    let desk = Desk::with(&format!(
        "tools: {{web_search: {{duckduckgo: {{base_url: {}/html/}}}}}}\n",
        server.address
    ));
    let main =
        format!("package main\n{}func main() {{\n\tfmt.Println(\"hello\")\n}}\n", "\n".repeat(8));
    desk.put("main.go", main).put("a_test.go", "func TestA() {}\n");
    desk.put("path/to/existing.go", "context line\nunchanged\nold line\n");
    desk.put("path/to/remove.go", "x\n");
    desk.put("n.ipynb", r#"{"cells": [], "nbformat": 4, "nbformat_minor": 5}"#);
    let git = Command::new("git").args(["init", "-q"]).current_dir(desk.at("")).status();
    assert!(git.unwrap().success());
    desk
}

fn server() -> Server {
    Server::new(|line| {
        let found = line.contains("/html/");
        Some(if found {
            results()
        } else {
            answer("200 OK", "text/html", "<p>Package context</p>")
        })
    })
}

/// Calls them and looks for a refusal: an example may fail (there is no `go` here), never be misunderstood.
fn taken(desk: &Desk, calls: &[(&str, Value)]) {
    let answers = desk.calls(calls);
    for Answer { tool, text, is_error } in &answers {
        let ran = !is_error || text.contains("(exit code: ");
        assert!(ran, "{tool}: {text}\nof {answers:#?}");
    }
}

use crate::desk::Answer;

#[test]
fn of_the_first_document() {
    let server = server();
    let desk = desk(&server);
    let here = format!("{}/context", server.address);
    let calls: Vec<(&str, Value)> = S0
        .iter()
        .map(|(name, json)| {
            (
                *name,
                serde_json::from_str(&json.replace("https://pkg.go.dev/context", &here)).unwrap(),
            )
        })
        .collect();
    taken(&desk, &calls);
    assert!(desk.get("main.go").contains("(\"hello, world\")\n\tfmt.Println(\"world\")"));
    assert!(server.asked().iter().any(|r| r.contains("q=Go+context.WithTimeout+best+practices")));
}

#[test]
fn of_the_second_document() {
    let server = server();
    let desk = desk(&server);
    taken(
        &desk,
        &[
            ("bash", json!({"command": "echo hi", "timeout": 120})),
            ("read", json!({"path": "main.go", "offset": 1, "limit": 2000})),
            ("patch", json!({"path": "a.yaml", "operation": "create", "content": "steps: []\n"})),
            (
                "patch",
                json!({"path": "a.yaml", "operation": "replace", "old_string": "[]", "new_string": "[x]"}),
            ),
            ("patch", json!({"path": "a.yaml", "operation": "delete"})),
            ("think", json!({"thought": "first the tests"})),
            ("read_schema", json!({"schema": "config", "path": "tools.patch"})),
            ("read_schema", json!({"schema": "config", "path": ""})),
            ("web_search", json!({"query": "tea", "max_results": 2})),
        ],
    );
}

#[test]
fn of_the_third_document() {
    let server = server();
    let desk = desk(&server);
    let url = format!("{}/page", server.address);
    taken(
        &desk,
        &[
            ("read_file", json!({"path": "main.go", "offset": 1, "limit": 3})),
            ("write_file", json!({"path": "b.rs", "content": "fn b() {}\n"})),
            ("edit_file", json!({"path": "b.rs", "old_string": "b()", "new_string": "c()"})),
            (
                "notebook_edit",
                json!({"notebook_path": desk.at("n.ipynb"), "new_source": "1", "cell_type": "code", "edit_mode": "insert"}),
            ),
            (
                "notebook_edit",
                json!({"notebook_path": "n.ipynb", "cell_number": 0, "new_source": "2"}),
            ),
            (
                "notebook_edit",
                json!({"notebook_path": "n.ipynb", "cell_number": 0, "edit_mode": "delete"}),
            ),
            ("glob", json!({"pattern": "**/*.rs"})),
            ("glob", json!({"pattern": "src/**/*.ts"})),
            ("grep", json!({"pattern": "fn c"})),
            ("bash", json!({"command": "echo one; cat", "run_in_background": true})),
            ("read_process_output", json!({"process_id": "p1", "timeout": 60})),
            ("stop_process", json!({"process_id": "p1"})),
            ("web_fetch", json!({"url": url, "format": "text", "timeout": 30})),
            ("web_search", json!({"query": "tea"})),
        ],
    );
}

#[test]
fn of_the_fourth_document() {
    let server = server();
    let desk = desk(&server);
    let url = format!("{}/page", server.address);
    taken(
        &desk,
        &[
            (
                "write_file",
                json!({"path": "file_cache_dir/a/x.txt", "content": "x", "mode": "append"}),
            ),
            ("read_file", json!({"path": "file_cache_dir/a/x.txt"})),
            (
                "bash",
                json!({"cmd": "cat file_cache_dir/a/x.txt", "cwd": ".", "timeout_seconds": 5}),
            ),
            ("bash", json!({"cmd": "ls", "cwd": "file_cache_dir/a", "run_in_subtask": true})),
            (
                "url_fetch",
                json!({"url": url, "method": "POST", "body": {"a": [1, true, null]}, "timeout_seconds": 5.5}),
            ),
            (
                "url_fetch",
                json!({"url": url, "headers": {"Accept": "text/html"}, "max_bytes": 100}),
            ),
            ("url_fetch", json!({"url": url, "download_path": "d/page.html"})),
            ("web_search", json!({"q": "tea", "max_results": 20})),
        ],
    );
    assert_eq!(
        std::fs::read_to_string(desk.cached("d/page.html")).unwrap(),
        "<p>Package context</p>"
    );
}

#[test]
fn of_the_fifth_document() {
    let server = server();
    let desk = desk(&server);
    taken(
        &desk,
        &[
            ("read", json!({"path": "main.go", "offset": 0, "limit": 10})),
            ("write", json!({"path": "w.go", "content": "one\n"})),
            ("edit", json!({"path": "w.go", "old_text": "one", "new_text": "two"})),
            (
                "apply_patch",
                json!({"patch": "*** Begin Patch\n*** Add File: path/to/new.go\n+package main\n+...\n\n*** Update File: path/to/existing.go\n@@ context line @@\n unchanged\n-old line\n+new line\n\n*** Delete File: path/to/remove.go\n*** End Patch"}),
            ),
            ("grep", json!({"pattern": "two", "path": ".", "include": "*.go"})),
            ("glob", json!({"pattern": "**/*.go", "path": "path"})),
            ("ls", json!({"path": "path"})),
            (
                "exec",
                json!({"command": "cat; exit 3", "workdir": "path", "env": {"A": "b"}, "background": true, "timeout": 30}),
            ),
            ("process", json!({"action": "status", "process_id": "p1"})),
            ("process", json!({"action": "input", "process_id": "p1", "input": "hello\n"})),
            ("process", json!({"action": "poll", "process_id": "p1"})),
            ("process", json!({"action": "signal", "process_id": "p1", "signal": "SIGTERM"})),
        ],
    );
    assert_eq!(desk.get("path/to/existing.go"), "context line\nunchanged\nnew line\n");
    assert!(!desk.at("path/to/remove.go").exists());
}

/// With the parameters that stand there; nobody is configured to be written to, and no conversation was ever begun.
#[test]
fn of_people_conversations_and_memory() {
    let desk = Desk::new();
    let none = "session not found: tg:1";
    let calls = [
        (
            "contacts_send",
            json!({"contact_id": "tg:1", "chat_id": "tg:-1001234567890", "content_type": "application/json; charset=utf-8", "message_text": "hi"}),
            "contact not found: tg:1",
        ),
        ("message", json!({"to": "tg:1", "content": "hi"}), "unable to resolve delivery channel"),
        ("sessions_list", json!({"limit": 20}), "There are no conversations yet."),
        ("sessions_history", json!({"session_id": "tg:1", "limit": 5}), none),
        ("sessions_send", json!({"session_id": "tg:1", "content": "hi"}), none),
        ("sessions_status", json!({}), "0 messages in 0 tasks"),
        ("memory_write", json!({"text": "I like tea"}), "Remembered (MEMORY.md, line 3)."),
        (
            "memory_search",
            json!({"query": "tea", "max_results": 6, "min_score": 0.35}),
            "MEMORY.md:3 (score ",
        ),
        ("memory_get", json!({"path": "MEMORY.md", "from": 3, "lines": 1}), "- I like tea"),
        // What has read the list may not speak to others any more without being asked: it comes last.
        (
            "todo_update",
            json!({"action": "add", "content": "buy milk", "people": ["me"], "chat_id": "tg:-1001234567890"}),
            r#""ok":true,"action":"add""#,
        ),
        ("todo_update", json!({"action": "complete", "content": "milk"}), r#""done_added":1"#),
        ("todo_update", json!({"content": "milk"}), "action is required"),
        ("todo_update", json!({"action": "add", "people": ["me"]}), "content is required"),
        ("todo_update", json!({"action": "list", "content": "milk"}), "invalid action: "),
        (
            "todo_update",
            json!({"action": "add", "content": "milk"}),
            "people is required for add action",
        ),
        (
            "todo_update",
            json!({"action": "add", "content": "milk", "people": "me"}),
            "people must be an array of strings",
        ),
    ];
    let asked: Vec<(&str, Value)> =
        calls.iter().map(|(tool, args, _)| (*tool, args.clone())).collect();
    for (answer, (tool, args, says)) in desk.calls(&asked).iter().zip(&calls) {
        assert!(answer.text.contains(says), "{tool} {args}: {}", answer.text);
    }
    // A task that has read the list asks before it takes an item off it; this one begins anew.
    let absent = json!({"action": "complete", "content": "sail"});
    let answer = &desk.calls(&[("todo_update", absent)])[0];
    assert!(answer.text.contains("no matching todo item in TODO.md"), "{}", answer.text);
}

#[test]
fn a_tool_that_selkie_lacks_is_said_to_be_missing_under_any_name() {
    let desk = Desk::new();
    let names = ["navigate"];
    for name in names {
        let output = desk.command().args(["tools", "call", name, "{}"]).output().unwrap();
        let words = String::from_utf8_lossy(&output.stderr);
        assert!(words.starts_with(&format!("there is no tool {name}")), "{name}: {words}");
        assert!(!words.contains("later"), "{name}: {words}");
        assert_eq!(output.status.code(), Some(2), "{name}: what was typed is wrong");
    }
}
