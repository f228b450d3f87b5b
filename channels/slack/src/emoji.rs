//! How an emoji that a model wrote is called on Slack: names as they are, well-known characters by name.

/// The skin tones, lightest first: Slack counts them from two.
const TONES: &[char] = &['\u{1f3fb}', '\u{1f3fc}', '\u{1f3fd}', '\u{1f3fe}', '\u{1f3ff}'];
/// Asks for the coloured form of a character.
const COLOURED: char = '\u{fe0f}';

/// Returns the names that may be meant, the likeliest first; none for what is neither a name nor a
/// character that is known here. Workspaces list an emoji under one of its names only.
pub fn names(written: &str) -> Vec<String> {
    let written = written.trim();
    let tone = written.chars().find_map(|c| TONES.iter().position(|tone| *tone == c));
    let bare: String = written.chars().filter(|c| !TONES.contains(c) && *c != COLOURED).collect();
    if let Some((_, names)) = KNOWN.iter().find(|(character, _)| *character == bare) {
        let toned = |name: &&str| match tone {
            Some(tone) => format!("{name}::skin-tone-{}", tone + 2),
            None => (*name).to_owned(),
        };
        return names.iter().map(toned).collect();
    }
    let Some(name) = name(written) else { return Vec::new() };
    let (base, tone) = match name.split_once("::") {
        Some((base, tone)) => (base, format!("::{tone}")),
        None => (name.as_str(), String::new()),
    };
    let twins = KNOWN.iter().map(|(_, names)| *names).find(|names| names.contains(&base));
    let others = twins.into_iter().flatten().filter(|twin| **twin != base);
    let others: Vec<String> = others.map(|twin| format!("{twin}{tone}")).collect();
    std::iter::once(name.clone()).chain(others).collect()
}

/// Whether every workspace has an emoji of this name.
pub fn is_standard(name: &str) -> bool {
    let base = name.split("::").next().unwrap_or(name);
    KNOWN.iter().any(|(_, names)| names.contains(&base))
}

/// Returns a name as Slack takes it; `None` for what is none.
fn name(written: &str) -> Option<String> {
    let name = written.trim_matches(':').to_lowercase();
    let fits = |c: char| c.is_alphanumeric() || "_-+'.:".contains(c);
    let named = !name.is_empty() && name.len() <= 100 && name.chars().all(fits);
    named.then_some(name)
}

