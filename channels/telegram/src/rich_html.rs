//! Writes styled text as the HTML of a rich message (core.telegram.org/bots/api#rich-message-formatting-options, of
//! 10.1): every line a paragraph, tables and formulas as what they are.

use std::rc::Rc;

use selkie_channel_core::styled::{StyledText, Table, Tag};

use crate::html::{allowed, escape, turn};

/// Telegram's limit of a rich message, characters.
const MAX_TEXT: usize = 32_768;
/// Telegram's limit of its blocks, rows of tables included.
const MAX_BLOCKS: usize = 500;
/// The longest word in a formula that is drawn.
const MAX_WORD: usize = 15;
/// Telegram's limit of a table's columns.
const MAX_COLUMNS: usize = 20;

/// Returns a text with tables or formulas as the HTML of a rich message; `None` for one that a plain message shows as
/// well, and for one over Telegram's limits.
pub fn rich_html(styled: &StyledText) -> Option<String> {
    let text = styled.text();
    let mut writer = Writer::default();
    for (text, tags) in styled.stretches(0..text.len()) {
        writer.stretch(text, tags);
    }
    writer.end_quote();
    let fits = text.chars().count() <= MAX_TEXT && writer.blocks <= MAX_BLOCKS && !writer.is_wide;
    (writer.is_rich && fits).then_some(writer.out)
}

#[derive(Default)]
struct Writer<'a> {
    out: String,
    /// The styles that are open in the paragraph.
    open: Vec<&'a Tag>,
    in_paragraph: bool,
    in_quote: bool,
    /// The table that was written last: more stretches stand for it.
    table: Option<&'a Rc<Table>>,
    blocks: usize,
    is_rich: bool,
    /// A table has more columns than Telegram takes.
    is_wide: bool,
}

impl<'a> Writer<'a> {
    fn stretch(&mut self, text: &'a str, tags: &'a [Tag]) {
        let table = tags
            .iter()
            .find_map(|tag| if let Tag::Table(table) = tag { Some(table) } else { None });
        if let Some(table) = table {
            return self.table(table, tags);
        }
        if tags.contains(&Tag::Formula) && is_formula(text) {
            return self.formula(text, tags);
        }
        let pre = tags
            .iter()
            .find_map(|tag| if let Tag::Pre(language) = tag { Some(language) } else { None });
        if let Some(language) = pre {
            return self.code(text, language.as_deref(), tags);
        }
        for (number, line) in text.split('\n').enumerate() {
            if number > 0 {
                self.end_paragraph();
            }
            self.words(line, tags);
        }
    }

    /// Writes words of a line; the blanks that it begins with are kept from collapsing.
    fn words(&mut self, line: &str, tags: &'a [Tag]) {
        if line.is_empty() {
            return;
        }
        let words = if self.in_paragraph { line } else { line.trim_start_matches(' ') };
        self.start_paragraph(tags);
        self.out.push_str(&"\u{a0}".repeat(line.len() - words.len()));
        let mut wanted = allowed(tags);
        wanted.retain(|tag| **tag != Tag::Quote);
        turn(&mut self.out, &mut self.open, &wanted);
        escape(&mut self.out, words);
    }

    fn table(&mut self, table: &'a Rc<Table>, tags: &[Tag]) {
        if self.table.is_some_and(|last| Rc::ptr_eq(last, table)) {
            return;
        }
        self.table = Some(table);
        self.is_rich = true;
        self.is_wide |= table.columns() > MAX_COLUMNS;
        self.start_block(tags);
        self.blocks += table.cells().len();
        self.out.push_str("<table bordered striped>");
        for (number, row) in table.cells().iter().enumerate() {
            self.out.push_str("<tr>");
            let kind = if number == 0 { "th" } else { "td" };
            for (column, cell) in row.iter().enumerate() {
                match table.alignment(column) {
                    Some(side) => self.out.push_str(&format!("<{kind} align=\"{side}\">")),
                    None => self.out.push_str(&format!("<{kind}>")),
                }
                escape(&mut self.out, cell);
                self.out.push_str(&format!("</{kind}>"));
            }
            self.out.push_str("</tr>");
        }
        self.out.push_str("</table>");
    }

    /// Writes a formula, among words or as a block, by its delimiters.
    fn formula(&mut self, text: &str, tags: &[Tag]) {
        self.is_rich = true;
        let body = text.get(2..text.len().saturating_sub(2)).unwrap_or_default().trim();
        let name = if text.starts_with(r"\(") { "tg-math" } else { "tg-math-block" };
        if name == "tg-math" {
            self.start_paragraph(tags);
            turn(&mut self.out, &mut self.open, &[]);
        } else {
            self.start_block(tags);
        }
        self.out.push_str(&format!("<{name}>"));
        escape(&mut self.out, body);
        self.out.push_str(&format!("</{name}>"));
    }

