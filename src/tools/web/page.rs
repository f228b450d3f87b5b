//! A page as its server sent it → what a reader wants of it.

use dom_query::Document;
use dom_smoothie::{Config, Readability, TextMode};
use reqwest::Url;
use reqwest::header::{CONTENT_TYPE, HeaderMap};
use selkie_documents::encoding;
use serde::{Deserialize, Serialize};

use super::bounds::{DEEPEST, end_of, is_tame};
use super::parse::parse;

/// Lines of one answer.
const LINES: usize = 2_000;
/// Bytes of one answer.
const BYTES: usize = 50 * 1024;

/// The form of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// With headings, links and lists.
    Markdown,
    /// Words alone.
    Text,
    /// What a browser shows, without what stands around it.
    Html,
}

/// Returns the content type without its parameters, in small letters.
pub(super) fn content_type(headers: &HeaderMap) -> String {
    let value =
        headers.get(CONTENT_TYPE).map(|v| String::from_utf8_lossy(v.as_bytes()).into_owned());
    let value = value.unwrap_or_default().to_lowercase();
    value.split(';').next().unwrap_or_default().trim().to_owned()
}

/// Reads a body as text in the charset that its server or it itself says, else in the one that it looks like.
pub(super) fn text_of(headers: &HeaderMap, body: &[u8]) -> String {
    let said = headers.get(CONTENT_TYPE).and_then(|v| v.to_str().ok());
    encoding::decode_as(body, said.and_then(charset)).text
}

/// Whether a body of this type may be text.
pub(super) fn may_be_text(content_type: &str) -> bool {
    let by_type = content_type.starts_with("text/")
        || ["json", "xml", "javascript", "yaml", "x-www-form-urlencoded"]
            .iter()
            .any(|kind| content_type.ends_with(kind));
    by_type || content_type.is_empty()
}

/// Whether a body is text at all.
pub(super) fn is_text(content_type: &str, body: &[u8]) -> bool {
    let head = &body[..body.len().min(512)];
    may_be_text(content_type) && (!head.contains(&0) || encoding::is_wide(head))
}

/// Whether a body is a web page.
pub(super) fn is_html(content_type: &str, text: &str) -> bool {
    let head = text.trim_start();
    let looks = head.get(..14).is_some_and(|h| h.eq_ignore_ascii_case("<!doctype html"))
        || head.get(..5).is_some_and(|h| h.eq_ignore_ascii_case("<html"));
    let looks = looks || content_type.is_empty() && begins_with_tag(head);
    content_type.contains("html") || (looks && !content_type.ends_with("json"))
}

/// Whether a text whose kind nobody says begins as a piece of a web page does.
fn begins_with_tag(head: &str) -> bool {
    const TAGS: [&str; 24] = [
        "a", "article", "b", "body", "br", "div", "font", "form", "h1", "h2", "h3", "head", "i",
        "img", "main", "ol", "p", "script", "section", "span", "style", "table", "title", "ul",
    ];
    if head.starts_with("<!--") {
        return true;
    }
    let Some(rest) = head.strip_prefix('<') else { return false };
    let end = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
    let closed = rest[end..].starts_with(['>', ' ', '/', '\n', '\t', '\r']);
    closed && TAGS.contains(&&*rest[..end].to_ascii_lowercase())
}

/// Takes out of a page what is to be read. A page that no parser should follow is read as plain text.
pub(crate) fn readable(html: &str, url: &Url, format: Format) -> String {
    if !is_tame(html) {
        return stripped(html);
    }
    let page = parse(html);
    if is_deep(&page) {
        return stripped(html);
    }
    let text_mode = match format {
        Format::Markdown => TextMode::Markdown,
        Format::Text | Format::Html => TextMode::Formatted,
    };
    let config = Config { text_mode, ..Config::default() };
    let article = Readability::with_document(page, Some(url.as_str()), Some(config))
        .and_then(|mut r| r.parse());
    let (title, content) = match article {
        Ok(article) => {
            let content = match format {
                Format::Html => article.content,
                Format::Markdown | Format::Text => article.text_content,
            };
            (article.title, content.to_string())
        }
        // Too little text for an article: all of it, then.
        Err(_) => whole(&parse(html), format),
    };
    let title = title.trim();
    let content = content.trim();
    match format {
        _ if title.is_empty() || content.starts_with(&format!("# {title}")) => content.to_owned(),
        Format::Markdown => format!("# {title}\n\n{content}"),
        Format::Text => format!("{title}\n\n{content}"),
        Format::Html => format!("<h1>{title}</h1>\n{content}"),
    }
}

/// Cuts text to what an answer may hold, and says so.
pub(crate) fn cut(text: &str) -> String {
    let by_lines = text.match_indices('\n').nth(LINES - 1).map_or(text.len(), |(at, _)| at);
    let end = text.floor_char_boundary(by_lines.min(BYTES));
    if end == text.len() {
        return text.to_owned();
    }
    let lines = text[..end].lines().count();
    let all = text.lines().count();
    format!(
        "{}\n[Cut: {lines} of {all} lines, {end} of {} bytes are shown. Ask with a prompt for what you want of \
         the page, or fetch it with url_fetch and download_path.]",
        &text[..end],
        text.len()
    )
}

