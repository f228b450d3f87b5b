//! CommonMark into styled text, with the styles that Telegram has.

use std::rc::Rc;

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag as Mark, TagEnd};
use selkie_channel_core::links;
use selkie_channel_core::table::Table;

use crate::styled::{Styled, Tag, Tags};

const RULE: &str = "———";
/// Lists deeper than this are not indented further: a phone is narrow, and input may be hostile.
const DEEPEST: usize = 8;

/// Renders Markdown. Raw HTML stays as it was written, headings become bold lines, tables fixed-width
/// text, images links.
pub fn render(markdown: &str) -> Styled {
    let options =
        Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TABLES | Options::ENABLE_TASKLISTS;
    let mut writer = Writer::default();
    for event in Parser::new_ext(markdown, options) {
        writer.event(event);
    }
    writer.out
}

#[derive(Default)]
struct Writer {
    out: Styled,
    /// For each open style whether it is shown; a second bold is not.
    open: Vec<bool>,
    /// The styles that are shown, outermost first: few, however deep the nesting.
    shown: Vec<Tag>,
    /// Line breaks owed before the next text.
    owed: usize,
    /// A quote ended: the breaks before the next text are outside it.
    quote_ended: bool,
    /// The next number of each open list; `None` for bullets.
    lists: Vec<Option<u64>>,
    /// Right behind a bullet: the item's first paragraph stands on the bullet's line.
    at_item: bool,
    table: Option<Table>,
    links: Vec<OpenLink>,
}

struct OpenLink {
    /// Where its text begins.
    start: usize,
    url: String,
    /// Telegram follows it.
    live: bool,
    image: bool,
}

