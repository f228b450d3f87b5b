//! Whether what a story is about is kept still: words go when they are forgotten, taken back, or too old.

use serde_json::Value;

use super::text::{items, word};

/// Whether the words of a message are gone, and not only none were written.
pub(super) fn has_lost_its_words(chain: &Value) -> bool {
    let inbound = &chain["inbound"];
    let is_message = matches!(inbound["what"]["kind"].as_str(), Some("message" | "edit"));
    let is_bare = |key: &str| inbound[key].is_null();
    is_message
        && word(&inbound["text"]).is_empty()
        && items(&inbound["attachments"]).next().is_none()
        && ["command", "quote"].into_iter().all(is_bare)
}

/// Whether something may have been said because of it of which nothing is left.
pub(super) fn has_lost_its_answer(chain: &Value) -> bool {
    let task = &chain["task"];
    if items(&chain["outbounds"]).next().is_some() {
        return false;
    }
    match task.is_null() {
        true => chain["disposition"] == "command" && has_lost_its_words(chain),
        // A model was asked, and not one word of it is left.
        false => {
            let was_asked = task["usage"]["calls"].as_u64().is_some_and(|calls| calls > 0);
            let is_over = !task["ended_at"].is_null();
            was_asked && is_over && items(&task["transcript"]).next().is_none()
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_gone_is_told_apart_from_what_never_was() {
        let task = |calls: u32, transcript: Value| {
            json!({ "inbound": { "what": { "kind": "message" }, "text": "hi" }, "outbounds": [],
                "task": { "usage": { "calls": calls }, "ended_at": "2026-11-23T07:00:05Z", "transcript": transcript } })
        };
        assert!(has_lost_its_answer(&task(1, json!([]))));
        assert!(!has_lost_its_answer(&task(0, json!([]))), "no model was asked");
        assert!(!has_lost_its_answer(&task(1, json!([{ "item": "said" }]))), "its words are here");
        let mut sent = task(1, json!([]));
        sent["outbounds"] = json!([{ "id": 1 }]);
        assert!(!has_lost_its_answer(&sent));
        assert!(!has_lost_its_words(&sent));
        let command = |text: &str| {
            json!({ "inbound": { "what": { "kind": "message" }, "text": text }, "disposition": "command",
                "task": null, "outbounds": [] })
        };
        assert!(has_lost_its_answer(&command("")) && has_lost_its_words(&command("")));
        assert!(!has_lost_its_answer(&command("/stop")), "a command may answer nothing");
        let picture = json!({ "inbound": { "what": { "kind": "message" }, "text": "", "attachments": [{}] } });
        assert!(!has_lost_its_words(&picture));
    }
}
