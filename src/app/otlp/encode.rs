//! A task as OTLP's JSON has it: one trace, whose root span is the task, with a span for its waiting, for each call of a model
//! or tool, and for the platform's taking of what it said. No attribute holds a word of anybody.

use std::time::Duration;

use chrono::{DateTime, Utc};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use selkie_domain::course::{Kind, Step};
use selkie_domain::traces::TaskTrace;
use selkie_domain::usage::Usage;

/// A span that was made inside (OTLP's `SPAN_KIND_INTERNAL`), or that asks somebody else (`SPAN_KIND_CLIENT`).
const INTERNAL: u8 = 1;
const CLIENT: u8 = 3;

/// Writes a request with these tasks.
pub(super) fn request(tasks: &[TaskTrace], version: &str, instance: &str) -> Value {
    let spans: Vec<Value> = tasks.iter().flat_map(|task| spans(task, instance)).collect();
    let resource = [
        text("service.name", "selkie"),
        text("service.version", version),
        text("service.instance.id", instance),
    ];
    json!({ "resourceSpans": [{
        "resource": { "attributes": resource },
        "scopeSpans": [{ "scope": { "name": "selkie", "version": version }, "spans": spans }],
    }] })
}

/// The spans of one trace.
struct Trace {
    id: String,
    spans: Vec<Value>,
}

/// What is told of one span.
struct Span<'a> {
    name: &'a str,
    kind: u8,
    from: DateTime<Utc>,
    until: DateTime<Utc>,
    is_well: bool,
    attributes: Vec<Value>,
}

impl Trace {
    fn add(&mut self, span: Span<'_>) {
        let root = digest(&[&self.id, "0"], 8);
        let number = self.spans.len();
        let mut told = json!({
            "traceId": self.id,
            "spanId": digest(&[&self.id, &number.to_string()], 8),
            "name": span.name,
            "kind": span.kind,
            "startTimeUnixNano": nanos(span.from),
            "endTimeUnixNano": nanos(span.until.max(span.from)),
            "attributes": span.attributes,
            "status": { "code": if span.is_well { 1 } else { 2 } },
        });
        if number > 0 {
            told["parentSpanId"] = json!(root);
        }
        self.spans.push(told);
    }
}

fn spans(task: &TaskTrace, instance: &str) -> Vec<Value> {
    let begun = task.course.since.unwrap_or(task.ended_at);
    let asked = task.asked_at.unwrap_or(begun).min(begun);
    let sent = later(task.ended_at, task.sending);
    let number = task.task.0.to_string();
    let id = digest(&[instance, &number, &nanos(begun)], 16);
    let mut trace = Trace { id, spans: Vec::new() };
    let Usage { calls, input, cached, output, .. } = task.usage;
    trace.add(Span {
        name: "task",
        kind: INTERNAL,
        from: asked,
        until: sent,
        is_well: task.outcome != "failed",
        attributes: vec![
            text("selkie.task", &number),
            text("selkie.channel", task.channel),
            text("selkie.outcome", task.outcome),
            text("selkie.sent", task.sent),
            count("selkie.model_calls", calls.into()),
            count("gen_ai.usage.input_tokens", input),
            count("selkie.cached_tokens", cached),
            count("gen_ai.usage.output_tokens", output),
            count("selkie.cost_micro_usd", task.usage.micro_usd),
        ],
    });
    let inside = |name, from, until| Span {
        name,
        kind: INTERNAL,
        from,
        until,
        is_well: true,
        attributes: Vec::new(),
    };
    trace.add(inside("wait", asked, begun));
    for step in &task.course.steps {
        trace.add(called(step));
    }
    if !task.sending.is_zero() {
        let is_well = task.sent == "sent";
        trace.add(Span { kind: CLIENT, is_well, ..inside("send", task.ended_at, sent) });
    }
    trace.spans
}

