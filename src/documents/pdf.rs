//! PDFs: their own pages; what is a picture of a page is not read, and what was recognized in one is told.

use lopdf::{Document as Pdf, Object, dictionary};
use pdf_inspector::{OCR_REASON_SUSPECTED_GARBLED_TEXT, PdfError, extract_pages_markdown_mem};
use rayon::ThreadPoolBuilder;

use crate::document::Document;
use crate::error::DocumentError;
use crate::kind::Kind;

/// A PDF with more pages is read as plain words, and no further: looking at what its pages look like takes time for each.
const MAX_PAGES: u32 = 1_000;
/// Bytes of what one page unpacks to.
const PAGE: usize = 16 * 1024 * 1024;

/// Reads a PDF.
pub(crate) fn read(bytes: &[u8]) -> Result<Document, DocumentError> {
    // Its parser would start a thread for each processor: this one is enough, and there may be no other. On a thread that
    // has been used for it there is nothing to be done.
    drop(ThreadPoolBuilder::new().num_threads(1).use_current_thread().build());
    let mut document = Document::new(Kind::Pdf);
    let facts = Pdf::load_metadata_mem(bytes).ok();
    let title = facts.as_ref().and_then(|facts| facts.title.as_deref()).unwrap_or_default();
    // What programs write where nobody has named it.
    document.titled(if title.eq_ignore_ascii_case("untitled") { "" } else { title });
    match facts.map(|facts| facts.page_count).filter(|count| *count > MAX_PAGES) {
        Some(count) => long(bytes, count, &mut document)?,
        None => usual(bytes, &mut document)?,
    }
    Ok(document)
}

fn long(bytes: &[u8], count: u32, document: &mut Document) -> Result<(), DocumentError> {
    let damaged = |error: lopdf::Error| DocumentError::Damaged(Kind::Pdf, error.to_string());
    let mut pdf = Pdf::load_mem(bytes).map_err(damaged)?;
    keep_first(&mut pdf);
    let mut unread = Vec::new();
    for number in 1..=MAX_PAGES {
        let text = layer(&pdf, number);
        unread.extend(text.is_none().then_some(number));
        document.push("", &text.unwrap_or_default());
    }
    tell(&unread, &[], document);
    document.warn(format!("It has {count} pages: those behind {MAX_PAGES} were not read."));
    Ok(())
}

/// Takes all pages but the first thousand out of a PDF: whoever reads one looks through all.
fn keep_first(pdf: &mut Pdf) {
    let pages: Vec<Object> = pdf.page_iter().take(MAX_PAGES as usize).map(Object::from).collect();
    let count = i64::from(MAX_PAGES);
    let list = pdf.add_object(dictionary! { "Type" => "Pages", "Kids" => pages, "Count" => count });
    if let Ok(catalog) = pdf.catalog_mut() {
        catalog.set("Pages", list);
    }
}

fn usual(bytes: &[u8], document: &mut Document) -> Result<(), DocumentError> {
    let extracted = extract_pages_markdown_mem(bytes, None).map_err(|error| match error {
        PdfError::Encrypted => DocumentError::Encrypted(Kind::Pdf.name()),
        error => DocumentError::Damaged(Kind::Pdf, error.to_string()),
    })?;
    let is_empty = |text: &str| text.trim().is_empty();
    let has_pictures = extracted.pages.iter().any(|page| is_empty(&page.markdown));
    // Without it such pages are told as not read.
    let pdf = has_pictures.then(|| Pdf::load_mem(bytes).ok()).flatten();
    let mut recognized = Vec::new();
    let mut unread = Vec::new();
    for page in &extracted.pages {
        let number = page.page + 1;
        let is_garbled = page.ocr_reason.as_deref() == Some(OCR_REASON_SUSPECTED_GARBLED_TEXT);
        let behind = pdf.as_ref().filter(|_| is_empty(&page.markdown) && !is_garbled);
        match behind.and_then(|pdf| layer(pdf, number)) {
            Some(text) => {
                recognized.push(number);
                document.push("", &text);
            }
            None => {
                document.push("", &page.markdown);
                unread.extend(is_empty(&page.markdown).then_some(number));
            }
        }
    }
    tell(&unread, &recognized, document);
    Ok(())
}

/// The words of a page, seen or not: what a program recognized in a scan lies behind it.
fn layer(pdf: &Pdf, number: u32) -> Option<String> {
    pdf.extract_text_with_limit(&[number], PAGE).ok().filter(|text| is_language(text))
}

/// Whether text is words rather than signs: a layer may be anything.
fn is_language(text: &str) -> bool {
    let seen = text.chars().filter(|c| !c.is_whitespace()).count();
    let letters = text.chars().filter(|c| c.is_alphanumeric()).count();
    letters > 0 && letters * 10 > seen * 6 && !text.contains('\u{fffd}')
}

/// Says which pages hold nothing that could be read, and which may be wrong.
fn tell(unread: &[u32], recognized: &[u32], document: &mut Document) {
    let numbers = ranges(unread);
    match unread.len() {
        0 => {}
        1 => document.warn(format!(
            "Page {numbers} is scanned, or holds no text that can be read, and was not read."
        )),
        many => document.warn(format!(
            "{many} pages are scanned, or hold no text that can be read, and were not read: {numbers}."
        )),
    }
    if !recognized.is_empty() {
        let numbers = ranges(recognized);
        document.warn(format!(
            "Pages are pictures whose text was recognized by a program, and may be wrong: {numbers}."
        ));
    }
}

/// `1-3, 7`.
fn ranges(numbers: &[u32]) -> String {
    let runs = numbers.chunk_by(|a, b| a + 1 == *b);
    let runs = runs.filter_map(|run| match run {
        [] => None,
        [one] => Some(one.to_string()),
        [first, .., last] => Some(format!("{first}-{last}")),
    });
    runs.take(100).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use lopdf::Stream;

    use super::*;

    #[test]
    fn the_first_thousand_pages_of_very_many_are_read() {
        let mut pdf = Pdf::with_version("1.5");
        let font = pdf.add_object(dictionary! {
            "Type" => "Font", "Subtype" => "Type1", "BaseFont" => "Courier", "Encoding" => "WinAnsiEncoding",
        });
        let fonts = dictionary! { "Font" => dictionary! { "F1" => font } };
        let pages = pdf.new_object_id();
        let all = (1..=1_500).map(|number| {
            let words = format!("BT /F1 12 Tf 10 10 Td (leaf {number}) Tj ET");
            let content = pdf.add_object(Stream::new(dictionary! {}, words.into_bytes()));
            let page = dictionary! { "Type" => "Page", "Parent" => pages, "Contents" => content, "Resources" => fonts.clone() };
            Object::from(pdf.add_object(page))
        });
        let all: Vec<Object> = all.collect();
        let list = dictionary! { "Type" => "Pages", "Kids" => all, "Count" => 1_500 };
        pdf.objects.insert(pages, Object::Dictionary(list));
        let catalog = pdf.add_object(dictionary! { "Type" => "Catalog", "Pages" => pages });
        pdf.trailer.set("Root", catalog);
        let mut bytes = Vec::new();
        pdf.save_to(&mut bytes).unwrap();
        let document = read(&bytes).unwrap();
        assert_eq!(document.pages.len(), 1_000);
        assert!(document.pages[999].text.contains("leaf 1000"), "{:?}", document.pages[999]);
        assert!(
            document.warnings.iter().any(|said| said.contains("1500 pages")),
            "{:?}",
            document.warnings
        );
    }
}
