//! How long X takes a text to be.

use icu_normalizer::ComposingNormalizerBorrowed;

use crate::atoms::atoms;

/// The most that a post may weigh.
pub const LIMIT: u32 = 280;

/// Returns what a text weighs, by the platform's document on counting characters, version 3.
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
            ("selkie.rs", 23),
            ("_example.com_", 13),
            ("see _example.com_.", 18),
            ("README.md", 23),
            ("crates.io", 23),
            ("https://example.com/a_(b)?c=d#e", 23),
        ];
        for (text, wanted) in rows {
            assert_eq!(weight(text), wanted, "{text}");
        }
        assert_eq!(weight(&"あ".repeat(140)), LIMIT);
        assert_eq!(weight(&"a".repeat(280)), LIMIT);
    }

    /// What X's public examples for version 3 count, by their inputs.
    #[test]
    fn the_public_examples_weigh_what_x_says() {
        let ten = "xxxxxxxxxx-";
        let poem = "故人西辞黄鹤楼，烟花三月下扬州。孤帆远影碧空尽，唯见长江天际流。朱雀桥边野草花，乌衣巷口夕阳斜。\
            旧时王谢堂前燕，飞入寻常百姓家。朝辞白帝彩云间，千里江陵一日还。两岸猿声啼不住，轻舟已过万重山。\
            泪湿罗巾梦不成，夜深前殿按歌声。红颜未老恩先断，斜倚薰笼坐到明。独在异乡为异客，每逢佳节倍思亲。\
            遥知兄弟登高处，遍插茱萸少一人。";
        let kana = "あいうえおかきくけこ";
        let long_host = format!("https://{}.com/foo", "somesuperlongurl".repeat(20));
        let rows = [
            ("Hi http://test.co".to_owned(), 26),
            ("http://test.co".to_owned(), 23),
            (format!("285 chars-{}", ten.repeat(25)), 285),
            (format!("285 chars- http://www.twitter.com/jack {}", ten.repeat(24)), 299),
            (format!("{} http://www.twitter.com/jack ", ten.repeat(24)), 289),
            ("https://www.twitter.com/aloha ".repeat(10), 240),
            (poem.to_owned(), 320),
            ("😷".repeat(160), 320),
            (format!("the{poem}"), 323),
            (format!("{}xxxxA\u{301}x", ten.repeat(25)), 281),
            ("H🐱☺👨\u{200D}👩\u{200D}👧\u{200D}👦".to_owned(), 7),
            ("😷👾😡🔥💩".to_owned(), 10),
            ("🙋🏽👨\u{200D}🎤".to_owned(), 4),
            (
                "This is a tweet with general punctuation characters: \u{2000}\u{2001}\u{2002}\u{2003}\
                 \u{2004}\u{2005}\u{2006}\u{2007}\u{2008}\u{2009}\u{200A}\u{200B} \u{2010} \u{2011} \u{2012} \
                 \u{2013} \u{2014} \u{2015} \u{2016}  \u{2017} \u{2018} \u{2019} \u{201A} \u{201B} \u{201C} \
                 \u{201D} \u{201E} \u{201F} \u{2032} \u{2033} \u{2034} \u{2035} \u{2036} \u{2037}"
                    .to_owned(),
                110,
            ),
            // A label that DNS does not take makes no link; the one behind it is one.
            (format!("x {long_host} https://validurl.com"), 2 + long_host.len() as u32 + 1 + 23),
            (format!("{}s.com", "randomurl".repeat(7)), 68),
            (format!("{} http://{}あいう.com", kana.repeat(12), kana.repeat(5)), 358),
            (format!("{} http://{}あい.com", kana.repeat(12), kana.repeat(5)), 264),
            ("👨\u{200D}👩\u{200D}👧\u{200D}👦".repeat(140), 280),
            ("1\u{20E3}".to_owned(), 2),
            (
                "Unicode 10.0 emoji: 🤪; 🧕; 🧕🏾; 🏴\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}"
                    .to_owned(),
                34,
            ),
            ("Unicode 9.0 emoji: 🤠; 💃; 💃🏾".to_owned(), 29),
            ("ABC\u{202A}\u{FFFF}ABC\u{FFFE}".to_owned(), 12),
            ("\u{2066}\u{202A}http://foobar.پاکستان/\u{202C}\u{2069}".to_owned(), 31),
        ];
        for (text, wanted) in rows {
            assert_eq!(weight(&text), wanted, "{text}");
        }
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
