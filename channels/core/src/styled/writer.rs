//! Writes styled text: which styles are open, which line breaks stand between blocks, how list items begin.

use super::text::{StyledText, Tag};

/// Lists deeper than this are not indented further, quotes not marked again: a phone is narrow, and input may be
/// hostile.
const DEEPEST: usize = 8;
/// More styles at once than anybody can see.
pub(super) const MAX_STYLES: usize = 24;

/// Text as far as it is written.
#[derive(Default)]
pub(super) struct Writer {
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
}

impl Writer {
    /// Begins a block: a blank line before it, or a mere new line inside a list.
    pub(super) fn block(&mut self) {
        if !self.at_item {
            self.owe(if self.lists.is_empty() { 2 } else { 1 });
        }
    }

    /// Owes at least so many line breaks before the next text.
    pub(super) fn owe(&mut self, breaks: usize) {
        self.at_item = false;
        self.owed = self.owed.max(breaks);
    }

    /// Begins a list, with its first number.
    pub(super) fn start_list(&mut self, first: Option<u64>) {
        self.owe(if self.lists.is_empty() { 2 } else { 1 });
        self.lists.push(first);
    }

    pub(super) fn end_list(&mut self) {
        self.lists.pop();
    }

    /// Writes an item's bullet or number.
    pub(super) fn start_item(&mut self) {
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

    pub(super) fn end_item(&mut self) {
        self.at_item = false;
    }

    /// Closes a quote; so many line breaks stand behind it at least.
    pub(super) fn end_quote(&mut self, breaks: usize) {
        self.close();
        self.quote_ended = true;
        if breaks > 0 {
            self.owe(breaks);
        }
    }

    /// Adds text in the open styles, behind the line breaks that are owed.
    pub(super) fn text(&mut self, text: &str) {
        if !text.is_empty() {
            self.pay();
            self.out.push(text, &self.shown);
        }
    }

    /// Writes the line breaks that are owed, inside a quote when both sides stand in the same one.
    fn pay(&mut self) {
        if self.owed > 0 && !self.out.text().is_empty() {
            let quoted = |tags: &[Tag]| tags.contains(&Tag::Quote);
            let inside = !self.quote_ended && quoted(self.out.last_tags()) && self.is_quoted();
            let tags: &[Tag] = if inside { &[Tag::Quote, Tag::Gap] } else { &[Tag::Gap] };
            self.out.push(&"\n".repeat(self.owed), tags);
        }
        self.owed = 0;
        self.at_item = false;
        self.quote_ended = false;
    }

    /// Opens a style; one that is open already is not shown again, but a quote.
    pub(super) fn open(&mut self, tag: Tag) {
        let same = self.shown.iter().filter(|shown| **shown == tag).count();
        let most = if tag == Tag::Quote { DEEPEST } else { 1 };
        let is_shown = same < most && self.shown.len() < MAX_STYLES;
        self.open.push(is_shown);
        if is_shown {
            self.shown.push(tag);
        }
    }

    /// Closes the style that was opened last.
    pub(super) fn close(&mut self) {
        if self.open.pop() == Some(true) {
            self.shown.pop();
        }
    }

    pub(super) fn is_quoted(&self) -> bool {
        self.shown.contains(&Tag::Quote)
    }

    /// Ends whole lines: the end of the last one is owed, not written. In a list, text may follow that is no block.
    pub(super) fn end_lines(&mut self) {
        if self.owed == 0 {
            self.out.pop_line_end();
        }
        self.owe(1);
    }

    /// What is written so far.
    pub(super) fn written(&self) -> &str {
        self.out.text()
    }

    pub(super) fn into_text(self) -> StyledText {
        self.out
    }
}
