//! What of a page is found as one: an entry, or a part of one that is too long.

use sha2::{Digest as _, Sha256};

use super::page::{Entry, Page};
use super::words;
use selkie_store::Piece;

/// The most bytes of one piece.
const MAX_LENGTH: usize = 1_200;
/// The most bytes of a heading that say what a piece is about.
const MAX_HEADING: usize = 200;
/// The heading that needs no word.
const USUAL: &str = "Notes";
/// The most pieces of one file: one as large as any that is read, of short lines.
const MAX: usize = 100_000;

/// Returns the pieces of a file.
pub fn of_page(path: &str, page: &Page) -> Vec<Piece> {
    let pieces = page.entries().iter().flat_map(|entry| of_entry(path, entry));
    pieces.take(MAX).collect()
}

/// Returns the pieces of one entry.
pub fn of_entry(path: &str, entry: &Entry) -> Vec<Piece> {
    let line = |line: &usize| u32::try_from(*line).unwrap_or(u32::MAX);
    let piece = |text: &str| Piece {
        path: path.to_owned(),
        first: line(entry.lines.start()),
        last: line(entry.lines.end()),
        section: entry.section.clone(),
        text: text.to_owned(),
        trust: entry.whose.trust,
        level: entry.whose.level,
        words: words::of_text(&format!("{} {text}", entry.section)).join(" "),
        digest: digest(&meant(&entry.section, text)),
    };
    parts(&entry.text).into_iter().map(piece).collect()
}

/// What is embedded of a piece: what it says, with the heading that says what it is about.
pub fn meant(section: &str, text: &str) -> String {
    match section.trim() {
        "" | USUAL => text.to_owned(),
        section => {
            let section = &section[..section.floor_char_boundary(MAX_HEADING)];
            format!("{section}: {text}")
        }
    }
}

fn digest(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

/// Cuts a text between words, or where there are none.
fn parts(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = text;
    while rest.len() > MAX_LENGTH {
        let end = rest.floor_char_boundary(MAX_LENGTH);
        let end = rest[..end].rfind(' ').filter(|at| *at > 0).unwrap_or(end);
        parts.push(&rest[..end]);
        rest = rest[end..].trim_start();
    }
    parts.push(rest);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use selkie_domain::taint::Taint;

    #[test]
    fn a_long_entry_is_found_in_parts() {
        let long = format!("## Notes\n- {}end", "word and ".repeat(200));
        let pieces = of_page("a.md", &Page::read(&long, Taint::Clean));
        assert_eq!(pieces.len(), 2);
        assert!(pieces.iter().all(|piece| piece.text.len() <= MAX_LENGTH && piece.first == 2));
        assert!(pieces[1].words.starts_with("note ") && pieces[1].words.ends_with(" end"));
        let whole: String = pieces.iter().map(|piece| piece.text.replace(' ', "")).collect();
        assert_eq!(whole, long["## Notes\n- ".len()..].replace(' ', ""));
        let one = of_page("a.md", &Page::read(&"é".repeat(2_000), Taint::Clean));
        assert_eq!(one.iter().map(|piece| piece.text.len()).sum::<usize>(), 4_000);
    }
}
