//! Letters that look like others: those of other scripts, of full width, of mathematics. What somebody sees is the ASCII
//! character, and so are secrets read.

use unicode_normalization::char::{decompose_compatible, is_combining_mark};

use crate::invisible_chars::shows_nothing;

/// So many characters of one run are enough for a secret.
const RUN: usize = 12;

/// Whether a text may show something else than it says: a run that is as long as a secret, of ASCII and of what looks like it.
pub(crate) fn may_mislead(text: &str) -> bool {
    let (mut run, mut has_any) = (0_usize, false);
    text.chars().any(|c| {
        if c.is_ascii_graphic() {
            run += 1;
        } else if ascii(c).is_some() {
            (run, has_any) = (run + 1, true);
        } else if !is_unseen(c) {
            (run, has_any) = (0, false);
        }
        has_any && run >= RUN
    })
}

/// Returns the ASCII character that another one looks like.
pub(crate) fn ascii(c: char) -> Option<char> {
    match c {
        '\0'..='\u{a9}' => None,
        // Hangul, kana and ideographs look like nothing else, and are most of what some texts hold.
        '\u{1100}'..='\u{11ff}' | '\u{2e80}'..='\u{fe0f}' => None,
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(c) - 0xfee0),
        _ => of_other_scripts(c).or_else(|| compatible(c)),
    }
}

/// A secret as it is read: every character that looks like one of ASCII's is that.
pub(crate) fn read(secret: &str) -> String {
    secret.chars().map(|c| ascii(c).unwrap_or(c)).collect()
}

/// Whether nobody sees a character as one of its own: it shows nothing, or is a mark on the one before.
pub(crate) fn is_unseen(c: char) -> bool {
    shows_nothing(c) || (!c.is_ascii() && is_combining_mark(c))
}

/// What Unicode itself calls the same but for its look.
fn compatible(c: char) -> Option<char> {
    let (mut first, mut others) = (None, false);
    decompose_compatible(c, |part| match first {
        None => first = Some(part),
        Some(_) => others = true,
    });
    first.filter(|first| !others && first.is_ascii_graphic())
}

/// Letters of Cyrillic, Greek and others, and dashes, that are drawn as ASCII's are.
fn of_other_scripts(c: char) -> Option<char> {
    Some(match c {
        'а' | 'α' | 'ɑ' => 'a',
        'ь' | 'Ь' => 'b',
        'с' | 'ϲ' => 'c',
        'ԁ' => 'd',
        'е' | 'ҽ' => 'e',
        'ɡ' | 'ց' => 'g',
        'һ' | 'հ' => 'h',
        'і' | 'ι' | 'ı' => 'i',
        'ј' | 'ϳ' => 'j',
        'к' | 'κ' => 'k',
        'ӏ' | 'ǀ' => 'l',
        'ո' | 'п' => 'n',
        'о' | 'ο' | 'σ' | 'օ' => 'o',
        'р' | 'ρ' => 'p',
        'ԛ' => 'q',
        'г' => 'r',
        'ѕ' => 's',
        'т' | 'τ' => 't',
        'υ' | 'ս' => 'u',
        'ν' | 'ѵ' => 'v',
        'ԝ' | 'ω' => 'w',
        'х' | 'χ' => 'x',
        'у' | 'γ' | 'ү' => 'y',
        'А' | 'Α' => 'A',
        'В' | 'Β' => 'B',
        'С' | 'Ϲ' => 'C',
        'Е' | 'Ε' => 'E',
        'Ғ' | 'Ϝ' => 'F',
        'Ԍ' => 'G',
        'Н' | 'Η' => 'H',
        'І' | 'Ι' | 'Ӏ' => 'I',
        'Ј' | 'Ϳ' => 'J',
        'К' | 'Κ' => 'K',
        'М' | 'Μ' => 'M',
        'Ν' => 'N',
        'О' | 'Ο' => 'O',
        'Р' | 'Ρ' => 'P',
        'Ԛ' => 'Q',
        'Ѕ' => 'S',
        'Т' | 'Τ' => 'T',
        'Ѵ' => 'V',
        'Ԝ' => 'W',
        'Х' | 'Χ' => 'X',
        'У' | 'Υ' | 'Ү' => 'Y',
        'Ζ' => 'Z',
        'З' => '3',
        'б' => '6',
        '\u{2010}'..='\u{2013}' | '\u{2212}' | '\u{2043}' => '-',
        '∕' | '⁄' => '/',
        '∶' | '։' => ':',
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_looks_like_ascii_is_read_so() {
        for (text, wanted) in [
            ("ｓｋ－ａ１Ｂ２", "sk-a1B2"),
            ("𝐬𝗸‑𝚊𝟏𝓑𝟚", "sk-a1B2"),
            ("ѕк-аⓑ①²", "sk-ab12"),
            ("ΑΚΙΑ ѕесrеt", "AKIA secret"),
        ] {
            assert_eq!(read(text), wanted);
        }
        for c in ['é', 'ß', '字', '한', 'ж', 'Ω', '—', '…', 'ﬁ', 'a', ' ', '\u{200b}', '👍']
        {
            assert_eq!(ascii(c), None, "{c}");
        }
    }

    #[test]
    fn only_what_is_as_long_as_a_secret_misleads() {
        for text in
            ["key ghp_а1b2c3d4e5", "ｓｋ－ａ１ｂ２ｃ３ｄ４ｅ", "ghp_\u{200b}а1\u{ad}b2\u{7}c3d4e5"]
        {
            assert!(may_mislead(text), "{text}");
        }
        for text in [
            "ghp_a1b2c3d4e5f6g7h8",
            "Съешь ещё этих мягких французских булок",
            "你好，世界！这是一个测试：一二三。",
            "from 2019–2024, “so” it’s said — really…",
            "Ξεσκεπάζω την ψυχοφθόρα βδελυγμία",
        ] {
            assert!(!may_mislead(text), "{text}");
        }
    }
}
