//! What a chain begins with: who wrote what, where and when, and why it was answered or not.

use selkie_channel_core::Command;
use serde::Deserialize as _;
use serde_json::Value;

use super::kept::has_lost_its_words;
use super::text::{items, quoted, short, when, word};
use selkie_domain::count::counted;
use selkie_schedule::zone::Zone;

/// Tells what came, and what became of it.
pub(super) fn origin(chain: &Value, zone: Zone) -> String {
    match chain["inbox"].is_null() {
        true if chain["task"].is_null() => spoken(chain, zone),
        true => words(chain, zone),
        false => event(chain, zone),
    }
}

/// What was said for neither a message nor a task: where, what, and who asked for it.
fn spoken(chain: &Value, zone: Zone) -> String {
    let first = items(&chain["outbounds"]).next().unwrap_or(&Value::Null);
    let place = titled(&first["outbound"]["conversation"], &chain["title"]);
    let at = when(&chain["stored_at"], zone);
    let text = super::sent::words(&first["outbound"]["body"]).unwrap_or_default();
    let said = match text.is_empty() {
        true => String::new(),
        false => format!(":\n  {}", quoted(&text)),
    };
    let spoken = &chain["spoken"];
    let because = match spoken["for"].as_str() {
        Some("say") => {
            "It answers no message: the owner of this machine said it with `selkie say`.".to_owned()
        }
        Some("schedule") => {
            format!("It answers no message: {} came due.", schedule(&spoken["schedule"]))
        }
        _ => match short(&word(&spoken["about"])) {
            none if none.is_empty() => "Nobody asked for it.".to_owned(),
            about => format!("Nobody asked for it: selkie told it by itself. It is about {about}."),
        },
    };
    format!("selkie said {place}, {at}{said}\n{because}\n")
}

/// A schedule by number and name.
pub(super) fn schedule(schedule: &Value) -> String {
    let id = word(&schedule["id"]);
    match short(&word(&schedule["name"])) {
        none if none.is_empty() => format!("schedule {id}"),
        name => format!("schedule {id} “{name}”"),
    }
}

/// Words of a task's own: typed at the command line, a schedule's, a relayed wish.
fn words(chain: &Value, zone: Zone) -> String {
    let words = &chain["words"];
    let whose = person(&words["name"], &words["person"]);
    let whose = match chain["schedule"].is_null() {
        true => whose,
        false => format!("{}, which belongs to {whose}", schedule(&chain["schedule"])),
    };
    let at = when(&words["at"], zone);
    let text = match word(&words["text"]) {
        none if none.is_empty() => "(the words are not kept)".to_owned(),
        text => quoted(&text),
    };
    let facts = &chain["task"]["facts"];
    let agent = word(&words["agent"]);
    let trigger = match facts["trigger"].as_str() {
        _ if !facts["parent"].is_null() => "another task wants an agent to do it",
        _ if !agent.is_empty() => "an agent that nobody has waited for has ended",
        Some("scheduled") => "a schedule came due",
        Some("heartbeat") => "it was time for the heartbeat",
        Some("webhook") => "another service called a webhook",
        Some("relayed") => "a task of another conversation sent it here",
        _ => "it was asked at the command line",
    };
    let cause = short(&word(&chain["cause"]));
    format!("Words of {whose}, {at}:\n  {text}\n  cause {cause}\nStarted because {trigger}.\n")
}

fn event(chain: &Value, zone: Zone) -> String {
    let inbound = &chain["inbound"];
    let who = person(&inbound["speaker"]["name"], &inbound["speaker"]["id"]);
    let mut told = format!("{who} {} {}, {}", did(inbound), place(inbound), at(chain, zone));
    let text = written(inbound);
    if !text.is_empty() {
        told.push_str(&format!(":\n  {}", quoted(&text)));
    }
    if has_lost_its_words(chain) {
        told.push_str(":\n  (the words are not kept)");
    }
    let files = items(&inbound["attachments"]).count() as u64;
    if files > 0 {
        told.push_str(&format!("\n  with {}", counted(files, ["file", "files"])));
    }
    if !inbound["quote"].is_null() {
        told.push_str(&format!("\n  in reply to {}", quoted(&word(&inbound["quote"]["text"]))));
    }
    told.push_str(&format!("\n  inbox {}", word(&chain["inbox"])));
    if !inbound["message"].is_null() {
        told.push_str(&format!(", message {}", short(&word(&inbound["message"]))));
    }
    format!("{told}\n{}\n", why(chain))
}

/// What was written: of a command a message holds the arguments alone.
fn written(inbound: &Value) -> String {
    match Command::deserialize(&inbound["command"]) {
        Ok(command) => command.written(),
        Err(_) => word(&inbound["text"]),
    }
}

