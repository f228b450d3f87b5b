//! Any file → a document, by what its bytes are.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::archive::Archive;
use crate::bounds::MAX_FILE;
use crate::document::Document;
use crate::encoding::{self, DecodedText};
use crate::error::DocumentError;
use crate::kind::{self, Kind};
use crate::{csv_table, epub, html, mail, office, open_document, pdf, sheets, slides, word};

/// Reads a document. `name` is what its file is called: it says whether text is a table, and a kind that it claims
/// wrongly is told.
///
/// # Errors
/// Why it was not read.
pub fn read(bytes: &[u8], name: &str) -> Result<Document, DocumentError> {
    if bytes.len() as u64 > MAX_FILE {
        return Err(DocumentError::TooLarge("it has more than 32 MiB"));
    }
    let mut document = by_bytes(bytes, name)?;
    if let Some(warning) = office::misnamed(document.kind, name) {
        document.warn(warning);
    }
    Ok(document)
}

fn by_bytes(bytes: &[u8], name: &str) -> Result<Document, DocumentError> {
    if kind::is_pdf(bytes) {
        return guarded(Kind::Pdf, || pdf::read(bytes));
    }
    if kind::is_archive(bytes) {
        return in_archive(bytes);
    }
    if kind::is_compound(bytes) {
        let kind = office::compound_kind(bytes)?;
        return guarded(kind, || sheets::read(bytes, kind));
    }
    if kind::is_mail(bytes) {
        return guarded(Kind::Mail, || mail::read(bytes));
    }
    let head = &bytes[..bytes.len().min(8 * 1024)];
    if head.contains(&0) && !encoding::is_wide(head) {
        return Err(DocumentError::NoDocument("binary data"));
    }
    let decoded = encoding::decode(bytes);
    let mut document = text(&decoded, name);
    document.encoding = decoded.foreign().unwrap_or_default().to_owned();
    if decoded.is_broken {
        document.warn("Not all of it is in its encoding: broken bytes are shown as \u{fffd}.");
    }
    Ok(document)
}

/// Calls a library that panics where bytes contradict each other.
fn guarded(
    kind: Kind,
    read: impl FnOnce() -> Result<Document, DocumentError>,
) -> Result<Document, DocumentError> {
    catch_unwind(AssertUnwindSafe(read))
        .unwrap_or_else(|_| Err(DocumentError::Damaged(kind, "it breaks its reader".to_owned())))
}

fn in_archive(bytes: &[u8]) -> Result<Document, DocumentError> {
    let mut archive = Archive::open(bytes)?;
    archive.kind = office::kind_of(&mut archive)?;
    match archive.kind {
        Kind::Word => word::read(&mut archive),
        Kind::Slides => slides::read(&mut archive),
        Kind::Epub => epub::read(&mut archive),
        Kind::Excel | Kind::BinaryExcel => {
            let title = office::title(&mut archive, "docProps/core.xml");
            let kind = archive.kind;
            let mut document = guarded(kind, || sheets::read(bytes, kind))?;
            document.titled(&title);
            Ok(document)
        }
        _ => open_document::read(&mut archive),
    }
}

fn text(decoded: &DecodedText, name: &str) -> Document {
    if kind::is_html(&decoded.text) {
        let page = html::read(&decoded.text);
        let mut document = Document::new(Kind::Html);
        document.titled(&page.title);
        document.push_parts("", &page.text);
        return document;
    }
    let ending = kind::ending(name).unwrap_or_default();
    if Kind::Csv.endings().contains(&&*ending) {
        return csv_table::read(decoded);
    }
    let mut document = Document::new(Kind::Text);
    document.push_parts("", &decoded.text);
    document
}
