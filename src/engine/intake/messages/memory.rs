//! What people read of what is remembered.

use std::fmt::Write as _;

use super::shown::words;
use selkie_domain::count::counted;
use selkie_domain::taint::Taint;
use selkie_guard::visible::code;
use selkie_memory::remembered::MemoryEntry;

/// So many lines are shown, the newest.
const SHOWN: usize = 40;

/// Lists what is remembered.
pub fn remembered(all: &[MemoryEntry]) -> String {
    if all.is_empty() {
        return "I remember nothing here yet. Tell me what to remember, in your own words."
            .to_owned();
    }
    let older = all.len().saturating_sub(SHOWN);
    let mut text = "What I remember here:\n".to_owned();
    for (at, one) in all.iter().enumerate().skip(older) {
        _ = writeln!(text, "{}. {}", at + 1, line(one));
    }
    if older > 0 {
        let lines =
            counted(u64::try_from(older).unwrap_or(u64::MAX), ["older line", "older lines"]);
        _ = writeln!(text, "And {lines}: `selkie memory show` on the machine shows all.");
    }
    text.push_str("/memory forget N deletes a line.");
    text
}

fn line(one: &MemoryEntry) -> String {
    let line = match one.section.as_str() {
        "" | "Notes" => one.text.clone(),
        section => format!("{section}: {}", one.text),
    };
    let others = match one.level {
        Taint::Clean => "",
        Taint::Derived | Taint::Raw => " (from others; I use it only when I look it up)",
    };
    format!("{}{others}", said(&line, one.level))
}

/// Words of others stand as they were written, without what Markdown would make of them.
fn said(text: &str, level: Taint) -> String {
    match level {
        Taint::Clean => words(text),
        Taint::Derived | Taint::Raw => code(&words(text)),
    }
}

/// Says how the command is written.
pub const USAGE: &str = "Write `/memory`, or `/memory forget N` with a number that /memory shows.";

/// Names a line that there is not.
pub fn no_such_line(number: usize, all: usize) -> String {
    match all {
        0 => "I remember nothing here: there is no line to forget.".to_owned(),
        _ => format!("There is no line {number}: /memory shows 1 to {all}."),
    }
}

/// Says whose line it is.
pub const NOT_THEIR_LINE: &str =
    "In a group, only whoever asked me to remember a line, or an owner, can have it forgotten.";

/// Says that a line is gone.
pub fn line_forgotten(one: &MemoryEntry) -> String {
    format!("Forgotten: “{}”", said(&one.text, one.level))
}

/// Says that somebody was quicker.
pub const LINE_CHANGED: &str = "Somebody has just changed that line: look at /memory once more.";

/// Says who may have everything forgotten.
pub const OWNER_FORGETS: &str = "In a group, only my owner can use /forget.";

/// Asks whether it is meant.
pub const FORGET_WHAT: &str = "This deletes everything of this chat for good: what I remember here (/memory), what was said here as far as I \
     have stored it, files that were sent or made here, and what I am working on. Messages on the platform, files in a \
     workspace, TODO.md, contacts and schedules stay, as do what I have said of it in other chats and what I remember for \
     all private chats of owners (MEMORY.md). \
     Write `/forget yes` to do it.";

/// Says that it is done.
pub fn forgotten() -> String {
    "Forgotten: I no longer remember anything of this chat, and I have stopped what I was working on. What is stored \
     of it is \
     being erased now; copies that were made before an upgrade still contain it."
        .to_owned()
}

/// Says what kept it.
pub fn not_forgotten(why: &str) -> String {
    format!("Not everything could be forgotten: {why}. Try /forget yes again.")
}

#[cfg(test)]
mod tests {
    use super::*;
    use selkie_domain::facts::Trust;

    fn one(n: usize, section: &str, level: Taint) -> MemoryEntry {
        MemoryEntry {
            path: "MEMORY.md".to_owned(),
            line: n,
            lines: 1,
            section: section.to_owned(),
            text: format!("fact {n}"),
            author: None,
            trust: Trust::Owner,
            level,
            at: None,
            score: None,
        }
    }

    #[test]
    fn the_newest_lines_are_listed_by_their_numbers() {
        let few = [one(1, "Notes", Taint::Clean), one(2, "Food", Taint::Raw)];
        insta::assert_snapshot!(remembered(&few), @r"
        What I remember here:
        1. fact 1
        2. `Food: fact 2` (from others; I use it only when I look it up)
        /memory forget N deletes a line.
        ");
        let many: Vec<MemoryEntry> = (1..=42).map(|n| one(n, "", Taint::Clean)).collect();
        let text = remembered(&many);
        assert!(text.contains("\n3. fact 3\n") && !text.contains("2. fact 2\n1"), "{text}");
        assert!(text.contains("And 2 older lines:") && !text.contains("\n2. "), "{text}");
        let link = MemoryEntry {
            text: "[tap](https://evil.example) `now`".to_owned(),
            ..one(1, "", Taint::Raw)
        };
        assert_eq!(line_forgotten(&link), "Forgotten: “`` [tap](https://evil.example) `now` ``”");
        assert_eq!(no_such_line(9, 2), "There is no line 9: /memory shows 1 to 2.");
        assert!(remembered(&[]).starts_with("I remember nothing here yet"));
    }
}
