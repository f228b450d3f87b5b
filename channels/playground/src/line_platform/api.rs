//! The calls of the Messaging API and of its content host, by path.

use bytes::Bytes;
use serde_json::{Value, json};

use super::check::Refusal;
use super::demo::{BOT, BOT_NAME};
use super::{Server, knock, push, sender};

/// What a call gives.
pub(super) enum Answer {
    Json(u16, Value),
    File { bytes: Bytes, mime: String },
}

/// One call as it came.
pub(super) struct ApiCall<'a> {
    pub(super) post: bool,
    pub(super) path: &'a [&'a str],
    pub(super) body: &'a Value,
    pub(super) retry_key: Option<&'a str>,
}

/// Names a call of the API host for faults and the log.
pub(super) fn name(post: bool, path: &[&str]) -> Option<&'static str> {
    Some(match (post, path) {
        (true, ["message", "reply"]) => "reply",
        (true, ["message", "push"]) => "push",
        (true, ["chat", "loading", "start"]) => "loading",
        (false, ["message", "quota"]) => "quota",
        (false, ["message", "quota", "consumption"]) => "consumption",
        (false, ["profile", _]) => "profile",
        (false, ["group" | "room", _, "member", _]) => "member",
        (false, ["group" | "room", _, "members", "count"]) => "count",
        (false, ["group", _, "summary"]) => "summary",
        (false, ["info"]) => "info",
        (false, ["channel", "webhook", "endpoint"]) => "endpoint",
        (true, ["channel", "webhook", "test"]) => "test",
        _ => return None,
    })
}

/// Names a call of the content host.
pub(super) fn data_name(post: bool, path: &[&str]) -> Option<&'static str> {
    match (post, path) {
        (false, ["message", _, "content"]) => Some("content"),
        (false, ["message", _, "content", "transcoding"]) => Some("transcoding"),
        _ => None,
    }
}

/// Carries a call out.
pub(super) fn run(server: &Server, asked: &ApiCall<'_>) -> Result<Answer, Refusal> {
    let ok = |value| Ok(Answer::Json(200, value));
    match (asked.post, asked.path) {
        (true, ["message", "reply"]) => ok(push::reply(server, asked.body)?),
        (true, ["message", "push"]) => ok(push::push(server, asked.body, asked.retry_key)?),
        (true, ["chat", "loading", "start"]) => loading(server, asked.body),
        (false, ["message", "quota"]) => ok(match server.world().limit {
            Some(limit) => json!({ "type": "limited", "value": limit }),
            None => json!({ "type": "none" }),
        }),
        (false, ["message", "quota", "consumption"]) => {
            ok(json!({ "totalUsage": server.world().used }))
        }
        (false, ["message", id, "content"]) => content(server, id),
        (false, ["message", id, "content", "transcoding"]) => transcoding(server, id),
        (false, ["info"]) => {
            let name = BOT_NAME.trim_start_matches('@');
            ok(json!({ "userId": BOT, "displayName": name, "chatMode": "bot" }))
        }
        (false, ["channel", "webhook", "endpoint"]) => match server.world().webhook.clone() {
            Some(endpoint) => ok(json!({ "endpoint": endpoint, "active": true })),
            None => Err(Refusal::new(404, "Webhook endpoint not found")),
        },
        (false, path) => about(server, path),
        _ => Err(Refusal::new(404, "Not found")),
    }
}

/// Knocks at the webhook with no event, and tells what came of it.
pub(super) async fn test(server: &Server) -> Value {
    let webhook = server.world().webhook.clone().unwrap_or_default();
    let body = sender::body(&[]);
    match knock::request("POST", &webhook, &body, Some(&knock::sign(&body))).await {
        Ok(200) => json!({ "success": true, "statusCode": 200, "reason": "OK", "detail": "200" }),
        Ok(status) => json!({
            "success": false, "statusCode": status, "reason": "ERROR_STATUS_CODE",
            "detail": status.to_string(),
        }),
        Err(error) => json!({
            "success": false, "statusCode": 0, "reason": "COULD_NOT_CONNECT", "detail": error.to_string(),
        }),
    }
}

/// Who people are and how many: only of chats the bot is in.
fn about(server: &Server, path: &[&str]) -> Result<Answer, Refusal> {
    let missing = || Refusal::new(404, "Not found");
    let world = server.world();
    let chat = |id: &str| world.chats.get(id).filter(|c| !c.closed).ok_or_else(missing);
    let profile = |user: &str| {
        let name = world.people.get(user).ok_or_else(missing)?;
        Ok(json!({ "userId": user, "displayName": name }))
    };
    let value = match path {
        ["profile", user] => profile(user)?,
        ["group" | "room", id, "member", user] => {
            if !chat(id)?.members.iter().any(|member| member == user) {
                return Err(missing());
            }
            profile(user)?
        }
        ["group" | "room", id, "members", "count"] => json!({ "count": chat(id)?.members.len() }),
        ["group", id, "summary"] => json!({ "groupId": id, "groupName": chat(id)?.title }),
        _ => return Err(missing()),
    };
    Ok(Answer::Json(200, value))
}

fn loading(server: &Server, body: &Value) -> Result<Answer, Refusal> {
    let chat = body["chatId"].as_str().unwrap_or_default();
    let seconds = body["loadingSeconds"].as_u64().unwrap_or(20);
    if !chat.starts_with('U') || !server.world().chats.contains_key(chat) {
        return Err(Refusal::new(400, "The property, 'chatId', in the request body is invalid"));
    }
    if !(5..=60).contains(&seconds) || !seconds.is_multiple_of(5) {
        let words = "The property, 'loadingSeconds', in the request body is invalid";
        return Err(Refusal::new(400, words));
    }
    Ok(Answer::Json(202, json!({})))
}

fn content(server: &Server, id: &str) -> Result<Answer, Refusal> {
    let world = server.world();
    let file = world.files.get(id).ok_or_else(|| Refusal::new(404, "Not found"))?;
    if file.preparing > 0 || file.failed {
        return Ok(Answer::Json(202, json!({})));
    }
    Ok(Answer::File { bytes: file.bytes.clone(), mime: file.mime.clone() })
}

fn transcoding(server: &Server, id: &str) -> Result<Answer, Refusal> {
    let mut world = server.world();
    let file = world.files.get_mut(id).ok_or_else(|| Refusal::new(404, "Not found"))?;
    let status = match (file.failed, file.preparing) {
        (true, _) => "failed",
        (false, 0) => "succeeded",
        (false, _) => "processing",
    };
    file.preparing = file.preparing.saturating_sub(1);
    Ok(Answer::Json(200, json!({ "status": status })))
}
