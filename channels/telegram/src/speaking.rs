//! The tools by which a model speaks through Telegram, as data: one implementation serves all channels.

use schemars::{JsonSchema, Schema, schema_for};
use selkie_channel_core::{ParameterNames, SpeakingEffect, SpeakingTool};

const MIB: u64 = 1024 * 1024;
/// Telegram's limit for photos, bytes.
pub const MAX_PHOTO: u64 = 10 * MIB;
const MAX_FILE: u64 = 50 * MIB;

/// Every speaking tool of Telegram.
pub static TOOLS: &[SpeakingTool] = &[
    SpeakingTool {
        name: "message_react",
        description: "Puts an emoji on a message, instead of or besides an answer in words. Takes \
            one of Telegram's standard reactions. Without message_id it is the message being \
            answered.",
        effect: SpeakingEffect::React,
        parameters: schema::<React>,
        names: ParameterNames { conversation: Some("chat_id"), message: Some("message_id") },
        vocabulary: REACTIONS,
        max_bytes: 0,
        too_big: "",
    },
    SpeakingTool {
        name: "telegram_send_file",
        description: "Sends a file of this machine to the current chat as a document to keep.",
        effect: SpeakingEffect::SendFile,
        parameters: schema::<SendFile>,
        names: ParameterNames { conversation: None, message: None },
        vocabulary: &[],
        max_bytes: MAX_FILE,
        too_big: "Telegram takes files up to 50 MiB from a bot: send a smaller or packed file",
    },
    SpeakingTool {
        name: "telegram_send_photo",
        description: "Sends an image of this machine to the current chat as a photo to look at. \
            Use telegram_send_file when the person should get the file itself.",
        effect: SpeakingEffect::SendPhoto,
        parameters: schema::<SendPhoto>,
        names: ParameterNames { conversation: None, message: None },
        vocabulary: &[],
        max_bytes: MAX_PHOTO,
        too_big: "Telegram takes photos up to 10 MiB: use telegram_send_file",
    },
    SpeakingTool {
        name: "telegram_send_voice",
        description: "Sends an existing voice recording (.ogg with Opus is best) as a voice \
            message. It does not make speech from text.",
        effect: SpeakingEffect::SendVoice,
        parameters: schema::<SendVoice>,
        names: ParameterNames { conversation: Some("chat_id"), message: None },
        vocabulary: &[],
        max_bytes: MAX_FILE,
        too_big: "Telegram takes voice messages up to 50 MiB: use a shorter recording",
    },
];

fn schema<T: JsonSchema>() -> Schema {
    schema_for!(T)
}

/// Parameters of `message_react`.
#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "read as a schema; the tool's one implementation reads the values")]
struct React {
    /// Telegram chat id; the current chat when left out.
    chat_id: Option<i64>,
    /// The message to react to; the message being answered when left out.
    message_id: Option<i64>,
    /// The emoji itself, e.g. 👍.
    emoji: String,
    /// Whether to use Telegram's large animation.
    is_big: Option<bool>,
}

/// Parameters of `telegram_send_file`.
#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "read as a schema; the tool's one implementation reads the values")]
struct SendFile {
    /// Path of the file: absolute, or relative to the cache folder.
    path: String,
    /// Name shown in Telegram; the file's own name when left out.
    filename: Option<String>,
    /// Text under the file.
    caption: Option<String>,
}

/// Parameters of `telegram_send_photo`.
#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "read as a schema; the tool's one implementation reads the values")]
struct SendPhoto {
    /// Path of the image: absolute, or relative to the cache folder.
    path: String,
    /// Text under the photo.
    caption: Option<String>,
}

/// Parameters of `telegram_send_voice`.
#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "read as a schema; the tool's one implementation reads the values")]
struct SendVoice {
    /// Telegram chat id; the current chat when left out.
    chat_id: Option<i64>,
    /// Path of the recording: absolute, or relative to the cache folder.
    path: String,
    /// Name shown in Telegram; the file's own name when left out.
    filename: Option<String>,
}

/// Telegram's fixed list of reactions for bots.
pub static REACTIONS: &[&str] = &[
    "❤",
    "👍",
    "👎",
    "🔥",
    "🥰",
    "👏",
    "😁",
    "🤔",
    "🤯",
    "😱",
    "🤬",
    "😢",
    "🎉",
    "🤩",
    "🤮",
    "💩",
    "🙏",
    "👌",
    "🕊",
    "🤡",
    "🥱",
    "🥴",
    "😍",
    "🐳",
    "❤‍🔥",
    "🌚",
    "🌭",
    "💯",
    "🤣",
    "⚡",
    "🍌",
    "🏆",
    "💔",
    "🤨",
    "😐",
    "🍓",
    "🍾",
    "💋",
    "🖕",
    "😈",
    "😴",
    "😭",
    "🤓",
    "👻",
    "👨‍💻",
    "👀",
    "🎃",
    "🙈",
    "😇",
    "😨",
    "🤝",
    "✍",
    "🤗",
    "🫡",
    "🎅",
    "🎄",
    "☃",
    "💅",
    "🤪",
    "🗿",
    "🆒",
    "💘",
    "🙉",
    "🦄",
    "😘",
    "💊",
    "🙊",
    "😎",
    "👾",
    "🤷‍♂",
    "🤷",
    "🤷‍♀",
    "😡",
];

/// Returns the emoji as Telegram spells it: without the sign that only asks for colour.
pub fn reaction(emoji: &str) -> String {
    emoji.trim().replace('\u{fe0f}', "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reaction_is_spelled_as_telegram_does() {
        assert_eq!(REACTIONS.len(), 73);
        assert!(REACTIONS.iter().all(|emoji| reaction(emoji) == *emoji));
        assert!(REACTIONS.contains(&reaction("❤️").as_str()));
    }

    #[test]
    fn parameters_have_the_documented_names() {
        let names = |tool: &SpeakingTool| {
            let schema = (tool.parameters)();
            let keys = schema.get("properties").and_then(|p| p.as_object()).unwrap().keys();
            format!("{}({})", tool.name, keys.cloned().collect::<Vec<_>>().join(", "))
        };
        let all = TOOLS.iter().map(names).collect::<Vec<_>>().join("\n");
        insta::assert_snapshot!(all, @r"
        message_react(chat_id, message_id, emoji, is_big)
        telegram_send_file(path, filename, caption)
        telegram_send_photo(path, caption)
        telegram_send_voice(chat_id, path, filename)
        ");
    }
}
