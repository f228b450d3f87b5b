//! The tools by which a model speaks through Slack, as data: one implementation serves all channels.

use schemars::{JsonSchema, schema_for};
use selkie_channel_core::settings::MIB;
use selkie_channel_core::{ParameterNames, SpeakingEffect, SpeakingTool, say_aloud};

/// The tool that is offered only while the workspace's emoji are known.
pub const REACT: &str = "message_react";

/// Every speaking tool of Slack.
pub static TOOLS: &[SpeakingTool] = &[
    SpeakingTool {
        name: REACT,
        description: "Puts an emoji on a message, instead of or besides an answer in words. Takes \
            the NAME of one of the workspace's emoji (thumbsup, eyes, white_check_mark, a custom \
            one). Without message_ts it is the message being answered.",
        effect: SpeakingEffect::React,
        parameters: || schema_for!(React),
        names: ParameterNames { conversation: Some("channel_id"), message: Some("message_ts") },
        // The workspace's own, asked at run time: the sender holds names against it.
        vocabulary: "",
        max_bytes: 0,
        too_big: "",
    },
    SpeakingTool {
        name: "slack_send_file",
        description: "Sends a file of this machine to the current conversation.",
        effect: SpeakingEffect::SendFile,
        parameters: || schema_for!(SendFile),
        names: ParameterNames { conversation: None, message: None },
        vocabulary: "",
        max_bytes: 100 * MIB,
        too_big: "selkie sends files up to 100 MiB to Slack: send a smaller or packed file",
    },
    say_aloud(100 * MIB),
];

/// Parameters of `message_react`.
#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "read as a schema; the tool's one implementation reads the values")]
struct React {
    /// The emoji's name, e.g. `thumbsup`; of well-known ones the character itself does too.
    emoji: String,
    /// The channel; only the current one. Leave out for it.
    channel_id: Option<String>,
    /// The message's `ts`. Leave out for the message being answered.
    message_ts: Option<String>,
}

/// Parameters of `slack_send_file`.
#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "read as a schema; the tool's one implementation reads the values")]
struct SendFile {
    /// Path of the file.
    path: String,
    /// The name it is shown with; the file's own by default.
    filename: Option<String>,
    /// Text beside it.
    caption: Option<String>,
    /// The same as `filename`.
    title: Option<String>,
    /// The same as `caption`.
    comment: Option<String>,
}
