//! CommonMark into styled text: blocks and the lines between them, lists, tables, links.

use std::ops::Range;
use std::rc::Rc;

use pulldown_cmark::{
    CodeBlockKind, CowStr, Event, LinkType, Options, Parser, Tag as Mark, TagEnd,
};

use super::dialect::{Dialect, Link, LinkKind, Tables};
use super::fence::{Fence, is_language, language};
use super::flanking::{seamed, unseamed};
use super::formula;
use super::literal::is_break;
use super::text::{StyledText, Tag};
use super::writer::Writer;
use crate::table::Table;

const RULE: &str = "———";

/// Reads Markdown. Raw HTML stays as it was written but line breaks, headings become bold lines, images links, formulas
/// code with their delimiters.
pub fn read(markdown: &str, dialect: &Dialect) -> StyledText {
    let options =
        Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TABLES | Options::ENABLE_TASKLISTS;
    let source = seamed(markdown);
    let mut reader = Reader::new(dialect, &source);
    for (event, range) in Parser::new_ext(&source, options).into_offset_iter() {
        reader.event(event, range);
    }
    reader.to.into_text()
}

struct Reader<'d> {
    dialect: &'d Dialect,
    source: &'d str,
    to: Writer,
    table: Option<Table>,
    /// The open links, and where the words of each begin.
    links: Vec<(Link, usize)>,
    fence: Option<Fence>,
    in_code: bool,
    /// Where the lines end that are read.
    lines_end: usize,
    /// Where formulas stand that were read.
    formulas: Vec<Range<usize>>,
}

impl<'d> Reader<'d> {
    fn new(dialect: &'d Dialect, source: &'d str) -> Self {
        Self {
            dialect,
            source,
            to: Writer::default(),
            table: None,
            links: Vec::new(),
            fence: None,
            in_code: false,
            lines_end: 0,
            formulas: Vec::new(),
        }
    }

    fn event(&mut self, event: Event<'_>, range: Range<usize>) {
        if let Some(end) = self.formula_around(range.start) {
            return self.behind_formula(&event, end..range.end);
        }
        match event {
            Event::Start(mark) => self.start(mark, range),
            Event::End(mark) => self.end(mark),
            Event::Text(text) => self.words(&text, range),
            Event::InlineHtml(html) if is_break(&html) => self.text("\n"),
            Event::Html(html) if is_break(&html) => {}
            Event::Html(text)
            | Event::InlineHtml(text)
            | Event::InlineMath(text)
            | Event::DisplayMath(text)
            | Event::FootnoteReference(text) => self.text(&text),
            Event::Code(text) => self.code_words(&text),
            Event::SoftBreak if self.written().ends_with('\n') => {}
            Event::SoftBreak | Event::HardBreak => self.text("\n"),
            Event::Rule => {
                self.to.block();
                self.text(RULE);
            }
            Event::TaskListMarker(done) => self.text(if done { "☑ " } else { "☐ " }),
        }
    }

    /// Where the formula ends that this stands in.
    fn formula_around(&self, at: usize) -> Option<usize> {
        let next = self.formulas.partition_point(|formula| formula.start <= at);
        let formula = &self.formulas[next.checked_sub(1)?];
        (at < formula.end).then_some(formula.end)
    }

    /// Both ends of what begins in a formula are left out; of what goes on behind it, the rest is read.
    fn behind_formula(&mut self, event: &Event<'_>, rest: Range<usize>) {
        let is_text = !matches!(event, Event::Start(_) | Event::End(_));
        if let Some(text) = self.source.get(rest.clone()).filter(|_| is_text) {
            self.words(text, rest);
        }
    }

    /// Reads text, with the formulas that begin in it.
    fn words(&mut self, text: &str, range: Range<usize>) {
        let source = self.source;
        if self.in_code || source.get(range.clone()) != Some(text) {
            return self.text(text);
        }
        let mut at = range.start;
        while let Some(found) = formula::find(source, at..range.end, self.lines_end) {
            self.text(source.get(at..found.start).unwrap_or_default());
            at = found.end;
            let is_quoted = self.to.is_quoted();
            self.to.open(Tag::Formula);
            self.code_words(&formula::shown(&source[found.clone()], is_quoted));
            self.to.close();
            self.formulas.push(found);
        }
        self.text(source.get(at..range.end).unwrap_or_default());
    }

    fn code_words(&mut self, text: &str) {
        self.to.open(Tag::Code);
        self.text(text);
        self.to.close();
    }

