//! What was found, by words and by what it means, in words: path, lines, score and text of each piece.

use std::collections::HashMap;

use super::score::score;
use selkie_channel_core::shorten;
use selkie_domain::facts::Trust;
use selkie_domain::provenance::Provenance;
use selkie_domain::taint::Taint;
use selkie_store::{NearPiece, Piece};
use selkie_tools::memory::port::MemoryQuery;
use selkie_tools::ports::TodoReport;

/// The most characters of a piece that are shown.
const SHOWN: usize = 400;

/// The most that what a piece means counts for: a little less than all of the question's words.
const MEANING: f64 = 0.9;
/// What is no nearer than this says nothing.
const LEAST_NEAR: f32 = 0.2;
/// Nor does what is so much farther than the nearest: how near things are that have nothing in common differs by model.
const OF_THE_NEAREST: f32 = 0.75;

/// What was found.
#[derive(Default)]
pub struct SearchResult {
    /// By words.
    pub pieces: Vec<Piece>,
    /// By what it means, the nearest first.
    pub near: Vec<NearPiece>,
}

/// Takes the best of what was found, and tells it to somebody of this trust.
pub fn tell(
    found: SearchResult,
    question: &[String],
    sought: &MemoryQuery,
    reader: Trust,
) -> TodoReport {
    let mut scored = fused(found, question);
    scored.retain(|found| found.score >= sought.least && found.score > 0.0);
    // Of two that fit as well, the one that the engine has found first.
    scored.sort_by(|a, b| b.score.total_cmp(&a.score));
    scored.truncate(sought.most);
    if scored.is_empty() {
        let text = "Nothing that is remembered here fits. Try other words, or a lower min_score.";
        return TodoReport { text: text.to_owned(), level: Taint::Clean };
    }
    let levels = scored.iter().map(|found| found.level(reader));
    let level = levels.max().unwrap_or_default();
    let lines: Vec<String> = scored.iter().map(|found| found.line(reader)).collect();
    TodoReport { text: lines.join("\n"), level }
}

/// Scores every piece that either way has found: what words leave of 1, what it means fills in part.
fn fused(found: SearchResult, question: &[String]) -> Vec<ScoredPiece> {
    let SearchResult { pieces, mut near } = found;
    let least = near.first().map_or(0.0, |nearest| nearest.cosine * OF_THE_NEAREST);
    near.retain(|one| one.cosine >= least.max(LEAST_NEAR));
    let cosine = |one: &NearPiece| (place(&one.piece), one.cosine);
    let cosines: HashMap<Place, f32> = near.iter().map(cosine).collect();
    let known: Vec<Place> = pieces.iter().map(place).collect();
    let others = near.into_iter().map(|one| one.piece);
    let others = others.filter(|piece| !known.contains(&place(piece)));
    let scored = |piece: Piece| {
        let words = score(&piece.words, question);
        let meaning = cosines.get(&place(&piece)).copied().map_or(0.0, f64::from);
        ScoredPiece { score: (words + (1.0 - words) * MEANING * meaning).clamp(0.0, 1.0), piece }
    };
    pieces.into_iter().chain(others).map(scored).collect()
}

/// Where a piece stands: the parts of a long line differ in what they say.
#[derive(PartialEq, Eq, Hash)]
struct Place {
    path: String,
    digest: String,
}

fn place(piece: &Piece) -> Place {
    Place { path: piece.path.clone(), digest: piece.digest.clone() }
}

/// A piece, and how well it fits.
struct ScoredPiece {
    score: f64,
    piece: Piece,
}

impl ScoredPiece {
    fn level(&self, reader: Trust) -> Taint {
        let Piece { level, trust, .. } = self.piece;
        Provenance { level, trust }.read_by(reader)
    }

    fn line(&self, reader: Trust) -> String {
        let Piece { path, first, last, section, text, .. } = &self.piece;
        let lines = if first == last { first.to_string() } else { format!("{first}-{last}") };
        let section = if section.is_empty() { String::new() } else { format!(", {section}") };
        let others = match self.level(reader) {
            Taint::Clean => "",
            Taint::Derived | Taint::Raw => ", out of others' words",
        };
        let score = self.score;
        format!("{path}:{lines} (score {score:.2}{section}{others})\n  {}", shorten(text, SHOWN))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn piece(words: &str) -> Piece {
        Piece {
            path: "a.md".to_owned(),
            first: 1,
            last: 1,
            section: String::new(),
            text: words.to_owned(),
            trust: Trust::Owner,
            level: Taint::Clean,
            words: words.to_owned(),
            digest: words.to_owned(),
        }
    }

    fn near(words: &str, cosine: f32) -> NearPiece {
        NearPiece { piece: piece(words), cosine }
    }

    fn told(pieces: &[&str], near: Vec<NearPiece>) -> String {
        let pieces = pieces.iter().map(|words| piece(words)).collect();
        let question = ["tea".to_owned(), "green".to_owned()];
        let sought = MemoryQuery { query: String::new(), most: 6, least: 0.35 };
        let told = tell(SearchResult { pieces, near }, &question, &sought, Trust::Owner);
        let line = |pair: &[&str]| format!("{} {}", &pair[0][14..18], pair[1].trim());
        told.text
            .lines()
            .collect::<Vec<_>>()
            .chunks_exact(2)
            .map(line)
            .collect::<Vec<_>>()
            .join("; ")
    }

    #[test]
    fn meaning_finds_what_words_do_not_and_adds_to_what_they_do() {
        assert_eq!(told(&["tea green", "tea cup"], vec![]), "1.00 tea green; 0.48 tea cup");
        let both = vec![near("a hot drink", 0.6), near("tea cup", 0.5)];
        assert_eq!(told(&["tea cup"], both), "0.71 tea cup; 0.54 a hot drink");
        let far = vec![near("a hot drink", 0.6), near("a boat", 0.44)];
        assert_eq!(told(&[], far), "0.54 a hot drink", "far behind the nearest");
        assert_eq!(told(&["tea green"], vec![near("a boat", 0.15)]), "1.00 tea green");
    }

    proptest! {
        #[test]
        fn a_score_stays_between_0_and_1_and_meaning_takes_nothing_away(
            words in prop::collection::vec("(tea|green|cup|boat)( (tea|green|cup|boat)){0,3}", 0..6),
            cosines in prop::collection::vec(-1.0_f32..=1.0, 0..6),
        ) {
            let question = ["tea".to_owned(), "green".to_owned()];
            let mut near: Vec<NearPiece> = words.iter().zip(&cosines).map(|(w, c)| near(w, *c)).collect();
            near.sort_by(|a, b| b.cosine.total_cmp(&a.cosine));
            let pieces = words.iter().map(|words| piece(words)).collect();
            for scored in fused(SearchResult { pieces, near }, &question) {
                prop_assert!((0.0..=1.0).contains(&scored.score));
                prop_assert!(scored.score >= score(&scored.piece.words, &question));
            }
        }
    }
}