    fn code(&mut self, text: &str, language: Option<&str>, tags: &[Tag]) {
        self.start_block(tags);
        self.out.push_str("<pre>");
        if let Some(language) = language {
            self.out.push_str("<code class=\"language-");
            escape(&mut self.out, language);
            self.out.push_str("\">");
        }
        escape(&mut self.out, text);
        self.out.push_str(if language.is_some() { "</code></pre>" } else { "</pre>" });
    }

    fn start_paragraph(&mut self, tags: &[Tag]) {
        if !self.in_paragraph {
            self.start_block(tags);
            self.out.push_str("<p>");
            self.in_paragraph = true;
        }
    }

    fn end_paragraph(&mut self) {
        if self.in_paragraph {
            turn(&mut self.out, &mut self.open, &[]);
            self.out.push_str("</p>");
            self.in_paragraph = false;
        }
    }

    /// Begins a block, inside a quote or outside of it.
    fn start_block(&mut self, tags: &[Tag]) {
        self.end_paragraph();
        self.blocks += 1;
        let quoted = tags.contains(&Tag::Quote);
        if self.in_quote && !quoted {
            self.end_quote();
        }
        if quoted && !self.in_quote {
            self.out.push_str("<blockquote>");
            self.blocks += 1;
            self.in_quote = true;
        }
    }

    fn end_quote(&mut self) {
        self.end_paragraph();
        if self.in_quote {
            self.out.push_str("</blockquote>");
            self.in_quote = false;
        }
    }
}

/// Whether a formula may be drawn: one with a long word that its markup takes apart may hold a secret, which nobody would
/// find in it, and is code.
fn is_formula(text: &str) -> bool {
    let mut run = 0;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => {
                let rest = chars.as_str();
                chars = rest.trim_start_matches(|c: char| c.is_ascii_alphabetic()).chars();
            }
            c if c.is_ascii_alphanumeric() || "-_".contains(c) => run += 1,
            '{' | '}' | ' ' | '~' | '\u{200b}' => {}
            _ => run = 0,
        }
        if run > MAX_WORD {
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::markdown::render;

    fn rich(markdown: &str) -> Option<String> {
        rich_html(&render(markdown))
    }

    #[test]
    fn tables_and_formulas_are_what_they_are() {
        let source = "# Tea & <cake>\n\n- **one**\n  - two, *two\n    lines*\n\n> said\n\n| a | b |\n|---|--:|\n| <1> | 22 |\n\nAs \\(x^2\\) and\n\n$$ a_1 < b $$\n\n```rust\nlet a = &b;\n```\nend";
        insta::assert_snapshot!(rich(source).unwrap().replace("><p>", ">\n<p>"), @r#"
        <p><b>Tea &amp; &lt;cake&gt;</b></p>
        <p>• <b>one</b></p>
        <p>  • two, <i>two</i></p>
        <p><i>lines</i></p><blockquote>
        <p>said</p></blockquote><table bordered striped><tr><th>a</th><th align="right">b</th></tr><tr><td>&lt;1&gt;</td><td align="right">22</td></tr></table>
        <p>As <tg-math>x^2</tg-math> and</p><tg-math-block>a_1 &lt; b</tg-math-block><pre><code class="language-rust">let a = &amp;b;</code></pre>
        <p>end</p>
        "#);
    }

    #[test]
    fn a_wide_table_is_a_table_too() {
        let cell = "a cell that is rather long for a phone";
        let html = rich(&format!("| name | what |\n|---|---|\n| {cell} | {cell} |\n")).unwrap();
        assert_eq!(html.matches("<table").count(), 1, "{html}");
        assert!(!html.contains("<p>"), "{html}");
    }

    #[test]
    fn a_formula_that_may_hide_a_secret_is_code() {
        for hidden in [
            r"\(sk-key-Zx81{}kQpL0vT7\)",
            r"$$\text{sk-key}\text{Zx81kQpL0vT7}$$",
            r"\(ghp{_}abcdefghij1234\)",
        ] {
            assert_eq!(rich(hidden), None, "{hidden}");
        }
        for drawn in
            [r"\(\frac{-b \pm \sqrt{b^2-4ac}}{2a}\)", r"$$\sum_{i=1}^{n} x_i = \mathrm{total}$$"]
        {
            assert!(rich(drawn).is_some(), "{drawn}");
        }
    }

    #[test]
    fn what_needs_no_rich_message_is_none() {
        for plain in
            ["", "**bold** and `code`", "> quote\n\n```\ncode\n```", "costs $5 and $6", "`\\(x\\)`"]
        {
            assert_eq!(rich(plain), None, "{plain}");
        }
        let columns = "| a ".repeat(21);
        assert_eq!(
            rich(&format!("{columns}|\n{}|\n", "|---".repeat(21))),
            None,
            "too many columns"
        );
        let rows = "| 1 |\n".repeat(600);
        assert_eq!(rich(&format!("| a |\n|---|\n{rows}")), None, "too many rows");
    }
}
