//! Text with styles: what stands between Markdown and Slack's mrkdwn, and what is cut into messages.
//!
//! A cut cannot hit a marker or an escape: markers are written anew for every stretch and line.

use std::ops::Range;
use std::rc::Rc;

/// Separates a marker from a letter it touches; Slack shows no style inside a word.
const SEAM: char = '\u{200b}';

/// The styles of one stretch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Style {
    /// `*`
    pub bold: bool,
    /// `_`
    pub italic: bool,
    /// `~`
    pub strike: bool,
    /// A single back tick.
    pub code: bool,
    /// Three back ticks.
    pub pre: bool,
    /// `>` before each line.
    pub quote: bool,
    /// `<url|text>`
    pub link: Option<Rc<str>>,
}

/// Text and, for each stretch of it, its styles.
#[derive(Clone, Debug, Default)]
pub struct Styled {
    text: String,
    /// End of a stretch and its style; the next stretch begins there.
    spans: Vec<(usize, Style)>,
}

impl Styled {
    /// Returns the visible text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Adds text in this style.
    pub fn push(&mut self, text: &str, style: &Style) {
        if text.is_empty() {
            return;
        }
        self.text.push_str(text);
        match self.spans.last_mut() {
            Some((end, last)) if last == style => *end = self.text.len(),
            _ => self.spans.push((self.text.len(), style.clone())),
        }
    }

    /// Takes a line break off the end.
    pub fn trim_line_end(&mut self) {
        if self.text.ends_with('\n') {
            self.text.pop();
            if let Some((end, _)) = self.spans.last_mut() {
                *end -= 1;
            }
        }
    }

    /// Whether the character at `at` stands in a code block.
    pub fn in_pre(&self, at: usize) -> bool {
        let span = self.spans.partition_point(|(end, _)| *end <= at);
        self.spans.get(span).is_some_and(|(_, style)| style.pre)
    }

    /// Writes a stretch as mrkdwn, every marker closed.
    pub fn mrkdwn(&self, range: Range<usize>) -> String {
        let mut writer = Writer::default();
        let first = self.spans.partition_point(|(end, _)| *end <= range.start);
        let mut start = range.start;
        for (end, style) in &self.spans[first..] {
            let end = (*end).min(range.end);
            if start >= end {
                break;
            }
            writer.stretch(&self.text[start..end], style);
            start = end;
        }
        writer.finish()
    }
}

/// Escapes the three characters that mrkdwn takes for its own.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[derive(Default)]
struct Writer {
    out: String,
    in_pre: bool,
    /// A marker was closed right before.
    closed: bool,
}

impl Writer {
    fn stretch(&mut self, text: &str, style: &Style) {
        if style.pre != self.in_pre {
            self.fence();
        }
        if style.pre {
            self.out.push_str(&escape(&text.replace("```", "``\u{200b}`")));
            return;
        }
        for (i, line) in text.split('\n').enumerate() {
            if i > 0 {
                self.out.push('\n');
                self.closed = false;
            }
            if line.is_empty() {
                continue;
            }
            if style.quote && (self.out.is_empty() || self.out.ends_with('\n')) {
                self.out.push_str("> ");
            }
            self.line(line, style);
        }
    }

    fn fence(&mut self) {
        if !self.out.is_empty() && !self.out.ends_with('\n') {
            self.out.push('\n');
        }
        self.out.push_str("```\n");
        if self.in_pre {
            self.out.pop();
        }
        self.in_pre = !self.in_pre;
        self.closed = true;
    }

    /// Writes a piece of one line: blanks stay outside the markers, or Slack shows the markers.
    fn line(&mut self, line: &str, style: &Style) {
        let core = line.trim();
        let before = &line[..line.len() - line.trim_start().len()];
        let after = &line[before.len() + core.len()..];
        let markers = if core.is_empty() { String::new() } else { markers(style, core) };
        self.blank(before);
        if !markers.is_empty() && self.out.ends_with(touches) || (self.closed && starts_word(core))
        {
            self.out.push(SEAM);
        }
        self.closed = false;
        self.out.push_str(&markers);
        self.out.push_str(&body(style, core));
        self.out.extend(markers.chars().rev());
        self.closed |= !markers.is_empty();
        self.blank(after);
    }

    fn blank(&mut self, blank: &str) {
        if !blank.is_empty() {
            self.out.push_str(blank);
            self.closed = false;
        }
    }

    fn finish(mut self) -> String {
        if self.in_pre {
            self.fence();
        }
        self.out
    }
}

/// Whether a marker behind this character would not be seen as one.
fn touches(c: char) -> bool {
    !c.is_whitespace() && !"([{\"'".contains(c) && c != SEAM
}

fn starts_word(text: &str) -> bool {
    text.chars().next().is_some_and(char::is_alphanumeric)
}

fn markers(style: &Style, text: &str) -> String {
    // Nothing is styled inside code, and code cannot hold its own marker.
    if style.code && !text.contains('`') {
        return "`".to_owned();
    }
    let all = [(style.bold, '*'), (style.italic, '_'), (style.strike, '~')];
    all.iter().filter(|(on, _)| *on).map(|(_, marker)| *marker).collect()
}

fn body(style: &Style, text: &str) -> String {
    let shown = escape(text);
    match &style.link {
        Some(url) if !text.is_empty() => {
            let url = escape(&url.replace('|', "%7C").replace('<', "%3C").replace('>', "%3E"));
            if url == shown { format!("<{url}>") } else { format!("<{url}|{shown}>") }
        }
        _ if style.code => shown,
        _ => literal(&shown),
    }
}

/// Parts characters that stand for themselves from the words they touch, where Slack would take two of
/// them for a style.
fn literal(text: &str) -> String {
    const MARKS: [char; 4] = ['*', '_', '~', '`'];
    let spans = MARKS.map(|mark| (text.find(mark), text.rfind(mark)));
    let word = char::is_alphanumeric;
    let mut out = String::with_capacity(text.len());
    let mut last = ' ';
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let next = chars.peek().map_or(' ', |(_, c)| *c);
        let span = MARKS.iter().position(|mark| *mark == c).map(|mark| spans[mark]);
        let (first, end) = span.unwrap_or_default();
        if first.is_some_and(|first| first < at) && !word(next) && !last.is_whitespace() {
            out.push(SEAM);
        }
        out.push(c);
        if end.is_some_and(|end| end > at) && !word(last) && !next.is_whitespace() {
            out.push(SEAM);
        }
        last = c;
    }
    out
}
