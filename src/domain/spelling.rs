//! What somebody may have meant who wrote a word that is not known.

/// Longer words, in bytes, are nobody's slip of the pen, and would take the square of their length.
pub const MAX_WORD: usize = 256;

/// Returns the candidate that looks most like `word`, if one is near.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if word.len() > MAX_WORD {
        return None;
    }
    candidates
        .into_iter()
        .filter(|c| c.len() <= MAX_WORD)
        .map(|c| (distance(word, c), c))
        .filter(|(d, c)| *d <= 1 + c.len().max(word.len()) / 3)
        .min_by_key(|(d, _)| *d)
        .map(|(_, c)| c)
}

/// Whether `word` is hardly anything else than `candidate` misspelled: one letter in three is another.
pub fn is_slip(word: &str, candidate: &str) -> bool {
    let longest = word.len().max(candidate.len());
    longest <= MAX_WORD && distance(word, candidate) <= longest / 3
}

/// Edits between two words (Levenshtein), letters and digits compared without case.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.to_lowercase().chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.to_lowercase().chars().enumerate() {
        let mut corner = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let cost = corner + usize::from(x != *y);
            corner = row[j + 1];
            row[j + 1] = cost.min(row[j] + 1).min(corner + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_near_and_another_word_is_not() {
        let keys = ["max_concurrency", "path", "Limit"];
        assert_eq!(nearest("max_concurency", keys), Some("max_concurrency"));
        assert_eq!(nearest("limit", keys), Some("Limit"));
        assert_eq!(nearest("zebra", keys), None);
        assert_eq!(nearest("path", []), None);
    }
}
