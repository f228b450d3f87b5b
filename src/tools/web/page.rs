//! A page as its server sent it → what a reader wants of it.

use dom_query::Document;
use dom_smoothie::{Config, Readability, TextMode};
use reqwest::Url;
use reqwest::header::{CONTENT_TYPE, HeaderMap};
use selkie_documents::{encoding, html};
use serde::{Deserialize, Serialize};

/// Lines of one answer.
const LINES: usize = 2_000;
/// Bytes of one answer.
const BYTES: usize = 50 * 1024;

/// Said of a page that a browser would have to run.
const SCRIPTED: &str = "(The page has no text of its own: its scripts would put it there in a browser, and no browser runs \
    here. The same may be found at another address: a feed, an API, a page for print.)";

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
    let Some(page) = html::parse(html) else { return html::stripped(html) };
    if html::words(&page).is_empty() && page.select_single("script").exists() {
        return format!("{}\n\n{SCRIPTED}", html::title(&page)).trim_start().to_owned();
    }
    let text_mode = match format {
        Format::Markdown => {
            terms_as_paragraphs(&page);
            TextMode::Markdown
        }
        Format::Text | Format::Html => TextMode::Raw,
    };
    let config = Config { text_mode, ..Config::default() };
    let article = Readability::with_document(page, Some(url.as_str()), Some(config))
        .and_then(|mut r| r.parse());
    let (title, content) = match article {
        Ok(article) => {
            let content = match format {
                Format::Html => article.content.to_string(),
                Format::Markdown => article.text_content.to_string(),
                Format::Text => in_words(&article.content),
            };
            (article.title, content)
        }
        // Too little text for an article: all of it, then.
        Err(_) => whole(html, format),
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

fn whole(html: &str, format: Format) -> (String, String) {
    let Some(page) = html::parse(html) else { return (String::new(), html::stripped(html)) };
    page.select("script, style, noscript, template, svg").remove();
    let content = match format {
        Format::Html => page.select("body").inner_html().to_string(),
        Format::Text => html::words(&page),
        Format::Markdown => {
            terms_as_paragraphs(&page);
            page.md(None).to_string()
        }
    };
    (html::title(&page), content)
}

fn in_words(html: &str) -> String {
    html::parse(html).map_or_else(|| html::stripped(html), |page| html::words(&page))
}

/// Markdown has no terms.
fn terms_as_paragraphs(page: &Document) {
    page.select("dt, dd").rename("p");
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
    fn a_page_of_scripts_alone_says_that_it_needs_a_browser() {
        let html = "<title>Kiosk</title><div id=app></div><noscript>Enable it.</noscript><script src=a.js></script>";
        let page = readable(html, &url(), Format::Markdown);
        assert_eq!(page, format!("Kiosk\n\n{SCRIPTED}"));
        assert_eq!(readable("<title>T</title><p>a</p><script>", &url(), Format::Text), "T\n\na");
    }

    #[test]
    fn nothing_runs_together_and_no_gap_is_wide() {
        let html = "<dl><dt>Mon</dt><dd>9</dd></dl><div><span>Tue</span><span>10</span></div><ul><li>a</ul><a href=b>on</a>";
        let page = readable(html, &url(), Format::Markdown);
        assert_eq!(page, "Mon\n\n9\n\nTue 10\n\n- a\n\n[on](https://example.com/a/b)");
        assert_eq!(readable(html, &url(), Format::Text), "Mon\n9\nTue 10\n- a\non");
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
        }
    }
}
