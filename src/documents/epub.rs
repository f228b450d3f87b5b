//! EPUB books: chapters in the order in which they are read.

use std::collections::HashMap;

use percent_encoding::percent_decode_str;

use crate::archive::{Archive, joined};
use crate::bounds::PAGES;
use crate::document::Document;
use crate::error::DocumentError;
use crate::html;
use crate::kind::Kind;
use crate::xml::{self, Node};

/// Reads a book.
pub(crate) fn read(archive: &mut Archive<'_>) -> Result<Document, DocumentError> {
    let mut document = Document::new(Kind::Epub);
    let package = package(&archive.required("META-INF/container.xml")?);
    let package = package.ok_or_else(|| {
        DocumentError::Damaged(Kind::Epub, "its container names no book".to_owned())
    })?;
    if is_protected(archive)? {
        return Err(DocumentError::Encrypted(Kind::Epub.name()));
    }
    let folder = package.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned();
    let xml = archive.required(&package)?;
    document.titled(&xml::text_of(&xml, "title"));
    for href in chapters(&xml) {
        let path = joined(&folder, &percent_decode_str(&href).decode_utf8_lossy());
        match archive.text(&path)? {
            Some(chapter) => {
                let page = html::read(&chapter);
                document.push_parts(&page.title, &page.text);
            }
            None => document.warn(format!("A chapter is missing in the file: {href}")),
        }
        if document.is_full() {
            break;
        }
    }
    Ok(document)
}

fn package(container: &str) -> Option<String> {
    let mut package = None;
    // What is read before it breaks off counts.
    let _ = xml::walk(container, |node| {
        if let Node::Open(element) = node
            && element.name == "rootfile"
        {
            package = element.get("full-path");
        }
        package.is_none()
    });
    package
}

/// Fonts may be scrambled in a book that everybody can read; chapters are not.
fn is_protected(archive: &mut Archive<'_>) -> Result<bool, DocumentError> {
    let Some(xml) = archive.text("META-INF/encryption.xml")? else { return Ok(false) };
    let mut is_protected = false;
    let _ = xml::walk(&xml, |node| {
        if let Node::Open(element) = node
            && element.name == "CipherReference"
        {
            let uri = element.get("URI").unwrap_or_default().to_ascii_lowercase();
            is_protected |=
                [".html", ".xhtml", ".htm", ".xml"].iter().any(|end| uri.ends_with(end));
        }
        !is_protected
    });
    Ok(is_protected)
}

/// Lists the files of its chapters.
fn chapters(package: &str) -> Vec<String> {
    let mut files = HashMap::new();
    let mut order = Vec::new();
    let _ = xml::walk(package, |node| {
        if let Node::Open(element) = node {
            match element.name {
                "item" => {
                    if let (Some(id), Some(href)) = (element.get("id"), element.get("href")) {
                        files.insert(id, href);
                    }
                }
                "itemref" => order.extend(element.get("idref")),
                _ => {}
            }
        }
        files.len() < 2 * PAGES && order.len() < PAGES
    });
    order.iter().filter_map(|id| files.get(id).cloned()).collect()
}
