//! A page as words: a line a block, headings and points with their marks, a row of a table in one line.

use dom_query::{Document, NodeRef};

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

/// A page's title, and its text.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct PageText {
    pub(crate) title: String,
    pub(crate) text: String,
}

/// Reads a page, whatever it is.
pub(crate) fn read(html: &str) -> PageText {
    match super::parse(html) {
        Some(page) => PageText { title: title(&page), text: words(&page) },
        None => PageText { title: String::new(), text: super::stripped(html) },
    }
}

/// Returns a page's title, on one line.
pub fn title(page: &Document) -> String {
    let mut title = String::new();
    spaced(&page.select_single("title").text(), &mut title);
    title.trim_end().to_owned()
}

/// Returns what people read on a page: lines without what stands at their ends, and no empty ones.
pub fn words(page: &Document) -> String {
    let mut text = String::new();
    write(&page.root(), false, &mut text);
    let mut out = String::with_capacity(text.len());
    for line in text.lines().map(str::trim_end) {
        if !matches!(line.trim_start(), "" | "-") {
            out.push_str(line.trim_end_matches(" |"));
            out.push('\n');
        }
    }
    out
}

/// Writes what stands in a node; `as_written`: white space counts. As deep as a page may be.
fn write(node: &NodeRef<'_>, as_written: bool, text: &mut String) {
    for child in node.children_it(false) {
        if child.is_text() {
            match as_written {
                true => text.push_str(&child.text()),
                false => spaced(&child.text(), text),
            }
            continue;
        }
        let Some(name) = child.node_name().filter(|name| !SILENT.contains(&&**name)) else {
            continue;
        };
        let is_block = BLOCKS.contains(&&*name);
        if is_block {
            begin_line(text);
        }
        match &*name {
            "li" => text.push_str("- "),
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => {
                text.push_str(&"######"[..usize::from(name.as_bytes()[1] - b'0')]);
                text.push(' ');
            }
            _ => {}
        }
        write(&child, as_written || &*name == "pre", text);
        match &*name {
            "td" | "th" => text.push_str(" | "),
            _ if is_block => begin_line(text),
            _ => {}
        }
    }
}

/// What stands in a point begins behind its mark.
fn begin_line(text: &mut String) {
    if !text.is_empty() && !text.ends_with('\n') && !text.ends_with("\n- ") && text != "- " {
        text.push('\n');
    }
}

/// Adds words: white space is one space, and none where a line begins.
fn spaced(said: &str, text: &mut String) {
    for c in said.chars() {
        match c.is_whitespace() {
            true if text.is_empty() || text.ends_with(char::is_whitespace) => {}
            true => text.push(' '),
            false => text.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_read_as_people_see_it() {
        let page = read(
            "<!doctype html><html><head><title>Tea &amp; more</title><style>p { x }</style></head><body><!-- no -->\
             <h2>Leaves</h2><p>Green\n  &eacute; 5 < 7 &unknown; R&D</p><ul><li>one<li><p>two</ul><script>x('<p>')</script>\
             <svg><title>no</title></svg><table><tr><td>a</td><td>b</td></tr></table></body>",
        );
        assert_eq!(page.title, "Tea & more");
        assert_eq!(page.text, "## Leaves\nGreen é 5 < 7 &unknown; R&D\n- one\n- two\na | b\n");
    }

    #[test]
    fn terms_and_code_keep_their_lines() {
        let page = read(
            "<dl><dt>Mon<dd>9<dt>Tue<dd>10</dl><ul><li>a</ul>\n<pre>if x:\n    y()</pre><a href=x>on</a>",
        );
        assert_eq!(page.text, "Mon\n9\nTue\n10\n- a\nif x:\n    y()\non\n");
    }
}
