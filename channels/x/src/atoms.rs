//! Cuts text into what X counts as one: a link, an emoji, a character.

use icu_properties::CodePointSetData;
use icu_properties::props::ExtendedPictographic;

/// What a link counts, however long it is.
const LINK: u32 = 23;
/// What an emoji counts, however many characters it is made of.
const EMOJI: u32 = 2;
/// Characters that count one; every other counts two. From the platform's document on counting, version 3.
const LIGHT: [(u32, u32); 4] = [(0, 4351), (8192, 8205), (8208, 8223), (8242, 8247)];
/// Endings of names that are certainly links, with and without `https://` before them. X knows them all; of
/// one that is not here the larger count is taken, so that a post never weighs more than was thought.
const GENERIC: [&str; 16] = [
    "com", "org", "net", "edu", "gov", "mil", "int", "info", "biz", "app", "dev", "blog", "shop",
    "online", "news", "xyz",
];
/// Endings of countries that are certainly links after `https://`.
const COUNTRIES: [&str; 24] = [
    "ai", "at", "au", "be", "br", "ca", "ch", "co", "de", "es", "eu", "fr", "in", "io", "it", "jp",
    "kr", "me", "nl", "pl", "se", "tv", "uk", "us",
];

/// One thing that X counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Atom {
    /// Where it ends, in bytes.
    pub end: usize,
    /// What it counts.
    pub weight: u32,
    /// It is a link.
    pub is_link: bool,
}

/// Cuts text, which should be in normal form C.
pub fn atoms(text: &str) -> impl Iterator<Item = Atom> {
    let mut at = 0;
    let mut before = None;
    std::iter::from_fn(move || {
        let rest = &text[at..];
        let first = rest.chars().next()?;
        let (length, weight, is_link) = match (link(rest, before), emoji(rest)) {
            (Some((length, weight)), _) => (length, weight, true),
            (None, Some(length)) => (length, EMOJI, false),
            (None, None) => (first.len_utf8(), light(first), false),
        };
        before = rest[..length].chars().next_back();
        at += length;
        Some(Atom { end: at, weight, is_link })
    })
}

fn light(c: char) -> u32 {
    let c = u32::from(c);
    if LIGHT.iter().any(|(from, to)| (*from..=*to).contains(&c)) { 1 } else { 2 }
}

/// Returns the length in bytes of an emoji made of several characters.
fn emoji(text: &str) -> Option<usize> {
    let mut chars = text.char_indices().peekable();
    let (_, first) = chars.next()?;
    let is_flag = |c: char| ('\u{1F1E6}'..='\u{1F1FF}').contains(&c);
    if is_flag(first) {
        let (at, second) = chars.next()?;
        return is_flag(second).then(|| at + second.len_utf8());
    }
    if first.is_ascii_digit() || first == '#' || first == '*' {
        chars.next_if(|(_, c)| *c == '\u{FE0F}');
        return chars.next_if(|(_, c)| *c == '\u{20E3}').map(|(at, c)| at + c.len_utf8());
    }
    let picture = |c: char| CodePointSetData::new::<ExtendedPictographic>().contains(c);
    if !picture(first) {
        return None;
    }
    let mut end = first.len_utf8();
    let mut joined = false;
    while let Some((at, c)) = chars.peek().copied() {
        let goes_on = match c {
            '\u{FE0F}' | '\u{20E3}' | '\u{1F3FB}'..='\u{1F3FF}' | '\u{E0020}'..='\u{E007F}' => true,
            '\u{200D}' => chars.clone().nth(1).is_some_and(|(_, next)| picture(next)),
            c => joined && picture(c),
        };
        if !goes_on {
            break;
        }
        joined = c == '\u{200D}';
        end = at + c.len_utf8();
        chars.next();
    }
    (end > first.len_utf8()).then_some(end)
}

/// Returns length and weight of a link that begins here.
fn link(text: &str, before: Option<char>) -> Option<(usize, u32)> {
    if before.is_some_and(|c| c.is_alphanumeric() || "@＠$#＃".contains(c)) {
        return None;
    }
    let scheme = ["https://", "http://"].into_iter().find(|scheme| begins(text, scheme));
    if scheme.is_none() && before.is_some_and(|c| "-_./".contains(c)) {
        return None;
    }
    let from = scheme.map_or(0, str::len);
    let name = host(&text[from..])?;
    let path = path(&text[from + name.len()..]);
    let length = from + name.len() + path;
    let (labels, ending) = name.rsplit_once('.')?;
    let ending = ending.to_ascii_lowercase();
    let is_country = ending.len() == 2;
    if scheme.is_none() && is_country && path == 0 && !labels.contains('.') {
        // X takes `name.rs` for a word.
        return None;
    }
    let certain = GENERIC.contains(&&*ending) || scheme.is_some() && COUNTRIES.contains(&&*ending);
    let written = text[..length].chars().map(light).sum();
    Some((length, if certain { LINK } else { LINK.max(written) }))
}

