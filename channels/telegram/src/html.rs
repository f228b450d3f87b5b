//! Writes styled text as Telegram's HTML.

use std::ops::Range;

use selkie_channel_core::styled::{StyledText, Tag};

/// Writes a stretch, every tag closed.
pub fn html(styled: &StyledText, range: Range<usize>) -> String {
    let mut out = String::with_capacity(range.len() + 16);
    let mut open: Vec<&Tag> = Vec::new();
    for (text, tags) in styled.stretches(range) {
        turn(&mut out, &mut open, &allowed(tags));
        escape(&mut out, text);
    }
    turn(&mut out, &mut open, &[]);
    out
}

/// Telegram nests no style twice, and nothing in code: code inside a link stays a link.
pub fn allowed(tags: &[Tag]) -> Vec<&Tag> {
    let link = tags.iter().any(|tag| matches!(tag, Tag::Link(_)));
    let code = tags.iter().any(|tag| matches!(tag, Tag::Pre(_)) || (*tag == Tag::Code && !link));
    let fits = |tag: &Tag| match tag {
        Tag::Gap | Tag::Table(_) | Tag::Formula => false,
        Tag::Quote => true,
        Tag::Code | Tag::Pre(_) => code,
        _ => !code,
    };
    let mut kept: Vec<&Tag> = Vec::new();
    for tag in tags.iter().filter(|tag| fits(tag)) {
        if !kept.contains(&tag) {
            kept.push(tag);
        }
    }
    kept
}

/// Closes and opens tags until exactly `wanted` are open.
pub fn turn<'a>(out: &mut String, open: &mut Vec<&'a Tag>, wanted: &[&'a Tag]) {
    let common = open.iter().zip(wanted).take_while(|(a, b)| a == b).count();
    for tag in open.drain(common..).rev() {
        out.push_str(closing(tag));
    }
    for tag in &wanted[common..] {
        opening(out, tag);
        open.push(tag);
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
        Tag::Mention(person) => {
            out.push_str("<a href=\"tg://user?id=");
            escape(out, person.trim_start_matches("tg:"));
            out.push_str("\">");
        }
        Tag::Gap | Tag::Table(_) | Tag::Formula => {}
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
        Tag::Link(_) | Tag::Mention(_) => "</a>",
        Tag::Quote => "</blockquote>",
        Tag::Gap | Tag::Table(_) | Tag::Formula => "",
    }
}

/// Writes text so that none of it is markup.
pub fn escape(out: &mut String, text: &str) {
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
