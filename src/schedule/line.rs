//! A schedule in one line, the same wherever schedules are listed.

use std::fmt;

use selkie_domain::ids::ScheduleId;
use selkie_domain::schedule::ScheduleState;

/// What a line shows.
#[derive(Clone, Copy, Debug)]
pub struct Line<'a> {
    /// Its number.
    pub id: ScheduleId,
    /// When it comes due, in words.
    pub when: &'a str,
    /// Where it stands.
    pub state: ScheduleState,
    /// Why it stands so; may be empty.
    pub why: &'a str,
    /// Its next time.
    pub next: Option<&'a str>,
    /// What kind of thing it does.
    pub does: &'a str,
    /// Where it posts, or for those who see schedules of several conversations where it speaks.
    pub to: Option<&'a str>,
    /// Where a post was asked for, for the same.
    pub asked: Option<&'a str>,
    /// Its title, or the beginning of its words.
    pub name: &'a str,
}

impl fmt::Display for Line<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { id, when, state, why, next, does, to, asked, name } = self;
        write!(f, "{id} · {when}")?;
        match (state, next) {
            (ScheduleState::Active, Some(next)) => f.write_str(&next_beside(when, next))?,
            _ => write!(f, " · {}", state.name())?,
        }
        if !why.is_empty() {
            write!(f, ": {why}")?;
        }
        write!(f, " · {does}")?;
        if let Some(to) = to {
            write!(f, " to {to}")?;
        }
        if let Some(asked) = asked {
            write!(f, ", asked for in {asked}")?;
        }
        write!(f, ": {name}")
    }
}

/// Says what comes next; nothing where the words of the schedule name that very time.
pub fn next_beside(when: &str, next: &str) -> String {
    if when.ends_with(next) { String::new() } else { format!(" · next {next}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_what_comes_next_or_why_nothing_does() {
        let line = Line {
            id: ScheduleId(3),
            when: "every hour",
            state: ScheduleState::Active,
            why: "",
            next: Some("2026-11-23 08:00 UTC"),
            does: "prompt",
            to: None,
            asked: None,
            name: "News",
        };
        let next = "3 · every hour · next 2026-11-23 08:00 UTC · prompt: News";
        assert_eq!(line.to_string(), next);
        let paused = Line {
            state: ScheduleState::Paused,
            why: "somebody paused it",
            to: Some("tg:1"),
            ..line
        };
        let waits = "3 · every hour · paused: somebody paused it · prompt to tg:1: News";
        assert_eq!(paused.to_string(), waits);
        let post = Line { does: "post", to: Some("x:main"), asked: Some("tg:1"), ..line };
        let once = Line { when: "once on 2026-11-23 08:00 UTC", ..line };
        assert_eq!(once.to_string(), "3 · once on 2026-11-23 08:00 UTC · prompt: News");
        let asked =
            "3 · every hour · next 2026-11-23 08:00 UTC · post to x:main, asked for in tg:1: News";
        assert_eq!(post.to_string(), asked);
    }
}