fn begins(text: &str, scheme: &str) -> bool {
    text.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme))
}

/// Returns a host of at least two labels whose last has only letters.
fn host(text: &str) -> Option<&str> {
    let inside = |c: char| c.is_ascii_alphanumeric() || c == '.' || c == '-';
    let end = text.find(|c| !inside(c)).unwrap_or(text.len());
    let name = text[..end].trim_end_matches(['.', '-']);
    let mut labels = name.split('.');
    let ending = labels.next_back()?;
    let letters = ending.len() >= 2 && ending.bytes().all(|b| b.is_ascii_alphabetic());
    let mut rest = labels.peekable();
    let sound = rest.peek().is_some()
        && rest.all(|l| !l.is_empty() && !l.starts_with('-') && !l.ends_with('-'));
    // A word goes on behind it: no name.
    let cut = text[name.len()..]
        .chars()
        .next()
        .is_some_and(|c| c.is_alphanumeric() || c == '_' || c == '@');
    (letters && sound && !cut).then_some(name)
}

/// Returns the length of port, path and query behind a host, as far as X counts them in.
fn path(text: &str) -> usize {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let port = match text.strip_prefix(':').map(digits) {
        Some(count) if count > 0 => 1 + count,
        _ => 0,
    };
    let run = |from: usize, inside: &str, last: &str| {
        let rest = &text[from..];
        let taken = |c: char, more: &str| c.is_ascii_alphanumeric() || more.contains(c);
        let end = rest.find(|c| !taken(c, inside)).unwrap_or(rest.len());
        rest[..end].trim_end_matches(|c| !taken(c, last)).len()
    };
    let mut end = port;
    if text[end..].starts_with('/') {
        end += run(end, "!*';:=+,.$/%#[]-_~@|&", "+-=_#/").max(1);
    }
    if text[end..].starts_with('?') {
        let query = 1 + run(end + 1, "!?*'@();:&=+$/%#[]-_.,~|", "-_&=#/");
        end += if query > 1 { query } else { 0 };
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;

    fn links(text: &str) -> Vec<(&str, u32)> {
        let mut from = 0;
        let mut found = Vec::new();
        for atom in atoms(text) {
            if atom.is_link {
                found.push((&text[from..atom.end], atom.weight));
            }
            from = atom.end;
        }
        found
    }

    #[test]
    fn links_are_found_as_x_finds_them() {
        let long = format!("https://example.com/{}", "a".repeat(300));
        assert_eq!(links(&long), [(&*long, 23)]);
        assert_eq!(
            links("see http://a.example.org:8080/x?y=1&z=(2). Then"),
            [("http://a.example.org:8080/x?y=1&z=(2", 23)]
        );
        assert_eq!(links("(example.com)"), [("example.com", 23)]);
        assert_eq!(links("HTTPS://EXAMPLE.COM, yes"), [("HTTPS://EXAMPLE.COM", 23)]);
        for none in [
            "a@example.com",
            "selkie.rs",
            "1.5",
            "e.g. this",
            "http://localhost/x",
            "#example.com",
            "..",
            "a..com",
        ] {
            assert_eq!(links(none), [], "{none}");
        }
        // Nobody here knows whether X takes this ending for one: the larger count.
        assert_eq!(
            links("https://host.internal/0123456789"),
            [("https://host.internal/0123456789", 32)]
        );
    }

    #[test]
    fn an_emoji_is_one_atom_however_it_is_made() {
        for one in [
            "😀",
            "👨\u{200D}👩\u{200D}👧\u{200D}👦",
            "👍🏿",
            "🇩🇪",
            "1\u{FE0F}\u{20E3}",
            "❤\u{FE0F}",
            "🏴\u{E0067}\u{E0062}\u{E007F}",
            "©\u{FE0F}",
        ] {
            let all: Vec<_> = atoms(one).collect();
            assert_eq!(all, [Atom { end: one.len(), weight: 2, is_link: false }], "{one}");
        }
        assert_eq!(atoms("😀😀").count(), 2);
        assert_eq!(atoms("😀\u{200D}x").count(), 3);
        assert_eq!(atoms("12#").map(|a| a.weight).collect::<Vec<_>>(), [1, 1, 1]);
    }
}
