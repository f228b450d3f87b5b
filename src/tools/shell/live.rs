//! What a command prints just now, told to the people who wait for it: its newest line, now and then.

use std::convert::Infallible;
use std::time::Duration;

use tokio::time::sleep;

use selkie_channel_core::shorten;

use super::supervise::SupervisedProcess;
use crate::ports::Progress;

/// The rest between two lines: what changes faster is not read.
const REST: Duration = Duration::from_millis(500);
/// Characters of a shown line.
const WIDTH: usize = 160;

/// Tells the newest line as long as it is polled.
pub(super) async fn tell(running: &SupervisedProcess, progress: &dyn Progress) -> Infallible {
    let mut news = running.news();
    let mut told = None;
    loop {
        if news.changed().await.is_err() {
            return std::future::pending().await;
        }
        let line = running.tape(|tape| newest(tape.tail()));
        if line.is_some() && line != told {
            line.as_deref().inspect(|line| progress.doing(line));
            told = line;
            sleep(REST).await;
        }
    }
}

/// The last line that is not empty, without what only a terminal understands. A line that is drawn over
/// itself (`\r`) counts as its last drawing.
fn newest(text: &str) -> Option<String> {
    let mut lines = text.rsplit(['\n', '\r']).map(plain);
    lines.find(|line| !line.is_empty()).map(|line| shorten(&line, WIDTH))
}

/// Takes escape sequences and other control characters out.
fn plain(line: &str) -> String {
    let mut out = String::new();
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        if c == '\u{1b}' {
            // `ESC [ … letter`; any other escape is one character long.
            if chars.next() == Some('[') {
                while chars.next().is_some_and(|c| !c.is_ascii_alphabetic()) {}
            }
        } else if c == '\t' {
            out.push(' ');
        } else if !c.is_control() {
            out.push(c);
        }
    }
    out.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_newest_line_is_the_last_that_says_something() {
        for (text, line) in [
            ("", None),
            (" \n\t\n", None),
            ("one\ntwo\n\n", Some("two")),
            ("10 %\r50 %\r99 %", Some("99 %")),
            ("done\r\n", Some("done")),
            ("\u{1b}[1;32mok\u{1b}[0m\tyes\u{7}", Some("ok yes")),
            ("\u{1b}[", None),
        ] {
            assert_eq!(newest(text).as_deref(), line, "{text:?}");
        }
        assert_eq!(newest(&"ö".repeat(200)), Some(format!("{}…", "ö".repeat(WIDTH))));
    }

    proptest! {
        #[test]
        fn any_output_gives_one_short_line(text in any::<String>()) {
            if let Some(line) = newest(&text) {
                prop_assert!(!line.chars().any(char::is_control) && !line.is_empty());
                prop_assert!(line.chars().count() <= WIDTH + 1);
            }
        }
    }
}
