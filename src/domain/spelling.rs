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

/// Edits between two words, letters and digits compared without case: one more, one less, another one, two swapped
/// (optimal string alignment).
fn distance(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.to_lowercase().chars().collect();
    let b: Vec<char> = b.to_lowercase().chars().collect();
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let other = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut cost = other.min(row[j - 1] + 1).min(last[j] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                cost = cost.min(before[j - 2] + 1);
            }
            row.push(cost);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
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
        assert_eq!(nearest("stauts", ["start", "status"]), Some("status"));
        assert!(is_slip("hlep", "help") && is_slip("reste", "reset"));
        assert_eq!(nearest("path", []), None);
    }
}