impl Writer {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(mark) => self.start(mark),
            Event::End(mark) => self.end(mark),
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => self.text(&text),
            Event::InlineMath(text) | Event::DisplayMath(text) => self.text(&text),
            Event::FootnoteReference(text) => self.text(&text),
            Event::Code(text) => self.code(&text),
            Event::SoftBreak | Event::HardBreak => self.text("\n"),
            Event::Rule => {
                self.block();
                self.text(RULE);
            }
            Event::TaskListMarker(done) => self.text(if done { "☑ " } else { "☐ " }),
        }
    }

    fn start(&mut self, mark: Mark<'_>) {
        match mark {
            Mark::Paragraph | Mark::HtmlBlock => self.block(),
            Mark::Heading { .. } => {
                self.block();
                self.open(Tag::Bold);
            }
            Mark::BlockQuote(_) => {
                self.block();
                self.open(Tag::Quote);
            }
            Mark::CodeBlock(kind) => {
                self.block();
                self.open(Tag::Pre(language(&kind)));
            }
            Mark::List(first) => {
                self.owe(if self.lists.is_empty() { 2 } else { 1 });
                self.lists.push(first);
            }
            Mark::Item => self.item(),
            Mark::Emphasis => self.open(Tag::Italic),
            Mark::Strong => self.open(Tag::Bold),
            Mark::Strikethrough => self.open(Tag::Strike),
            Mark::Link { dest_url, .. } => self.link(&dest_url, false),
            Mark::Image { dest_url, .. } => self.link(&dest_url, true),
            Mark::Table(alignments) => {
                self.block();
                self.table = Some(Table::new(alignments));
            }
            Mark::TableHead | Mark::TableRow => self.in_table(Table::start_row),
            Mark::TableCell => self.in_table(Table::start_cell),
            _ => {}
        }
    }

    fn end(&mut self, mark: TagEnd) {
        match mark {
            TagEnd::Heading(_) | TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough => {
                self.close();
            }
            TagEnd::BlockQuote(_) => {
                self.close();
                self.quote_ended = true;
            }
            TagEnd::CodeBlock => {
                self.trim_line_end();
                self.close();
            }
            TagEnd::HtmlBlock => self.trim_line_end(),
            TagEnd::List(_) => {
                self.lists.pop();
            }
            TagEnd::Item => self.at_item = false,
            TagEnd::Link | TagEnd::Image => self.end_link(),
            TagEnd::Table => self.end_table(),
            _ => {}
        }
    }

    /// Begins a block: a blank line before it, or a mere new line inside a list.
    fn block(&mut self) {
        if self.at_item {
            return;
        }
        self.owe(if self.lists.is_empty() { 2 } else { 1 });
    }

    fn owe(&mut self, breaks: usize) {
        self.at_item = false;
        self.owed = self.owed.max(breaks);
    }

    fn item(&mut self) {
        self.owe(1);
        let indent = "  ".repeat(self.lists.len().saturating_sub(1).min(DEEPEST));
        let bullet = match self.lists.last_mut() {
            Some(Some(number)) => {
                *number += 1;
                format!("{indent}{}. ", *number - 1)
            }
            _ => format!("{indent}• "),
        };
        self.text(&bullet);
        self.at_item = true;
    }

    fn text(&mut self, text: &str) {
        if let Some(table) = &mut self.table {
            table.text(text);
            return;
        }
        let tags = self.tags();
        self.pay(&tags);
        self.out.push(text, &tags);
    }

    fn code(&mut self, text: &str) {
        self.open(Tag::Code);
        self.text(text);
        self.close();
    }

    /// Writes the line breaks that are owed, inside a quote when both sides stand in the same one.
    fn pay(&mut self, next: &Tags) {
        if self.owed > 0 && !self.out.text().is_empty() {
            let quoted = |tags: &[Tag]| tags.contains(&Tag::Quote);
            let inside = !self.quote_ended && quoted(self.out.last_tags()) && quoted(next);
            let tags: Tags = if inside { Rc::new([Tag::Quote]) } else { Rc::new([]) };
            self.out.push(&"\n".repeat(self.owed), &tags);
        }
        self.owed = 0;
        self.at_item = false;
        self.quote_ended = false;
    }

    /// Telegram nests no style twice, and nothing in code: code inside a link stays a link.
    fn open(&mut self, tag: Tag) {
        let any = |wanted: fn(&Tag) -> bool| self.shown.iter().any(wanted);
        let hidden = self.shown.contains(&tag)
            || any(|t| matches!(t, Tag::Pre(_) | Tag::Code))
            || (tag == Tag::Code && any(|t| matches!(t, Tag::Link(_))));
        self.open.push(!hidden);
        if !hidden {
            self.shown.push(tag);
        }
    }

    fn close(&mut self) {
        if self.open.pop() == Some(true) {
            self.shown.pop();
        }
    }

    fn tags(&self) -> Tags {
        let code = self.shown.iter().any(|tag| matches!(tag, Tag::Code | Tag::Pre(_)));
        let fits = |tag: &&Tag| !code || matches!(tag, Tag::Code | Tag::Pre(_) | Tag::Quote);
        self.shown.iter().filter(fits).cloned().collect()
    }

    fn link(&mut self, url: &str, image: bool) {
        let start = self.out.text().len();
        // Inside another link or a table there is nothing to follow.
        let live = follows(url) && self.links.is_empty() && self.table.is_none();
        if live {
            self.open(Tag::Link(url.to_owned()));
        }
        self.links.push(OpenLink { start, url: url.to_owned(), live, image });
    }

    fn end_link(&mut self) {
        let Some(link) = self.links.pop() else { return };
        let written = self.out.text().get(link.start..).unwrap_or_default().trim();
        let poses = link.live && links::poses(written, &link.url);
        let wordless = self.table.is_none() && written.is_empty();
        if wordless {
            let words = if link.image { "image" } else { link.url.as_str() };
            self.text(words);
        } else if !link.live && self.links.is_empty() && written != link.url {
            self.text(&format!(" ({})", link.url));
        }
        if link.live {
            self.close();
            if poses {
                self.text(&format!(" ({})", link.url));
            }
        }
    }

    fn in_table(&mut self, change: fn(&mut Table)) {
        if let Some(table) = &mut self.table {
            change(table);
        }
    }

    fn end_table(&mut self) {
        let Some(table) = self.table.take() else { return };
        self.open(Tag::Pre(None));
        self.text(&table.lines());
        self.close();
    }

    fn trim_line_end(&mut self) {
        if self.owed == 0 && self.out.text().ends_with('\n') {
            self.out.pop(1);
        }
    }
}

/// Whether it becomes a link; anything else is shown as text. Telegram's own scheme does not: it mentions people
/// (`tg://user?id=…`) and presses buttons.
fn follows(url: &str) -> bool {
    let scheme = url.split_once(':').map(|(scheme, _)| scheme.to_ascii_lowercase());
    let known = matches!(scheme.as_deref(), Some("http" | "https" | "mailto" | "tel"));
    known && !url.contains(char::is_whitespace) && url.len() <= 2048
}

fn language(kind: &CodeBlockKind<'_>) -> Option<String> {
    let CodeBlockKind::Fenced(info) = kind else { return None };
    let word = info.split([' ', ',', '{']).next().unwrap_or_default();
    let plain = |c: char| c.is_ascii_alphanumeric() || "+#_.-".contains(c);
    (!word.is_empty() && word.len() <= 32 && word.chars().all(plain)).then(|| word.to_owned())
}
