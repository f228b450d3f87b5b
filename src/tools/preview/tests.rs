//! Every tool that writes or runs something shows what it would do, and does nothing.

use std::sync::Arc;

use serde_json::json;

use super::*;
use crate::base::{ToolDeps, build};
use crate::registry::{NameLookup, Overlay, Registry};
use crate::settings::Settings;
use crate::testkit::Folders;
use selkie_domain::tool::Class;

fn shown(folders: &Folders, name: &str, arguments: Value) -> String {
    let mut settings = Settings::default();
    settings.powershell.enabled = true;
    let base = Arc::new(build(&settings, &ToolDeps::default()).unwrap());
    let NameLookup::Tool(tool) = Registry::view(base, vec![], Overlay::default()).find(name) else {
        panic!("{name} is no tool");
    };
    let redactor = Redactor::default();
    redactor.learn("hunter2hunter2");
    match preview(&tool, &folders.roots(), &arguments, &redactor) {
        Ok(shown) => shown.unwrap_or_else(|| "(changes nothing)".to_owned()),
        Err(faults) => format!("✗ {faults}"),
    }
}

#[test]
fn a_person_sees_what_would_be_done() {
    let folders = Folders::new();
    folders.put("work/a.txt", "one\ntwo\nthree\n");
    folders.put("work/sub/b.txt", "");
    let cells =
        json!([{"cell_type": "code", "id": "a", "metadata": {}, "source": ["x = 1\n", "y"]}]);
    let book = json!({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5});
    folders.put("work/n.ipynb", book.to_string());
    let mut said = Vec::new();
    for (name, args) in [
        ("write_file", json!({"path": "new.txt", "content": "password: hunter2hunter2\n"})),
        ("write_file", json!({"path": "a.txt", "content": "x"})),
        ("write_file", json!({"path": "a.txt", "content": "x", "mode": "append"})),
        ("write_file", json!({"path": "/etc/x", "content": "x"})),
        ("edit_file", json!({"path": "a.txt", "old_string": "two", "new_string": "2"})),
        ("edit_file", json!({"path": "a.txt", "old_string": "none", "new_string": "2"})),
        ("apply_patch", json!({"patch": "--- a/a.txt\n+++ b/a.txt\n@@ -2 +2 @@\n-two\n+2\n"})),
        ("apply_patch", json!({"patch": "*** Begin Patch\n*** Delete File: b\n*** End Patch"})),
        ("patch", json!({"path": "a.txt", "operation": "create", "content": "x"})),
        (
            "patch",
            json!({"path": "a.txt", "operation": "replace", "old_string": "one", "new_string": "1"}),
        ),
        ("patch", json!({"path": "a.txt", "operation": "delete"})),
        ("patch", json!({"path": "a.txt", "operation": "replace"})),
        ("notebook_edit", json!({"notebook_path": "n.ipynb", "cell_id": "a", "new_source": "z"})),
        (
            "notebook_edit",
            json!({"notebook_path": "n.ipynb", "cell_id": "a", "edit_mode": "delete"}),
        ),
        (
            "notebook_edit",
            json!({"notebook_path": "n.ipynb", "new_source": "z", "cell_type": "code", "edit_mode": "insert"}),
        ),
        (
            "bash",
            json!({"cmd": "make\nmake install", "cwd": "sub", "env": {"A": "1"}, "run_in_background": true}),
        ),
        ("bash", json!({"cmd": "rm -r sub"})),
        ("bash", json!({"cmd": "make", "cwd": "none"})),
        ("bash", json!({"cmd": "make", "env": {"LD_PRELOAD": "x"}})),
        ("bash", json!({"cmd": "make", "run_in_background": true, "run_in_subtask": true})),
        ("powershell", json!({"cmd": "Get-Content config.yaml"})),
        ("process", json!({"action": "input", "process_id": "p1", "input": "yes"})),
        ("process", json!({"action": "signal", "process_id": "p1", "signal": "INT"})),
        ("process", json!({"action": "stop", "process_id": "p1"})),
        ("process", json!({"action": "list"})),
        ("url_fetch", json!({"url": "https://x.org/", "method": "POST", "body": {"a": 1}})),
        ("url_fetch", json!({"url": "https://x.org/f", "download_path": "f"})),
        ("bash", json!({"command": "x"})),
    ] {
        said.push(format!("{name}> {}", shown(&folders, name, args)));
    }
    insta::assert_snapshot!(said.join("\n"), @r##"
write_file> create new.txt (1 line):
password: [redacted]

write_file> replace a.txt (14 bytes) with 1 line:
x
write_file> append 1 line to a.txt (14 bytes):
x
write_file> write /etc/x, which would fail: refusing to write outside allowed base dirs: /etc/x (open here: file_cache_dir/<path>, the workspace, file_state_dir/<path>)
· content: x
edit_file> edit a.txt (1 place):
@@ line 2 @@
 one
-two
+2
 three
edit_file> edit a.txt, which would fail: old_string was not found in a.txt: read the file again and copy the text exactly
· old_string: none
· new_string: 2
apply_patch> apply a patch, which gives:
updated a.txt (1 hunk)

--- a/a.txt
+++ b/a.txt
@@ -2 +2 @@
-two
+2

apply_patch> apply a patch, which would fail:
no such file: b
Nothing was changed.

*** Begin Patch
*** Delete File: b
*** End Patch
patch> replace 14 bytes of a.txt:
x
patch> change a.txt:
@@ line 1 @@
-one
+1
 two
 three
patch> delete a.txt (14 bytes):
-one
-two
-three
patch> change a.txt, which would fail: old_string is required
· operation: replace
notebook_edit> change n.ipynb: replace cell 0
· cell_id: a
as follows:
-x = 1
-y
+z
notebook_edit> change n.ipynb: delete cell 0
· cell_id: a
as follows:
-x = 1
-y
notebook_edit> change n.ipynb: insert cell 0
· cell_type: code
as follows:
+z
bash> run a command in the background in sub
· env A: 1
as follows:
make
make install
bash> run a command:
rm -r sub
bash> run a command in none, which would be refused: no such file: none:
make
bash> run a command, which would be refused: env may not set LD_PRELOAD: PATH, LD_*, BASH_ENV, git's config and what config injects stay as they are
· env LD_PRELOAD: x
as follows:
make
bash> run a command in the background, which would be refused: run_in_background and run_in_subtask exclude each other: a subtask is waited for
· run_in_subtask: true
as follows:
make
powershell> run a command in PowerShell, which would be refused: powershell needs pwsh, which is not installed here: use bash:
Get-Content config.yaml
process> write to p1:
yes
process> send INT to p1
process> end p1
process> (changes nothing)
url_fetch> send a POST request to https://x.org/:
{"a":1}
url_fetch> send a GET request to https://x.org/f
· saved as: f
bash> ✗ unknown parameter command (takes cmd, cwd, timeout_seconds, env, run_in_background, run_in_subtask)
cmd is required
"##);
    assert_eq!(folders.get("work/a.txt"), "one\ntwo\nthree\n");
}

#[test]
fn every_tool_that_changes_or_runs_something_has_one() {
    let folders = Folders::new();
    for spec in build(&Settings::default(), &ToolDeps::default()).unwrap().specs() {
        let mut args = json!({});
        for name in spec.parameters["required"].as_array().into_iter().flatten() {
            let parameter = &spec.parameters["properties"][name.as_str().unwrap()];
            let listed = parameter["enum"].as_array().and_then(|all| all.last().cloned());
            args[name.as_str().unwrap()] = listed.unwrap_or_else(|| json!("x"));
        }
        let changes = matches!(spec.class, Class::Write | Class::Exec);
        if changes {
            let said = shown(&folders, spec.name, args);
            assert!(!said.starts_with('✗') && said != "(changes nothing)", "{}: {said}", spec.name);
        }
    }
}

/// A value of what a schema asks for that can be found again, another one for each `n`.
fn filled(schema: &Value, whole: &Value, n: usize, marks: &mut Vec<String>) -> Value {
    let at = |path: &str| whole.pointer(path.trim_start_matches('#')).cloned();
    if let Some(there) = schema["$ref"].as_str().and_then(at) {
        return filled(&there, whole, n, marks);
    }
    let some = |schema: &&Value| schema["type"] != "null";
    for key in ["anyOf", "oneOf", "allOf"] {
        if let Some(one) = schema[key].as_array().and_then(|all| all.iter().find(some)) {
            return filled(one, whole, n, marks);
        }
    }
    if let Some(all) = schema["enum"].as_array() {
        return all[n % all.len()].clone();
    }
    if let Some(only) = schema.get("const") {
        return only.clone();
    }
    let kind = schema["type"].as_str().or_else(|| schema["type"][0].as_str()).unwrap_or("string");
    match kind {
        "boolean" => json!(n.is_multiple_of(2)),
        "integer" | "number" => {
            json!(schema["minimum"].as_f64().unwrap_or(0.0) as usize + 1 + n % 2)
        }
        "array" => json!([filled(&schema["items"], whole, n, marks)]),
        "object" => {
            let named = schema["properties"].as_object().into_iter().flatten();
            let named = named.map(|(name, part)| (name.clone(), filled(part, whole, n, marks)));
            let mut all: serde_json::Map<String, Value> = named.collect();
            if schema["additionalProperties"].is_object() {
                let name = format!("NAME{}N{n}", marks.len());
                marks.push(name.clone());
                all.insert(name, filled(&schema["additionalProperties"], whole, n, marks));
            }
            Value::Object(all)
        }
        _ => {
            let mark = format!("MARK{}N{n}", marks.len());
            marks.push(mark.clone());
            json!(mark)
        }
    }
}

#[test]
fn whatever_a_call_holds_is_shown() {
    let folders = Folders::new();
    let mut settings = Settings::default();
    settings.powershell.enabled = true;
    let base = Arc::new(build(&settings, &ToolDeps::default()).unwrap());
    let specs = base.specs();
    let registry = Registry::view(base, vec![], Overlay::default());
    let said = |tool: &Arc<Tool>, args: &Value| {
        whole(tool, &folders.roots(), args, &[], &Redactor::default())
    };
    for spec in specs {
        let NameLookup::Tool(tool) = registry.find(spec.name) else { continue };
        let names: Vec<String> = spec.parameters["properties"]
            .as_object()
            .into_iter()
            .flatten()
            .map(|(n, _)| n.clone())
            .collect();
        // Every word of every enumeration has its turn.
        for n in 0..6 {
            let mut marks = Vec::new();
            let args = filled(&spec.parameters, &spec.parameters, n, &mut marks);
            let shown = said(&tool, &args);
            for mark in marks {
                assert!(shown.contains(&mark), "{} hides {mark} of {args}:\n{shown}", spec.name);
            }
            for name in &names {
                let mut without = args.clone();
                without.as_object_mut().unwrap().remove(name);
                if accept(&spec.parameters, &without).is_ok() && args[name] != json!("GET") {
                    assert_ne!(shown, said(&tool, &without), "{} hides {name}: {args}", spec.name);
                }
            }
        }
    }
}

#[test]
fn nothing_in_a_call_poses_as_another_line() {
    let folders = Folders::new();
    let mut said = Vec::new();
    for (name, args) in [
        ("write_file", json!({"path": "todo.md:\n- buy milk", "content": "x"})),
        ("bash", json!({"cmd": "ls\n· cwd: /", "cwd": "a\nb", "env": {"A": "1\nls", "B\nC": "2"}})),
        ("bash", json!({"cmd": "ls", "timeout_seconds": 5, "run_in_subtask": true})),
        (
            "url_fetch",
            json!({"url": "https://bank.example@evil.example/x", "method": "POST", "body": "a=1",
                   "headers": {"User-Agent": "key\nGET /"}, "timeout_seconds": 5}),
        ),
        ("url_fetch", json!({"url": "https://bаnk.example/"})),
        (
            "notebook_edit",
            json!({"notebook_path": "no.ipynb", "new_source": "z", "cell_type": "code"}),
        ),
    ] {
        said.push(format!("{name}> {}", shown(&folders, name, args)));
    }
    insta::assert_snapshot!(said.join("\n"), @r"
    write_file> create todo.md:⟨U+000A⟩- buy milk (1 line):
    x
    bash> run a command in a⟨U+000A⟩b, which would be refused: no such file: a⟨U+000A⟩b
    · env A: 1⟨U+000A⟩ls
    · env B⟨U+000A⟩C: 2
    as follows:
    ls
    · cwd: /
    bash> run a command
    · timeout_seconds: 5
    · run_in_subtask: true
    as follows:
    ls
    url_fetch> send a POST request to https://bank.example@evil.example/x (goes to evil.example)
    · header User-Agent: key⟨U+000A⟩GET /
    · timeout_seconds: 5
    as follows:
    a=1
    url_fetch> send a GET request to https://bаnk.example/ (goes to xn--bnk-6cd.example)
    notebook_edit> change no.ipynb, which would fail: no such file: no.ipynb
    · new_source: z
    · cell_type: code
    ");
}

#[test]
fn a_preview_is_bounded() {
    let folders = Folders::new();
    for content in ["line\n".repeat(5_000), "ö".repeat(9_000)] {
        let said = shown(&folders, "write_file", json!({"path": "x", "content": content}));
        assert!(said.lines().count() <= LINES + 1, "{}", said.lines().count());
        assert!(said.chars().count() <= CHARACTERS + 60);
        assert!(said.ends_with(" characters]"), "{said}");
    }
    let edge = format!("hunter2{}", "hunter2 ".repeat(900));
    let said = shown(&folders, "write_file", json!({"path": "x", "content": edge.trim_end()}));
    assert!(!said.contains("hunter2hunter2"));
}
