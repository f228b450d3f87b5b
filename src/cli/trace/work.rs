//! What a task did: its shape in one line, each model call, each tool call with its outcome, approvals.

use chrono::Duration;
use serde::Deserialize;
use serde_json::Value;

use super::origin::person;
use super::text::{items, quoted, short, took, when, word};
use selkie_domain::count::{counted, grouped};
use selkie_domain::facts::Facts;
use selkie_domain::usage::{Usage, dollars};
use selkie_schedule::zone::Zone;
use selkie_shape::{Explanation, Shaper};

/// What a story is told by.
pub(super) struct Teller<'a> {
    /// Explains what the task could use; none while the config has mistakes.
    pub(super) shaper: Option<&'a Shaper>,
    /// Whose clocks are shown.
    pub(super) zone: Zone,
}

/// Tells a task from its beginning to its last word.
pub(super) fn work(chain: &Value, teller: &Teller<'_>) -> String {
    let task = &chain["task"];
    let mut told = format!(
        "\nTask {}, made {}: {}\n",
        word(&task["id"]),
        when(&task["created_at"], teller.zone),
        state(task)
    );
    told.push_str(&answers(task));
    told.push_str(&shape(task, teller.shaper));
    let mut step = 0;
    let mut seen = Vec::new();
    for (at, item) in items(&task["transcript"]).enumerate() {
        let call = model_call(task, at);
        match item["item"].as_str() {
            // Calls of one answer that are made one after the other.
            Some("asked") if call.is_none() && step > 0 && has_calls(task) => {
                let calls = items(&item["calls"]).count() as u64;
                let calls = counted(calls, ["more tool call", "more tool calls"]);
                told.push_str(&format!("  Of the same answer, {calls}:\n"));
                for call in items(&item["calls"]) {
                    seen.push(word(&call["id"]));
                    told.push_str(&called(call, chain, teller.zone));
                }
            }
            Some("asked") => {
                step += 1;
                told.push_str(&asked(item, step));
                told.push_str(&call.map(used).unwrap_or_default());
                told.push_str(&own_form(task, item));
                for call in items(&item["calls"]) {
                    seen.push(word(&call["id"]));
                    told.push_str(&called(call, chain, teller.zone));
                }
            }
            Some("said") => {
                step += 1;
                told.push_str(&said(item, task, step));
                told.push_str(&call.map(used).unwrap_or_default());
            }
            Some("noted") => {
                told.push_str(&format!("  The model was told: {}\n", quoted(&word(&item["text"]))));
            }
            Some("heard") => told.push_str(&read(item, &chain["inbox"])),
            _ => {}
        }
    }
    // A call whose words were forgotten leaves its approval.
    let left = items(&chain["approvals"]).filter(|one| !seen.contains(&word(&one["call"])));
    left.for_each(|approval| told.push_str(&approved(approval, teller.zone)));
    for agent in items(&chain["agents"]) {
        told.push_str(&of_agent(agent, teller));
    }
    told
}

/// Tells what an agent did, indented below the task that it worked for.
fn of_agent(agent: &Value, teller: &Teller<'_>) -> String {
    let name = short(&word(&agent["name"]));
    let told = work(agent, teller);
    let lines = told.trim().lines().map(|line| format!("    {line}\n"));
    format!("  The agent {name}:\n{}", lines.collect::<String>())
}

/// The call of a model that wrote an item; none for what old tasks have left.
fn model_call(task: &Value, item: usize) -> Option<&Value> {
    items(&task["model_calls"]).find(|call| call["item"] == item)
}

fn has_calls(task: &Value) -> bool {
    items(&task["model_calls"]).next().is_some()
}

/// What a call has used: `by main/gpt-6.2-sol: 1,204 tokens in (1,100 cached), 88 out, $0.0031, 1.2 s`.
fn used(call: &Value) -> String {
    let mut told = format!("    by {}: ", short(&word(&call["by"])));
    if let Ok(usage) = Usage::deserialize(&call["usage"]) {
        let Usage { input, cached, output, micro_usd, .. } = usage;
        let [input, cached, output] = [input, cached, output].map(grouped);
        let thoughts = usage.thoughts_note();
        let cost = if micro_usd > 0 { format!("{}, ", dollars(micro_usd)) } else { String::new() };
        told.push_str(&format!(
            "{input} tokens in ({cached} cached), {output} out{thoughts}, {cost}"
        ));
    }
    let millis = call["took_ms"].as_u64().and_then(|millis| i64::try_from(millis).ok());
    format!("{told}{}\n", took(Duration::milliseconds(millis.unwrap_or_default())))
}

