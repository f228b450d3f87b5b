//! HTML as text: a pass over its tags that never fails, whatever they are.

use mail_parser::decoders::html::add_html_token;

/// Elements that begin and end lines.
const BLOCKS: [&str; 34] = [
    "address",
    "article",
    "aside",
    "blockquote",
    "body",
    "br",
    "caption",
    "center",
    "dd",
    "div",
    "dl",
    "dt",
    "figcaption",
    "figure",
    "footer",
    "form",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "header",
    "hr",
    "li",
    "main",
    "nav",
    "ol",
    "p",
    "pre",
    "section",
    "table",
    "tr",
    "ul",
];
/// Elements whose text nobody sees.
const SILENT: [&str; 6] = ["head", "title", "script", "style", "template", "noscript"];
/// The longest entity, in bytes.
const ENTITY: usize = 40;

/// A page's title, and its text.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct PageText {
    pub(crate) title: String,
    pub(crate) text: String,
}

/// Reads a page.
pub(crate) fn read(html: &str) -> PageText {
    let mut page = PageText::default();
    let mut rest = html;
    while let Some(at) = rest.find('<') {
        words(&rest[..at], &mut page.text);
        let tag = &rest[at..];
        if let Some(comment) = tag.strip_prefix("<!--") {
            rest = comment.find("-->").map_or("", |end| &comment[end + 3..]);
            continue;
        }
        if !tag[1..].starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '/' | '!' | '?'))
        {
            page.text.push('<');
            rest = &tag[1..];
            continue;
        }
        let close = tag.find('>').map_or(tag.len(), |at| at + 1);
        let inner = tag[1..close].trim_end_matches('>');
        rest = &tag[close..];
        let name = name_of(inner);
        if SILENT.contains(&&*name) && !inner.starts_with('/') && !inner.ends_with('/') {
            let end = end_of(rest, &name);
            match &*name {
                "head" => page.title = title(&rest[..end]),
                "title" => page.title = line(&rest[..end]),
                _ => {}
            }
            rest = &rest[end..];
        } else {
            opened(&name, inner, &mut page.text);
        }
    }
    words(rest, &mut page.text);
    page.text = lines(&page.text);
    page
}

fn name_of(tag: &str) -> String {
    let tag = tag.trim_start_matches('/');
    let end = tag.find(|c: char| !c.is_ascii_alphanumeric() && c != ':').unwrap_or(tag.len());
    tag[..end.min(16)].to_ascii_lowercase()
}

/// What a tag does to the text.
fn opened(name: &str, tag: &str, text: &mut String) {
    let is_end = tag.starts_with('/');
    if BLOCKS.contains(&name) && !text.ends_with('\n') {
        text.push('\n');
    }
    match name {
        "li" if !is_end => text.push_str("- "),
        "td" | "th" if is_end => text.push_str(" | "),
        "h1" | "h2" | "h3" | "h4" | "h5" | "h6" if !is_end => {
            text.push_str(&"######"[..usize::from(name.as_bytes()[1] - b'0')]);
            text.push(' ');
        }
        _ => {}
    }
}

/// Adds what is said between two tags: white space is one space, entities are what they stand for.
fn words(said: &str, text: &mut String) {
    let mut rest = said;
    while let Some(at) = rest.find('&') {
        spaced(&rest[..at], text);
        let entity = &rest[at..];
        let end = entity.bytes().take(ENTITY).position(|byte| byte == b';');
        match end
            .filter(|end| entity[1..*end].bytes().all(|b| b.is_ascii_alphanumeric() || b == b'#'))
        {
            Some(end) => {
                add_html_token(text, &entity.as_bytes()[..=end], false);
                rest = &entity[end + 1..];
            }
            None => {
                text.push('&');
                rest = &entity[1..];
            }
        }
    }
    spaced(rest, text);
}

fn spaced(said: &str, text: &mut String) {
    for c in said.chars() {
        match c.is_whitespace() {
            true if text.ends_with(char::is_whitespace) => {}
            true => text.push(' '),
            false => text.push(c),
        }
    }
}

/// Where what is silent ends.
fn end_of(rest: &str, name: &str) -> usize {
    let mut at = 0;
    while let Some(found) = rest[at..].find("</") {
        let here = at + found;
        let end = rest.get(here + 2..here + 2 + name.len());
        // A page that forgets to end its head shows what stands in its body.
        if end.is_some_and(|end| end.eq_ignore_ascii_case(name)) {
            return here;
        }
        at = here + 2;
    }
    match (name, rest.find("<body")) {
        ("head", Some(body)) => body,
        _ => rest.len(),
    }
}

fn title(head: &str) -> String {
    let Some(begin) = head.find("<title").or_else(|| head.find("<TITLE")) else {
        return String::new();
    };
    let Some(at) = head[begin..].find('>') else { return String::new() };
    let rest = &head[begin + at + 1..];
    line(&rest[..rest.find("</").unwrap_or(rest.len())])
}

fn line(said: &str) -> String {
    let mut line = String::new();
    words(said, &mut line);
    line.trim().to_owned()
}

/// Lines without what stands at their ends, and no empty ones but one between two.
fn lines(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && *line != "-") {
        out.push_str(line.trim_end_matches(" |"));
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_page_is_read_as_people_see_it() {
        let page = read(
            "<!doctype html><html><head><title>Tea &amp; more</title><style>p { x }</style></head><body><!-- no -->\
             <h2>Leaves</h2><p>Green\n  &eacute; 5 < 7 &unknown; R&D</p><ul><li>one<li>two</ul><script>x('<p>')</script>\
             <table><tr><td>a</td><td>b</td></tr></table></body>",
        );
        assert_eq!(page.title, "Tea & more");
        assert_eq!(page.text, "## Leaves\nGreen é 5 < 7 &unknown; R&D\n- one\n- two\na | b\n");
    }

    proptest! {
        #[test]
        fn any_page_is_read(html in "(<(/?)(div|p|head|script|td|li|h1|h|!--)?( a=x)?>?|[a-zé<&#; ]{0,6}){0,40}") {
            drop(read(&html));
        }
    }
}
