//! Foreign text, cut to a bound and with nothing in it that steers a screen or hides.

use selkie_channel_core::shorten;
use selkie_guard::visible::{harmless, one_line};

/// Makes one short line of foreign text.
pub(crate) fn short(text: &str, most: usize) -> String {
    shorten(&one_line(&clean(begin(text.trim(), most * 4))), most)
}

/// Cleans foreign text of several lines.
pub(crate) fn clean(text: &str) -> String {
    harmless(&text.replace("\r\n", "\n"))
}

/// Cuts a text to a number of bytes, between two characters.
pub(crate) fn begin(text: &str, most: usize) -> &str {
    &text[..text.floor_char_boundary(most)]
}

pub(crate) fn last(text: &str, most: usize) -> &str {
    text.char_indices().rev().nth(most).map_or(text, |(at, _)| &text[at..])
}
