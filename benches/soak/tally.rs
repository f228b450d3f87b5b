//! What became of each message, by its own text: every question carries a number of its own, and its answer says it
//! again at its end.

use std::collections::BTreeSet;

/// Stands in what may be there twice.
const MARK: &str = "(possibly repeated)";

/// The word by which a question is known again.
pub fn word(number: usize) -> String {
    format!("q{number}z")
}

/// The number that a text ends with.
pub fn number(text: &str) -> Option<usize> {
    text.split_whitespace().next_back()?.strip_prefix('q')?.strip_suffix('z')?.parse().ok()
}

/// How often a question was answered: two bytes of it, so that a hundred thousand take little.
#[derive(Clone, Copy, Default)]
struct Answers {
    plain: u8,
    marked: u8,
}

/// The answers to all questions.
pub struct Tally {
    answers: Vec<Answers>,
    /// Whatever else the bot has said.
    other: usize,
    examples: BTreeSet<String>,
}

/// What a tally comes to.
#[derive(Debug, Default)]
pub struct Verdict {
    /// Answered once, without a mark.
    pub once: usize,
    /// Answered once, by words that say that they may be a repetition.
    pub once_marked: usize,
    /// Answered more than once, and all but one say that they may be a repetition.
    pub repeated: usize,
    /// Answered more than once without a word about it.
    pub doubled: Vec<usize>,
    /// Not answered, and the ledger says that nobody can know.
    pub in_doubt: usize,
    /// Not answered.
    pub lost: Vec<usize>,
    /// What the bot said besides.
    pub other: usize,
    /// Some of it.
    pub examples: BTreeSet<String>,
}

impl Tally {
    /// For so many questions.
    pub fn new(questions: usize) -> Self {
        Self { answers: vec![Answers::default(); questions], other: 0, examples: BTreeSet::new() }
    }

    /// Counts what a platform holds as delivered.
    pub fn count(&mut self, text: &str) {
        let Some(answers) = number(text).and_then(|number| self.answers.get_mut(number)) else {
            self.other += 1;
            if self.examples.len() < 10 {
                self.examples.insert(text.chars().take(120).collect());
            }
            return;
        };
        let count = if text.contains(MARK) { &mut answers.marked } else { &mut answers.plain };
        *count = count.saturating_add(1);
    }

    /// What it comes to, for those of the questions that were asked.
    pub fn verdict(self, asked: usize, doubtful: &BTreeSet<usize>) -> Verdict {
        let mut verdict =
            Verdict { other: self.other, examples: self.examples, ..Verdict::default() };
        for (number, answers) in self.answers.iter().take(asked).enumerate() {
            match (answers.plain, answers.marked) {
                (1, 0) => verdict.once += 1,
                (0, 1) => verdict.once_marked += 1,
                (0, 0) if doubtful.contains(&number) => verdict.in_doubt += 1,
                (0, 0) => verdict.lost.push(number),
                (0 | 1, _) => verdict.repeated += 1,
                (_, _) => verdict.doubled.push(number),
            }
        }
        verdict
    }
}
