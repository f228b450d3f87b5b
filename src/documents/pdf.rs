//! PDFs: their own pages; what is a picture of a page is not read.

use pdf_inspector::{PagesExtractionResult, PdfError, extract_pages_markdown_mem};
use rayon::ThreadPoolBuilder;

use crate::bounds::PAGES;
use crate::document::Document;
use crate::error::DocumentError;
use crate::kind::Kind;

/// Reads a PDF.
pub(crate) fn read(bytes: &[u8]) -> Result<Document, DocumentError> {
    // Its parser would start a thread for each processor: this one is enough, and there may be no other. On a thread that
    // has been used for it there is nothing to be done.
    drop(ThreadPoolBuilder::new().num_threads(1).use_current_thread().build());
    let extracted = extract_pages_markdown_mem(bytes, None).map_err(|error| match error {
        PdfError::Encrypted => DocumentError::Encrypted(Kind::Pdf.name()),
        error => DocumentError::Damaged(Kind::Pdf, error.to_string()),
    })?;
    let mut document = Document::new(Kind::Pdf);
    document.titled(&title(bytes));
    for page in extracted.pages.iter().take(PAGES) {
        document.push("", &page.markdown);
    }
    if let Some(warning) = unread(&extracted) {
        document.warn(warning);
    }
    Ok(document)
}

fn title(bytes: &[u8]) -> String {
    let found = pdf_inspector::detect_pdf_type_mem(bytes).ok().and_then(|found| found.title);
    // What programs write where nobody has named it.
    found.filter(|title| !title.eq_ignore_ascii_case("untitled")).unwrap_or_default()
}

/// Says which pages hold nothing that could be read.
fn unread(extracted: &PagesExtractionResult) -> Option<String> {
    let pages: Vec<usize> = extracted
        .pages
        .iter()
        .zip(1..)
        .filter(|(page, _)| page.needs_ocr && page.markdown.trim().is_empty())
        .map(|(_, number)| number)
        .collect();
    let numbers = ranges(&pages);
    Some(match pages.len() {
        0 => return None,
        1 => format!(
            "Page {numbers} is scanned, or holds no text that can be read, and was not read."
        ),
        many => format!(
            "{many} pages are scanned, or hold no text that can be read, and were not read: {numbers}."
        ),
    })
}

/// `1-3, 7`.
fn ranges(numbers: &[usize]) -> String {
    let runs = numbers.chunk_by(|a, b| a + 1 == *b);
    let runs = runs.filter_map(|run| match run {
        [] => None,
        [one] => Some(one.to_string()),
        [first, .., last] => Some(format!("{first}-{last}")),
    });
    runs.take(100).collect::<Vec<_>>().join(", ")
}
