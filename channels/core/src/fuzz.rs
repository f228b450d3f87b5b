//! What is told to people, and what is hidden from them, for any words.

use crate::{Redactor, plain, split};

#[test]
fn fuzz_markdown_as_plain_text() {
    selkie_fuzz::text("markdown", |markdown| drop(plain::render(markdown)));
}

#[test]
fn fuzz_splitting() {
    selkie_fuzz::text("split", |text| {
        let pieces = split::plain(text, 100);
        assert!(pieces.iter().all(|piece| split::utf16_len(piece) <= 100));
    });
}

#[test]
fn fuzz_redaction() {
    let redactor = Redactor::default();
    redactor.learn("hunter2hunter2");
    let hidden = ["hunter2hunter2", "aHVudGVyMmh1bnRlcj", "68756e7465723268756e74657232"];
    selkie_fuzz::text("redact", |text| {
        let clean = redactor.clean(text);
        assert!(!hidden.iter().any(|secret| clean.contains(secret)), "{clean}");
        let said = redactor.clean_markdown(text);
        let seen = plain::render(&said);
        assert!(!hidden.iter().any(|secret| seen.contains(secret)), "{said}");
        assert!(redactor.settled(text) <= text.len());
    });
}
