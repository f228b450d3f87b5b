//! What was said because of a message, each part with its receipt or why there is none; what all of it cost and took.

use chrono::{DateTime, Duration, Utc};
use serde::Deserialize;
use serde_json::Value;

use super::kept::has_lost_its_answer;
use super::text::{instant, items, quoted, short, took, when, word};
use selkie_domain::count::{counted, grouped};
use selkie_domain::usage::{Usage, dollars};
use selkie_schedule::zone::Zone;

/// Tells what was said, call by call of the platform.
pub(super) fn sent(chain: &Value, zone: Zone) -> String {
    let outbounds = items(&chain["outbounds"]).map(|outbound| one(outbound, chain, zone));
    match outbounds.collect::<String>() {
        none if none.is_empty() && has_lost_its_answer(chain) => {
            "\nWhat was sent because of it is not kept: it was forgotten, or is older than messages are kept.\n".to_owned()
        }
        none if none.is_empty() => "\nNothing was sent to a chat.\n".to_owned(),
        told => format!("\n{told}"),
    }
}

fn one(outbound: &Value, chain: &Value, zone: Zone) -> String {
    let standing = &outbound["standing"];
    let reason = match short(&word(&standing["reason"])) {
        none if none.is_empty() => none,
        reason => format!(": {reason}"),
    };
    let what = what(&outbound["outbound"]["body"], chain);
    let stands = word(&standing["standing"]);
    let mut told = format!("Outbound {}, {what}: {stands}{reason}\n", word(&outbound["id"]));
    let parts: Vec<&Value> = items(&outbound["parts"]).collect();
    for (at, part) in parts.iter().enumerate() {
        let updated = when(&part["updated_at"], zone);
        let attempts = match part["attempts"].as_u64() {
            Some(more) if more > 1 => format!(" after {more} attempts"),
            _ => String::new(),
        };
        let proof = proof(part);
        let which = match parts.len() {
            1 => String::new(),
            all => format!("part {} of {all}: ", at + 1),
        };
        let state = word(&part["state"]);
        told.push_str(&format!("  {which}{state}{attempts}, {updated}{proof}\n"));
    }
    told
}

/// What an outbound holds; an answer's words stand above already.
fn what(body: &Value, chain: &Value) -> String {
    let kind = word(&body["kind"]).replace('_', " ");
    let Some(text) = words(body) else { return short(&kind) };
    let is_above = items(&chain["task"]["transcript"])
        .any(|item| item["item"] == "said" && item["text"].as_str() == Some(text.as_str()));
    match (is_above, chain["spoken"].is_null()) {
        (true, _) => "the answer".to_owned(),
        // The story began with it.
        (false, false) => short(&kind),
        (false, true) => format!("{} {}", short(&kind), quoted(&text)),
    }
}

/// The words of an outbound, where it has any.
pub(super) fn words(body: &Value) -> Option<String> {
    let texts = ["markdown", "text", "caption", "name", "emoji"].map(|key| &body[key]);
    let posts = || items(&body["texts"]).next();
    texts.into_iter().find(|text| text.is_string()).or_else(posts).map(word)
}

/// What the platform said of a part that arrived, or why there is no receipt.
fn proof(part: &Value) -> String {
    let receipt = &part["receipt"];
    if receipt.is_null() {
        let reason = short(&word(&part["reason"]));
        let reason = if reason.is_empty() { reason } else { format!(": {reason}") };
        return format!(", no receipt{reason}");
    }
    let ids = [&receipt["message"]].into_iter().chain(items(&receipt["also"]));
    let ids: Vec<String> = ids.filter(|id| !id.is_null()).map(|id| short(&word(id))).collect();
    let note = match short(&word(&receipt["note"])) {
        none if none.is_empty() => none,
        note => format!(": {note}"),
    };
    match ids.is_empty() {
        true => format!(", arrived{note}"),
        false => format!(", arrived as message {}{note}", ids.join(", ")),
    }
}

/// What a task cost, and how long the message took, as far as that is stored.
pub(super) fn sums(chain: &Value) -> String {
    let task = &chain["task"];
    let usage: Usage = serde_json::from_value(task["usage"].clone()).unwrap_or_default();
    let cost = usage.cost();
    let calls = counted(usage.calls.into(), ["model call", "model calls"]);
    let [input, cached, output] = [usage.input, usage.cached, usage.output].map(grouped);
    // Only the calls have the number of their thoughts.
    let thoughts =
        items(&task["model_calls"]).filter_map(|call| call["usage"]["thoughts"].as_u64());
    let thoughts = Usage { thoughts: thoughts.sum(), ..usage }.thoughts_note();
    format!(
        "\nCost: {calls}, {input} tokens read ({cached} from the provider's cache), {output} written{thoughts}, {cost}{}\n{}",
        besides(task, usage),
        time(chain)
    )
}

