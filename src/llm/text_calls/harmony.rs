//! Harmony, the form in which some open models write all that they say: messages in channels, of which people read one.

use super::block::{Block, MAX_LENGTH, call};
use crate::dialect;

/// What a channel's name stands behind.
pub(super) const CHANNEL: &str = "<|channel|>";
/// What a message may begin with.
pub(super) const START: &str = "<|start|>";
/// What its text stands behind.
const MESSAGE: &str = "<|message|>";
/// What ends a message.
const ENDS: [&str; 5] = ["<|end|>", "<|return|>", "<|call|>", START, CHANNEL];
/// The longest head of a message, bytes.
const MAX_HEAD: usize = 400;

/// Reads the message at the beginning; `None` where none begins.
pub(super) fn block(rest: &str) -> Option<Block> {
    let head = rest.find(MESSAGE).filter(|at| *at <= MAX_HEAD)?;
    let about = &rest[..head];
    let body = &rest[head + MESSAGE.len()..];
    let stop = ENDS.iter().filter_map(|end| Some((body.find(end)?, *end))).min();
    let length = stop.map_or(body.len(), |(at, _)| at);
    let mark = stop.map_or("", |(_, mark)| mark);
    let closed = if mark == START || mark == CHANNEL { 0 } else { mark.len() };
    let end = head + MESSAGE.len() + length + closed;
    let text = &body[..length];
    if let Some(name) = recipient(about) {
        // What was cut off may have been meant otherwise.
        let is_whole = mark == "<|call|>" && text.len() <= MAX_LENGTH;
        let calls = is_whole.then(|| call(name, dialect::arguments(text))).flatten();
        return Some(Block { calls: calls.map(|call| vec![call]), words: String::new(), end });
    }
    let is_thought = about.contains("<|channel|>analysis");
    let words = if is_thought { String::new() } else { text.to_owned() };
    Some(Block { calls: Some(Vec::new()), words, end })
}

/// The tool that a message is for.
fn recipient(about: &str) -> Option<&str> {
    let (_, to) = about.split_once("to=")?;
    let name = to.split(|c: char| c.is_whitespace() || c == '<').next()?;
    Some(name.strip_prefix("functions.").unwrap_or(name))
}