/// How much of an answer its provider alone can read.
fn own_form(task: &Value, item: &Value) -> String {
    let call = word(&item["calls"][0]["id"]);
    let step = call.split('.').next().unwrap_or_default();
    let kept = items(&task["own_forms"]).find(|kept| kept["step"] == step);
    let bytes = kept.and_then(|kept| kept["bytes"].as_u64());
    bytes.map_or_else(String::new, |bytes| {
        format!(
            "    its provider's own form is kept until the task ends: {} bytes\n",
            grouped(bytes)
        )
    })
}

/// Where a task stands, and why.
fn state(task: &Value) -> String {
    let mut told = match task["state"].as_str() {
        Some("waiting") => "waits in its lane".to_owned(),
        Some("parked") => format!("waits {}", parked_on(&task["header"])),
        _ => word(&task["state"]),
    };
    let why = word(&task["why"]);
    if !why.is_empty() {
        told.push_str(&format!(", {}", short(&why)));
    }
    match task["attempts"].as_u64().unwrap_or_default() {
        0 | 1 => told,
        more => format!("{told}, taken up {more} times"),
    }
}

fn parked_on(header: &Value) -> &'static str {
    match () {
        () if !header["asking"]["open"].is_null() => "for the answer to its question",
        () if !header["leave"]["since"].is_null() => "for approval",
        () => "for a person, another task or a time",
    }
}

/// Which agent and which model answered, and who decided that; nothing of a task that asked none.
fn answers(task: &Value) -> String {
    match serde_json::from_value::<Facts>(task["facts"].clone()) {
        Ok(facts) if task["usage"]["calls"].as_u64() > Some(0) => {
            let agent =
                facts.pick.agent_told().map(|agent| format!("  Agent: {}\n", short(&agent)));
            agent.unwrap_or_default() + &format!("  Model: {}\n", short(&facts.answers()))
        }
        _ => String::new(),
    }
}

/// What the task could use, with what it called and could not have.
fn shape(task: &Value, shaper: Option<&Shaper>) -> String {
    let Ok(facts) = serde_json::from_value::<Facts>(task["facts"].clone()) else {
        return String::new();
    };
    let Some(shaper) = shaper else {
        return "  Shape: not told while the config has mistakes\n".to_owned();
    };
    let Explanation { setting, there, hidden } = shaper.shape(&facts).explain();
    let calls = items(&task["transcript"]).flat_map(|item| items(&item["calls"]));
    let called: Vec<String> = calls.map(|call| word(&call["name"])).collect();
    let asks = there.iter().filter(|tool| !tool.asks.is_empty()).count();
    let asks = if asks > 0 { format!(" ({asks} after approval)") } else { String::new() };
    let tools = counted(there.len() as u64, ["tool", "tools"]);
    let mut told =
        format!("  Shape, by today's config: {setting}: {tools}{asks}, {} hidden", hidden.len());
    let wanted = hidden.iter().filter(|line| called.contains(&line.name));
    let wanted: Vec<String> =
        wanted.map(|line| format!("{} ({})", line.name, short(&line.reasons.join("; ")))).collect();
    if !wanted.is_empty() {
        told.push_str(&format!(", of them called: {}", wanted.join(", ")));
    }
    told.push('\n');
    told
}

fn asked(item: &Value, step: u32) -> String {
    let text = word(&item["text"]);
    let beside = if text.is_empty() { text } else { format!("said {} and ", quoted(&text)) };
    let calls = items(&item["calls"]).count() as u64;
    let calls = counted(calls, ["tool call", "tool calls"]);
    format!("  Model call {step} {beside}asked for {calls}{}:\n", origin(item))
}

fn said(item: &Value, task: &Value, step: u32) -> String {
    let text = quoted(&word(&item["text"]));
    let origin = origin(item);
    match task["usage"]["calls"].as_u64() {
        // Fixed words, or the program's own line at the end.
        Some(0) => format!("  Said without a model{origin}:\n    {text}\n"),
        _ => format!("  Model call {step} answered{origin}:\n    {text}\n"),
    }
}

