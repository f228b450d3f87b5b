//! CommonMark into styled text: blocks and the lines between them, lists, tables, links.

use std::rc::Rc;

use pulldown_cmark::{
    CodeBlockKind, CowStr, Event, LinkType, Options, Parser, Tag as Mark, TagEnd,
};

use super::dialect::{Dialect, Link, LinkKind, Tables};
use super::text::{StyledText, Tag};
use crate::table::Table;

const RULE: &str = "———";
/// Lists deeper than this are not indented further, quotes not marked again: a phone is narrow, and input may be
/// hostile.
const DEEPEST: usize = 8;
/// More styles at once than anybody can see.
const MAX_STYLES: usize = 24;

/// Reads Markdown. Raw HTML stays as it was written, headings become bold lines, images links.
pub fn read(markdown: &str, dialect: &Dialect) -> StyledText {
    let options =
        Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TABLES | Options::ENABLE_TASKLISTS;
    let mut reader = Reader::new(dialect);
    for event in Parser::new_ext(markdown, options) {
        reader.event(event);
    }
    reader.out
}

struct Reader<'d> {
    dialect: &'d Dialect,
    out: StyledText,
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
    /// The open links, and where the words of each begin.
    links: Vec<(Link, usize)>,
    fence: Option<Fence>,
}

/// The fence of a block of code.
struct Fence {
    /// What stands behind it.
    info: String,
    /// Where its code begins.
    at: usize,
}

impl<'d> Reader<'d> {
    fn new(dialect: &'d Dialect) -> Self {
        Self {
            dialect,
            out: StyledText::default(),
            open: Vec::new(),
            shown: Vec::new(),
            owed: 0,
            quote_ended: false,
            lists: Vec::new(),
            at_item: false,
            table: None,
            links: Vec::new(),
            fence: None,
        }
    }

    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(mark) => self.start(mark),
            Event::End(mark) => self.end(mark),
            Event::Text(text)
            | Event::Html(text)
            | Event::InlineHtml(text)
            | Event::InlineMath(text)
            | Event::DisplayMath(text)
            | Event::FootnoteReference(text) => self.text(&text),
            Event::Code(text) => {
                self.open(Tag::Code);
                self.text(&text);
                self.close();
            }
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
                self.code(kind);
            }
            Mark::List(first) => {
                self.owe(if self.lists.is_empty() { 2 } else { 1 });
                self.lists.push(first);
            }
            Mark::Item => self.item(),
            Mark::Emphasis => self.open(Tag::Italic),
            Mark::Strong => self.open(Tag::Bold),
            Mark::Strikethrough => self.open(Tag::Strike),
            Mark::Link { dest_url, link_type: LinkType::Autolink, .. } => {
                self.link(dest_url, LinkKind::Bare);
            }
            Mark::Link { dest_url, .. } => self.link(dest_url, LinkKind::Words),
            Mark::Image { dest_url, .. } => self.link(dest_url, LinkKind::Image),
            Mark::Table(alignments) => {
                self.block();
                if self.dialect.tables == Tables::Rows {
                    self.owe(1);
                }
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
                if self.dialect.behind_quote > 0 {
                    self.owe(self.dialect.behind_quote);
                }
            }
            TagEnd::CodeBlock => self.end_code(),
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
        if !self.at_item {
            self.owe(if self.lists.is_empty() { 2 } else { 1 });
        }
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
        self.pay();
        self.out.push(text, &self.shown);
    }

    /// Writes the line breaks that are owed, inside a quote when both sides stand in the same one.
    fn pay(&mut self) {
        if self.owed > 0 && !self.out.text().is_empty() {
            let quoted = |tags: &[Tag]| tags.contains(&Tag::Quote);
            let inside = !self.quote_ended && quoted(self.out.last_tags()) && quoted(&self.shown);
            let tags: &[Tag] = if inside { &[Tag::Quote, Tag::Gap] } else { &[Tag::Gap] };
            self.out.push(&"\n".repeat(self.owed), tags);
        }
        self.owed = 0;
        self.at_item = false;
        self.quote_ended = false;
    }

    fn open(&mut self, tag: Tag) {
        let same = self.shown.iter().filter(|shown| **shown == tag).count();
        let most = if tag == Tag::Quote { DEEPEST } else { 1 };
        let is_shown = same < most && self.shown.len() < MAX_STYLES;
        self.open.push(is_shown);
        if is_shown {
            self.shown.push(tag);
        }
    }

    fn close(&mut self) {
        if self.open.pop() == Some(true) {
            self.shown.pop();
        }
    }

    /// What stands behind a fence is words, too, where it is more than a language and its attributes: three backticks
    /// in the middle of an answer open a fence, and nothing that was said may go missing.
    fn code(&mut self, kind: CodeBlockKind<'_>) {
        let CodeBlockKind::Fenced(info) = kind else { return self.open(Tag::Pre(None)) };
        if is_language(&info) {
            self.open(Tag::Pre(language(&info)));
            self.fence = Some(Fence { info: info.trim().to_owned(), at: self.out.text().len() });
        } else {
            self.open(Tag::Pre(None));
            self.text(&format!("{}\n", info.trim()));
        }
    }

    fn end_code(&mut self) {
        // A fence with nothing behind it is no code: its word is what there is.
        let alone = self.fence.take().filter(|fence| fence.at == self.out.text().len());
        if let Some(fence) = alone.filter(|fence| !fence.info.is_empty()) {
            self.text(&fence.info);
        }
        self.trim_line_end();
        self.close();
    }

    fn link(&mut self, url: CowStr<'_>, kind: LinkKind) {
        let nested = !self.links.is_empty();
        let in_table = self.table.is_some();
        let mut link = Link { url: Rc::from(&*url), kind, nested, in_table, live: false };
        link.live = (self.dialect.opens)(&link);
        if link.live {
            self.open(Tag::Link(Rc::clone(&link.url)));
        }
        let start = self.written().len();
        self.links.push((link, start));
    }

    fn end_link(&mut self) {
        let Some((link, start)) = self.links.pop() else { return };
        let words = self.written().get(start..).unwrap_or_default().trim();
        let stand_in = words.is_empty().then(|| (self.dialect.stand_in)(&link)).flatten();
        let explains = stand_in.is_none() && (self.dialect.explains)(&link, words);
        if let Some(words) = stand_in {
            self.text(&words);
        }
        if link.live {
            self.close();
        }
        if explains {
            self.text(&format!(" ({})", link.url));
        }
    }

    /// What was written where the next text goes.
    fn written(&self) -> &str {
        self.table.as_ref().map_or(self.out.text(), Table::cell)
    }

    fn in_table(&mut self, change: fn(&mut Table)) {
        if let Some(table) = &mut self.table {
            change(table);
        }
    }

    fn end_table(&mut self) {
        let Some(table) = self.table.take() else { return };
        if self.dialect.tables == Tables::Rows {
            self.text(&table.rows());
            return;
        }
        self.open(Tag::Pre(None));
        self.text(&table.lines());
        self.close();
    }

    fn trim_line_end(&mut self) {
        if self.owed == 0 {
            self.out.pop_line_end();
        }
    }
}

