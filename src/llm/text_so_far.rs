//! The words of an answer as they arrive: put together, told to whoever watches, and without the thoughts
//! that some models write before them. What may be a call in text is told when it is known to be none.

use crate::OnText;
use crate::halves::PieceJoiner;
use crate::text_calls::{BEGINNINGS, MAX_LENGTH};
use selkie_domain::written::TextProgress;

/// How models that think aloud fence it in: at the beginning of the answer, perhaps several times.
const FENCES: [(&str, &str); 7] = [
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
    ("[THINK]", "[/THINK]"),
    ("◁think▷", "◁/think▷"),
];

/// What a model has said so far.
#[derive(Debug, Default)]
pub(super) struct TextSoFar {
    all: PieceJoiner,
    stage: Stage,
}

/// How far the text is read; places are bytes of it.
#[derive(Clone, Copy, Debug)]
enum Stage {
    /// Thoughts may begin here.
    Before(usize),
    /// Inside thoughts; looked for their end up to here.
    Thinking { end: &'static str, looked: usize },
    /// The words for people begin here; told up to there.
    Words { begin: usize, told: usize },
}

impl Default for Stage {
    fn default() -> Self {
        Self::Before(0)
    }
}

/// What became of a piece of text.
enum PieceOutcome {
    On(Stage),
    /// More is needed to tell.
    Wait,
}

impl TextSoFar {
    /// Adds a piece. `torn`: see [`crate::halves::Event`].
    pub fn push(&mut self, piece: &str, torn: bool, heard: &OnText<'_>) {
        self.all.push(piece, torn);
        while let PieceOutcome::On(stage) = self.read() {
            self.stage = stage;
        }
        let text = self.all.text();
        if let Stage::Words { told, .. } = &mut self.stage {
            let plain = *told + plain(&text[*told..]);
            if *told < plain {
                heard(TextProgress::More(&text[*told..plain]));
                *told = plain;
            }
        }
    }

    fn read(&self) -> PieceOutcome {
        let text = self.all.text();
        match self.stage {
            Stage::Before(at) => before(text, at),
            Stage::Thinking { end, looked } => match text[looked..].find(end) {
                Some(found) => PieceOutcome::On(Stage::Before(looked + found + end.len())),
                None => {
                    let looked = text.len().saturating_sub(end.len()).max(looked);
                    let looked = text.floor_char_boundary(looked);
                    self.looked(end, looked)
                }
            },
            Stage::Words { .. } => PieceOutcome::Wait,
        }
    }

    /// Goes on where it was looked, so that long thoughts are read once.
    fn looked(&self, end: &'static str, looked: usize) -> PieceOutcome {
        match self.stage {
            Stage::Thinking { looked: before, .. } if before < looked => {
                PieceOutcome::On(Stage::Thinking { end, looked })
            }
            _ => PieceOutcome::Wait,
        }
    }

