//! What nobody would write into a file of memory.

use super::line::Line;
use super::page::Page;
use super::{pieces, words};
use selkie_domain::taint::Taint;

#[test]
fn fuzz_memory() {
    selkie_fuzz::text("memory", |text| {
        let page = Page::read(text, Taint::Clean);
        let mut last = 0;
        for entry in page.entries() {
            assert!(*entry.lines.start() > last && *entry.lines.end() <= page.len(), "{entry:?}");
            last = *entry.lines.end();
            assert_eq!(page.raw(entry).len(), entry.lines.clone().count());
        }
        for piece in pieces::of_page("memory/tg.1/MEMORY.md", &page) {
            let question = words::of_question(&piece.text);
            let kept: Vec<&str> = piece.words.split(' ').collect();
            assert!(question.iter().all(|word| kept.contains(&word.as_str())), "{piece:?}");
        }
        if let Ok(line) = Line::of(text, Some(text)) {
            assert!(!line.text.contains('\n') && !line.heading.contains('\n'));
        }
    });
}
