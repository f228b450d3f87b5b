//! PowerPoint presentations: a page for each slide, with its notes.

use std::collections::HashMap;

use crate::archive::Archive;
use crate::bounds::{PAGES, TEXT};
use crate::document::Document;
use crate::error::DocumentError;
use crate::kind::Kind;
use crate::office;
use crate::xml::{self, Node};

/// Reads a presentation.
pub(crate) fn read(archive: &mut Archive<'_>) -> Result<Document, DocumentError> {
    let mut document = Document::new(Kind::Slides);
    document.titled(&office::title(archive, "docProps/core.xml"));
    for name in names(archive)?.into_iter().take(PAGES) {
        let Some(xml) = archive.text(&name)? else {
            document.warn("A slide is missing in the file.");
            document.push("", "");
            continue;
        };
        let mut text = words(&xml, &mut document);
        let related = office::relations(archive, &name)?;
        let notes = related.values().find(|part| part.contains("/notesSlides/"));
        if let Some(notes) = notes.cloned()
            && let Some(xml) = archive.text(&notes)?
        {
            let notes = words(&xml, &mut document);
            if !notes.trim().is_empty() {
                text.push_str(&format!("\nNotes: {}", notes.trim()));
            }
        }
        document.push("", text.trim());
        if document.is_full() {
            break;
        }
    }
    Ok(document)
}

/// Its slides in the order in which they are shown.
fn names(archive: &mut Archive<'_>) -> Result<Vec<String>, DocumentError> {
    let related: HashMap<String, String> = office::relations(archive, "ppt/presentation.xml")?;
    let xml = archive.required("ppt/presentation.xml")?;
    let mut names = Vec::new();
    let done = xml::walk(&xml, |node| {
        // Its own id has no prefix: what it stands for is told by the other one.
        if let Node::Open(element) = node
            && element.name == "sldId"
            && let Some(name) = element.values("id").iter().find_map(|id| related.get(id))
        {
            names.push(name.clone());
        }
        names.len() < PAGES
    });
    match done {
        Ok(()) if !names.is_empty() => Ok(names),
        _ => Ok(archive.names("ppt/slides/slide", ".xml")),
    }
}

fn words(xml: &str, document: &mut Document) -> String {
    let mut text = String::new();
    let mut shown = 0_usize;
    let mut cells = 0_usize;
    // The number of a slide, a date: what a program fills in.
    let mut fields = 0_usize;
    let done = xml::walk(xml, |node| {
        match node {
            Node::Open(element) => match element.name {
                "t" => shown += 1,
                "br" => text.push('\n'),
                "tc" => cells += 1,
                "fld" => fields += 1,
                _ => {}
            },
            Node::Text(more) if shown > 0 && fields == 0 => text.push_str(more),
            Node::Text(_) => {}
            Node::Close("t") => shown = shown.saturating_sub(1),
            Node::Close("fld") => fields = fields.saturating_sub(1),
            Node::Close("tc") => {
                cells = cells.saturating_sub(1);
                text.push_str(" | ");
            }
            Node::Close("p") if cells > 0 => text.push(' '),
            Node::Close("p" | "tr") if !text.ends_with('\n') => text.push('\n'),
            Node::Close(_) => {}
        }
        text.len() <= TEXT
    });
    if let Err(why) = done {
        document.warn(format!("A slide is damaged ({why}): the rest of it was not read."));
    }
    text
}
