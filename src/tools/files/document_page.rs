//! What `read_file` shows of a document: as many pages as an answer holds, and how to go on.

use std::ops::RangeInclusive;

use selkie_documents::Document;

use crate::ToolError;

/// Labels that are named when none fits.
const LABELS: usize = 40;

/// What is wanted of a document.
#[derive(Clone, Debug)]
pub(super) struct DocumentRange {
    /// Pages: `3`, `3-5`, or words of their label.
    pub(super) page: Option<String>,
    /// The first line of the first page, from 1.
    pub(super) offset: u64,
    /// Lines at most.
    pub(super) limit: u64,
    /// Bytes at most.
    pub(super) max_bytes: usize,
}

/// Shows pages, and names those that hold no text.
///
/// # Errors
/// For the model: there is no such page.
pub(super) fn shown(
    document: &Document,
    wanted: &DocumentRange,
    without_text: &mut Vec<usize>,
) -> Result<String, ToolError> {
    let mut text = document.summary();
    for warning in &document.warnings {
        text.push_str(&format!("\n[{warning}]"));
    }
    if document.pages.is_empty() {
        return Ok(text + "\n(it holds no text)");
    }
    let pages = match wanted.page.as_deref().map(str::trim).filter(|page| !page.is_empty()) {
        Some(page) => chosen(document, page)?,
        None => 1..=document.pages.len(),
    };
    let mut left = Room { bytes: wanted.max_bytes.saturating_sub(text.len()), lines: wanted.limit };
    let mut from = wanted.offset;
    for number in pages.clone() {
        let page = &document.pages[number - 1];
        let lines = u64::try_from(page.text.lines().count()).unwrap_or(u64::MAX);
        let is_first = number == *pages.start();
        let fits = page.text.len() <= left.bytes && lines <= left.lines;
        if !fits && !is_first {
            return Ok(text + &next(&format!("page=\"{}\"", range(number, *pages.end()))));
        }
        text.push_str(&format!("\n[{}]\n", document.name_of(number)));
        if page.text.trim().is_empty() {
            text.push_str("(no text)");
            without_text.push(number);
        }
        let last = left.take(&page.text, from, &mut text);
        if last < lines {
            return Ok(text
                + &next(&format!("page=\"{}\" offset={}", range(number, *pages.end()), last + 1)));
        }
        from = 1;
    }
    if *pages.end() < document.pages.len() {
        text.push_str(&next(&format!("page=\"{}\"", pages.end() + 1)));
    }
    Ok(text)
}

/// What an answer may still hold.
struct Room {
    bytes: usize,
    lines: u64,
}

impl Room {
    /// Adds lines of a page from one on; returns the last one that was added. The first is added, and cut if it must be.
    fn take(&mut self, page: &str, from: u64, text: &mut String) -> u64 {
        let mut last = from - 1;
        for (number, line) in (1_u64..).zip(page.lines()).skip_while(|(number, _)| *number < from) {
            let is_first = number == from;
            if !is_first && (line.len() >= self.bytes || self.lines == 0) {
                break;
            }
            let end = line.floor_char_boundary(self.bytes);
            text.push_str(if is_first { "" } else { "\n" });
            text.push_str(&line[..end]);
            text.push_str(if end < line.len() { "…" } else { "" });
            self.bytes = self.bytes.saturating_sub(line.len() + 1);
            self.lines = self.lines.saturating_sub(1);
            last = number;
        }
        last
    }
}

fn next(how: &str) -> String {
    format!("\n[There is more: use {how} to continue.]")
}

fn range(first: usize, last: usize) -> String {
    if first == last { first.to_string() } else { format!("{first}-{last}") }
}

