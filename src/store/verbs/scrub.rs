//! What a person has taken back goes out of a task's transcript: the message, quotes of it, its line among others.

use super::rewriting::rewrite;
use crate::error::Result;
use crate::tx::Tx;
use selkie_domain::ids::InboxId;
use selkie_domain::transcript::{Answer, Item, UserMessage};

/// Stands where the text was.
pub const TAKEN_BACK: &str = "(taken back by who wrote it)";

/// What goes.
#[derive(Clone, Copy, Debug)]
pub struct ScrubPlan<'a> {
    /// The row of the inbox by which the transcript knows it.
    pub row: i64,
    /// What of it.
    pub part: Part<'a>,
}

/// What goes of a message.
#[derive(Clone, Copy, Debug)]
pub enum Part<'a> {
    /// All of it.
    Message {
        /// Its words, while somebody knows them: without them all talk among others goes, for it may stand there.
        words: Option<&'a str>,
    },
    /// What it quotes.
    Quote,
}

/// Takes it out.
pub fn scrub(tx: &mut dyn Tx, task: i64, gone: ScrubPlan<'_>) -> Result<()> {
    rewrite(tx, task, |item| match item {
        Item::Received(heard) => forget(heard, gone),
        Item::Answered { answers } => {
            // Each of them, also behind one that was.
            answers.iter_mut().filter_map(|answer| unanswer(answer, gone).then_some(())).count() > 0
        }
        _ => false,
    })
}

/// Whether they were words that a person has typed to answer a call.
fn unanswer(answer: &mut Answer, gone: ScrubPlan<'_>) -> bool {
    let Part::Message { words: Some(words) } = gone.part else { return false };
    let is_it = answer.typed.iter().any(|typed| typed == words);
    if is_it {
        *answer = Answer { taint: answer.taint, ..Answer::words(&answer.call, TAKEN_BACK) };
    }
    is_it
}

/// Whether there was anything to forget.
fn forget(heard: &mut UserMessage, gone: ScrubPlan<'_>) -> bool {
    let before = heard.clone();
    let own = heard.inbox == Some(InboxId(gone.row));
    match gone.part {
        Part::Message { .. } if own => {
            heard.text = TAKEN_BACK.to_owned();
            heard.quote = None;
            heard.origin.clear();
            heard.spoken.clear();
            heard.files.clear();
            heard.pictures.clear();
        }
        Part::Message { words: Some(words) } if heard.inbox.is_none() && heard.is_talk() => {
            heard.text = without_line(&heard.text, words);
        }
        Part::Message { words: None } if heard.inbox.is_none() && heard.is_talk() => {
            heard.text = TAKEN_BACK.to_owned();
        }
        Part::Quote if own => heard.quote.iter_mut().for_each(|quote| {
            quote.text.clear();
            quote.files.clear();
            quote.pictures.clear();
        }),
        Part::Message { .. } | Part::Quote => {}
    }
    *heard != before
}

/// Takes the words of one out of what several have said, a line each: `12:00 Ann (tg:1): words`, cut where they are
/// long.
fn without_line(talk: &str, words: &str) -> String {
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    let is_it = |said: &str| {
        let cut = said.strip_suffix('…').filter(|cut| !cut.is_empty());
        said == words || cut.is_some_and(|cut| words.starts_with(cut))
    };
    let lines = talk.lines().map(|line| match line.split_once(": ") {
        Some((who, said)) if !words.is_empty() && is_it(said) => format!("{who}: {TAKEN_BACK}"),
        _ => line.to_owned(),
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_of_a_talk_goes_however_long_it_was() {
        let long = "word ".repeat(200);
        let talk = format!("10:00 Ann (tg:1): tea?\n10:01 Bob (tg:2): {}…", &long[..600]);
        let left = without_line(&talk, &long);
        assert_eq!(left, format!("10:00 Ann (tg:1): tea?\n10:01 Bob (tg:2): {TAKEN_BACK}"));
        let left = without_line(&talk, " tea? \n");
        assert!(left.starts_with(&format!("10:00 Ann (tg:1): {TAKEN_BACK}\n10:01 Bob")), "{left}");
        assert_eq!(without_line(&talk, "tea"), talk, "others' words stay");
        assert_eq!(without_line(&talk, " "), talk);
    }
}
