//! What was found, in words: path, lines, score and text of each piece.

use super::page::level_for;
use super::score::score;
use crate::domain::facts::Trust;
use crate::domain::taint::Taint;
use crate::store::Piece;
use crate::tools::memory::port::Sought;
use crate::tools::ports::Told;

/// The most characters of a piece that are shown.
const SHOWN: usize = 400;

/// Takes the best of what was found, and tells it to somebody of this trust.
pub fn tell(pieces: Vec<Piece>, question: &[String], sought: &Sought, reader: Trust) -> Told {
    let mut scored: Vec<Scored> = pieces
        .into_iter()
        .map(|piece| Scored { score: score(&piece.words, question), piece })
        .filter(|found| found.score >= sought.least && found.score > 0.0)
        .collect();
    // Of two that fit as well, the one that the engine has found first.
    scored.sort_by(|a, b| b.score.total_cmp(&a.score));
    scored.truncate(sought.most);
    if scored.is_empty() {
        let text = "Nothing that is remembered here fits. Try other words, or a lower min_score.";
        return Told { text: text.to_owned(), level: Taint::Clean };
    }
    let levels = scored.iter().map(|found| found.level(reader));
    let level = levels.max().unwrap_or_default();
    let lines: Vec<String> = scored.iter().map(|found| found.line(reader)).collect();
    Told { text: lines.join("\n"), level }
}

/// A piece, and how well it fits.
struct Scored {
    score: f64,
    piece: Piece,
}

impl Scored {
    fn level(&self, reader: Trust) -> Taint {
        level_for(self.piece.trust, self.piece.level, reader)
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
        format!("{path}:{lines} (score {score:.2}{section}{others})\n  {}", shown(text))
    }
}

fn shown(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