fn charset(text: &str) -> Option<&str> {
    let at = text.find("charset=").or_else(|| text.find("CHARSET="))?;
    let value = text[at + 8..].trim_start_matches(['"', '\'', ' ']);
    let end = value.find(|c: char| !(c.is_ascii_alphanumeric() || "-_:.".contains(c)));
    Some(&value[..end.unwrap_or(value.len())]).filter(|label| !label.is_empty())
}

fn whole(page: &Document, format: Format) -> (String, String) {
    let title = page.select("title").text().to_string();
    page.select("script, style, noscript, template, svg, head").remove();
    let body = page.select("body");
    let content = match format {
        Format::Html => body.inner_html().to_string(),
        Format::Text => page.formatted_text().to_string(),
        Format::Markdown => page.md(None).to_string(),
    };
    (title, content)
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

/// Takes tags out by their brackets alone, scripts and styles with what they hold. One pass.
fn stripped(html: &str) -> String {
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn url() -> Url {
        Url::parse("https://example.com/a/").unwrap()
    }

    #[test]
    fn a_page_is_known_by_its_beginning_when_nobody_says_what_it_is() {
        for page in ["<p>Hi</p>", " <DIV class=x>", "<!-- a -->", "<br/>", "<!doctype html>"] {
            assert!(super::is_html("", page), "{page}");
        }
        for none in ["<pre-release> 1", "a < b", "<?xml version='1.0'?>", "<p", "<note>x</note>"] {
            assert!(!super::is_html("", none), "{none}");
        }
        assert!(!super::is_html("text/plain", "<p>Hi</p>"), "what is said is believed");
    }

    #[test]
    fn an_article_is_read_without_what_stands_around_it() {
        let words =
            "A tea garden is a place where people drink tea, slowly, and talk of the weather. "
                .repeat(8);
        let html = format!(
            "<html><head><title>Tea</title><style>p {{}}</style></head><body><nav><a href=/x>Menu</a></nav>\
             <article><h2>Leaves</h2><p>{words}</p><p>See <a href='b.html'>the other page</a>.</p>\
             <table><tr><th>Sort</th><th>Minutes</th></tr><tr><td>Green</td><td>2</td></tr></table>\
             <pre><code>boil()</code></pre><p>{words}</p></article><script>track()</script>\
             <footer>Cookies</footer></body></html>"
        );
        let page = readable(&html, &url(), Format::Markdown);
        for wanted in [
            "# Tea",
            "## Leaves",
            "[the other page](https://example.com/a/b.html)",
            "Green",
            "boil()",
        ] {
            assert!(page.contains(wanted), "{wanted} is not in {page}");
        }
        for unwanted in ["Menu", "track()", "Cookies", "<p>"] {
            assert!(!page.contains(unwanted), "{unwanted} is in {page}");
        }
        assert!(readable(&html, &url(), Format::Html).contains("<p>"));
        assert!(!readable(&html, &url(), Format::Text).contains("]("));
    }

    #[test]
    fn a_short_page_is_read_whole() {
        let html = "<title>T</title><script>x</script><p>One <b>word</b></p><ul><li>a<li>b</ul>";
        let page = readable(html, &url(), Format::Markdown);
        assert!(
            page.starts_with("# T") && page.contains("**word**") && !page.contains('x'),
            "{page}"
        );
    }

    #[test]
    fn a_page_without_a_floor_does_not_end_the_daemon() {
        let html = format!("{}deep{}", "<div>".repeat(300_000), "</div>".repeat(300_000));
        assert_eq!(readable(&html, &url(), Format::Markdown), "deep");
    }

    #[test]
    fn charsets_are_believed() {
        let headers = |value: &str| HeaderMap::from_iter([(CONTENT_TYPE, value.parse().unwrap())]);
        assert_eq!(text_of(&headers("text/html; charset=ISO-8859-1"), b"caf\xe9"), "café");
        assert_eq!(text_of(&headers("text/html; charset=\"shift_jis\""), b"\x82\xa0"), "あ");
        assert_eq!(
            text_of(&headers("text/html"), b"<meta charset='windows-1252'>\x80"),
            "<meta charset='windows-1252'>€"
        );
        assert_eq!(text_of(&headers("text/html"), b"caf\xe9"), "café");
    }

    proptest! {
        #[test]
        fn nothing_is_longer_than_an_answer(text in "(.{0,40}\n){0,60}", times in 1_usize..200) {
            let text = text.repeat(times);
            let cut = cut(&text);
            prop_assert!(cut.len() <= BYTES + 300 && cut.lines().count() <= LINES + 1);
            prop_assert_eq!(cut == text, text.len() <= BYTES && text.matches('\n').count() < LINES);
        }

        #[test]
        fn any_page_is_read(html in "(<(/?)(div|p|a|script|table|tr|td|b|style|!--)( href=x)?>|[a-z<&; ]{0,6}){0,40}") {
            for format in [Format::Markdown, Format::Text, Format::Html] {
                drop(readable(&html, &url(), format));
            }
            prop_assert!(!stripped(&html).contains("<div>"));
        }
    }
}