/// Whose words it holds, where they are not only those of who asked and of the program.
fn origin(item: &Value) -> &'static str {
    match item["taint"].as_str() {
        Some("raw") => " (others' words)",
        Some("derived") => " (drawn from others' words)",
        _ => "",
    }
}

/// What was read beside the message that the story begins with.
fn read(item: &Value, own: &Value) -> String {
    let text = quoted(&word(&item["text"]));
    match (&item["inbox"], item["talk"] == true) {
        (_, true) => format!("  Read what people said before: {text}\n"),
        (inbox, false) if inbox.is_null() || inbox == own => String::new(),
        (inbox, false) => format!("  Read inbox {}: {text}\n", word(inbox)),
    }
}

/// One tool call with its outcome; below it what was approved.
fn called(call: &Value, chain: &Value, zone: Zone) -> String {
    let answers = items(&chain["task"]["transcript"]).flat_map(|item| items(&item["answers"]));
    let answer = answers.into_iter().find(|answer| answer["call"] == call["id"]);
    let outcome = match answer {
        None => "no answer yet".to_owned(),
        Some(answer) => {
            let failed = if answer["is_error"] == true { "failed: " } else { "" };
            format!("{failed}{}{}", quoted(&word(&answer["text"])), origin(answer))
        }
    };
    let name = short(&word(&call["name"]));
    let arguments = short(&call["arguments"].to_string());
    let mut told = format!("    {name} {arguments}\n      → {outcome}\n");
    let typed = answer.into_iter().flat_map(|answer| items(&answer["typed"]));
    typed.for_each(|words| {
        told.push_str(&format!("      a person typed {}\n", quoted(&word(words))))
    });
    let approvals = items(&chain["approvals"]).filter(|one| one["call"] == call["id"]);
    approvals.for_each(|approval| told.push_str(&approved(approval, zone)));
    told
}

/// A request for approval, and what became of it.
fn approved(approval: &Value, zone: Zone) -> String {
    let requester = &approval["requester"];
    let whom = person(&requester["name"], &requester["id"]);
    let asked = when(&approval["asked_at"], zone);
    let tool = short(&word(&approval["tool"]));
    let asked = format!("      Approval of {tool} was asked for {whom}, {asked}\n");
    if approval["settled_at"].is_null() {
        return format!("{asked}      and is open.\n");
    }
    let (state, then) = match word(&approval["state"]).as_str() {
        "consumed" if approval["why"].is_null() => {
            ("approved".to_owned(), ", and the call was made")
        }
        "consumed" => ("approved, and the call failed".to_owned(), ""),
        state => (state.replace('_', " "), ""),
    };
    let by = match short(&word(&approval["by"])) {
        nobody if nobody.is_empty() => nobody,
        by => format!(" by {by}"),
    };
    let why = match short(&word(&approval["why"])) {
        none if none.is_empty() => none,
        why => format!(": {why}"),
    };
    let at = when(&approval["settled_at"], zone);
    format!("{asked}      and {state}{by}{why}{then}, {at}\n")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_request_for_approval_stands_with_its_decision() {
        let zone = Zone::named("Europe/Berlin").unwrap();
        let approval = json!({
            "tool": "write_file", "requester": { "id": "tg:2", "name": "Grace" },
            "asked_at": "2026-11-23T07:00:05Z", "state": "consumed", "why": null, "by": "Ada",
            "settled_at": "2026-11-23T07:01:05Z",
        });
        let asked = "      Approval of write_file was asked for Grace (tg:2), 2026-11-23 08:00:05 Europe/Berlin\n";
        let decided =
            "      and approved by Ada, and the call was made, 2026-11-23 08:01:05 Europe/Berlin\n";
        assert_eq!(approved(&approval, zone), format!("{asked}{decided}"));
        let mut gone = approval;
        gone["state"] = json!("not_asked");
        (gone["by"], gone["why"]) = (json!(""), json!("nobody is there"));
        assert!(approved(&gone, zone).contains("and not asked: nobody is there, 2026"));
        gone["settled_at"] = Value::Null;
        assert!(approved(&gone, zone).ends_with("and is open.\n"));
    }
}
