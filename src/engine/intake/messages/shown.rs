//! Times and questions as people are shown them.

use std::fmt::Write as _;
use std::time::Duration;

use selkie_channel_core::shorten;
use selkie_guard::visible::{harmless, one_line};

/// So much is shown of what was asked, bytes.
const SHOWN_ASKED: usize = 80;

/// The most characters of others that are shown at once.
const MAX_WORDS: usize = 300;

/// Writes what was asked as a line of a list.
pub(super) fn asked_line(text: &mut String, asked: &str) {
    let line = asked.split_whitespace().collect::<Vec<_>>().join(" ").replace('`', "'");
    let end = line.floor_char_boundary(SHOWN_ASKED);
    let cut = if end < line.len() { "…" } else { "" };
    _ = writeln!(text, "- `{}{cut}`", if end == 0 { "(no text)" } else { &line[..end] });
}

/// Writes words of others on one line, cut; what does not show stands there by its number.
pub(super) fn words(text: &str) -> String {
    shorten(&harmless(&one_line(text)), MAX_WORDS)
}

/// Writes a time in its largest unit.
pub(super) fn length(time: Duration) -> String {
    match time.as_secs() {
        s if s < 120 => format!("{s} s"),
        s if s < 7200 => format!("{} min", s / 60),
        s => format!("{} h", s / 3600),
    }
}
