//! A text with a table as Block Kit: the words around it as sections, the table in a markdown block of its own
//! (docs.slack.dev/reference/block-kit/blocks/markdown-block), which Slack shows as a table.

use std::ops::Range;
use std::rc::Rc;

use selkie_channel_core::styled::{StyledText, Table, Tag};
use serde_json::{Value, json};

use crate::blocks::{self, MAX_SECTION};
use crate::call::MARK_ROOM;
use crate::mrkdwn::mrkdwn;

/// Slack's limit of the rows of a table.
const MAX_ROWS: usize = 100;
/// Slack's limit of its columns.
const MAX_COLUMNS: usize = 20;
/// Slack's limit of a markdown block, characters.
const MAX_MARKDOWN: usize = 12_000;

/// Returns the blocks of a text with one table, which is all that a message may have; `None` for another, and for what
/// is over Slack's limits.
pub fn table_blocks(styled: &StyledText) -> Option<Value> {
    let FoundTable { table, range } = only_table(styled)?;
    let rows = table.cells().len();
    let markdown = markdown(table);
    let fits = rows <= MAX_ROWS
        && table.columns() <= MAX_COLUMNS
        && markdown.chars().count() <= MAX_MARKDOWN;
    if !fits {
        return None;
    }
    let before = section(styled, 0..range.start)?;
    let after = section(styled, range.end..styled.text().len())?;
    let table = json!({ "type": "markdown", "text": markdown });
    Some(before.into_iter().chain([table]).chain(after).collect())
}

/// A table, and where its text stands.
struct FoundTable<'s> {
    table: &'s Rc<Table>,
    range: Range<usize>,
}

fn only_table(styled: &StyledText) -> Option<FoundTable<'_>> {
    let mut found: Option<FoundTable<'_>> = None;
    let mut at = 0;
    for (text, tags) in styled.stretches(0..styled.text().len()) {
        let stretch = at..at + text.len();
        at = stretch.end;
        let table = tags.iter().find_map(|tag| match tag {
            Tag::Table(table) => Some(table),
            _ => None,
        });
        match (table, &mut found) {
            (None, _) => {}
            (Some(table), None) => found = Some(FoundTable { table, range: stretch }),
            (Some(table), Some(known)) if Rc::ptr_eq(table, known.table) => {
                known.range.end = stretch.end;
            }
            (Some(_), Some(_)) => return None,
        }
    }
    found
}

/// Returns words as a section, none for none; `None` for more than a section holds.
fn section(styled: &StyledText, range: Range<usize>) -> Option<Option<Value>> {
    let text = &styled.text()[range.clone()];
    let start = range.start + text.len() - text.trim_start().len();
    let words = mrkdwn(styled, start..start + text.trim().len());
    if words.chars().count() > MAX_SECTION - MARK_ROOM {
        return None;
    }
    let mut section = blocks::section(&words);
    section["expand"] = json!(true);
    Some((!words.is_empty()).then_some(section))
}

fn markdown(table: &Table) -> String {
    let mut lines: Vec<String> = table.cells().iter().map(|row| line(row)).collect();
    let sides = (0..table.columns()).map(|column| match table.alignment(column) {
        Some("right") => "---:",
        Some("center") => ":---:",
        _ => "---",
    });
    lines.insert(1.min(lines.len()), format!("| {} |", sides.collect::<Vec<_>>().join(" | ")));
    lines.join("\n")
}

fn line(row: &[String]) -> String {
    let cells: Vec<String> = row.iter().map(|cell| escaped(cell)).collect();
    format!("| {} |", cells.join(" | "))
}

/// Returns a cell's words so that none of them is markup, a link or a call to somebody.
fn escaped(cell: &str) -> String {
    let mut out = String::with_capacity(cell.len());
    let mut before = ' ';
    let mut chars = cell.chars().peekable();
    while let Some(c) = chars.next() {
        let is_in_word =
            before.is_alphanumeric() && chars.peek().is_some_and(|c| c.is_alphanumeric());
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '_' if is_in_word => out.push('_'),
            '\\' | '`' | '*' | '_' | '~' | '[' | ']' | '|' => out.extend(['\\', c]),
            c => out.push(c),
        }
        before = c;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::markdown::render;

    fn blocks(markdown: &str) -> Option<Value> {
        table_blocks(&render(markdown))
    }

    #[test]
    fn a_table_stands_between_its_words() {
        let source =
            "**Tea**\n\n| kind | minutes |\n|---|--:|\n| a\\|b_c * | <!here> |\n\nas *ever*";
        let blocks = blocks(source).unwrap();
        let lines = blocks.as_array().unwrap().iter().map(Value::to_string).collect::<Vec<_>>();
        insta::assert_snapshot!(lines.join("\n"), @r#"
        {"type":"section","text":{"type":"mrkdwn","text":"*Tea*"},"expand":true}
        {"type":"markdown","text":"| kind | minutes |\n| --- | ---: |\n| a\\|b_c \\* | &lt;!here&gt; |"}
        {"type":"section","text":{"type":"mrkdwn","text":"as _ever_"},"expand":true}
        "#);
        let alone = table_blocks(&render("| a |\n|---|\n| 1 |")).unwrap();
        assert_eq!(alone, json!([{ "type": "markdown", "text": "| a |\n| --- |\n| 1 |" }]));
    }

    #[test]
    fn a_wide_table_is_one() {
        let cell = "a cell that is rather long for a phone";
        let blocks =
            blocks(&format!("| name | what |\n|---|---|\n| {cell} | {cell} |\n| b | c |\n"));
        assert_eq!(blocks.unwrap().as_array().unwrap().len(), 1);
    }

    #[test]
    fn what_slack_would_not_take_is_none() {
        let table = "| a |\n|---|\n| 1 |\n";
        let long = "word ".repeat(700);
        let rows = "| 1 |\n".repeat(100);
        for text in [
            "no table".to_owned(),
            format!("{table}\n\nand\n\n{table}"),
            format!("{long}\n\n{table}"),
            format!("{table}{rows}"),
        ] {
            assert_eq!(blocks(&text), None, "{text}");
        }
    }
}
