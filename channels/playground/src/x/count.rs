//! How long X takes a text to be: its own count, for the server's refusals.

/// What a post may weigh.
pub(super) const MAX: usize = 280;

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
    let has_scheme = rest.starts_with("https://") || rest.starts_with("http://");
    before.is_none_or(|c| {
        !c.is_ascii_alphanumeric() && !"@#$".contains(c) && (has_scheme || !"-_./".contains(c))
    })
}

/// The endings of hosts that X's public tables name: the same facts as the channel reads.
const ENDINGS: &str = include_str!("../../../x/src/links/tlds.txt");

/// The length of a link: a host in plain letters with an ending that there is, and what follows.
fn link(rest: &str) -> Option<usize> {
    let word = &rest[..rest.find(|c: char| !c.is_ascii_graphic()).unwrap_or(rest.len())];
    let word = word.trim_end_matches(['.', ',', ';', ':', '!', '?', ')', '"', '\'', '*']);
    let bare = word.strip_prefix("https://").or_else(|| word.strip_prefix("http://"));
    let tail = bare.unwrap_or(word);
    let inside = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '.';
    let host = tail[..tail.find(|c| !inside(c)).unwrap_or(tail.len())].trim_end_matches('.');
    let (name, ending) = host.rsplit_once('.')?;
    let known = ENDINGS.split_whitespace().any(|one| one.eq_ignore_ascii_case(ending));
    let labels = name.split('.').all(|label| (1..=63).contains(&label.len()));
    let follows = tail[host.len()..].starts_with(['@', '-', '+', '_']);
    let plain = tail.len() == host.len() || !tail[host.len()..].starts_with(['/', '?', ':']);
    let length = if plain { word.len() - tail.len() + host.len() } else { word.len() };
    (known && labels && !follows).then_some(length)
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
            ("selkie.rs, README.md", 23 + 2 + 23),
            ("日https://example.com/x", 25),
            ("not.a-word", 10),
        ];
        for (text, wanted) in rows {
            assert_eq!(weight(text), wanted, "{text}");
        }
    }
}
