//! The table of methods, and those that are short.

use chrono::TimeDelta;
use serde_json::json;

use super::chat::{ChatKind, FileKind};
use super::params::Params;
use super::polling::{Redelivery, allowed_updates, get_updates};
use super::refusal::Refusal;
use super::view::EventKind;
use super::{Server, commands, media, reactions, render, send, taps, target};

/// Runs a method (its name in lower case) and gives its result as JSON text.
pub(crate) async fn run(
    server: &Server,
    method: &str,
    params: &Params,
    redelivery: Redelivery,
) -> Result<String, Refusal> {
    match method {
        "getupdates" => get_updates(server, params, redelivery).await,
        "sendmessage" => send::message(server, params),
        "sendrichmessage" => send::rich(server, params),
        "editmessagetext" => send::edit(server, params),
        "editmessagereplymarkup" => send::edit_markup(server, params),
        "senddocument" => media::file(server, params, FileKind::Document),
        "sendphoto" => media::file(server, params, FileKind::Photo),
        "sendvoice" => media::file(server, params, FileKind::Voice),
        "getfile" => media::get_file(server, params),
        "sendchataction" => chat_action(server, params),
        "setmessagereaction" => reactions::set(server, params),
        "deletemessage" => delete(server, params),
        "answercallbackquery" => taps::answer(server, params),
        "getme" => Ok(render::me(&server.world()).to_string()),
        "getchat" => get_chat(server, params),
        "getchatmember" => get_member(server, params),
        "setwebhook" => set_webhook(server, params),
        "deletewebhook" => delete_webhook(server, params),
        "getwebhookinfo" => Ok(webhook_info(server)),
        "getmycommands" => commands::get(server, params),
        "setmycommands" => commands::set(server, params),
        "deletemycommands" => commands::delete(server, params),
        "setmyname"
        | "setmydescription"
        | "setmyshortdescription"
        | "setchatmenubutton"
        | "setmydefaultadministratorrights" => done(),
        _ => Err(Refusal::not_found()),
    }
}

fn done() -> Result<String, Refusal> {
    Ok("true".to_owned())
}

fn chat_action(server: &Server, params: &Params) -> Result<String, Refusal> {
    const ACTIONS: &str = "\
        typing upload_photo record_video upload_video record_voice upload_voice upload_document \
        choose_sticker find_location record_video_note upload_video_note";
    let world = server.world();
    let place = target::Target::read(&world, params)?;
    let action = params.text("action").unwrap_or_default();
    if !ACTIONS.split(' ').any(|known| known == action) {
        return Err(Refusal::bad("wrong parameter action in request"));
    }
    world.emit(EventKind::Typing, place.chat, place.thread, None);
    done()
}

fn delete(server: &Server, params: &Params) -> Result<String, Refusal> {
    let mut world = server.world();
    let chat = target::chat(&world, params)?;
    let message = target::message(chat, params, "message to delete not found")?;
    // In private chats a bot may delete what people wrote; elsewhere only an administrator may.
    let allowed = message.draft.from == world.bot.id || chat.kind == ChatKind::Private;
    if !allowed || server.now() - message.at > TimeDelta::hours(48) {
        return Err(Refusal::bad("message can't be deleted"));
    }
    let chat = chat.id;
    let id = message.id;
    world.delete(chat, id);
    done()
}

fn get_chat(server: &Server, params: &Params) -> Result<String, Refusal> {
    let world = server.world();
    let chat = target::chat(&world, params)?;
    let mut answer = render::chat(&world, chat);
    answer["accent_color_id"] = json!(0);
    answer["max_reaction_count"] = json!(11);
    answer["accepted_gift_types"] = json!({
        "unlimited_gifts": false, "limited_gifts": false, "unique_gifts": false,
        "premium_subscription": false, "gifts_from_channels": false,
    });
    Ok(answer.to_string())
}

fn get_member(server: &Server, params: &Params) -> Result<String, Refusal> {
    let world = server.world();
    let chat = target::chat(&world, params)?;
    let id = params.int("user_id").ok_or_else(|| Refusal::bad("invalid user_id specified"))?;
    let user = world.users.get(&id).ok_or_else(|| Refusal::bad("member not found"))?;
    let inside = chat.members.contains(&id) || id == world.bot.id;
    let status = match inside {
        true if id == world.bot.id && chat.bot_is_admin => "administrator",
        true => "member",
        false => "left",
    };
    Ok(render::member(user, status).to_string())
}

fn set_webhook(server: &Server, params: &Params) -> Result<String, Refusal> {
    let url = params.text("url").unwrap_or_default();
    if !url.is_empty() && !url.starts_with("https://") {
        return Err(Refusal::bad("bad webhook: An HTTPS URL must be provided for webhook"));
    }
    let kinds = allowed_updates(params)?;
    let mut world = server.world();
    if let Some(kinds) = kinds {
        world.updates.allow(kinds);
    }
    if params.flag("drop_pending_updates") {
        world.updates.clear();
    }
    world.webhook = (!url.is_empty()).then(|| url.into_owned());
    drop(world);
    server.arrivals.notify_waiters();
    done()
}

fn delete_webhook(server: &Server, params: &Params) -> Result<String, Refusal> {
    let mut world = server.world();
    world.webhook = None;
    if params.flag("drop_pending_updates") {
        world.updates.clear();
    }
    done()
}

fn webhook_info(server: &Server) -> String {
    let world = server.world();
    json!({
        "url": world.webhook.as_deref().unwrap_or_default(),
        "has_custom_certificate": false,
        "pending_update_count": world.updates.len(),
    })
    .to_string()
}
