//! How long X takes a text to be: its own count, for the server's refusals.

/// What a post may weigh.
pub(super) const MOST: usize = 280;

/// Counts a text in normal form C.
pub(super) fn weight(text: &str) -> usize {
    let mut sum = 0;
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let (length, weighs) = match link(rest).filter(|_| begins_word(text, rest)) {
            Some(length) => (length, 23),
            None => cluster(rest).map_or((first.len_utf8(), light(first)), |length| (length, 2)),
        };
        sum += weighs;
        rest = &rest[length..];
    }
    sum
}

fn light(c: char) -> usize {
    match u32::from(c) {
        0..=4351 | 8192..=8205 | 8208..=8223 | 8242..=8247 => 1,
        _ => 2,
    }
}

fn begins_word(text: &str, rest: &str) -> bool {
    let before = text[..text.len() - rest.len()].chars().next_back();
    before.is_none_or(|c| !c.is_alphanumeric() && !"@#$-_./".contains(c))
}

/// The length of a link: `https://` before it, or an ending that everybody knows.
fn link(rest: &str) -> Option<usize> {
    let word = &rest[..rest.find(char::is_whitespace).unwrap_or(rest.len())];
    let word = word.trim_end_matches(['.', ',', ';', ':', '!', '?', ')', '"', '\'', '*']);
    let bare = word.strip_prefix("https://").or_else(|| word.strip_prefix("http://"));
    let host = bare.unwrap_or(word).split(['/', '?', ':']).next()?;
    let (name, ending) = host.rsplit_once('.')?;
    let letters =
        |text: &str| text.bytes().all(|b| b.is_ascii_alphanumeric() || b"-.".contains(&b));
    let known =
        ["com", "org", "net"].contains(&ending) || bare.is_some() && ["de", "io"].contains(&ending);
    (known && !name.is_empty() && letters(name) && word.is_ascii()).then_some(word.len())
}

/// The length of an emoji of several characters.
fn cluster(rest: &str) -> Option<usize> {
    let mut length = 0;
    let mut chars = rest.chars().peekable();
    let first = chars.next()?;
    length += first.len_utf8();
    let flag = |c: char| ('\u{1F1E6}'..='\u{1F1FF}').contains(&c);
    if flag(first) {
        return chars.next().filter(|c| flag(*c)).map(|c| length + c.len_utf8());
    }
    let picture =
        |c: char| matches!(u32::from(c), 0x2190..=0x2BFF | 0x1F000..=0x1FAFF | 0xA9 | 0xAE);
    let keycap = first.is_ascii_digit() || first == '#' || first == '*';
    if !picture(first) && !keycap {
        return None;
    }
    let alone = length;
    let mut joined = false;
    while let Some(c) = chars.next_if(|c| {
        let mark = matches!(u32::from(*c), 0xFE0F | 0x20E3 | 0x1F3FB..=0x1F3FF | 0xE0020..=0xE007F | 0x200D);
        mark || joined && picture(*c)
    }) {
        joined = c == '\u{200D}';
        length += c.len_utf8();
    }
    let whole = !keycap || rest[..length].ends_with('\u{20E3}');
    (length > alone && whole).then_some(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_counts_as_the_document_says() {
        let rows = [
            ("hello", 5),
            ("日本", 4),
            ("👨\u{200D}👩\u{200D}👧", 2),
            ("🇩🇪🇫🇷", 4),
            ("1\u{FE0F}\u{20E3}", 2),
            ("12", 2),
            ("see https://example.com/a/b. x", 4 + 23 + 1 + 2),
            ("example.org", 23),
            ("a@example.org", 13),
        ];
        for (text, wanted) in rows {
            assert_eq!(weight(text), wanted, "{text}");
        }
    }
}