fn called(step: &Step) -> Span<'_> {
    let (name, kind, attributes) = match &step.kind {
        Kind::Model { by, usage } => (
            "model call",
            CLIENT,
            vec![
                text("gen_ai.response.model", by),
                count("gen_ai.usage.input_tokens", usage.input),
                count("selkie.cached_tokens", usage.cached),
                count("gen_ai.usage.output_tokens", usage.output),
                count("selkie.cost_micro_usd", usage.micro_usd),
            ],
        ),
        Kind::Tool(tool) => ("tool call", INTERNAL, vec![text("gen_ai.tool.name", tool)]),
    };
    let until = later(step.at, step.took);
    Span { name, kind, from: step.at, until, is_well: step.is_well, attributes }
}

fn text(key: &str, value: &str) -> Value {
    json!({ "key": key, "value": { "stringValue": value } })
}

/// OTLP's JSON writes integers of 64 bits as texts.
fn count(key: &str, value: u64) -> Value {
    json!({ "key": key, "value": { "intValue": value.to_string() } })
}

fn later(at: DateTime<Utc>, span: Duration) -> DateTime<Utc> {
    let span = chrono::TimeDelta::from_std(span).unwrap_or_default();
    at.checked_add_signed(span).unwrap_or(at)
}

fn nanos(at: DateTime<Utc>) -> String {
    at.timestamp_nanos_opt().unwrap_or_default().max(0).to_string()
}

/// An id of so many bytes that is the same for the same words, as OTLP's JSON writes it.
fn digest(words: &[&str], bytes: usize) -> String {
    let digest = Sha256::digest(words.join(" "));
    digest.iter().take(bytes).fold(String::new(), |id, byte| id + &format!("{byte:02x}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use selkie_domain::course::Course;
    use selkie_domain::ids::TaskId;

    fn at(millis: i64) -> DateTime<Utc> {
        DateTime::from_timestamp_millis(1_700_000_000_000 + millis).unwrap()
    }

    #[test]
    fn a_task_is_a_trace_whose_spans_lie_in_it() {
        let usage =
            Usage { calls: 1, input: 10, cached: 2, output: 3, micro_usd: 4, ..Usage::default() };
        let step = |kind, from, is_well| Step {
            kind,
            at: at(from),
            took: Duration::from_millis(5),
            is_well,
        };
        let task = TaskTrace {
            task: TaskId(7),
            channel: "bird",
            outcome: "done",
            asked_at: Some(at(0)),
            ended_at: at(40),
            course: Course {
                since: Some(at(10)),
                steps: vec![
                    step(Kind::Model { by: "main/m".to_owned(), usage }, 12, true),
                    step(Kind::Tool("bash".to_owned()), 20, false),
                ],
            },
            usage,
            sent: "sent",
            sending: Duration::from_millis(9),
        };
        let all = request(std::slice::from_ref(&task), "1.0", "i");
        let spans = all["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array().unwrap().clone();
        let names: Vec<&str> = spans.iter().map(|span| span["name"].as_str().unwrap()).collect();
        assert_eq!(names, ["task", "wait", "model call", "tool call", "send"]);
        let root = &spans[0]["spanId"];
        assert!(spans[0].get("parentSpanId").is_none());
        assert!(spans[1..].iter().all(|span| span["parentSpanId"] == *root));
        assert!(spans.iter().all(|span| span["traceId"] == spans[0]["traceId"]));
        assert_eq!(spans[0]["traceId"].as_str().map(str::len), Some(32));
        assert_eq!(root.as_str().map(str::len), Some(16));
        let time = |span: &Value, key: &str| span[key].as_str().unwrap().parse::<i64>().unwrap();
        for span in &spans {
            assert!(time(&spans[0], "startTimeUnixNano") <= time(span, "startTimeUnixNano"));
            assert!(time(span, "endTimeUnixNano") <= time(&spans[0], "endTimeUnixNano"));
        }
        assert_eq!(spans[3]["status"]["code"], 2);
        assert_eq!(spans[2]["attributes"][1]["value"]["intValue"], "10");
        let mut ids: Vec<&str> =
            spans.iter().map(|span| span["spanId"].as_str().unwrap()).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), spans.len());
        assert_eq!(request(&[task], "1.0", "i"), all, "the same again");
    }
}
