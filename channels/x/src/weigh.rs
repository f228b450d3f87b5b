//! How long X takes a text to be.

use icu_normalizer::ComposingNormalizerBorrowed;

use crate::atoms::atoms;

/// The most that a post may weigh.
pub const LIMIT: u32 = 280;

/// Returns what a text weighs, by the platform's document on counting characters, version 3. A link whose
/// ending is not known for sure may weigh more here than there, and never less.
pub fn weight(text: &str) -> u32 {
    atoms(&composed(text)).map(|atom| atom.weight).sum()
}

/// Returns a text in normal form C, in which X counts and keeps it.
pub fn composed(text: &str) -> String {
    ComposingNormalizerBorrowed::new_nfc().normalize(text).into_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_documents_examples_weigh_what_the_document_says() {
        let rows = [
            ("", 0),
            ("hello", 5),
            // Normal form C: one character, whether it came as one or as two.
            ("cafe\u{301}", 4),
            ("café", 4),
            ("こんにちは", 10),
            ("你好", 4),
            ("한국어", 6),
            ("Ж", 1),
            ("“quoted”—…", 10 + 1),
            ("👾", 2),
            ("🙋🏽", 2),
            ("👨\u{200D}🎤", 2),
            ("👨\u{200D}👩\u{200D}👧\u{200D}👦", 2),
            ("https://example.com/a/very/long/path", 23),
            ("go: https://example.com 😀", 4 + 23 + 1 + 2),
        ];
        for (text, wanted) in rows {
            assert_eq!(weight(text), wanted, "{text}");
        }
        assert_eq!(weight(&"あ".repeat(140)), LIMIT);
        assert_eq!(weight(&"a".repeat(280)), LIMIT);
    }

    proptest! {
        #[test]
        fn plain_words_weigh_their_letters(text in "[a-zäöü ]{0,100}") {
            prop_assert_eq!(weight(&text), u32::try_from(text.chars().count()).unwrap());
        }

        #[test]
        fn no_text_weighs_more_than_two_a_character_and_links(text in "\\PC{0,80}") {
            let most = 2 * composed(&text).chars().count() + 23 * text.matches('.').count();
            prop_assert!(weight(&text) as usize <= most);
        }

        #[test]
        fn two_texts_apart_weigh_their_sum(a in "[a-zあ😀]{0,30}", b in "[a-zあ😀]{0,30}") {
            prop_assert_eq!(weight(&format!("{a} {b}")), weight(&a) + 1 + weight(&b));
        }
    }
}
