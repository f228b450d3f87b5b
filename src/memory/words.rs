//! The words by which something is found: letters and digits, small, the same for a text and for what is looked for. Scripts
//! that write without spaces are taken in pairs of signs.

/// The longest word, in characters; what follows says nothing more.
const MAX_LENGTH: usize = 40;
/// The most words of one question.
const MAX: usize = 32;
/// Words of a question that say nothing of what is looked for, where others do.
const IDLE: [&str; 52] = [
    "a", "about", "am", "an", "and", "any", "are", "at", "be", "by", "can", "did", "do", "doe",
    "for", "from", "had", "has", "have", "how", "i", "in", "is", "it", "know", "me", "my", "of",
    "on", "or", "our", "she", "so", "tell", "that", "the", "their", "them", "they", "thi", "to",
    "was", "we", "were", "what", "when", "where", "which", "who", "with", "you", "your",
];

/// Returns the words of a text, in their order, as they are kept.
pub fn of_text(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    for run in Run::all(text) {
        match run {
            Run::Word(word) => words.extend(folded(&word)),
            Run::Signs(signs) => {
                words.extend(signs.windows(2).map(|pair| pair.iter().collect()));
                words.extend(signs.iter().map(char::to_string));
            }
        }
    }
    words
}

/// Returns the words that are looked for, each once.
pub fn of_question(text: &str) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for run in Run::all(text) {
        match run {
            Run::Word(word) => all.extend(folded(&word)),
            Run::Signs(signs) if signs.len() == 1 => all.extend(signs.iter().map(char::to_string)),
            Run::Signs(signs) => all.extend(signs.windows(2).map(|pair| pair.iter().collect())),
        }
    }
    let mut words: Vec<String> = Vec::new();
    let has_others = all.iter().any(|word| !IDLE.contains(&word.as_str()));
    for word in all {
        let is_idle = has_others && IDLE.contains(&word.as_str());
        if !is_idle && words.len() < MAX && !words.contains(&word) {
            words.push(word);
        }
    }
    words
}

/// Characters that belong together.
enum Run {
    Word(String),
    Signs(Vec<char>),
}

impl Run {
    fn all(text: &str) -> Vec<Self> {
        let mut runs: Vec<Self> = Vec::new();
        let mut goes_on = false;
        for c in text.chars() {
            match (runs.last_mut().filter(|_| goes_on), is_sign(c)) {
                _ if !c.is_alphanumeric() => goes_on = false,
                (Some(Self::Signs(signs)), true) => signs.push(c),
                (Some(Self::Word(word)), false) => word.push(c),
                (_, is_sign) => {
                    goes_on = true;
                    runs.push(if is_sign { Self::Signs(vec![c]) } else { Self::Word(c.into()) });
                }
            }
        }
        runs
    }
}

/// Whether a script writes this sign without spaces between words: Chinese, Japanese, Korean.
fn is_sign(c: char) -> bool {
    matches!(c,
        '\u{3005}'..='\u{3007}' | '\u{3040}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}' | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}' | '\u{f900}'..='\u{faff}' | '\u{ff66}'..='\u{ff9f}'
        | '\u{20000}'..='\u{3ffff}')
}

/// In small letters, without the ending of a plural.
fn folded(word: &str) -> Option<String> {
    let small = word.chars().flat_map(char::to_lowercase).filter(|c| c.is_alphanumeric());
    let mut small: String = small.take(MAX_LENGTH).collect();
    let is_plural =
        small.is_ascii() && small.len() > 3 && small.ends_with('s') && !small.ends_with("ss");
    if is_plural {
        small.pop();
    }
    (!small.is_empty()).then_some(small)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn text(source: &str) -> String {
        of_text(source).join(" ")
    }

    fn question(source: &str) -> String {
        of_question(source).join(" ")
    }

    #[test]
    fn words_are_small_and_signs_come_in_pairs() {
        assert_eq!(text("Ada's TEAS, 3 cups—glass"), "ada s tea 3 cup glass");
        assert_eq!(text("お茶が好き"), "お茶 茶が が好 好き お 茶 が 好 き");
        assert_eq!(text("東京 2号 ok"), "東京 東 京 2 号 ok");
        assert_eq!(text("Straße İ"), "straße i");
        assert_eq!(question("茶"), "茶");
        assert_eq!(question("好き 好き"), "好き");
    }

    #[test]
    fn a_question_is_more_than_its_little_words() {
        assert_eq!(question("What do you know about my teas?"), "tea");
        assert_eq!(question("what do you know about me?"), "what do you know about me");
        assert_eq!(question("?!"), "");
    }

    proptest! {
        #[test]
        fn whatever_is_asked_for_in_its_own_words_is_found(source in "\\PC{0,60}") {
            let kept = of_text(&source);
            prop_assert!(kept.iter().all(|w| !w.is_empty() && w.chars().all(char::is_alphanumeric)));
            prop_assert!(of_question(&source).iter().all(|word| kept.contains(word)));
        }
    }
}
