//! CommonMark into styled text, with the styles that Slack has.

use std::rc::Rc;

use pulldown_cmark::{Event, LinkType, Options, Parser, Tag as Mark, TagEnd};
use selkie_channel_core::links;
use selkie_channel_core::table::Table;

use crate::styled::{Style, Styled};

const RULE: &str = "———";
/// Lists deeper than this are not indented further.
const DEEPEST: usize = 8;
/// The longest address, in bytes, that words link to: every piece of a long link repeats it.
const LONGEST_LINK: usize = 2048;

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
    /// How often each style is open: a second bold inside the first ends nothing.
    depth: Depth,
    /// Line breaks owed before the next text.
    owed: usize,
    /// The next number of each open list; `None` for bullets.
    lists: Vec<Option<u64>>,
    /// Right behind a bullet: the item's first paragraph stands on the bullet's line.
    at_item: bool,
    table: Option<Table>,
    /// Where each open one begins, and its address where Slack opens it.
    links: Vec<(usize, Option<Rc<str>>)>,
    /// An address that is too long to be linked to: it stands behind its words.
    long: Option<String>,
}

#[derive(Default)]
struct Depth {
    bold: usize,
    italic: usize,
    strike: usize,
    quote: usize,
    pre: usize,
}

impl Writer {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(mark) => self.start(mark),
            Event::End(mark) => self.end(mark),
            Event::Code(text) => {
                let style = Style { code: true, ..self.style() };
                self.say(&text, &style);
            }
            Event::SoftBreak | Event::HardBreak => self.text("\n"),
            Event::Rule => {
                self.block();
                self.text(RULE);
            }
            Event::TaskListMarker(done) => self.text(if done { "☑ " } else { "☐ " }),
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => self.text(&text),
            Event::InlineMath(text) | Event::DisplayMath(text) => self.text(&text),
            Event::FootnoteReference(text) => self.text(&text),
        }
    }

    fn start(&mut self, mark: Mark<'_>) {
        match mark {
            Mark::Paragraph | Mark::HtmlBlock => self.block(),
            Mark::Heading { .. } => {
                self.block();
                self.depth.bold += 1;
            }
            Mark::BlockQuote(_) => {
                self.block();
                self.depth.quote += 1;
            }
            Mark::CodeBlock(_) => {
                self.block();
                self.depth.pre += 1;
            }
            Mark::List(first) => {
                self.owe(if self.lists.is_empty() { 2 } else { 1 });
                self.lists.push(first);
            }
            Mark::Item => self.item(),
            Mark::Emphasis => self.depth.italic += 1,
            Mark::Strong => self.depth.bold += 1,
            Mark::Strikethrough => self.depth.strike += 1,
            Mark::Link { dest_url, link_type: LinkType::Autolink, .. } => self.link(&dest_url),
            Mark::Link { dest_url, .. } | Mark::Image { dest_url, .. } => {
                self.link(&dest_url);
                if dest_url.len() > LONGEST_LINK {
                    self.long = Some(dest_url.to_string());
                }
            }
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
            TagEnd::Heading(_) | TagEnd::Strong => self.depth.bold -= 1,
            TagEnd::Emphasis => self.depth.italic -= 1,
            TagEnd::Strikethrough => self.depth.strike -= 1,
            TagEnd::BlockQuote(_) => {
                self.depth.quote -= 1;
                self.owe(2);
            }
            TagEnd::CodeBlock => {
                self.out.trim_line_end();
                self.depth.pre -= 1;
            }
            TagEnd::HtmlBlock => self.out.trim_line_end(),
            TagEnd::List(_) => {
                self.lists.pop();
            }
            TagEnd::Item => self.at_item = false,
            TagEnd::Link | TagEnd::Image => {
                let (start, link) = self.links.pop().unwrap_or_default();
                let written = self.out.text().get(start..).unwrap_or_default();
                if let Some(url) = link.filter(|url| links::poses(written, url)) {
                    self.text(&format!(" ({url})"));
                }
                if let Some(address) = self.long.take() {
                    self.text(&format!(" ({address})"));
                }
            }
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

    /// Slack opens what is a web or mail address; of anything else the address is shown.
    fn link(&mut self, url: &str) {
        let live = ["http://", "https://", "mailto:"].iter().any(|s| url.starts_with(s));
        let live = live && url.len() <= LONGEST_LINK && !url.contains(char::is_whitespace);
        self.links.push((self.out.text().len(), live.then(|| Rc::from(url))));
    }

    fn text(&mut self, text: &str) {
        let style = self.style();
        self.say(text, &style);
    }

    fn say(&mut self, text: &str, style: &Style) {
        if let Some(table) = &mut self.table {
            table.text(text);
            return;
        }
        if self.owed > 0 && !self.out.text().is_empty() {
            self.out.push(&"\n".repeat(self.owed), &Style::default());
        }
        self.owed = 0;
        self.at_item = false;
        self.out.push(text, style);
    }

    fn style(&self) -> Style {
        Style {
            bold: self.depth.bold > 0,
            italic: self.depth.italic > 0,
            strike: self.depth.strike > 0,
            quote: self.depth.quote > 0,
            pre: self.depth.pre > 0,
            code: false,
            link: self.links.iter().rev().find_map(|(_, link)| link.clone()),
        }
    }

    fn in_table(&mut self, change: fn(&mut Table)) {
        if let Some(table) = &mut self.table {
            change(table);
        }
    }

    fn end_table(&mut self) {
        if let Some(table) = self.table.take() {
            let style = Style { pre: true, ..Style::default() };
            self.say(&table.lines(), &style);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mrkdwn(markdown: &str) -> String {
        let styled = render(markdown);
        styled.mrkdwn(0..styled.text().len())
    }

    #[test]
    fn markdown_becomes_slacks_own() {
        let source = "# Tea & <cake>\n\n**bold**, *italic*, ~~gone~~ and `a < b`.\n\n- one\n- two\n  1. deep\n\n> said\n> twice\n\nsee [the *list*](https://x.org/?a=1&b=2) and <https://y.org>\n\n```rust\nlet a = &b;\n```\n\n| a | b |\n|---|--:|\n| 1 | 22 |\n\n![cat](https://z.org/c.png)";
        insta::assert_snapshot!(mrkdwn(source), @r"
        *Tea &amp; &lt;cake&gt;*

        *bold*, _italic_, ~gone~ and `a &lt; b`.

        • one
        • two
          1. deep

        > said
        > twice

        see <https://x.org/?a=1&amp;b=2|the> _<https://x.org/?a=1&amp;b=2|list>_ and <https://y.org>

        ```
        let a = &amp;b;
        ```

        ```
        a |  b
        --+---
        1 | 22
        ```

        <https://z.org/c.png|cat>
        ");
    }

    #[test]
    fn a_style_inside_a_word_is_seamed() {
        assert_eq!(mrkdwn("un**believ**able"), "un\u{200b}*believ*\u{200b}able");
        assert_eq!(mrkdwn("**a**_b_"), "*a*_b_".replace("*_", "*\u{200b}_").replace("**", "*"));
        assert_eq!(mrkdwn("(**a**)"), "(*a*)");
    }

    #[test]
    fn what_stands_for_itself_is_no_style() {
        let shown = mrkdwn(r"\*literal\* and \_this\_, snake_case_name, 2 \* 3, a\*b");
        let wanted =
            "*\u{200b}literal\u{200b}* and _\u{200b}this\u{200b}_, snake_case_name, 2 * 3, a*b";
        assert_eq!(shown, wanted);
        assert_eq!(mrkdwn("`*a*`"), "`*a*`", "code is code");
    }

    #[test]
    fn an_address_that_is_too_long_stands_behind_its_words() {
        let address = format!("https://x.example/{}", "a".repeat(3_000));
        let styled = render(&format!("[words]({address}) and <{address}>"));
        assert_eq!(styled.text(), format!("words ({address}) and {address}"));
        assert_eq!(styled.mrkdwn(0..styled.text().len()), styled.text());
    }

    #[test]
    fn a_link_that_names_another_place_shows_where_it_leads() {
        let said =
            mrkdwn("[https://bank.example](https://evil.example) [bank](https://evil.example)");
        let shown = "<https://evil.example|https://bank.example> (https://evil.example) <https://evil.example|bank>";
        assert_eq!(said, shown);
    }

    #[test]
    fn only_web_addresses_are_links() {
        assert_eq!(mrkdwn("[x](javascript:alert)"), "x");
        assert_eq!(mrkdwn("[x](https://a|b>c)"), "<https://a%7Cb%3Ec|x>");
    }
}
