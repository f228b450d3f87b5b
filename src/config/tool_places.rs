//! Opens the places that the config names for tools which are not selkie's own.

use std::collections::BTreeMap;

use selkie_engine::intake::settings::PlaceSettings;

/// Opens a tool in a place and in its topics and threads, whatever else these open.
pub fn open(places: &mut BTreeMap<String, PlaceSettings>, place: &str, tool: &str) {
    let around = places.iter().filter(|(id, _)| is_below(place, id));
    let around = around.max_by_key(|(id, _)| id.len());
    // What a topic opens stands in the place of what its chat opens.
    let inherited = around.map(|(_, chat)| chat.allow.clone()).unwrap_or_default();
    let here = places.entry(place.to_owned()).or_default();
    if here.allow.is_empty() {
        here.allow = inherited;
    }
    let below = |(id, settings): &(&String, &mut PlaceSettings)| {
        *id == place || (is_below(id, place) && !settings.allow.is_empty())
    };
    let open = places.iter_mut().filter(below);
    open.for_each(|(_, settings)| settings.allow.push(tool.to_owned()));
}

fn is_below(topic: &str, chat: &str) -> bool {
    topic.strip_prefix(chat).is_some_and(|rest| rest.starts_with(':'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_topic_keeps_what_its_chat_opens() {
        let allows = |words: &[&str]| PlaceSettings {
            allow: words.iter().map(|word| (*word).to_owned()).collect(),
            ..PlaceSettings::default()
        };
        let mut places = BTreeMap::from([
            ("tg:-1".to_owned(), allows(&["bash"])),
            ("tg:-1:5".to_owned(), allows(&["message"])),
            ("tg:-1:6".to_owned(), allows(&[])),
            ("tg:-10".to_owned(), allows(&["bash"])),
        ]);
        open(&mut places, "tg:-1", "weather");
        open(&mut places, "tg:-1:7", "clock");
        let shown: Vec<String> =
            places.iter().map(|(id, s)| format!("{id}: {}", s.allow.join(", "))).collect();
        insta::assert_snapshot!(shown.join("\n"), @r"
        tg:-1: bash, weather
        tg:-10: bash
        tg:-1:5: message, weather
        tg:-1:6: 
        tg:-1:7: bash, weather, clock
        ");
    }
}
