//! What is wrong with `places`, and with `groups`, as older configs call it.

use selkie_channel_core::ChannelKit;

use crate::named::id;
use crate::problem::Wrong;
use crate::settings::Settings;
use selkie_llm as llm;
use selkie_schedule::book::unknown_model;

/// Lists what is wrong; `judge` says it of a word that is to name a tool or a class.
pub fn problems(
    settings: &Settings,
    kits: &[ChannelKit],
    judge: &dyn Fn(&str) -> Option<String>,
) -> Vec<Wrong> {
    let mut wrong = Vec::new();
    let prices = llm::price_list(&settings.llm);
    for (key, places) in [("places", &settings.places), ("groups", &settings.groups)] {
        for (place, here) in places {
            let mut add = |keys: &[&str], message: Option<String>| {
                let of_place = [key, place.as_str()];
                let path = of_place.iter().chain(keys).map(|key| (*key).to_owned()).collect();
                wrong.extend(message.map(|message| (path, message)));
            };
            add(&[], id(chat_of(place, kits), kits, "a conversation", |kit| kit.places));
            if key == "groups" && settings.places.contains_key(place) {
                let message = "is in places, too: keep that one";
                add(&[], Some(message.to_owned()));
            }
            for (index, word) in here.allow.iter().enumerate() {
                add(&["allow", &index.to_string()], judge(word));
            }
            let unknown = here.model.as_deref().and_then(|model| unknown_model(model, &prices));
            add(&["model"], unknown);
        }
    }
    wrong
}

/// Returns the chat of a topic or thread, whose id is the chat's with one number more; other ids as they are.
pub(crate) fn chat_of<'a>(place: &'a str, kits: &[ChannelKit]) -> &'a str {
    let is_number = |text: &str| {
        text.contains(|c: char| c.is_ascii_digit())
            && text.chars().all(|c| c.is_ascii_digit() || c == '.')
    };
    match place.rsplit_once(':') {
        Some((chat, thread))
            if is_number(thread) && kits.iter().any(|kit| (kit.places.fit)(chat)) =>
        {
            chat
        }
        _ => place,
    }
}
