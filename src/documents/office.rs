//! What office files of all kinds have in common: what they are, their title, and how their parts name each other.

use std::collections::HashMap;

use crate::archive::{Archive, joined};
use crate::error::DocumentError;
use crate::kind::{self, Kind};
use crate::xml::{self, Node};

/// Says what an archive is by what it holds.
pub(crate) fn kind_of(archive: &mut Archive<'_>) -> Result<Kind, DocumentError> {
    if let Some(mimetype) = archive.text("mimetype")? {
        let found = match mimetype.trim() {
            "application/epub+zip" => Some(Kind::Epub),
            other => match other.strip_prefix("application/vnd.oasis.opendocument.") {
                Some(what) if what.starts_with("text") => Some(Kind::OpenText),
                Some(what) if what.starts_with("spreadsheet") => Some(Kind::OpenSheets),
                Some(what) if what.starts_with("presentation") => Some(Kind::OpenSlides),
                _ => None,
            },
        };
        if let Some(found) = found {
            return Ok(found);
        }
    }
    let parts = [
        ("word/document.xml", Kind::Word),
        ("xl/workbook.xml", Kind::Excel),
        ("xl/workbook.bin", Kind::BinaryExcel),
        ("ppt/presentation.xml", Kind::Slides),
        ("META-INF/container.xml", Kind::Epub),
    ];
    let found = parts.into_iter().find(|(name, _)| archive.has(name));
    found.map(|(_, kind)| kind).ok_or(DocumentError::NoDocument("a ZIP archive"))
}

/// Says what a compound file is by the names in it.
pub(crate) fn compound_kind(bytes: &[u8]) -> Result<Kind, DocumentError> {
    let holds = |name: &str| {
        let wide: Vec<u8> = name.encode_utf16().flat_map(u16::to_le_bytes).collect();
        bytes.windows(wide.len()).any(|part| part == wide)
    };
    if holds("EncryptedPackage") {
        return Err(DocumentError::Encrypted("an office document"));
    }
    if holds("Workbook") || holds("Book") {
        return Ok(Kind::OldExcel);
    }
    const AGAIN: &str = "save it in today's form (.docx, .pptx), or as PDF";
    Err(match () {
        () if holds("WordDocument") => {
            DocumentError::Unsupported("a Word document of before 2007", AGAIN)
        }
        () if holds("PowerPoint Document") => {
            DocumentError::Unsupported("a PowerPoint presentation of before 2007", AGAIN)
        }
        () if holds("__properties_version1.0") => {
            DocumentError::Unsupported("an Outlook message (.msg)", "save it as .eml")
        }
        () => DocumentError::NoDocument("a compound file"),
    })
}

/// Returns the title in an office file's properties.
pub(crate) fn title(archive: &mut Archive<'_>, part: &str) -> String {
    let properties = archive.text(part).ok().flatten().unwrap_or_default();
    xml::text_of(&properties, "title")
}

/// Where the parts that a part names are, by their names there.
pub(crate) fn relations(
    archive: &mut Archive<'_>,
    part: &str,
) -> Result<HashMap<String, String>, DocumentError> {
    let folder = part.rsplit_once('/').map_or("", |(folder, _)| folder);
    let file = part.rsplit_once('/').map_or(part, |(_, file)| file);
    let mut all = HashMap::new();
    let Some(text) = archive.text(&format!("{folder}/_rels/{file}.rels"))? else { return Ok(all) };
    // What is read before it breaks off counts: a part that is not found is left out.
    let _ = xml::walk(&text, |node| {
        if let Node::Open(element) = node
            && element.get("TargetMode").is_none_or(|mode| mode != "External")
            && let (Some(id), Some(target)) = (element.get("Id"), element.get("Target"))
        {
            all.insert(id, joined(folder, &target));
        }
        all.len() < 10_000
    });
    Ok(all)
}

/// Returns a warning when a name claims another kind.
pub(crate) fn misnamed(kind: Kind, name: &str) -> Option<String> {
    let claimed = kind::Kind::claimed(kind, name)?;
    Some(format!("Its name ends in .{claimed}, but it is {}.", kind.name()))
}
