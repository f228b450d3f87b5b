//! Whether a page is one that the parser takes in bounded time and memory: a look at its tags alone, in one
//! pass. It may be deceived; then the tree's own depth is looked at, and behind that stand the limits of the
//! process.

/// Elements inside elements: in what follows the tree each is a call inside a call.
pub(crate) const DEEPEST: usize = 400;
/// Tags of one page; the tree takes a few hundred bytes for each.
const TAGS: usize = 200_000;
/// Attributes of one tag: the parser compares each with all before it.
const ATTRIBUTES: usize = 300;
/// How far back an end tag looks for its beginning.
const BACK: usize = 64;

const VOID: [&str; 14] = [
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source",
    "track", "wbr",
];
/// One of these ends another of its name that is open.
const REPEATS: [&str; 8] = ["p", "li", "dd", "dt", "option", "tr", "td", "th"];
const CELLS: [&str; 3] = ["td", "th", "tr"];
/// What holds text and no elements.
const RAW: [&str; 2] = ["script", "style"];

/// Whether it may be parsed.
pub(super) fn is_tame(html: &str) -> bool {
    let mut look = Look { open: Vec::new(), drawings: 0 };
    let mut rest = html;
    let mut tags = 0;
    // Where one is not ended, none behind it is: the end is looked for once.
    let mut endless = [false; RAW.len()];
    while let Some(at) = rest.find('<') {
        rest = &rest[at + 1..];
        let Some(tag) = Tag::read(rest) else { continue };
        tags += 1;
        if tags > TAGS || tag.attributes > ATTRIBUTES {
            return false;
        }
        look.take(&tag);
        if look.open.len() > DEEPEST {
            return false;
        }
        rest = &rest[tag.length..];
        let raw = RAW.iter().position(|raw| !tag.ends && tag.is(raw));
        if let Some(raw) = raw.filter(|raw| !endless[*raw]) {
            match end_of(tag.name, rest) {
                Some(end) => rest = &rest[end..],
                None => endless[raw] = true,
            }
        }
    }
    true
}

/// Where the end tag of an element without elements begins.
pub(super) fn end_of(name: &str, text: &str) -> Option<usize> {
    memchr::memmem::find_iter(text.as_bytes(), b"</").find(|at| {
        let word = text.as_bytes().get(at + 2..at + 2 + name.len());
        word.is_some_and(|word| word.eq_ignore_ascii_case(name.as_bytes()))
    })
}

struct Tag<'a> {
    name: &'a str,
    ends: bool,
    closed: bool,
    attributes: usize,
    /// Bytes from behind `<` to behind `>`.
    length: usize,
}

impl<'a> Tag<'a> {
    fn read(text: &'a str) -> Option<Self> {
        // `<\/p>` stands in scripts.
        let start = if text.starts_with("\\/") { 2 } else { usize::from(text.starts_with('/')) };
        let bytes = text.as_bytes();
        if !bytes.get(start).is_some_and(u8::is_ascii_alphabetic) {
            return None;
        }
        let ends_name = |b: &u8| b.is_ascii_whitespace() || matches!(b, b'/' | b'>');
        let name = bytes[start..].iter().position(ends_name).unwrap_or(bytes.len() - start);
        let (attributes, length) = attributes(bytes, start + name);
        let closed = length >= 2 && bytes[length - 2] == b'/';
        let name = text.get(start..start + name)?;
        Some(Self { name, ends: start > 0, closed, attributes, length })
    }

    fn is(&self, name: &str) -> bool {
        self.name.eq_ignore_ascii_case(name)
    }

    fn is_one_of(&self, names: &[&str]) -> bool {
        names.iter().any(|name| self.is(name))
    }
}