    fn start(&mut self, mark: Mark<'_>, range: Range<usize>) {
        if matches!(mark, Mark::Paragraph | Mark::Heading { .. } | Mark::Item | Mark::TableCell) {
            self.lines_end = range.end;
        }
        match mark {
            Mark::Paragraph | Mark::HtmlBlock => self.to.block(),
            Mark::Heading { .. } => {
                self.to.block();
                self.to.open(Tag::Bold);
            }
            Mark::BlockQuote(_) => {
                self.to.block();
                self.to.open(Tag::Quote);
            }
            Mark::CodeBlock(kind) => {
                self.to.block();
                self.code(kind);
            }
            Mark::List(first) => self.to.start_list(first),
            Mark::Item => self.to.start_item(),
            Mark::Emphasis => self.to.open(Tag::Italic),
            Mark::Strong => self.to.open(Tag::Bold),
            Mark::Strikethrough => self.to.open(Tag::Strike),
            Mark::Link { dest_url, link_type: LinkType::Autolink, .. } => {
                self.link(dest_url, LinkKind::Bare);
            }
            Mark::Link { dest_url, link_type: LinkType::Email, .. } => {
                self.link(format!("mailto:{dest_url}").into(), LinkKind::Bare);
            }
            Mark::Link { dest_url, .. } => self.link(dest_url, LinkKind::Words),
            Mark::Image { dest_url, .. } => self.link(dest_url, LinkKind::Image),
            Mark::Table(alignments) => {
                self.to.block();
                if self.dialect.tables == Tables::Rows {
                    self.to.owe(1);
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
            TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough => self.to.close(),
            TagEnd::Heading(_) => {
                self.to.close();
                self.to.owe(1);
            }
            TagEnd::BlockQuote(_) => self.to.end_quote(self.dialect.behind_quote),
            TagEnd::CodeBlock => self.end_code(),
            TagEnd::HtmlBlock => self.to.end_lines(),
            TagEnd::List(_) => self.to.end_list(),
            TagEnd::Item => self.to.end_item(),
            TagEnd::Link | TagEnd::Image => self.end_link(),
            TagEnd::Table => self.end_table(),
            _ => {}
        }
    }

    fn text(&mut self, text: &str) {
        if let Some(table) = &mut self.table {
            return table.text(&unseamed(text));
        }
        self.to.text(&unseamed(text));
    }

    /// What stands behind a fence is words, too, where it is more than a language and its attributes: three backticks
    /// in the middle of an answer open a fence, and nothing that was said may go missing.
    fn code(&mut self, kind: CodeBlockKind<'_>) {
        self.in_code = true;
        let CodeBlockKind::Fenced(info) = kind else { return self.to.open(Tag::Pre(None)) };
        let info = unseamed(info.trim()).into_owned();
        if is_language(&info) {
            self.to.open(Tag::Pre(language(&info)));
            self.fence = Some(Fence { info, at: self.to.written().len() });
        } else {
            self.to.open(Tag::Pre(None));
            self.text(&format!("{info}\n"));
        }
    }

    fn end_code(&mut self) {
        self.in_code = false;
        // A fence with nothing behind it is no code: its word is what there is.
        let alone = self.fence.take().filter(|fence| fence.at == self.to.written().len());
        if let Some(fence) = alone.filter(|fence| !fence.info.is_empty()) {
            self.text(&fence.info);
        }
        self.to.end_lines();
        self.to.close();
    }

    fn link(&mut self, url: CowStr<'_>, kind: LinkKind) {
        let nested = !self.links.is_empty();
        let in_table = self.table.is_some();
        let mut link =
            Link { url: Rc::from(&*unseamed(&url)), kind, nested, in_table, live: false };
        link.live = (self.dialect.opens)(&link);
        if link.live {
            self.to.open(Tag::Link(Rc::clone(&link.url)));
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
            self.to.close();
        }
        if explains {
            self.text(&format!(" ({})", link.url));
        }
    }

    /// What was written where the next text goes.
    fn written(&self) -> &str {
        self.table.as_ref().map_or(self.to.written(), Table::cell)
    }

    fn in_table(&mut self, change: fn(&mut Table)) {
        if let Some(table) = &mut self.table {
            change(table);
        }
    }

    fn end_table(&mut self) {
        let Some(table) = self.table.take() else { return };
        let table = Rc::new(table);
        self.to.open(Tag::Table(Rc::clone(&table)));
        if table.is_wide() {
            self.pairs(&table);
        } else if self.dialect.tables == Tables::Rows {
            self.text(&table.rows());
        } else {
            self.to.open(Tag::Pre(None));
            self.text(&table.lines());
            self.to.close();
        }
        self.to.close();
    }

    /// Writes each row of a wide table as lines of `column: cell`.
    fn pairs(&mut self, table: &Table) {
        for row in table.pairs() {
            self.to.owe(2);
            for (column, cell) in row {
                self.to.owe(1);
                if !column.is_empty() {
                    self.to.open(Tag::Bold);
                    self.text(&format!("{column}:"));
                    self.to.close();
                    self.text(" ");
                }
                self.text(cell);
            }
        }
    }
}

#[cfg(test)]
mod tests;
