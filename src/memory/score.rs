//! How well a piece answers a question, from 0 to 1: by the part of the question that stands in it. The same whatever engine
//! has found it.

use std::collections::BTreeSet;

/// How much of a score says how little else stands there.
const BRIEF: f64 = 0.1;

/// Scores the words of a piece (with a space between them) against those of a question.
pub fn score(piece: &str, question: &[String]) -> f64 {
    let there: BTreeSet<&str> = piece.split(' ').filter(|word| !word.is_empty()).collect();
    if question.is_empty() || there.is_empty() {
        return 0.0;
    }
    let found = question.iter().filter(|word| there.contains(word.as_str())).count();
    let covered = part(found, question.len());
    let brief = part(found, there.len());
    (covered * (1.0 - BRIEF) + covered * brief * BRIEF).clamp(0.0, 1.0)
}

/// How many words of a question stand at least in what has this score.
pub fn fewest(question: usize, least: f64) -> usize {
    (1..=question).find(|some| part(*some, question) >= least).unwrap_or(question).max(1)
}

#[expect(clippy::cast_precision_loss, reason = "numbers of words are small")]
fn part(some: usize, all: usize) -> f64 {
    some as f64 / all as f64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn scored(piece: &str, question: &[&str]) -> f64 {
        let question: Vec<String> = question.iter().map(|word| (*word).to_owned()).collect();
        score(piece, &question)
    }

    #[test]
    fn more_of_the_question_is_better_and_less_of_the_rest_as_well() {
        assert!((scored("green tea", &["tea", "green"]) - 1.0).abs() < 1e-9);
        assert!(scored("green tea", &["tea"]) > scored("some green tea at night", &["tea"]));
        assert!(scored("some green tea at night", &["tea"]) > 0.9);
        assert!(scored("tea", &["tea", "green"]) < 0.6 && scored("tea", &["tea", "green"]) > 0.35);
        assert!(scored("tea", &["tea", "green", "cup"]) < 0.35);
        assert!(scored("", &["tea"]).abs() < 1e-9 && scored("tea", &[]).abs() < 1e-9);
    }

    #[test]
    fn a_score_needs_so_many_words() {
        assert_eq!(
            [fewest(3, 0.35), fewest(2, 0.35), fewest(5, 0.35), fewest(5, 1.0)],
            [2, 1, 2, 5]
        );
        assert_eq!([fewest(0, 0.5), fewest(4, 0.0), fewest(4, 2.0)], [1, 1, 4]);
    }

    proptest! {
        #[test]
        fn a_score_lies_between_0_and_1(piece in "[a-c ]{0,20}", question in prop::collection::vec("[a-c]{1,2}", 0..6)) {
            let score = score(&piece, &question);
            prop_assert!((0.0..=1.0).contains(&score));
        }
    }
}
