//! The answer of a command that ran as a subtask: one JSON object.

use serde::Serialize;

/// Characters of the summary.
const SUMMARY: usize = 200;

/// The envelope, in the field order of the reference document.
#[derive(Serialize)]
pub(super) struct Envelope<'a> {
    task_id: String,
    status: &'static str,
    summary: String,
    output_kind: &'static str,
    output_schema: &'static str,
    output: &'a str,
    error: &'a str,
}

/// Wraps what a command printed; `error` is empty when it did what it should.
pub(super) fn envelope(task_id: String, output: &str, error: &str) -> String {
    let first = if error.is_empty() { output } else { error };
    let first = first.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("no output");
    let mut summary: String = first.chars().take(SUMMARY).collect();
    if first.chars().nth(SUMMARY).is_some() {
        summary.push('…');
    }
    let envelope = Envelope {
        task_id,
        status: if error.is_empty() { "done" } else { "failed" },
        summary,
        output_kind: "text",
        output_schema: "",
        output,
        error,
    };
    serde_json::to_string_pretty(&envelope).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_tells_what_the_reference_tells() {
        insta::assert_snapshot!(envelope("7/c1.0".into(), "\nfirst\nsecond\n", ""), @r#"
        {
          "task_id": "7/c1.0",
          "status": "done",
          "summary": "first",
          "output_kind": "text",
          "output_schema": "",
          "output": "\nfirst\nsecond\n",
          "error": ""
        }
        "#);
        insta::assert_snapshot!(envelope("7/c1.0".into(), "", "exit code: 2"), @r#"
        {
          "task_id": "7/c1.0",
          "status": "failed",
          "summary": "exit code: 2",
          "output_kind": "text",
          "output_schema": "",
          "output": "",
          "error": "exit code: 2"
        }
        "#);
        let long = "x".repeat(300);
        assert!(envelope("1".into(), &long, "").contains(&format!("{}…", "x".repeat(200))));
    }
}