/// How many there are, and where the tag ends.
fn attributes(bytes: &[u8], mut at: usize) -> (usize, usize) {
    let mut count = 0;
    let mut between = true;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'>' => return (count, at + 1),
            b'=' => {
                at += 1;
                at += bytes[at..].iter().take_while(|b| b.is_ascii_whitespace()).count();
                if let Some(quote @ (b'"' | b'\'')) = bytes.get(at) {
                    let end = memchr::memchr(*quote, &bytes[at + 1..]);
                    at = end.map_or(bytes.len(), |end| at + 1 + end);
                } else {
                    at -= 1;
                }
                between = false;
            }
            b if b.is_ascii_whitespace() || *b == b'/' => between = true,
            _ => {
                count += usize::from(between);
                between = false;
            }
        }
        at += 1;
    }
    (count, bytes.len())
}

/// What is open, as far as tags tell.
struct Look<'a> {
    open: Vec<&'a str>,
    /// Open drawings: what is closed by `/>` in them is closed.
    drawings: usize,
}

impl<'a> Look<'a> {
    fn take(&mut self, tag: &Tag<'a>) {
        if tag.ends {
            let back = self.open.iter().rev().take(BACK).position(|open| tag.is(open));
            for _ in 0..back.map_or(0, |back| back + 1) {
                self.close();
            }
            return;
        }
        if tag.is_one_of(&VOID) || (tag.closed && self.drawings > 0) {
            return;
        }
        while self.is_ended_by(tag) {
            self.close();
        }
        self.drawings += usize::from(tag.is("svg") || tag.is("math"));
        self.open.push(tag.name);
    }

    fn close(&mut self) {
        let closed = self.open.pop();
        if closed.is_some_and(|c| c.eq_ignore_ascii_case("svg") || c.eq_ignore_ascii_case("math")) {
            self.drawings -= 1;
        }
    }

    fn is_ended_by(&self, tag: &Tag<'_>) -> bool {
        let Some(last) = self.open.last() else { return false };
        let is = |name: &&str| last.eq_ignore_ascii_case(name);
        let repeats = tag.is(last) && tag.is_one_of(&REPEATS);
        let row = tag.is("tr") && CELLS.iter().any(is);
        let cell = tag.is_one_of(&["td", "th"]) && (is(&"td") || is(&"th"));
        let item = tag.is_one_of(&["li", "div", "ul", "ol", "table", "dd", "dt"]) && is(&"p");
        let term = tag.is_one_of(&["dt", "dd"]) && (is(&"dt") || is(&"dd"));
        repeats || row || cell || item || term
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn usual_pages_are_tame_however_long() {
        for piece in [
            "<p>a",
            "<li>a",
            "<div class=x>a</div>",
            "<br>",
            "<tr><td>a<td>b",
            "<img src=a />",
            "<svg><path d='M0'/><path d='M1'/></svg>",
            "<option>a",
            "<dt>a<dd>b",
            "a < b ",
            "<script>x = '<div><div>'</script>",
            "<b><i>x</b></i>",
            "<li><p>a<p>b",
            "<SCRIPT>\"<div>\"</Script>",
        ] {
            assert!(is_tame(&piece.repeat(2_000)), "{piece}");
        }
        assert!(is_tame(&format!("{}x{}", "<div>".repeat(300), "</div>".repeat(300))));
    }

    #[test]
    fn what_would_pin_or_fill_the_parser_is_not() {
        let attributes: String = (0..300_000).map(|n| format!(" a{n}=1")).collect();
        for page in [
            "<path>".repeat(50_000),
            "<path/>".repeat(50_000),
            "<svg></svg><path/>".repeat(50_000),
            "<script>".repeat(500_000),
            "<div></x>".repeat(500_000),
            "<p>x".repeat(1_250_000),
            "<a></b>".repeat(100_000),
            "<style>".repeat(500),
            format!("<p{attributes}>"),
            "<b><p>".repeat(10_000),
        ] {
            assert!(!is_tame(&page), "{}", &page[..30]);
        }
    }

    proptest! {
        #[test]
        fn any_text_is_looked_at(html in "(<[/!\\\\]?(div|p|é|svg|script|)( [a-z]=?[\"' ]?)*/?>?|[é<>]){0,40}") {
            is_tame(&html);
        }
    }
}