/// What of it stands with none of the calls above.
fn besides(task: &Value, total: Usage) -> String {
    let mut told = Usage::default();
    for call in items(&task["model_calls"]) {
        match Usage::deserialize(&call["usage"]) {
            Ok(usage) => told.add(usage),
            Err(_) => return String::new(),
        }
    }
    if told.calls == 0 || told.calls >= total.calls {
        return String::new();
    }
    let calls = counted((total.calls - told.calls).into(), ["call", "calls"]);
    let tokens = grouped(total.tokens().saturating_sub(told.tokens()));
    let cost = match total.micro_usd.saturating_sub(told.micro_usd) {
        0 => String::new(),
        some => format!(" and {}", dollars(some)),
    };
    format!(
        "\n  of it {tokens} tokens{cost} in {calls} that no line above tells of: of tools, of the group's gate, or without an answer"
    )
}

/// Moments of a chain, as far as they are known.
struct Moments {
    stored: DateTime<Utc>,
    /// First taken up; kept only while the task is not over.
    begun: Option<DateTime<Utc>>,
    ended: Option<DateTime<Utc>>,
    /// The last part was settled.
    arrived: Option<DateTime<Utc>>,
}

fn time(chain: &Value) -> String {
    let Some(stored) = instant(&chain["stored_at"]) else { return String::new() };
    let parts = items(&chain["outbounds"]).flat_map(|outbound| items(&outbound["parts"]));
    let moments = Moments {
        stored,
        begun: instant(&chain["task"]["header"]["since"]),
        ended: instant(&chain["task"]["ended_at"]),
        arrived: parts.filter_map(|part| instant(&part["updated_at"])).max(),
    };
    let spans = spans(&moments, decided(chain));
    if spans.is_empty() { spans } else { format!("Time: {spans}\n") }
}

/// How long people took to decide on approvals.
fn decided(chain: &Value) -> Duration {
    let spans = items(&chain["approvals"]).filter_map(|approval| {
        Some(instant(&approval["settled_at"])? - instant(&approval["asked_at"])?)
    });
    spans.fold(Duration::zero(), |sum, span| sum + span)
}

fn spans(moments: &Moments, decided: Duration) -> String {
    let Moments { stored, begun, ended, arrived } = *moments;
    let mut told = Vec::new();
    if let Some(begun) = begun {
        told.push(format!("{} until it was taken up", took(begun - stored)));
    }
    if let Some(ended) = ended {
        let waited = match decided.is_zero() {
            true => String::new(),
            false => format!(", of it {} until people decided", took(decided)),
        };
        told.push(format!(
            "{} until the task ended (waiting and running{waited})",
            took(ended - stored)
        ));
        if let Some(arrived) = arrived.filter(|arrived| *arrived >= ended) {
            told.push(format!("then {} until the last part was settled", took(arrived - ended)));
        }
    }
    told.join(", ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_arrived_is_told_in_words() {
        let told = |receipt: Value| proof(&json!({ "receipt": receipt, "reason": "why" }));
        assert_eq!(told(json!({ "message": "7", "note": null })), ", arrived as message 7");
        let album = json!({ "message": "7", "also": ["8"], "note": "as plain text" });
        assert_eq!(told(album), ", arrived as message 7, 8: as plain text");
        assert_eq!(told(json!({ "message": null, "note": null })), ", arrived");
        assert_eq!(told(Value::Null), ", no receipt: why");
    }

    #[test]
    fn time_is_split_as_far_as_it_is_known() {
        let at = |ms| DateTime::from_timestamp_millis(ms).unwrap();
        let whole = Moments {
            stored: at(0),
            begun: None,
            ended: Some(at(2_000)),
            arrived: Some(at(2_050)),
        };
        let told = spans(&whole, Duration::seconds(1));
        let wanted = "2.0 s until the task ended (waiting and running, of it 1.0 s until people decided), \
                      then 50 ms until the last part was settled";
        assert_eq!(told, wanted);
        let running = Moments { begun: Some(at(30)), ended: None, arrived: None, ..whole };
        assert_eq!(spans(&running, Duration::zero()), "30 ms until it was taken up");
    }
}
