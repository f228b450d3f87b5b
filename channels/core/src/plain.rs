//! CommonMark into plain text, for platforms that show no styles: what carried meaning is written out.

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

const RULE: &str = "———";
/// Lists deeper than this are not indented further: a phone is narrow, and input may be hostile.
const DEEPEST: usize = 8;

/// Renders Markdown as text. Raw HTML stays as it was written, links become `words (address)`, rows of
/// tables lines. Markdown that is all markup is shown as it stands.
pub fn render(markdown: &str) -> String {
    let options =
        Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TABLES | Options::ENABLE_TASKLISTS;
    let mut writer = Writer::default();
    for event in Parser::new_ext(markdown, options) {
        writer.event(event);
    }
    let text = writer.out.trim();
    if text.is_empty() { markdown.trim().to_owned() } else { text.to_owned() }
}

#[derive(Default)]
struct Writer {
    out: String,
    /// Line breaks owed before the next text.
    owed: usize,
    /// How many quotes are open: each line begins with a mark.
    quotes: usize,
    /// The next number of each open list; `None` for bullets.
    lists: Vec<Option<u64>>,
    /// Right behind a bullet: the item's first paragraph stands on the bullet's line.
    at_item: bool,
    /// The cell of a table's row that comes next.
    cell: usize,
    links: Vec<OpenLink>,
}

struct OpenLink {
    /// Where its words begin.
    start: usize,
    address: String,
}

impl Writer {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text)
            | Event::Html(text)
            | Event::InlineHtml(text)
            | Event::InlineMath(text)
            | Event::DisplayMath(text)
            | Event::FootnoteReference(text)
            | Event::Code(text) => self.text(&text),
            Event::SoftBreak | Event::HardBreak => self.text("\n"),
            Event::Rule => {
                self.block();
                self.text(RULE);
            }
            Event::TaskListMarker(done) => self.text(if done { "☑ " } else { "☐ " }),
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Paragraph | Tag::HtmlBlock | Tag::Heading { .. } | Tag::CodeBlock(_) => {
                self.block()
            }
            Tag::BlockQuote(_) => {
                self.block();
                self.quotes += 1;
            }
            Tag::List(first) => {
                self.owe(if self.lists.is_empty() { 2 } else { 1 });
                self.lists.push(first);
            }
            Tag::Item => self.item(),
            Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => {
                self.links.push(OpenLink { start: self.out.len(), address: dest_url.to_string() });
            }
            Tag::Table(_) => self.block(),
            Tag::TableHead | Tag::TableRow => {
                self.owe(1);
                self.cell = 0;
            }
            Tag::TableCell => {
                if self.cell > 0 {
                    self.text(" | ");
                }
                self.cell += 1;
            }
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::BlockQuote(_) => {
                self.quotes = self.quotes.saturating_sub(1);
                self.owe(2);
            }
            TagEnd::CodeBlock | TagEnd::HtmlBlock => self.trim_line_end(),
            TagEnd::List(_) => {
                self.lists.pop();
                self.at_item = false;
            }
            TagEnd::Item => self.at_item = false,
            TagEnd::Link | TagEnd::Image => self.end_link(),
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
        let mark = "> ".repeat(self.quotes.min(DEEPEST));
        if !self.out.is_empty() {
            self.out.push_str(&"\n".repeat(self.owed));
        }
        if self.owed > 0 || self.out.is_empty() {
            self.out.push_str(&mark);
        }
        self.owed = 0;
        self.at_item = false;
        self.out.push_str(&text.replace('\n', &format!("\n{mark}")));
    }

    fn end_link(&mut self) {
        let Some(link) = self.links.pop() else { return };
        let words = self.out.get(link.start..).unwrap_or_default().trim().to_owned();
        let bare = link.address.strip_prefix("mailto:").unwrap_or(&link.address);
        if words.is_empty() {
            self.text(&link.address);
        } else if words != link.address && words != bare && !link.address.is_empty() {
            self.text(&format!(" ({})", link.address));
        }
    }

    fn trim_line_end(&mut self) {
        while self.owed == 0 && self.out.ends_with('\n') {
            self.out.pop();
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn markdown_reads_well_without_styles() {
        let text = render(
            "# Tea\n\nA **bold** *word*, `code` and ~~old~~ [a link](https://a.example/x).\n\
             Next line <https://b.example>.\n\n> quoted\n> twice\n\n\
             1. one\n2. two\n   - deep\n\n- [x] done\n- [ ] open\n\n\
             ```rust\nlet a = 1;\nlet b = 2;\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n---\nend",
        );
        insta::assert_snapshot!(text, @"
        Tea

        A bold word, code and old a link (https://a.example/x).
        Next line https://b.example.

        > quoted
        > twice

        1. one
        2. two
          • deep

        • ☑ done
        • ☐ open

        let a = 1;
        let b = 2;

        a | b
        1 | 2

        ———

        end
        ");
    }

    #[test]
    fn what_is_all_markup_is_shown_as_it_stands() {
        assert_eq!(render("```\n```"), "```\n```");
        assert_eq!(render("  "), "");
        assert_eq!(render("![](https://a.example/x.png)"), "https://a.example/x.png");
    }

    proptest! {
        #[test]
        fn something_to_say_is_never_lost(text in "(\\PC|\n|[*_`>#|-]|\\[|\\]){0,200}") {
            let shown = render(&text);
            prop_assert_eq!(shown.is_empty(), text.trim().is_empty());
        }

        #[test]
        fn plain_words_stay(words in "[a-zà-ü]{1,12}( [a-zà-ü]{1,12}){0,20}") {
            prop_assert_eq!(render(&words), words);
        }
    }
}