/// Whether what stands behind a fence is one word, or a word and attributes such as `title="a.rs"`.
fn is_language(info: &str) -> bool {
    let is_attribute = |word: &str| word.contains('=') || word.starts_with(['{', ',', '.', '#']);
    info.split_whitespace().skip(1).all(is_attribute)
}

fn language(info: &str) -> Option<Rc<str>> {
    let word = info.split([' ', ',', '{']).next().unwrap_or_default();
    let plain = |c: char| c.is_ascii_alphanumeric() || "+#_.-".contains(c);
    (!word.is_empty() && word.len() <= 32 && word.chars().all(plain)).then(|| Rc::from(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIALECT: Dialect = Dialect {
        behind_quote: 2,
        tables: Tables::Aligned,
        opens: |link| !link.nested,
        stand_in: |link| Some(link.url.to_string()),
        explains: |link, words| !link.live && words != &*link.url,
    };

    fn stretches(markdown: &str) -> String {
        let styled = read(markdown, &DIALECT);
        let all = styled.stretches(0..styled.text().len());
        all.map(|(text, tags)| format!("{text:?} {tags:?}\n")).collect()
    }

    #[test]
    fn every_stretch_knows_its_path() {
        let source = "# A *b*\n\n> > q `c`\n>\n> r\n\n```rs\ny\n```\n[l ![](i)](u)";
        insta::assert_snapshot!(stretches(source), @r#"
        "A " [Bold]
        "b" [Bold, Italic]
        "\n\n" [Gap]
        "q " [Quote, Quote]
        "c" [Quote, Quote, Code]
        "\n\n" [Gap]
        "r" [Quote]
        "\n\n" [Gap]
        "y" [Pre(Some("rs"))]
        "\n\n" [Gap]
        "l i" [Link("u")]
        "#);
    }

    #[test]
    fn no_word_behind_a_fence_is_lost() {
        let shown = |markdown: &str| read(markdown, &DIALECT).text().to_owned();
        assert_eq!(
            shown("Use ```\ncode\n``` and then restart. END"),
            "Use ```\ncode\n\nand then restart. END"
        );
        assert_eq!(shown("Run:\n\n```rm -rf build && make"), "Run:\n\nrm -rf build && make");
        assert_eq!(shown("```sh\nls\n```"), "ls");
        assert_eq!(shown("```rust title=\"a.rs\" {3}\nx\n```"), "x");
        assert_eq!(shown("```python main.py\nx\n```"), "python main.py\nx");
        assert_eq!(shown("a\n\n```END"), "a\n\nEND");
        assert_eq!(shown("```\n```"), "");
    }

    #[test]
    fn nothing_is_as_deep_as_it_was_written() {
        for deep in ["> ", "*a ", "**a *b ", "[a](", "![a](b"] {
            let styled = read(&deep.repeat(2_000), &DIALECT);
            let deepest = styled.stretches(0..styled.text().len()).map(|(_, tags)| tags.len());
            assert!(deepest.max().unwrap_or_default() <= MAX_STYLES, "{deep:?}");
        }
    }
}