/// Finds the pages that are meant.
fn chosen(document: &Document, page: &str) -> Result<RangeInclusive<usize>, ToolError> {
    let count = document.pages.len();
    let number = |text: &str| text.trim().parse::<usize>().ok();
    let numbers = match page.split_once('-') {
        Some((first, last)) if last.trim().is_empty() => number(first).map(|first| first..=count),
        Some((first, last)) => number(first).zip(number(last)).map(|(first, last)| first..=last),
        None => number(page).map(|number| number..=number),
    };
    if let Some(range) = numbers {
        if *range.start() < 1 || *range.start() > count || range.end() < range.start() {
            let unit = document.kind.unit();
            return Err(ToolError::tell(format!(
                "there is no such page: it has {unit}s 1 to {count}"
            )));
        }
        return Ok(*range.start()..=(*range.end()).min(count));
    }
    let wanted = page.to_lowercase();
    let fits = |label: &str| label.to_lowercase().contains(&wanted);
    let mut named = (1..).zip(&document.pages).filter(|(_, page)| fits(&page.label));
    match named.next() {
        Some((first, _)) => Ok(first..=named.last().map_or(first, |(last, _)| last)),
        None => {
            let labels = document.pages.iter().map(|page| page.label.as_str());
            let labels: Vec<&str> = labels.filter(|label| !label.is_empty()).take(LABELS).collect();
            Err(ToolError::tell(format!(
                "there is no page \"{page}\": name one by its number, from 1 to {count}{}{}",
                if labels.is_empty() { "" } else { ", or by its label: " },
                labels.join("; ")
            )))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn book() -> Document {
        let mut rows = String::new();
        for n in 1..=450 {
            rows.push_str(&format!("tea {n},{n}\n"));
        }
        selkie_documents::read(rows.as_bytes(), "tea.csv").unwrap()
    }

    fn seen(page: Option<&str>, offset: u64, max_bytes: usize) -> String {
        let page = page.map(str::to_owned);
        let wanted = DocumentRange { page, offset, limit: 2_000, max_bytes };
        shown(&book(), &wanted, &mut Vec::new()).unwrap_or_else(|error| error.to_string())
    }

    #[test]
    fn pages_are_shown_until_the_answer_is_full_and_lead_on() {
        let first = seen(None, 1, 5_000);
        assert!(
            first.starts_with("CSV table, 3 parts\n[part 1 of 3: rows 1-200]\n1 | tea 1 | 1\n"),
            "{first}"
        );
        assert!(
            first.ends_with("200 | tea 200 | 200\n[There is more: use page=\"2-3\" to continue.]"),
            "{first}"
        );
        let third = seen(Some("3"), 1, 5_000);
        assert!(third.contains("[part 3 of 3: rows 401-450]\n401 | tea 401 | 401\n"), "{third}");
        assert!(third.ends_with("450 | tea 450 | 450"), "{third}");
        let both = seen(Some("1-2"), 1, 50_000);
        assert!(
            both.ends_with("400 | tea 400 | 400\n[There is more: use page=\"3\" to continue.]"),
            "{both}"
        );
    }

    #[test]
    fn a_page_that_is_longer_than_an_answer_goes_on_by_lines() {
        let first = seen(Some("2"), 1, 200);
        assert!(first.contains("[part 2 of 3: rows 201-400]\n201 | tea 201 | 201\n"), "{first}");
        let (_, offset) = first.rsplit_once("use page=\"2\" offset=").unwrap();
        let offset: u64 = offset.trim_end_matches(" to continue.]").parse().unwrap();
        let more = seen(Some("2"), offset, 200);
        assert!(
            more.contains(&format!("\n{0} | tea {0} | {0}\n", 200 + offset)),
            "{offset}: {more}"
        );
        assert!(first.len() < 350, "{}", first.len());
        assert!(seen(None, 1, 1).contains("…"));
    }

    #[test]
    fn pages_are_found_by_number_and_label() {
        assert!(seen(Some("ROWS 401"), 1, 50_000).contains("[part 3 of 3"));
        assert!(seen(Some("2-"), 1, 50_000).contains("[part 3 of 3"));
        insta::assert_snapshot!([seen(Some("9"), 1, 900), seen(Some("0-1"), 1, 900), seen(Some("prices"), 1, 900)].join("\n"), @r#"
        there is no such page: it has parts 1 to 3
        there is no such page: it has parts 1 to 3
        there is no page "prices": name one by its number, from 1 to 3, or by its label: rows 1-200; rows 201-400; rows 401-450
        "#);
    }
}
