//! Tasks that nobody waits for, a schedule's, the heartbeat's and a webhook's: what they have not said is not shown either, and
//! words that are fixed are said without a model.

use crate::work::messages;
use selkie_agent::DriveOutcome;
use selkie_channel_core::styled::push_literal;
use selkie_domain::facts::{Facts, Trigger};
use selkie_domain::schedule::PASSED_OVER;
use selkie_domain::taint::Taint;
use selkie_domain::transcript::Item;
use selkie_store::{End, TaskClaim};

/// The answer of a task that has nothing to tell.
const NOTHING: &str = "nothing";
/// What may stand around it.
const AROUND: &[char] = &[
    '`', '*', '_', '"', '\'', '.', '!', '(', ')', '[', ']', '~', '“', '”', '„', '’', '‘', '#', '>',
    '-', ':',
];
/// A longer answer says something.
const MAX_LENGTH: usize = 64;

/// Whether nobody waits for what a task has to say.
pub fn is_unattended(facts: &Facts) -> bool {
    matches!(facts.trigger, Trigger::Scheduled | Trigger::Heartbeat | Trigger::Webhook)
}

/// Whether nobody has asked for what a task says: without words of its own it is silent.
pub fn is_unasked(facts: &Facts) -> bool {
    is_unattended(facts) || facts.passed.is_some()
}

/// Why a task was not begun whose speaker nobody listens to any more.
pub fn not_allowed(claimed: &TaskClaim) -> String {
    match is_unattended(&claimed.facts) {
        true => format!("{PASSED_OVER}whoever made it is no longer allowed there"),
        false => "ignored: not_allowed any more".to_owned(),
    }
}

/// Why a task was not begun that a limit stands in the way of.
pub fn limited(claimed: &TaskClaim, limit: &str, who: &str) -> String {
    match is_unattended(&claimed.facts) {
        true => format!("{PASSED_OVER}{limit} is reached ({who})"),
        false => format!("ignored: {limit} is reached"),
    }
}

/// Whether a task ends without anything to tell: nothing is said, and nothing becomes history. A heartbeat that fails
/// is tried again soon, and its owner hears of it when it fails again and again.
pub fn has_nothing_to_tell(claimed: &TaskClaim, ending: &DriveOutcome) -> bool {
    if claimed.facts.parent.is_some() {
        return false;
    }
    match &ending.end {
        End::Done => is_unattended(&claimed.facts) && is_nothing(&ending.text),
        End::Failed { .. } => claimed.facts.trigger == Trigger::Heartbeat,
        End::Stopped => false,
    }
}

/// The end of a task whose words are said as they are.
pub fn fixed(claimed: &TaskClaim) -> Option<DriveOutcome> {
    let words = claimed.words.as_ref().filter(|words| words.fixed)?;
    let note = (!words.note.is_empty()).then(|| Item::Noted { text: words.note.clone() });
    let append = note.into_iter().chain([said(&words.text, claimed.facts.taint)]).collect();
    let text = match claimed.facts.trigger {
        // Nobody here has written them: they are no Markdown, whatever they look like.
        Trigger::Webhook => literal(&words.text),
        _ => words.text.clone(),
    };
    Some(DriveOutcome {
        append,
        header: "{}".to_owned(),
        end: End::Done,
        text,
        ..DriveOutcome::default()
    })
}

/// Writes text as Markdown that shows it as it stands.
fn literal(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    text.chars().for_each(|c| push_literal(&mut out, c));
    out
}

/// The end of a schedule's task or a webhook's, which names it where it failed: nobody has just asked for it.
pub fn naming(mut ending: DriveOutcome, schedule: &str, has_spoken: bool) -> DriveOutcome {
    let End::Failed { why } = &ending.end else { return ending };
    let text = match ending.text.is_empty() {
        true if has_spoken => return ending,
        true => messages::failed(why),
        false => std::mem::take(&mut ending.text),
    };
    ending.text = messages::schedule_failed(schedule, &text);
    let last = ending.append.iter_mut().rev().find_map(|item| match item {
        Item::Said { text, .. } => Some(text),
        _ => None,
    });
    match last.filter(|last| **last == text) {
        Some(last) => last.clone_from(&ending.text),
        None => ending.append.push(said(&ending.text, Taint::Clean)),
    }
    ending
}

/// The words are somebody's, and no model's: their level stays what it is.
fn said(text: &str, taint: Taint) -> Item {
    Item::Said { text: text.to_owned(), taint }
}

/// Whether a text says `NOTHING` alone, whatever its case, its marks, or the fence around it.
fn is_nothing(text: &str) -> bool {
    if text.len() > MAX_LENGTH {
        return false;
    }
    let bare = |text: &str| {
        text.trim_matches(|c: char| c.is_whitespace() || AROUND.contains(&c)).to_lowercase()
    };
    let word = bare(text);
    // A fence may name the language of what it holds.
    word == NOTHING
        || word.strip_suffix(NOTHING).is_some_and(|before| {
            text.trim_start().starts_with("```") && !before.trim().contains(char::is_whitespace)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_alone_is_nothing() {
        for text in [
            "NOTHING",
            "nothing.",
            " Nothing! ",
            "**NOTHING**",
            "`NOTHING`",
            "```\nNOTHING\n```",
            "```text\nNOTHING\n```",
            "\"Nothing\"",
            "“NOTHING.”",
            "> NOTHING",
        ] {
            assert!(is_nothing(text), "{text:?}");
        }
        for text in [
            "",
            "Nothing new, but the list has grown.",
            "There is nothing.",
            "NOTHING NOTHING",
            "notHINGs",
            "no thing",
            "```\nrm -rf\nNOTHING\n```",
        ] {
            assert!(!is_nothing(text), "{text:?}");
        }
    }
}
