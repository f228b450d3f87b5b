//! What a server sends in place of a page: a document, read as one that lies on the disk.

use std::path::Path;

use reqwest::Url;
use selkie_documents::{Document, may_be_document};

use super::answer::Got;
use crate::files::{DocumentFile, DocumentReader};

/// Reads a body that is a document; `None` when it is none, or breaks off.
///
/// # Errors
/// Why a document could not be read, in words that follow its address.
pub(super) async fn read(
    reader: &DocumentReader,
    got: &Got,
    own: &Path,
) -> Option<Result<String, crate::ToolError>> {
    let name = name_of(&got.url);
    if got.truncated || !may_be_document(&got.body, &name) {
        return None;
    }
    let file = DocumentFile { bytes: got.body.clone(), name: &name, own };
    Some(reader.read(file).await.map(|document| written(&document)))
}

/// What the last part of an address calls it.
fn name_of(url: &Url) -> String {
    url.path_segments().and_then(|mut parts| parts.next_back()).unwrap_or_default().to_owned()
}

/// All of a document, page by page.
fn written(document: &Document) -> String {
    let mut text = document.summary();
    for warning in &document.warnings {
        text.push_str(&format!("\n[{warning}]"));
    }
    for (number, page) in (1..).zip(&document.pages) {
        text.push_str(&format!("\n\n[{}]\n{}", document.name_of(number), page.text));
    }
    text
}
