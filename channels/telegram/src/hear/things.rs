//! What a message is about when it has no words: stickers, places, contacts, polls … in words for the model.

use serde_json::Value;

use selkie_channel_core::shorten_line;

use super::{field, rich};

/// The longest name, question or address that is shown, in characters.
const MAX_LENGTH: usize = 200;
/// The most options of a poll and lines of a checklist that are shown; Telegram allows no more of a poll.
const MAX: usize = 12;

/// Service messages: what Telegram itself says about a chat. They ask nothing of anybody.
const SERVICE: &str = "\
    new_chat_members new_chat_member new_chat_participant left_chat_member left_chat_participant \
    new_chat_title new_chat_photo delete_chat_photo group_chat_created supergroup_chat_created \
    channel_chat_created message_auto_delete_timer_changed migrate_to_chat_id migrate_from_chat_id \
    pinned_message connected_website write_access_allowed proximity_alert_triggered boost_added \
    chat_background_set chat_owner_changed chat_owner_left forum_topic_created forum_topic_edited \
    forum_topic_closed forum_topic_reopened general_forum_topic_hidden general_forum_topic_unhidden \
    giveaway_created giveaway_completed video_chat_scheduled video_chat_started video_chat_ended \
    video_chat_participants_invited direct_message_price_changed paid_message_price_changed \
    suggested_post_approved suggested_post_approval_failed suggested_post_declined suggested_post_paid \
    suggested_post_refunded";

/// Returns what a message is about, in words; `None` for words, files, service messages, nothing, and what
/// nobody knows.
pub fn known(message: &Value) -> Option<String> {
    // A venue comes with its location, a game with its animation: what says more goes first.
    venue(message)
        .or_else(|| location(message))
        .or_else(|| contact(message))
        .or_else(|| poll(message))
        .or_else(|| checklist(message))
        .or_else(|| titled(message))
        .or_else(|| rich::text(message))
        .or_else(|| chatter(message))
}

/// Whether a message is a thing that holds others' words, or words that anybody may have written: what a
/// contact is called, what a poll asks, what a place or a game is named.
pub fn speaks_for_others(message: &Value) -> bool {
    ["venue", "contact", "poll", "checklist", "game"]
        .iter()
        .any(|name| message.get(*name).is_some())
}

/// What is said instead of a nod: nobody has to answer it.
pub fn chatter(message: &Value) -> Option<String> {
    sticker(message).or_else(|| dice(message))
}

/// Returns words for a thing that nobody here knows, by Telegram's name for it; `None` for service messages
/// and nothing.
pub fn unknown(message: &Value, name: &str) -> Option<String> {
    let is_thing = message.get(name).is_some() && !field::has(SERVICE, name);
    is_thing.then(|| format!("(a Telegram {}, which cannot be read here)", spoken(name)))
}

fn sticker(message: &Value) -> Option<String> {
    let sticker = field::object(message, "sticker")?;
    Some(match field::text(sticker, "emoji") {
        Some(emoji) => format!("(sticker {})", line(emoji)),
        None => "(sticker)".to_owned(),
    })
}

fn venue(message: &Value) -> Option<String> {
    let venue = field::object(message, "venue")?;
    let place = field::object(venue, "location").and_then(point);
    let named = ["title", "address"].map(|key| field::text(venue, key).map(line));
    let parts: Vec<String> = named.into_iter().flatten().chain(place).collect();
    Some(format!("(venue: {})", parts.join(", ")))
}

fn location(message: &Value) -> Option<String> {
    let location = field::object(message, "location")?;
    let live = if location.get("live_period").is_some() { "live location" } else { "location" };
    Some(format!("({live} {})", point(location)?))
}

/// Latitude and longitude as they came: rounding is not ours.
fn point(location: &Value) -> Option<String> {
    let number = |key| location.get(key).and_then(Value::as_f64);
    Some(format!("{},{}", number("latitude")?, number("longitude")?))
}

fn contact(message: &Value) -> Option<String> {
    let contact = field::object(message, "contact")?;
    let phone = field::text(contact, "phone_number").map(line);
    let parts: Vec<String> = [line(&field::name(contact))].into_iter().chain(phone).collect();
    Some(format!("(contact: {})", parts.join(", ")))
}

