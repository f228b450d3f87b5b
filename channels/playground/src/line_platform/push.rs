//! Replies and pushes: what is free and single-use, and what is counted and repeatable.

use serde_json::Value;

use super::Server;
use super::check::{self, Refusal};
use super::view::Via;
use super::world::{Posting, World};

/// `POST /v2/bot/message/reply`.
pub(super) fn reply(server: &Server, body: &Value) -> Result<Value, Refusal> {
    let messages = check::messages(body)?;
    let token = body["replyToken"].as_str().unwrap_or_default();
    let mut world = server.world();
    let chat = world.tokens.get(token).map(|t| t.chat.clone());
    if let Some(chat) = &chat {
        check::quotes(&world, chat, &messages)?;
        check::mentions(&world, chat, &messages)?;
    }
    let Some((chat, asked)) = world.spend(token, server.now()) else {
        return Err(Refusal::new(400, "Invalid reply token"));
    };
    let posting = Posting { via: Via::Reply, at: server.now(), answers: asked };
    Ok(world.bot_says(&chat, &messages, &posting))
}

/// `POST /v2/bot/message/push`.
pub(super) fn push(server: &Server, body: &Value, key: Option<&str>) -> Result<Value, Refusal> {
    let messages = check::messages(body)?;
    let mut world = server.world();
    if let Some(key) = key {
        check::retry_key(key)?;
        if let Some((request, made)) = world.accepted.get(key) {
            let mut made = made.clone();
            made["message"] = Value::from("The retry key is already accepted");
            return Err(Refusal { status: 409, body: made, accepted: Some(request.clone()) });
        }
    }
    let to = body["to"].as_str().unwrap_or_default();
    let Some(recipients) = world.recipients(to) else {
        return Err(Refusal::new(400, "Failed to send messages"));
    };
    check::quotes(&world, to, &messages)?;
    check::mentions(&world, to, &messages)?;
    count(&mut world, recipients)?;
    let posting = Posting { via: Via::Push, at: server.now(), answers: None };
    let made = world.bot_says(to, &messages, &posting);
    if let Some(key) = key {
        let request = format!("request-{}", world.next());
        world.accepted.insert(key.to_owned(), (request, made.clone()));
    }
    Ok(made)
}

/// One call counts once per recipient, however many bubbles it has.
fn count(world: &mut World, recipients: u64) -> Result<(), Refusal> {
    if world.limit.is_some_and(|limit| world.used + recipients > limit) {
        return Err(Refusal::new(429, "You have reached your monthly limit."));
    }
    world.used += recipients;
    Ok(())
}
