//! Patches, notebooks, pictures and names, for any bytes.

use super::hunk::Change;
use super::pattern::Pattern;
use super::tame::is_tame;
use super::{fit, hunk_parse, image, notebook, picture, sniff};

#[test]
fn fuzz_patches() {
    let file = "one\ntwo\n\nthree\n    four\nfive\r\nsix";
    selkie_fuzz::text("patch", |patch| {
        for change in hunk_parse::parse(patch).unwrap_or_default() {
            if let Change::Update { hunks, .. } = change {
                let _ = fit::apply(file, &hunks);
                // What was changed is found in itself, too.
                let _ = fit::apply(patch, &hunks);
            }
        }
    });
}

#[test]
fn fuzz_notebooks() {
    selkie_fuzz::bytes("notebook", |bytes| {
        let _ = notebook::shown(bytes);
        let Ok(notebook) = notebook::Notebook::read(bytes) else { return };
        for at in 0..notebook.cells.len().min(3) {
            for changed in [
                notebook.replaced(at, "x\ny", None),
                notebook.replaced(at, "x", Some("markdown")),
                notebook.inserted(at, "x\ny", "code", "id"),
                notebook.deleted(at),
            ] {
                assert!(notebook::Notebook::read(&changed).is_ok());
                assert!(changed.len() < 2 * bytes.len() + 10_000);
            }
        }
    });
}

#[test]
fn fuzz_pictures() {
    selkie_fuzz::bytes("picture", |bytes| {
        let _ = image::described(bytes, |at, len| {
            let rest = bytes.get(usize::try_from(at).ok()?..)?;
            Some(rest[..len.min(rest.len())].to_vec())
        });
        let _ = (image::drawing(bytes), sniff::binary(bytes), picture::takeable(bytes));
    });
}

#[test]
fn fuzz_patterns() {
    selkie_fuzz::text("glob", |pattern| {
        if is_tame(pattern) {
            Pattern::new(pattern).matches("src/deep/main.rs");
        }
    });
}