/// When it happened; some platforms tell no time of theirs.
fn at(chain: &Value, zone: Zone) -> String {
    let at = &chain["inbound"]["at"];
    let is_told = at.as_str().is_some_and(|at| !at.starts_with("1970-01-01T00:00:00"));
    when(if is_told { at } else { &chain["stored_at"] }, zone)
}

fn did(inbound: &Value) -> String {
    match inbound["what"]["kind"].as_str() {
        Some("message") if inbound["forwarded"] == true => "forwarded".to_owned(),
        Some("message") | None => "wrote".to_owned(),
        Some("edit") => "edited a message".to_owned(),
        Some("unsent") => "took a message back".to_owned(),
        Some("tap") => "pressed a button".to_owned(),
        Some(other) => format!("brought the event {:?}", short(other)),
    }
}

/// The chat by the name that people know.
fn place(inbound: &Value) -> String {
    match inbound["audience"] == "direct" {
        true => format!("in private ({})", key(&inbound["conversation"])),
        false => titled(&inbound["conversation"], &inbound["title"]),
    }
}

fn titled(conversation: &Value, title: &Value) -> String {
    let key = key(conversation);
    match word(title) {
        none if none.is_empty() => format!("in {key}"),
        title => format!("in {} ({key})", quoted(&title)),
    }
}

/// A conversation's own part of its full name.
fn key(conversation: &Value) -> String {
    let full = word(conversation);
    short(full.split_once('|').map_or(full.as_str(), |(_, key)| key))
}

/// Somebody by name and id.
pub(super) fn person(name: &Value, id: &Value) -> String {
    match (short(&word(name)), short(&word(id))) {
        (name, id) if name.is_empty() && id.is_empty() => "nobody".to_owned(),
        (name, id) if name.is_empty() => id,
        (name, id) if id.is_empty() => name,
        (name, id) => format!("{name} ({id})"),
    }
}

/// Why it was answered, or was not.
fn why(chain: &Value) -> String {
    let disposition = word(&chain["disposition"]);
    let task = word(&chain["task"]["id"]);
    if let Some(step) = disposition.strip_prefix("absorbed: ") {
        return format!("It came while task {task} was running, which read it at its {step}.");
    }
    if let Some(reason) = disposition.strip_prefix("ignored: ") {
        return format!("Not answered: {}.", ignored(reason));
    }
    let told = match disposition.as_str() {
        "task" => return meant(chain),
        "command" => "It is a command, and was carried out at once.",
        "tap" => "It was carried out at once.",
        "answer" => "It answers an open question.",
        "edit: applied" => "Its message still waited, and is answered as edited.",
        "edit" => "Its message was taken up already: the edit changes nothing.",
        "gate" => "Not answered yet: nobody addressed the bot, and the gate of the group decides.",
        "context" if !task.is_empty() => {
            return format!(
                "Not answered: nobody addressed the bot. Task {task} read it beside its own message."
            );
        }
        "context" => {
            "Not answered: nobody addressed the bot. It is kept, and the next task here reads it."
        }
        "unsend" => "What was stored of the message is gone.",
        "unparsed" => "Not answered: this event is not known, and is kept as it came.",
        "moved" => "The chat has a new id.",
        "closed" => "The bot may no longer write there.",
        "opened" => "The bot may write there.",
        other => return format!("What became of it: {}.", short(other)),
    };
    told.to_owned()
}

fn meant(chain: &Value) -> String {
    let passed = &chain["task"]["facts"]["passed"];
    if !passed.is_null() {
        let reason = quoted(&word(&passed["reason"]));
        return format!(
            "Answered although nobody addressed the bot: the gate of the group let it, {reason}."
        );
    }
    let because = match chain["inbound"]["addressed"].as_str() {
        Some("direct") => "it was written to the bot in private",
        Some("mention") => "it names the bot",
        Some("reply") => "it replies to a message of the bot",
        Some("command") => "it is a command",
        _ => "it was taken for the bot",
    };
    format!("Accepted because {because}.")
}

fn ignored(reason: &str) -> String {
    let told = match reason {
        "not_allowed" => {
            "who wrote it is not allowed to ask here (`owners`, and the allow list of the channel)"
        }
        "untriggered" => "nobody addressed the bot, and such talk is not kept here",
        "bot" => "another bot wrote it",
        "unknown_command" => "the bot has no such command",
        "asks_nothing" => "the event asks nothing of the bot",
        "forgotten" => "it was forgotten on request",
        "too old" => "it is older than messages are kept",
        other => return short(other),
    };
    told.to_owned()
}
