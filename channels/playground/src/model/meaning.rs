//! What a text means to the playground: words of one sense point one way, and how words are spelled counts a little.

/// How many numbers a vector has.
const WIDTH: usize = 96;
/// What two letters that follow one another count, beside a word.
const SPELLING: f32 = 0.08;

/// Words of one sense.
const SENSES: [&[&str]; 10] = [
    &["tea", "beverage", "drink", "infusion"],
    &["like", "prefer", "enjoy", "love"],
    &["car", "automobile", "vehicle"],
    &["doctor", "physician", "medic"],
    &["buy", "purchase", "get"],
    &["child", "kid", "daughter", "son"],
    &["meet", "meeting", "appointment"],
    &["home", "house", "residence"],
    &["sick", "ill", "unwell"],
    &["お茶", "飲み物"],
];
/// Words that say nothing of what is meant.
const IDLE: [&str; 24] = [
    "a", "an", "and", "are", "at", "do", "does", "for", "i", "in", "is", "it", "me", "my", "of",
    "on", "that", "the", "to", "what", "which", "who", "with", "you",
];

/// Returns the numbers of a text: the same each time.
pub(super) fn meaning(text: &str) -> Vec<f32> {
    let mut numbers = vec![0.0; WIDTH];
    let small = text.to_lowercase();
    let words = small.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let all: Vec<&str> = words.clone().filter(|word| !IDLE.contains(word)).collect();
    let all = if all.is_empty() { words.collect() } else { all };
    for word in all {
        add(&mut numbers, sense(word), 1.0);
        let letters: Vec<char> = word.chars().collect();
        for pair in letters.windows(2) {
            add(&mut numbers, &pair.iter().collect::<String>(), SPELLING);
        }
    }
    if numbers.iter().all(|number| *number == 0.0) {
        numbers[0] = 1.0;
    }
    numbers
}

/// The word that stands for all of its sense.
fn sense(word: &str) -> &str {
    let plain = word.strip_suffix('s').filter(|short| short.len() > 2).unwrap_or(word);
    let known = SENSES.iter().find(|all| all.contains(&plain) || all.contains(&word));
    known.and_then(|all| all.first()).copied().unwrap_or(plain)
}

/// Adds a word in the two directions that its letters lead to.
fn add(numbers: &mut [f32], word: &str, weight: f32) {
    let hash = word.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    for part in [hash & 0xffff, (hash >> 24) & 0xffff] {
        let place = usize::try_from(part).unwrap_or_default() % numbers.len();
        let sign = if part & 0x8000 == 0 { weight } else { -weight };
        numbers[place] += sign;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cosine(one: &str, other: &str) -> f32 {
        let (one, other) = (meaning(one), meaning(other));
        let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
        dot(&one, &other) / (dot(&one, &one) * dot(&other, &other)).sqrt()
    }

    #[test]
    fn other_words_of_one_sense_are_near() {
        assert!(cosine("I like tea", "which beverage do I prefer?") > 0.7);
        assert!(cosine("I like tea", "the boat lies in the harbour") < 0.35);
        assert!(cosine("the of", "boat") < 0.5 && cosine("", "") > 0.99);
    }
}
