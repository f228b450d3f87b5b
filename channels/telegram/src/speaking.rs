//! The tools by which a model speaks through Telegram, as data: one implementation serves all channels.

use schemars::{JsonSchema, schema_for};
use selkie_channel_core::settings::MIB;
use selkie_channel_core::{ParameterNames, SpeakingEffect, SpeakingTool, say_aloud};

/// Telegram's limit for photos, bytes.
pub const MAX_PHOTO: u64 = 10 * MIB;
const MAX_FILE: u64 = 50 * MIB;

/// Every speaking tool of Telegram.
pub static TOOLS: &[SpeakingTool] = &[
    SpeakingTool {
        name: "message_react",
        description: "Puts one of Telegram's standard reactions on a message, instead of or besides words.",
        effect: SpeakingEffect::React,
        parameters: || schema_for!(React),
        names: ParameterNames { conversation: Some("chat_id"), message: Some("message_id") },
        vocabulary: REACTIONS,
        max_bytes: 0,
        too_big: "",
    },
    SpeakingTool {
        name: "telegram_send_file",
        description: "Sends a file of this machine to this chat as a document to keep.",
        effect: SpeakingEffect::SendFile,
        parameters: || schema_for!(SendFile),
        names: ParameterNames { conversation: None, message: None },
        vocabulary: "",
        max_bytes: MAX_FILE,
        too_big: "Telegram takes files up to 50 MiB from a bot: send a smaller or packed file",
    },
    SpeakingTool {
        name: "telegram_send_photo",
        description: "Sends an image of this machine to this chat as a photo. For the file itself use \
            telegram_send_file.",
        effect: SpeakingEffect::SendPhoto,
        parameters: || schema_for!(SendPhoto),
        names: ParameterNames { conversation: None, message: None },
        vocabulary: "",
        max_bytes: MAX_PHOTO,
        too_big: "Telegram takes photos up to 10 MiB: use telegram_send_file",
    },
    SpeakingTool {
        name: "telegram_send_voice",
        description: "Sends a recording (.ogg with Opus is best) as a voice message; makes no speech from \
            text.",
        effect: SpeakingEffect::SendVoice,
        parameters: || schema_for!(SendVoice),
        names: ParameterNames { conversation: Some("chat_id"), message: None },
        vocabulary: "",
        max_bytes: MAX_FILE,
        too_big: "Telegram takes voice messages up to 50 MiB: use a shorter recording",
    },
    say_aloud(MAX_FILE),
];

/// Parameters of `message_react`.
#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "read as a schema; the tool's one implementation reads the values")]
struct React {
    /// Default: this chat.
    chat_id: Option<i64>,
    /// Default: the message being answered.
    message_id: Option<i64>,
    emoji: String,
    is_big: Option<bool>,
}

/// Parameters of `telegram_send_file`.
#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "read as a schema; the tool's one implementation reads the values")]
struct SendFile {
    /// Absolute, or in the cache folder.
    path: String,
    /// Default: the file's own.
    filename: Option<String>,
    caption: Option<String>,
}

/// Parameters of `telegram_send_photo`.
#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "read as a schema; the tool's one implementation reads the values")]
struct SendPhoto {
    /// Absolute, or in the cache folder.
    path: String,
    caption: Option<String>,
}

/// Parameters of `telegram_send_voice`.
#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "read as a schema; the tool's one implementation reads the values")]
struct SendVoice {
    /// Default: this chat.
    chat_id: Option<i64>,
    /// Absolute, or in the cache folder.
    path: String,
    /// Default: the file's own.
    filename: Option<String>,
}

/// Telegram's fixed list of reactions for bots.
const REACTIONS: &str = "\
    ❤ 👍 👎 🔥 🥰 👏 😁 🤔 🤯 😱 🤬 😢 🎉 🤩 🤮 💩 🙏 👌 🕊 🤡 🥱 🥴 😍 🐳 ❤‍🔥 \
    🌚 🌭 💯 🤣 ⚡ 🍌 🏆 💔 🤨 😐 🍓 🍾 💋 🖕 😈 😴 😭 🤓 👻 👨‍💻 👀 🎃 🙈 😇 😨 \
    🤝 ✍ 🤗 🫡 🎅 🎄 ☃ 💅 🤪 🗿 🆒 💘 🙉 🦄 😘 💊 🙊 😎 👾 🤷‍♂ 🤷 🤷‍♀ 😡";

/// Returns the emoji as Telegram spells it: without the sign that only asks for colour.
pub fn reaction(emoji: &str) -> String {
    emoji.trim().replace('\u{fe0f}', "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reaction_is_spelled_as_telegram_does() {
        let all: Vec<&str> = REACTIONS.split(' ').collect();
        assert_eq!(all.len(), 73);
        assert!(all.iter().all(|emoji| reaction(emoji) == *emoji));
        assert!(all.contains(&reaction("❤️").as_str()));
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
        say_aloud(text, voice)
        ");
    }
}
