//! Documents, for any bytes.

use crate::{Document, read};

#[test]
fn fuzz_documents() {
    selkie_fuzz::bytes("office", |bytes| {
        // Its reader takes what memory a workbook claims: it works where that is bounded.
        if crate::kind::is_compound(bytes) {
            return;
        }
        for name in ["a", "a.csv"] {
            if let Ok(document) = read(bytes, name) {
                assert_eq!(
                    Document::from_bytes(&document.to_bytes()).map(|again| again.pages),
                    Some(document.pages)
                );
            }
        }
    });
}
