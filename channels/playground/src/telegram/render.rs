//! Users, chats and messages as the Bot API writes them; a missing field is absent, never null.

use serde_json::{Map, Value, json};

use super::chat::{Chat, ChatKind, Content, FileKind, Message, StoredFile, User};
use super::world::World;

/// A `User`.
pub(crate) fn user(user: &User) -> Value {
    let mut out = json!({ "id": user.id, "is_bot": user.is_bot, "first_name": user.first_name });
    if let Some(last_name) = &user.last_name {
        out["last_name"] = json!(last_name);
    }
    if let Some(username) = &user.username {
        out["username"] = json!(username);
    }
    if !user.is_bot {
        out["language_code"] = json!("en");
    }
    out
}

/// A `ChatMember` of this status.
pub(crate) fn member(person: &User, status: &str) -> Value {
    let mut out = json!({ "status": status, "user": user(person) });
    match status {
        "kicked" => out["until_date"] = json!(0),
        "administrator" => {
            const NOT_ITS: &str = "can_be_edited is_anonymous can_delete_messages can_manage_video_chats \
                can_restrict_members can_promote_members can_change_info can_post_stories can_edit_stories \
                can_delete_stories";
            NOT_ITS.split(' ').for_each(|right| out[right] = json!(false));
            (out["can_manage_chat"], out["can_invite_users"]) = (json!(true), json!(true));
        }
        _ => {}
    }
    out
}

/// The bot, as `getMe` answers.
pub(crate) fn me(world: &World) -> Value {
    let mut out = user(&world.bot);
    for (name, value) in [
        ("can_join_groups", true),
        ("can_read_all_group_messages", !world.privacy_mode),
        ("supports_inline_queries", false),
        ("can_connect_to_business", false),
        ("has_main_web_app", false),
        ("has_topics_enabled", false),
        ("allows_users_to_create_topics", false),
    ] {
        out[name] = json!(value);
    }
    out
}

/// A `Chat`.
pub(crate) fn chat(world: &World, chat: &Chat) -> Value {
    let mut out = json!({ "id": chat.id });
    match chat.kind {
        ChatKind::Private => {
            out["type"] = json!("private");
            if let Some(person) = world.users.get(&chat.id) {
                let named = user(person);
                for name in ["first_name", "last_name", "username"] {
                    if let Some(value) = named.get(name) {
                        out[name] = value.clone();
                    }
                }
            }
        }
        ChatKind::Group => {
            out["type"] = json!("group");
            out["title"] = json!(chat.title);
            out["all_members_are_administrators"] = json!(false);
        }
        ChatKind::Supergroup | ChatKind::Forum => {
            out["type"] = json!("supergroup");
            out["title"] = json!(chat.title);
            if chat.kind == ChatKind::Forum {
                out["is_forum"] = json!(true);
            }
        }
    }
    out
}

/// A `Message`; `{}` when there is none.
pub(crate) fn message(world: &World, chat_id: i64, id: i64) -> Value {
    let Some(place) = world.chats.get(&chat_id) else { return json!({}) };
    let Some(message) = place.message(id) else { return json!({}) };
    let mut out = bare(world, place, message);
    // In a topic a message without a reply of its own carries the topic's root.
    let quoted = message.draft.reply_to.or(message.draft.thread).filter(|root| *root != id);
    if let Some(original) = quoted.and_then(|id| place.message(id)) {
        out["reply_to_message"] = bare(world, place, original);
    }
    out
}

fn bare(world: &World, place: &Chat, message: &Message) -> Value {
    let draft = &message.draft;
    let mut out = json!({
        "message_id": message.id,
        "chat": chat(world, place),
        "date": message.at.timestamp(),
    });
    if let Some(from) = world.users.get(&draft.from) {
        out["from"] = user(from);
    }
    if let Some(edited) = message.edited {
        out["edit_date"] = json!(edited.timestamp());
    }
    if let Some(thread) = draft.thread {
        out["message_thread_id"] = json!(thread);
        out["is_topic_message"] = json!(true);
    }
    if let Some(album) = &draft.album {
        out["media_group_id"] = json!(album);
    }
    if let Some(markup) = draft.markup.as_ref().filter(|m| m.get("inline_keyboard").is_some()) {
        out["reply_markup"] = markup.clone();
    }
    content(world, message, &mut out);
    out
}

fn content(world: &World, message: &Message, out: &mut Value) {
    let draft = &message.draft;
    let (text, entities) = match &draft.content {
        Content::Text => ("text", "entities"),
        Content::Rich(blocks) => {
            out["rich_message"] = json!({ "blocks": blocks });
            return;
        }
        Content::File(file_id) => {
            if let Some(file) = world.files.get(file_id) {
                let (name, value) = media(file_id, file);
                out[name] = value;
            }
            ("caption", "caption_entities")
        }
        Content::Thing(fields) | Content::Service(fields) => {
            for (name, value) in fields.as_object().unwrap_or(&Map::new()) {
                out[name] = value.clone();
            }
            return;
        }
    };
    if !draft.text.is_empty() {
        out[text] = json!(&*draft.text);
    }
    if !draft.entities.is_empty() {
        out[entities] = json!(draft.entities);
    }
}

/// A file's field in a message, and its value.
fn media(file_id: &str, file: &StoredFile) -> (&'static str, Value) {
    let base = json!({
        "file_id": file_id, "file_unique_id": unique(file_id), "file_size": file.size,
    });
    let with = |extra: Value| {
        let mut out = base.clone();
        for (name, value) in extra.as_object().unwrap_or(&Map::new()) {
            out[name] = value.clone();
        }
        out
    };
    match file.kind {
        FileKind::Document => {
            ("document", with(json!({ "file_name": file.name, "mime_type": mime(&file.name) })))
        }
        FileKind::Photo => ("photo", json!([with(json!({ "width": 640, "height": 480 }))])),
        FileKind::Voice => {
            ("voice", with(json!({ "duration": file.seconds, "mime_type": "audio/ogg" })))
        }
    }
}

/// The `file_unique_id` of a file.
pub(crate) fn unique(file_id: &str) -> String {
    format!("AQAD{}", &file_id[file_id.len().saturating_sub(12)..])
}

/// A media type by the name's ending.
pub(crate) fn mime(name: &str) -> &'static str {
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending).to_ascii_lowercase();
    match ending.as_str() {
        "txt" | "log" => "text/plain",
        "md" => "text/markdown",
        "json" => "application/json",
        "pdf" => "application/pdf",
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "webp" => "image/webp",
        "ogg" | "oga" => "audio/ogg",
        _ => "application/octet-stream",
    }
}
