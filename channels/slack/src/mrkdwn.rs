//! Writes styled text as Slack's mrkdwn.
//!
//! A cut cannot hit a marker or an escape: markers are written anew for every stretch and line.

use std::ops::Range;

use selkie_channel_core::styled::{StyledText, Tag};

/// Separates a marker from a letter it touches; Slack shows no style inside a word.
const SEAM: char = '\u{200b}';

/// Writes a stretch, every marker closed.
pub fn mrkdwn(styled: &StyledText, range: Range<usize>) -> String {
    let mut writer = Writer::default();
    let mut start = range.start;
    let mut end = start;
    let mut style = Style::default();
    for (text, tags) in styled.stretches(range) {
        // Markers between stretches of one look would be seen.
        let next = Style::of(tags);
        if next != style {
            writer.stretch(&styled.text()[start..end], &style);
            (start, style) = (end, next);
        }
        end += text.len();
    }
    writer.stretch(&styled.text()[start..end], &style);
    writer.finish()
}

/// The styles of one stretch.
#[derive(Default, PartialEq)]
struct Style<'a> {
    /// `*`
    bold: bool,
    /// `_`
    italic: bool,
    /// `~`
    strike: bool,
    /// A single back tick.
    code: bool,
    /// Three back ticks.
    pre: bool,
    /// `>` before each line.
    quote: bool,
    /// `<url|text>`
    link: Option<&'a str>,
    /// `<@U…>`
    mention: Option<&'a str>,
}

impl<'a> Style<'a> {
    fn of(tags: &'a [Tag]) -> Self {
        let mut style = Self::default();
        for tag in tags {
            match tag {
                Tag::Bold => style.bold = true,
                Tag::Italic => style.italic = true,
                Tag::Strike => style.strike = true,
                Tag::Code => style.code = true,
                Tag::Pre(_) => style.pre = true,
                Tag::Quote => style.quote = true,
                Tag::Link(url) => style.link = Some(url),
                Tag::Mention(person) => style.mention = crate::ids::user_of(person),
                Tag::Table(_) | Tag::Formula => {}
                Tag::Gap => return Self::default(),
            }
        }
        if style.pre { Self { pre: true, ..Self::default() } } else { style }
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
    fn stretch(&mut self, text: &str, style: &Style<'_>) {
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
    fn line(&mut self, line: &str, style: &Style<'_>) {
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

fn markers(style: &Style<'_>, text: &str) -> String {
    // Nothing is styled inside code, and code cannot hold its own marker.
    if style.code && !text.contains('`') {
        return "`".to_owned();
    }
    let all = [(style.bold, '*'), (style.italic, '_'), (style.strike, '~')];
    all.iter().filter(|(on, _)| *on).map(|(_, marker)| *marker).collect()
}

fn body(style: &Style<'_>, text: &str) -> String {
    let shown = escape(text);
    match style.link {
        // The second half of one that was cut is text.
        _ if style.mention.is_some() && text.starts_with('@') => {
            format!("<@{}>", style.mention.unwrap_or_default())
        }
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
