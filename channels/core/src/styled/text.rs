//! Text with styles.

use std::ops::Range;
use std::rc::Rc;

use crate::table::Table;

/// One style.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tag {
    /// Strong words, and headings.
    Bold,
    /// Stressed words.
    Italic,
    /// Words that are struck out.
    Strike,
    /// Code among words.
    Code,
    /// A block of code, with its language; a table that is aligned.
    Pre(Option<Rc<str>>),
    /// The words of a link, with its address.
    Link(Rc<str>),
    /// The name of somebody, with their id: it tells them.
    Mention(Rc<str>),
    /// A quote; as often as it is one inside another.
    Quote,
    /// A table, whose text in the styles inside is what stands for it where there are no tables.
    Table(Rc<Table>),
    /// A formula with its delimiters, which is code where none is drawn.
    Formula,
    /// The line breaks between two blocks.
    Gap,
}

/// Text and, for each stretch of it, its styles.
#[derive(Clone, Debug, Default)]
pub struct StyledText {
    text: String,
    /// End of a stretch and its styles, outermost first; the next stretch begins there.
    spans: Vec<(usize, Rc<[Tag]>)>,
}

impl StyledText {
    /// Returns the visible text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Adds text in these styles, the outermost first.
    pub fn push(&mut self, text: &str, tags: &[Tag]) {
        if text.is_empty() {
            return;
        }
        self.text.push_str(text);
        match self.spans.last_mut() {
            Some((end, last)) if **last == *tags => *end = self.text.len(),
            _ => self.spans.push((self.text.len(), Rc::from(tags))),
        }
    }

    /// Takes a line break off the end; whether there was one.
    pub fn pop_line_end(&mut self) -> bool {
        if !self.text.ends_with('\n') {
            return false;
        }
        self.text.pop();
        let len = self.text.len();
        while self.spans.len() > 1 && self.spans[self.spans.len() - 2].0 >= len {
            self.spans.pop();
        }
        if let Some((end, _)) = self.spans.last_mut() {
            *end = (*end).min(len);
        }
        true
    }

    /// Returns the styles of the last character.
    pub fn last_tags(&self) -> &[Tag] {
        self.spans.last().map_or(&[], |(_, tags)| tags)
    }

    /// Whether the character at `at` stands in a code block.
    pub fn in_pre(&self, at: usize) -> bool {
        let span = self.spans.partition_point(|(end, _)| *end <= at);
        let tags = self.spans.get(span).map(|(_, tags)| tags);
        tags.is_some_and(|tags| tags.iter().any(|tag| matches!(tag, Tag::Pre(_))))
    }

    /// Returns the stretches of a range of bytes: their text and their styles, outermost first.
    pub fn stretches(&self, range: Range<usize>) -> impl Iterator<Item = (&str, &[Tag])> {
        let first = self.spans.partition_point(|(end, _)| *end <= range.start);
        let mut start = range.start;
        self.spans[first..].iter().map_while(move |(end, tags)| {
            let stretch = start..(*end).min(range.end);
            start = stretch.end;
            (!stretch.is_empty()).then(|| (&self.text[stretch], &**tags))
        })
    }
}
