//! Text with styles: what stands between Markdown and Telegram's HTML, and what is cut into messages.
//!
//! Cutting styled text instead of HTML makes every promise simple: the length that counts is the length
//! of `text`, a cut cannot hit a tag or an entity, and tags are closed and opened again by writing.

use std::ops::Range;
use std::rc::Rc;

/// One style.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tag {
    /// `<b>`
    Bold,
    /// `<i>`
    Italic,
    /// `<s>`
    Strike,
    /// `<code>`
    Code,
    /// `<pre>`, with its language
    Pre(Option<String>),
    /// `<a href>`
    Link(String),
    /// `<blockquote>`
    Quote,
}

/// Styles in force, outermost first.
pub type Tags = Rc<[Tag]>;

/// Text and, for each stretch of it, its styles.
#[derive(Clone, Debug, Default)]
pub struct Styled {
    text: String,
    /// End of a stretch and its styles; the next stretch begins there.
    spans: Vec<(usize, Tags)>,
}

impl Styled {
    /// Returns the visible text: what Telegram counts.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Adds text in these styles.
    pub fn push(&mut self, text: &str, tags: &Tags) {
        if text.is_empty() {
            return;
        }
        self.text.push_str(text);
        match self.spans.last_mut() {
            Some((end, last)) if last == tags => *end = self.text.len(),
            _ => self.spans.push((self.text.len(), Rc::clone(tags))),
        }
    }

    /// Takes `count` bytes off the end.
    pub fn pop(&mut self, count: usize) {
        let len = self.text.len() - count;
        self.text.truncate(len);
        while self.spans.len() > 1 && self.spans[self.spans.len() - 2].0 >= len {
            self.spans.pop();
        }
        if let Some((end, _)) = self.spans.last_mut() {
            *end = (*end).min(len);
        }
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

    /// Writes a stretch as Telegram's HTML, every tag closed.
    pub fn html(&self, range: Range<usize>) -> String {
        let mut out = String::with_capacity(range.len() + 16);
        let mut open: Vec<Tag> = Vec::new();
        let first = self.spans.partition_point(|(end, _)| *end <= range.start);
        let mut start = range.start;
        for (end, tags) in &self.spans[first..] {
            if start >= range.end {
                break;
            }
            let end = (*end).min(range.end);
            turn(&mut out, &mut open, tags);
            escape(&mut out, &self.text[start..end]);
            start = end;
        }
        turn(&mut out, &mut open, &[]);
        out
    }
}

/// Closes and opens tags until exactly `wanted` are open.
fn turn(out: &mut String, open: &mut Vec<Tag>, wanted: &[Tag]) {
    let common = open.iter().zip(wanted).take_while(|(a, b)| a == b).count();
    for tag in open.drain(common..).rev() {
        out.push_str(closing(&tag));
    }
    for tag in &wanted[common..] {
        opening(out, tag);
        open.push(tag.clone());
    }
}

fn opening(out: &mut String, tag: &Tag) {
    match tag {
        Tag::Bold => out.push_str("<b>"),
        Tag::Italic => out.push_str("<i>"),
        Tag::Strike => out.push_str("<s>"),
        Tag::Code => out.push_str("<code>"),
        Tag::Pre(None) => out.push_str("<pre>"),
        Tag::Pre(Some(language)) => {
            out.push_str("<pre><code class=\"language-");
            escape(out, language);
            out.push_str("\">");
        }
        Tag::Link(url) => {
            out.push_str("<a href=\"");
            escape(out, url);
            out.push_str("\">");
        }
        Tag::Quote => out.push_str("<blockquote>"),
    }
}

fn closing(tag: &Tag) -> &'static str {
    match tag {
        Tag::Bold => "</b>",
        Tag::Italic => "</i>",
        Tag::Strike => "</s>",
        Tag::Code => "</code>",
        Tag::Pre(None) => "</pre>",
        Tag::Pre(Some(_)) => "</code></pre>",
        Tag::Link(_) => "</a>",
        Tag::Quote => "</blockquote>",
    }
}

fn escape(out: &mut String, text: &str) {
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c => out.push(c),
        }
    }
}
