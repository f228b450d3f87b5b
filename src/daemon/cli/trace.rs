//! `selkie trace`: a message's whole chain, from the platform's event to the receipts.

use std::collections::BTreeSet;

use serde_json::Value;

use super::args::Trace;
use super::outcome::{Failure, Outcome};
use super::print;
use crate::daemon::build::{Chosen, plan};
use crate::daemon::client::Running;
use crate::daemon::{Binary, lifecycle};
use crate::domain::count::counted;

/// Finds the chain and prints it.
pub fn trace(binary: &Binary, chosen: &Chosen, trace: &Trace) -> Outcome {
    let plan = plan(binary, chosen)?;
    let chains: Vec<Value> = lifecycle::runtime()?.block_on(async {
        if let Some(daemon) = Running::find(&plan.tls, &plan.folders.state).await? {
            return daemon.read(&["v1", "trace", &trace.message]).await;
        }
        let store = plan.folders.state.join("selkie.db");
        if plan.settings.store.url.is_none() && !store.exists() {
            anyhow::bail!(
                "there is no {}: name the folder with --state, or the config with --config",
                store.display()
            );
        }
        let app = plan.open()?;
        let chains = app.ledger.trace(&trace.message).await;
        app.ledger.close().await;
        let chains = chains?;
        let chains = chains.iter().map(serde_json::to_value).collect::<Result<_, _>>()?;
        anyhow::Ok(chains)
    })?;
    if chains.is_empty() {
        let message = &trace.message;
        return Err(Failure::Failed(anyhow::anyhow!(
            "nothing is known about {message:?}: it is no task's number, no key of an event or a cause, and no message \
             id of a platform (the last part of a message's link); an id of /id names a place, not a message"
        )));
    }
    if trace.json {
        return Ok(print::json(&chains)?);
    }
    let mut told = BTreeSet::new();
    let stories = chains.iter().map(|chain| {
        let task = &chain["task"]["id"];
        story(chain, task.is_null() || told.insert(task.to_string()))
    });
    Ok(print::out(&stories.collect::<Vec<_>>().join("\n"))?)
}

/// Tells one chain, a line for each row; a task of several messages and what it said, with the first of them alone.
fn story(chain: &Value, is_first: bool) -> String {
    let begins = match chain["inbox"].is_null() {
        true => [word(&chain["cause"]), "words".to_owned(), short(&word(&chain["words"]["text"]))],
        false => [
            format!("inbox {}", word(&chain["inbox"])),
            word(&chain["disposition"]),
            short(&word(&chain["inbound"]["text"])),
        ],
    };
    let mut rows = vec![[vec![word(&chain["stored_at"])], begins.to_vec()].concat()];
    let task = &chain["task"];
    if !is_first {
        rows.push(vec![
            String::new(),
            format!("task {}", word(&task["id"])),
            "as above".to_owned(),
        ]);
        return print::table(&rows);
    }
    if !task.is_null() {
        rows.push(vec![
            word(&task["created_at"]),
            format!("task {}", word(&task["id"])),
            match word(&task["why"]) {
                why if why.is_empty() => word(&task["state"]),
                why => short(&format!("{}: {why}", word(&task["state"]))),
            },
            format!(
                "{}, {}",
                counted(count(&task["transcript"]), ["item", "items"]),
                counted(task["attempts"].as_u64().unwrap_or_default(), ["try", "tries"])
            ),
        ]);
    }
    for approval in chain["approvals"].as_array().into_iter().flatten() {
        rows.extend(approved(approval));
    }
    for outbound in chain["outbounds"].as_array().into_iter().flatten() {
        let standing = word(&outbound["standing"]["standing"]);
        rows.push(vec![String::new(), format!("outbound {}", word(&outbound["id"])), standing]);
        for part in outbound["parts"].as_array().into_iter().flatten() {
            let proof = match &part["receipt"] {
                Value::Null => word(&part["reason"]),
                receipt => proof(receipt),
            };
            let id = format!("  part {}", word(&part["id"]));
            rows.push(vec![word(&part["updated_at"]), id, word(&part["state"]), proof]);
        }
    }
    print::table(&rows)
}

/// A request for approval, and behind it what became of it.
fn approved(approval: &Value) -> Vec<Vec<String>> {
    let whom = match word(&approval["requester"]["name"]) {
        name if name.is_empty() => word(&approval["requester"]["id"]),
        name => name,
    };
    let whom = if whom.is_empty() { whom } else { format!("for {whom}") };
    let asked = format!("approval {}", word(&approval["tool"]));
    let mut rows = vec![vec![word(&approval["asked_at"]), asked, "asked".to_owned(), whom]];
    if !approval["settled_at"].is_null() {
        let (state, then) = match word(&approval["state"]) {
            state if state == "consumed" && approval["why"].is_null() => {
                ("approved".to_owned(), ", and made")
            }
            state if state == "consumed" => ("approved, and failed".to_owned(), ""),
            state => (state.replace('_', " "), ""),
        };
        let by = word(&approval["by"]);
        let by = if by.is_empty() { by } else { format!("by {by}") };
        let why = word(&approval["why"]);
        let why = if by.is_empty() || why.is_empty() { why } else { format!(": {why}") };
        let told = short(&format!("{by}{why}{then}"));
        rows.push(vec![word(&approval["settled_at"]), String::new(), state, told]);
    }
    rows
}

/// What the platform said of a part that arrived.
fn proof(receipt: &Value) -> String {
    let also = receipt["also"].as_array().into_iter().flatten();
    let ids = [&receipt["message"]].into_iter().chain(also).filter(|id| !id.is_null());
    let ids: Vec<String> = ids.map(word).collect();
    let arrived = match ids.join(", ") {
        none if none.is_empty() => "arrived".to_owned(),
        ids => format!("arrived as {ids}"),
    };
    match word(&receipt["note"]) {
        note if note.is_empty() => arrived,
        note => short(&format!("{arrived}: {note}")),
    }
}

fn word(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn count(value: &Value) -> u64 {
    value.as_array().map_or(0, |items| items.len() as u64)
}

fn short(text: &str) -> String {
    let line = text.replace(['\n', '\r'], " ");
    match line.char_indices().nth(80) {
        Some((cut, _)) => format!("{}…", &line[..cut]),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_request_for_approval_stands_with_its_decision() {
        let approval = json!({
            "tool": "write_file", "requester": { "id": "tg:2", "name": "Grace" }, "asked_at": "t1",
            "state": "consumed", "why": null, "by": "Ada", "settled_at": "t2",
        });
        let asked = ["t1", "approval write_file", "asked", "for Grace"];
        let decided = ["t2", "", "approved", "by Ada, and made"];
        assert_eq!(approved(&approval), [asked, decided]);
        let mut gone = approval;
        gone["state"] = json!("not_asked");
        (gone["by"], gone["why"]) = (json!(""), json!("nobody is there"));
        assert_eq!(approved(&gone)[1], ["t2", "", "not asked", "nobody is there"]);
        gone["settled_at"] = Value::Null;
        assert_eq!(approved(&gone).len(), 1, "it is still open");
    }

    #[test]
    fn what_arrived_is_told_in_words() {
        assert_eq!(proof(&json!({ "message": "7", "note": null })), "arrived as 7");
        let album = json!({ "message": "7", "also": ["8"], "note": "as plain text" });
        assert_eq!(proof(&album), "arrived as 7, 8: as plain text");
        assert_eq!(proof(&json!({ "message": null, "note": null })), "arrived");
    }
}