    /// Returns the words for people.
    pub fn finish(self) -> String {
        let begin = match self.stage {
            Stage::Before(at) => at,
            Stage::Words { begin, .. } => begin,
            // The thoughts never ended: there are no words.
            Stage::Thinking { .. } => return String::new(),
        };
        let text = self.all.finish();
        let words = if begin == 0 { after_unopened(&text) } else { text[begin..].trim_start() };
        words.to_owned()
    }
}

/// How much of a text is words, whatever comes behind it: up to where a call may begin. Longer than a call can be, it
/// is none; but who writes in channels thinks as long as it likes.
fn plain(text: &str) -> usize {
    let at_once = BEGINNINGS.iter().find(|form| text.starts_with(**form)).map(|form| (0, *form));
    let later = || BEGINNINGS.iter().filter_map(|form| Some((text.find(form)?, *form))).min();
    if let Some((begin, form)) = at_once.or_else(later) {
        let is_over = text.len() - begin > MAX_LENGTH && !form.starts_with("<|");
        return if is_over { text.len() } else { begin };
    }
    let last = BEGINNINGS.iter().map(|form| form.len()).max().unwrap_or_default();
    let from = text.floor_char_boundary(text.len().saturating_sub(last));
    let may_begin = |at: &usize| BEGINNINGS.iter().any(|form| form.starts_with(&text[*at..]));
    let places = text[from..].char_indices().map(|(at, _)| from + at);
    places.into_iter().find(may_begin).unwrap_or(text.len())
}

/// Reads a place where thoughts may begin.
fn before(text: &str, at: usize) -> PieceOutcome {
    let rest = text[at..].trim_start();
    if rest.is_empty() {
        return PieceOutcome::Wait;
    }
    let begin = text.len() - rest.len();
    if let Some((open, end)) = FENCES.iter().find(|(open, _)| rest.starts_with(open)) {
        return PieceOutcome::On(Stage::Thinking { end, looked: begin + open.len() });
    }
    if FENCES.iter().any(|(open, _)| open.starts_with(rest)) {
        return PieceOutcome::Wait;
    }
    // White space before the first words is theirs, behind thoughts it is nobody's.
    let told = if at == 0 { 0 } else { begin };
    PieceOutcome::On(Stage::Words { begin: told, told })
}

/// Some servers take the opening mark for a part of the question: then a closing one stands alone in a
/// line, with thoughts before it.
fn after_unopened(text: &str) -> &str {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        at += line.len();
        if FENCES.iter().any(|(_, end)| line.trim() == *end) {
            return text[at..].trim_start();
        }
        if FENCES.iter().any(|(open, _)| line.contains(open)) {
            break;
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use proptest::prelude::*;

    use super::*;

    /// What is told on the way, and what is left at the end.
    fn read(pieces: &[&str]) -> (String, String) {
        let told = Mutex::new(String::new());
        let mut said = TextSoFar::default();
        for piece in pieces {
            said.push(piece, false, &|written| {
                let TextProgress::More(text) = written else { return };
                told.lock().unwrap().push_str(text);
            });
        }
        (told.into_inner().unwrap(), said.finish())
    }

    #[test]
    fn thoughts_are_shown_to_nobody() {
        let cases = [
            ("<think>hm</think>\n\nYes.", "Yes."),
            (" \n<think>\nhm\n</think>Yes.", "Yes."),
            ("<think>a</think><think>b</think>Yes.", "Yes."),
            ("<thinking>a</think></thinking> Yes.", "Yes."),
            ("[THINK]a[/THINK]Yes.", "Yes."),
            ("<|begin_of_thought|>a<|end_of_thought|>Yes.", "Yes."),
            ("<think>never ended", ""),
            ("<think></think>", ""),
        ];
        for (text, words) in cases {
            let letters: Vec<String> = text.chars().map(String::from).collect();
            let letters: Vec<&str> = letters.iter().map(String::as_str).collect();
            for pieces in [vec![text], letters] {
                assert_eq!(read(&pieces), (words.to_owned(), words.to_owned()), "{text:?}");
            }
        }
        let unopened = "first this\n</think>\n\nYes.";
        assert_eq!(read(&[unopened]).1, "Yes.");
    }

    #[test]
    fn words_about_thoughts_stay() {
        for text in [
            "Use `<think>` and </think> like this.",
            "<thin ice",
            "<thi",
            "a <think>b</think>",
            "`<think>`\n</think>\nends it",
            "  two blanks first",
        ] {
            assert_eq!(read(&[text]).1, text);
        }
    }

    #[test]
    fn what_may_be_a_call_is_not_told() {
        for (text, told) in [
            ("Sure. <tool_call>{}", "Sure. "),
            ("<|channel|>analysis<|message|>hm", ""),
            ("a < b <b", "a < b <b"),
            ("a <tool", "a "),
            ("[TOOL_CALLS][{}]", ""),
            ("[TOO late]", "[TOO late]"),
        ] {
            let letters: Vec<String> = text.chars().map(String::from).collect();
            let letters: Vec<&str> = letters.iter().map(String::as_str).collect();
            for pieces in [vec![text], letters] {
                assert_eq!(read(&pieces), (told.to_owned(), text.to_owned()), "{text:?}");
            }
        }
        let long = format!("<tool_call>{}", "x".repeat(MAX_LENGTH));
        assert_eq!(read(&[&long]), (long.clone(), long));
    }

    proptest! {
        #[test]
        fn borders_change_nothing(
            parts in proptest::collection::vec("<think>|</think>|[THINK]|\\[|<|th| |\n|ä", 0..8),
        ) {
            let whole = parts.concat();
            let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
            prop_assert_eq!(read(&parts), read(&[&whole]));
        }
    }
}