fn dice(message: &Value) -> Option<String> {
    let dice = field::object(message, "dice")?;
    let emoji = field::text(dice, "emoji").map_or_else(|| "dice".to_owned(), line);
    Some(format!("(dice {emoji} {})", field::number(dice, "value")?))
}

fn poll(message: &Value) -> Option<String> {
    let poll = field::object(message, "poll")?;
    let question = field::text(poll, "question").map(line).unwrap_or_default();
    let options = texts(field::list(poll, "options"));
    Some(format!("(poll: {question} – {options})"))
}

fn checklist(message: &Value) -> Option<String> {
    let list = field::object(message, "checklist")?;
    let title = field::text(list, "title").map(line).unwrap_or_default();
    Some(format!("(checklist: {title} – {})", texts(field::list(list, "tasks"))))
}

/// Things that have a title.
fn titled(message: &Value) -> Option<String> {
    ["game", "invoice"].iter().find_map(|key| {
        let title = field::text(field::object(message, key)?, "title").map(line)?;
        Some(format!("({key}: {title})"))
    })
}

fn texts(options: &[Value]) -> String {
    let shown = options.iter().take(MAX).filter_map(|option| field::text(option, "text"));
    let mut shown: Vec<String> = shown.map(line).collect();
    if options.len() > MAX {
        shown.push(format!("… {} more", options.len() - MAX));
    }
    shown.join(" | ")
}

/// Telegram's name of a field as words: `paid_media` is `paid media`.
fn spoken(name: &str) -> String {
    line(&name.replace('_', " "))
}

/// One line, not endless.
fn line(text: &str) -> String {
    shorten_line(text, MAX_LENGTH)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn things_are_told_in_words() {
        let place = json!({ "latitude": 52.5, "longitude": 13.4 });
        let live = json!({ "latitude": -1, "longitude": 2.25, "live_period": 60 });
        let venue = json!({ "title": "Pier", "address": "Dock 4", "location": place });
        let contact = json!({ "first_name": "Ann", "last_name": "Lee", "phone_number": "+1 23" });
        let poll = json!({ "question": "Tea?", "options": [{ "text": "yes" }, { "text": "no" }] });
        let rows = [
            ("sticker", json!({ "emoji": "😀", "file_id": "f" }), "(sticker 😀)"),
            ("sticker", json!({ "file_id": "f" }), "(sticker)"),
            ("location", place.clone(), "(location 52.5,13.4)"),
            ("location", live, "(live location -1,2.25)"),
            ("venue", venue, "(venue: Pier, Dock 4, 52.5,13.4)"),
            ("contact", contact, "(contact: Ann Lee, +1 23)"),
            ("dice", json!({ "emoji": "🎲", "value": 4 }), "(dice 🎲 4)"),
            ("poll", poll, "(poll: Tea? – yes | no)"),
            ("game", json!({ "title": "Chess" }), "(game: Chess)"),
            ("story", json!({ "id": 1 }), "(a Telegram story, which cannot be read here)"),
            ("paid_media", json!({}), "(a Telegram paid media, which cannot be read here)"),
            ("poll", json!("of another shape"), "(a Telegram poll, which cannot be read here)"),
        ];
        for (name, value, words) in rows {
            let message = json!({ name: value });
            let told = known(&message).or_else(|| unknown(&message, name));
            assert_eq!(told.as_deref(), Some(words));
        }
        let both = json!({ "venue": { "title": "Pier" }, "location": place });
        assert_eq!(known(&both).as_deref(), Some("(venue: Pier)"));
        for silent in ["pinned_message", "new_chat_members"] {
            assert_eq!(unknown(&json!({ silent: {} }), silent), None);
        }
        assert_eq!(unknown(&json!({}), "empty message"), None);
    }

    proptest! {
        #[test]
        fn no_thing_is_more_than_a_bounded_line(title in "(\\PC|\n){0,300}", options in 0usize..40) {
            let options: Vec<Value> = (0..options).map(|_| json!({ "text": title })).collect();
            let poll = json!({ "poll": { "question": title, "options": options } });
            let words = known(&poll).unwrap();
            prop_assert!(!words.contains('\n') && words.chars().count() < (MAX + 2) * (MAX_LENGTH + 10));
        }
    }
}
