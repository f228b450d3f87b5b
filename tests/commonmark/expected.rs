//! A case's HTML as a platform would show it: its text, and those of its marks that the platform has.

use std::rc::Rc;

use crate::cases::Case;
use crate::channels::Platform;
use crate::seen::{Marks, SeenText, percent};

/// Reads the HTML of a case. A tag that stands in the Markdown itself is raw HTML, which people see as it was written.
pub fn read(case: &Case, platform: &Platform) -> String {
    let mut page = Page::new(platform);
    let mut rest = case.html.as_str();
    while !rest.is_empty() {
        let end = rest.find('>').filter(|_| rest.starts_with('<')).map(|end| end + 1);
        let (piece, behind) = rest.split_at(end.unwrap_or_else(|| text_end(rest)));
        match end {
            Some(_) if piece.starts_with("<br") => page.text("\n"),
            Some(_) if is_known(piece) && !case.markdown.contains(piece) => page.tag(piece),
            Some(_) => page.text(piece),
            None => page.text(&unescaped(piece)),
        }
        rest = behind;
    }
    page.out.map(platform.keeps);
    if case.is_table() { page.out.without_table().written() } else { page.out.written() }
}

struct Page<'p> {
    platform: &'p Platform,
    out: SeenText,
    marks: Vec<Marks>,
    /// The next number of each open list.
    lists: Vec<Option<u64>>,
    links: Vec<OpenLink>,
    /// Right behind a bullet.
    at_item: bool,
    cells: usize,
    in_table: bool,
    at_box: bool,
}

/// A link as far as it is read.
struct OpenLink {
    url: String,
    start: usize,
    is_live: bool,
}

impl<'p> Page<'p> {
    fn new(platform: &'p Platform) -> Self {
        Self {
            platform,
            out: SeenText::default(),
            marks: vec![Marks::default()],
            lists: Vec::new(),
            links: Vec::new(),
            at_item: false,
            cells: 0,
            in_table: false,
            at_box: false,
        }
    }

    fn now(&self) -> Marks {
        self.marks.last().cloned().unwrap_or_default()
    }

    fn text(&mut self, text: &str) {
        // White space between cells, and behind a task's box, is nobody's.
        if text.trim().is_empty() && (self.in_table || self.at_box) {
            return;
        }
        let text = if self.at_box { text.trim_start() } else { text };
        self.at_box = false;
        if !text.trim().is_empty() {
            self.at_item = false;
        }
        if !(self.at_item && text.trim().is_empty()) {
            self.out.push(text, &self.now());
        }
    }

    fn line(&mut self) {
        if !self.at_item && !self.out.ends_with_break() {
            self.out.push("\n", &Marks::default());
        }
    }

    fn open(&mut self, change: impl Fn(&mut Marks)) {
        let mut marks = self.now();
        change(&mut marks);
        self.marks.push(marks);
    }

    fn tag(&mut self, tag: &str) {
        let name = name(tag);
        match (name, tag.starts_with("</")) {
            ("p", _) => self.line(),
            ("table" | "thead" | "tbody" | "tr", is_end) => {
                self.in_table = name != "table" || !is_end;
                self.cells = 0;
                self.line();
            }
            ("em", false) => self.open(|marks| marks.italic = true),
            ("strong", false) => self.open(|marks| marks.bold = true),
            ("del", false) => self.open(|marks| marks.strike = true),
            ("code", false) => self.open(|marks| marks.code = !marks.pre),
            ("em" | "strong" | "del" | "code", true) => _ = self.marks.pop(),
            ("h1" | "h2" | "h3" | "h4" | "h5" | "h6", false) => {
                self.line();
                self.open(|marks| marks.bold = true);
            }
            ("pre", false) => {
                self.line();
                self.open(|marks| marks.pre = true);
            }
            ("blockquote", false) => {
                self.line();
                self.open(|marks| marks.quotes += 1);
            }
            ("h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "pre" | "blockquote", true) => {
                self.marks.pop();
                self.line();
            }
            ("ul", false) => self.lists.push(None),
            ("ol", false) => {
                let first = attribute(tag, "start").and_then(|first| first.parse().ok());
                self.lists.push(Some(first.unwrap_or(1)));
            }
            ("ul" | "ol", true) => _ = self.lists.pop(),
            ("li", false) => self.item(),
            ("li", true) => {
                self.at_item = false;
                self.line();
            }
            ("hr", _) => {
                self.line();
                self.text("———");
                self.line();
            }
            ("td" | "th", false) => {
                if self.cells > 0 {
                    self.text("| ");
                }
                self.cells += 1;
            }
            ("td" | "th", true) => self.out.push(" ", &Marks::default()),
            ("input", _) => {
                self.text(if tag.contains("checked") { "☑ " } else { "☐ " });
                self.at_box = true;
            }
            ("a", false) => self.link(&attribute(tag, "href").unwrap_or_default()),
            ("a", true) => self.end_link("a"),
            ("img", _) => {
                self.link(&attribute(tag, "src").unwrap_or_default());
                self.text(&attribute(tag, "alt").unwrap_or_default());
                self.end_link("img");
            }
            _ => {}
        }
    }

    fn item(&mut self) {
        self.at_item = false;
        self.line();
        let bullet = match self.lists.last_mut() {
            Some(Some(number)) => {
                *number += 1;
                format!("{}. ", *number - 1)
            }
            _ => "• ".to_owned(),
        };
        self.text(&bullet);
        self.at_item = true;
    }

    fn link(&mut self, url: &str) {
        let url = percent(url.as_bytes());
        let is_live = (self.platform.opens)(&url, !self.links.is_empty());
        self.open(|marks| {
            if is_live {
                marks.link = Some(Rc::from(url.as_str()));
            }
        });
        self.links.push(OpenLink { url, start: self.out.len(), is_live });
    }

    fn end_link(&mut self, name: &str) {
        let Some(link) = self.links.pop() else { return };
        let words = self.out.since(link.start);
        let is_empty = words.trim().is_empty();
        let stand_in = (self.platform.stand_in)(&link.url, name == "img");
        if let Some(words) = stand_in.as_ref().filter(|_| is_empty) {
            self.text(words);
        }
        self.marks.pop();
        let is_told = is_empty && stand_in.is_some();
        let is_nested = !self.links.is_empty();
        if !is_told && !link.is_live && (self.platform.explains)(&link.url, words.trim(), is_nested)
        {
            self.text(&format!(" ({})", link.url));
        }
    }
}

/// Where a text ends: before the next tag.
fn text_end(text: &str) -> usize {
    text.char_indices().skip(1).find(|(_, c)| *c == '<').map_or(text.len(), |(at, _)| at)
}

fn name(tag: &str) -> &str {
    let tag = tag.trim_start_matches(['<', '/']);
    &tag[..tag.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(tag.len())]
}

fn is_known(tag: &str) -> bool {
    const TAGS: &str = "p em strong del code pre h1 h2 h3 h4 h5 h6 blockquote ul ol li hr a img \
        table thead tbody tr td th input";
    TAGS.split_whitespace().any(|known| known == name(tag))
}

fn attribute(tag: &str, name: &str) -> Option<String> {
    let behind = tag.split_once(&format!(" {name}=\""))?.1;
    Some(unescaped(&behind[..behind.find('"')?]))
}

fn unescaped(text: &str) -> String {
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&")
}
