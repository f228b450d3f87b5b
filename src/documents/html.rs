//! A page as a tree and as words, in bounded time and memory whatever it holds.

use dom_query::{Document, NodeRef};

mod bounds;
mod parse;
mod words;

use bounds::{DEEPEST, end_of, is_tame};

pub(crate) use words::read;
pub use words::{title, words};

/// What a style sheet sets apart, and words alone do not.
const PIECES: [&str; 5] = ["a", "button", "label", "span", "time"];
/// What is shown as it is written; code is coloured in pieces.
const AS_WRITTEN: [&str; 3] = ["code", "pre", "textarea"];

/// Parses a page. `None` for one that no parser should follow: see [`stripped`].
pub fn parse(html: &str) -> Option<Document> {
    let page = is_tame(html).then(|| parse::parse(html)).filter(|page| !is_deep(page))?;
    set_apart(&page.root(), &page);
    Some(page)
}

/// Takes tags out by their brackets alone, scripts and styles with what they hold. One pass.
pub fn stripped(html: &str) -> String {
    let mut text = String::new();
    let mut rest = html;
    while let Some(at) = rest.find('<') {
        text.push_str(&rest[..at]);
        text.push(' ');
        let tag = &rest[at..];
        let silent = ["script", "style"]
            .into_iter()
            .find(|name| tag.get(1..=name.len()).is_some_and(|t| t.eq_ignore_ascii_case(name)));
        rest = match silent.map(|name| end_of(name, tag)) {
            // What is never ended is silent to the end.
            Some(None) => "",
            Some(Some(end)) => behind(&tag[end..]),
            None => behind(tag),
        };
    }
    text.push_str(rest);
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ")
}

fn behind(tag: &str) -> &str {
    tag.find('>').map_or("", |close| &tag[close + 1..])
}

/// Whether a tree is deeper than what follows it may go.
fn is_deep(page: &Document) -> bool {
    let mut waiting = vec![(page.root(), 0)];
    while let Some((node, depth)) = waiting.pop() {
        if depth > DEEPEST {
            return true;
        }
        waiting.extend(node.children_it(false).map(|child| (child, depth + 1)));
    }
    false
}

/// Puts a space between two pieces that would be read as one word. As deep as a page may be.
fn set_apart(node: &NodeRef<'_>, page: &Document) {
    let mut before: Option<NodeRef<'_>> = None;
    for child in node.children() {
        let name = child.node_name().unwrap_or_default();
        let is_piece = PIECES.contains(&&*name);
        if let Some(before) = before.filter(|_| is_piece)
            && is_letter(&before, true)
            && is_letter(&child, false)
        {
            child.insert_before(&page.tree.new_text(" "));
        }
        if !AS_WRITTEN.contains(&&*name) {
            set_apart(&child, page);
        }
        before = is_piece.then_some(child);
    }
}

/// Whether what a node says ends, or begins, in a letter or a digit.
fn is_letter(node: &NodeRef<'_>, ends: bool) -> bool {
    let mut node = *node;
    while !node.is_text() {
        let next = if ends { node.last_child() } else { node.first_child() };
        let Some(next) = next else { return false };
        node = next;
    }
    let text = node.text();
    let edge = if ends { text.chars().next_back() } else { text.chars().next() };
    edge.is_some_and(char::is_alphanumeric)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_only_a_style_sets_apart_is_no_word() {
        let read = |html: &str| words(&parse(html).unwrap());
        assert_eq!(read("<div><span>Mon</span><span><b>9</b></span></div>"), "Mon 9\n");
        assert_eq!(read("<a href=a>Home</a><a href=b>About</a>"), "Home About\n");
        assert_eq!(
            read("<span>a</span>b <span>O</span>nce <span>f</span><span>(</span>"),
            "ab Once f(\n"
        );
        assert_eq!(read("<pre><span>ab</span><span>cd</span></pre>"), "abcd\n");
    }

    #[test]
    fn a_page_without_a_floor_has_no_tree() {
        let html = format!("{}deep{}", "<div>".repeat(300_000), "</div>".repeat(300_000));
        assert!(parse(&html).is_none());
        assert_eq!(stripped(&html), "deep");
        assert_eq!(read(&html).text, "deep");
    }

    proptest! {
        #[test]
        fn any_page_is_read(html in "(<(/?)(div|p|head|script|span|a|pre|td|li|h1|h|!--)?( a=x)?>?|[a-zé<&#; ]{0,6}){0,40}") {
            drop(read(&html));
            prop_assert!(!stripped(&html).contains("<div>"));
        }
    }
}
