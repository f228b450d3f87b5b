//! What a person sees of the bot in each platform, as lines of a terminal: reactions, files, words, buttons.

use serde_json::Value;

use crate::Slack;
use crate::line_platform::LineMessage;
use crate::telegram::{FileKind, FileView, MessageView};

/// A Slack message's `ts` as a number.
pub fn number(ts: &str) -> i64 {
    ts.replace('.', "").parse().unwrap_or_default()
}

/// Writes what a person in Slack sees of the bot since their message.
pub fn slack_lines(slack: &Slack, channel: &str, since: i64) -> Vec<String> {
    // What a command answers is shown to its person alone.
    let alone = slack.all_whispers(channel).into_iter().filter(|w| number(&w.ts) > since);
    let mut lines: Vec<String> =
        alone.map(|w| format!("(only you see this) {}", shown(&w.text))).collect();
    for message in slack.messages(channel).into_iter().filter(|m| number(&m.ts) >= since) {
        if number(&message.ts) == since {
            let on = message.reactions.iter();
            lines.extend(on.map(|(name, _)| format!("[reaction :{name}: on your message]")));
        } else if message.is_bots() {
            let size = |id: &String| slack.file(id).map_or(0, |bytes| bytes.len());
            let files = message.files.iter().map(|id| format!("[file {id}, {} bytes]", size(id)));
            lines.extend(files);
            lines.extend(Some(shown(&message.text)).filter(|text| !text.is_empty()));
            let pressed = slack.buttons(channel, &message.ts).into_iter();
            lines.extend(buttons(pressed.map(|button| button.label)));
        }
    }
    lines
}

/// Writes what a person in LINE sees of a message of the bot.
pub fn line_lines(message: LineMessage) -> Vec<String> {
    let labels = message.buttons.into_iter().map(|button| button.label);
    std::iter::once(message.text).chain(buttons(labels)).collect()
}

/// Writes the buttons below a message on a line, as a story shows them; none where there are none.
fn buttons(labels: impl IntoIterator<Item = String>) -> Option<String> {
    let labels: Vec<String> = labels.into_iter().map(|label| format!("[{label}]")).collect();
    Some(labels.join(" ")).filter(|line| !line.is_empty())
}

/// Takes Slack's three escapes out, as its apps do.
fn shown(text: &str) -> String {
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
}

/// Writes what a person in Telegram sees of the bot since their message.
pub fn lines(messages: Vec<MessageView>, since: i64) -> Vec<String> {
    let mut lines = Vec::new();
    for message in messages.into_iter().filter(|m| m.id >= since) {
        if message.id == since {
            let on =
                message.reactions.iter().map(|r| format!("[reaction {} on your message]", r.emoji));
            lines.extend(on);
        } else if message.from.is_bot {
            let below = buttons(labels(&message));
            lines.extend(message.file.map(file));
            lines.extend(Some(message.text).filter(|text| !text.is_empty()));
            lines.extend(below);
        }
    }
    lines
}

fn labels(message: &MessageView) -> Vec<String> {
    let rows = message.keyboard.as_ref().and_then(Value::as_array).into_iter().flatten();
    let all = rows.filter_map(Value::as_array).flatten();
    all.filter_map(|button| button["text"].as_str()).map(str::to_owned).collect()
}

fn file(file: FileView) -> String {
    let FileView { kind, name, size, caption, .. } = file;
    let what = match kind {
        FileKind::Document => "file",
        FileKind::Photo => "photo",
        FileKind::Voice => "voice",
    };
    let words = caption.map(|c| format!(" {c}")).unwrap_or_default();
    format!("[{what} {name}, {size} bytes]{words}")
}