/// Characters and what Slack calls them.
const KNOWN: &[(&str, &[&str])] = &[
    ("👍", &["+1", "thumbsup"]),
    ("👎", &["-1", "thumbsdown"]),
    ("👀", &["eyes"]),
    ("❤", &["heart"]),
    ("🎉", &["tada"]),
    ("✅", &["white_check_mark"]),
    ("☑", &["ballot_box_with_check"]),
    ("✔", &["heavy_check_mark"]),
    ("❌", &["x"]),
    ("❎", &["negative_squared_cross_mark"]),
    ("⚠", &["warning"]),
    ("❓", &["question"]),
    ("❗", &["exclamation", "heavy_exclamation_mark"]),
    ("‼", &["bangbang"]),
    ("👋", &["wave"]),
    ("👏", &["clap"]),
    ("🙏", &["pray"]),
    ("🚀", &["rocket"]),
    ("🔥", &["fire"]),
    ("💯", &["100"]),
    ("🤔", &["thinking_face", "thinking"]),
    ("😄", &["smile"]),
    ("😃", &["smiley"]),
    ("😀", &["grinning"]),
    ("😊", &["blush"]),
    ("🙂", &["slightly_smiling_face"]),
    ("😉", &["wink"]),
    ("😂", &["joy"]),
    ("🤣", &["rolling_on_the_floor_laughing", "rofl"]),
    ("😅", &["sweat_smile"]),
    ("😆", &["laughing", "satisfied"]),
    ("😢", &["cry"]),
    ("😭", &["sob"]),
    ("😍", &["heart_eyes"]),
    ("😎", &["sunglasses"]),
    ("😱", &["scream"]),
    ("😮", &["open_sender"]),
    ("😴", &["sleeping"]),
    ("🥳", &["partying_face"]),
    ("🤯", &["exploding_head"]),
    ("🤷", &["shrug"]),
    ("🤦", &["face_palm"]),
    ("👌", &["ok_hand"]),
    ("🙌", &["raised_hands"]),
    ("👐", &["open_hands"]),
    ("🤝", &["handshake"]),
    ("💪", &["muscle"]),
    ("✌", &["v"]),
    ("🤞", &["crossed_fingers"]),
    ("👆", &["point_up_2"]),
    ("👇", &["point_down"]),
    ("👉", &["point_right"]),
    ("👈", &["point_left"]),
    ("☝", &["point_up"]),
    ("✊", &["fist"]),
    ("👊", &["facepunch", "punch"]),
    ("💡", &["bulb"]),
    ("⏳", &["hourglass_flowing_sand"]),
    ("⌛", &["hourglass"]),
    ("⏰", &["alarm_clock"]),
    ("📝", &["memo", "pencil"]),
    ("📌", &["pushpin"]),
    ("📎", &["paperclip"]),
    ("📅", &["date"]),
    ("📈", &["chart_with_upwards_trend"]),
    ("📉", &["chart_with_downwards_trend"]),
    ("🔍", &["mag"]),
    ("🔒", &["lock"]),
    ("🔑", &["key"]),
    ("🔗", &["link"]),
    ("🔔", &["bell"]),
    ("🔧", &["wrench"]),
    ("🔨", &["hammer"]),
    ("⚙", &["gear"]),
    ("🐛", &["bug"]),
    ("☕", &["coffee"]),
    ("🍵", &["tea"]),
    ("🍰", &["cake"]),
    ("🍕", &["pizza"]),
    ("🍺", &["beer"]),
    ("✨", &["sparkles"]),
    ("⭐", &["star"]),
    ("🌟", &["star2"]),
    ("⚡", &["zap"]),
    ("💥", &["boom", "collision"]),
    ("💔", &["broken_heart"]),
    ("💙", &["blue_heart"]),
    ("💚", &["green_heart"]),
    ("💛", &["yellow_heart"]),
    ("💜", &["purple_heart"]),
    ("🧡", &["orange_heart"]),
    ("🖤", &["black_heart"]),
    ("🙈", &["see_no_evil"]),
    ("🤖", &["robot_face"]),
    ("👻", &["ghost"]),
    ("💀", &["skull"]),
    ("💩", &["hankey", "poop"]),
    ("🎂", &["birthday"]),
    ("🎁", &["gift"]),
    ("🏆", &["trophy"]),
    ("🥇", &["first_place_medal"]),
    ("🆗", &["ok"]),
    ("🆕", &["new"]),
    ("🔴", &["red_circle"]),
    ("🟢", &["large_green_circle"]),
    ("🟡", &["large_yellow_circle"]),
    ("➕", &["heavy_plus_sign"]),
    ("➖", &["heavy_minus_sign"]),
    ("🛑", &["octagonal_sign"]),
    ("🚫", &["no_entry_sign"]),
    ("⛔", &["no_entry"]),
    ("🚧", &["construction"]),
    ("🆘", &["sos"]),
    ("🫡", &["saluting_face"]),
    ("🤗", &["hugging_face", "hugs"]),
    ("😬", &["grimacing"]),
    ("😇", &["innocent"]),
    ("😡", &["rage"]),
    ("😞", &["disappointed"]),
    ("😕", &["confused"]),
    ("🙄", &["face_with_rolling_eyes"]),
    ("😐", &["neutral_face"]),
    ("🫶", &["heart_hands"]),
    ("🐙", &["octopus"]),
    ("🦭", &["seal"]),
    ("☀", &["sunny"]),
    ("🌈", &["rainbow"]),
    ("🌊", &["ocean"]),
    ("💬", &["speech_balloon"]),
    ("💭", &["thought_balloon"]),
    ("📣", &["mega"]),
    ("🎯", &["dart"]),
    ("🧪", &["test_tube"]),
    ("📦", &["package"]),
    ("🗑", &["wastebasket"]),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_taken_and_characters_get_theirs() {
        assert_eq!(names(":ThumbsUp:"), ["thumbsup", "+1"]);
        assert_eq!(names("+1"), ["+1", "thumbsup"]);
        assert_eq!(names("👍"), ["+1", "thumbsup"]);
        assert_eq!(names("👍🏽"), ["+1::skin-tone-4", "thumbsup::skin-tone-4"]);
        assert_eq!(names("❤️"), ["heart"]);
        assert_eq!(names("wave::skin-tone-3"), ["wave::skin-tone-3"]);
        assert_eq!(names("our_own"), ["our_own"]);
        for wrong in ["", "::", "two words", "🪿", "👍👍"] {
            assert!(names(wrong).is_empty(), "{wrong}");
        }
    }

    #[test]
    fn every_character_is_known_once() {
        for (character, names) in KNOWN {
            assert!(!character.contains(COLOURED) && !names.is_empty(), "{character}");
            assert_eq!(KNOWN.iter().filter(|(other, _)| other == character).count(), 1);
        }
    }
}
