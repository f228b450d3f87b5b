//! A text without what is written for the sake of a page or an eye: its words in one case, without accents, escapes and signs
//! that do not show, each sign that does by itself.

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

use crate::screen::is_unseen;

/// The longest name of a sign that pages write as `&name;`.
const MAX_NAME: usize = 8;

/// The tags that only say how words look; in others somebody could hide some.
const TAGS: [&str; 13] =
    ["b", "i", "u", "s", "em", "strong", "code", "br", "p", "span", "del", "mark", "small"];

/// Letters that look like those of Latin, and what they look like.
const LOOKALIKES: [&str; 2] =
    ["авеікмнорсѕтухјһԁԛԝαβεζηικμνορτυχ", "abeikmhopcstyxjhdqwabezhikmnoptux"];

/// Returns a text's words and signs, with one space between them.
pub(super) fn folded(text: &str) -> String {
    let plain = unescaped(text);
    let one_case = |c: char| c.to_uppercase().flat_map(char::to_lowercase);
    // Marks are left out: what is taken apart (NFD) and what is not say the same, with and without accents.
    let shows = |c: &char| !is_combining_mark(*c) && (c.is_whitespace() || !is_unseen(*c));
    let seen = plain.nfkd().flat_map(one_case).filter(shows);
    let mut folded = String::with_capacity(plain.len());
    let mut in_word = false;
    for c in seen.map(like_latin) {
        if c.is_whitespace() {
            in_word = false;
            continue;
        }
        if !(in_word && c.is_alphanumeric() || folded.is_empty()) {
            folded.push(' ');
        }
        in_word = c.is_alphanumeric();
        folded.push(c);
    }
    folded
}

fn like_latin(c: char) -> char {
    let [from, to] = LOOKALIKES;
    if c.is_ascii() {
        return c;
    }
    let at = from.chars().position(|other| other == c);
    at.and_then(|at| to.chars().nth(at)).unwrap_or(c)
}

/// Takes away what is written for the sake of a page: `&amp;`, `&#8212;`, `<b>`.
fn unescaped(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['&', '<']) {
        plain.push_str(&rest[..at]);
        let (first, after) = rest[at..].split_at(1);
        let sign = if first == "&" { named(after) } else { tag(after) };
        rest = match sign {
            Some(Sign { stands_for, length }) => {
                plain.push_str(&stands_for);
                &after[length..]
            }
            None => {
                plain.push_str(first);
                after
            }
        };
    }
    plain + rest
}

fn tag(text: &str) -> Option<Sign> {
    let end = text.bytes().take(MAX_NAME + 1).position(|byte| byte == b'>')?;
    let name = text[..end].trim_matches('/').to_ascii_lowercase();
    let is_one = TAGS.contains(&name.as_str());
    is_one.then(|| Sign { stands_for: String::new(), length: end + 1 })
}

/// A sign that is written by its name.
struct Sign {
    stands_for: String,
    length: usize,
}

fn named(text: &str) -> Option<Sign> {
    let end = text.bytes().take(MAX_NAME + 1).position(|byte| byte == b';')?;
    let name = &text[..end];
    let length = end + 1;
    if let Some(number) = name.strip_prefix('#') {
        let number = match number.strip_prefix(['x', 'X']) {
            Some(digits) => u32::from_str_radix(digits, 16),
            None => number.parse(),
        };
        return Some(Sign { stands_for: char::from_u32(number.ok()?)?.into(), length });
    }
    let accents = ["acute", "grave", "circ", "uml", "tilde", "ring", "cedil", "slash", "caron"];
    let letter = accents.iter().find_map(|accent| name.strip_suffix(accent));
    let stands_for = match (letter, name) {
        (Some(letter), _) => letter.to_owned(),
        (None, "szlig") => "ss".to_owned(),
        (None, "shy") => String::new(),
        // Others are no letters.
        (None, name) => {
            let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphabetic());
            is_name.then(|| " ".to_owned())?
        }
    };
    Some(Sign { stands_for, length })
}
