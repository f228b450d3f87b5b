//! Makes the view of a message as people see it.

use super::chat::Content;
use super::view::{Author, FileView, MessageView, ReactionView};
use super::world::World;

/// A message as people see it, if it is there.
pub(crate) fn message(world: &World, chat: i64, id: i64) -> Option<MessageView> {
    let message = world.chats.get(&chat)?.message(id)?;
    let draft = &message.draft;
    let name = |id: i64| world.users.get(&id).map_or_else(String::new, |u| u.first_name.clone());
    let caption = (!draft.text.is_empty()).then(|| draft.text.to_string());
    let (text, file, service) = match &draft.content {
        Content::Text | Content::Rich(_) => (draft.text.to_string(), None, None),
        Content::File(file_id) => (String::new(), file_view(world, file_id, caption), None),
        Content::Thing(fields) | Content::Service(fields) => {
            (String::new(), None, Some(fields.clone()))
        }
    };
    let reactions = message.reactions.iter();
    Some(MessageView {
        id,
        from: Author { id: draft.from, name: name(draft.from), is_bot: draft.from == world.bot.id },
        text,
        entities: draft.entities.clone(),
        at: message.at.to_rfc3339_opts(chrono::SecondsFormat::Millis, true),
        reply_to: draft.reply_to,
        thread: draft.thread,
        reactions: reactions
            .map(|(emoji, by)| ReactionView { emoji: emoji.clone(), by: name(*by) })
            .collect(),
        file,
        keyboard: draft.markup.as_ref().and_then(|markup| markup.get("inline_keyboard").cloned()),
        edited: message.edited.is_some(),
        service,
    })
}

fn file_view(world: &World, file_id: &str, caption: Option<String>) -> Option<FileView> {
    let file = world.files.get(file_id)?;
    Some(FileView {
        kind: file.kind,
        name: file.name.clone(),
        size: file.size,
        url: format!("/api/files/{file_id}"),
        caption,
    })
}
