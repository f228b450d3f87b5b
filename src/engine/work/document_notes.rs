//! What the model is told of a document that comes with a message: its type, its pages, its title and its first lines.

use std::path::Path;
use std::time::Duration;

use selkie_channel_core::{Attachment, AttachmentKind, Redactor};
use selkie_documents::{MAX_FILE, encoding, is_html, may_be_document};
use selkie_tools::{DocumentFile, DocumentReader};
use tokio::io::AsyncReadExt as _;

/// A message does not wait longer for what its document says: it can be read later.
const TIMEOUT: Duration = Duration::from_secs(20);
/// Characters of a document that are shown with its message.
const FIRST: usize = 600;
/// Bytes that tell what a file is.
const HEAD: usize = 8 * 1024;

/// What is told of a document.
#[derive(Debug, Default)]
pub(super) struct DocumentNote {
    /// What it is; begins with `; ` where there is something to be said.
    pub(super) what: String,
    /// How it begins.
    pub(super) first: String,
}

/// Looks into documents that people send.
#[derive(Clone)]
pub(crate) struct DocumentNotes {
    pub(crate) reader: DocumentReader,
    /// Knows every secret of the config.
    pub(crate) redactor: Redactor,
}

impl DocumentNotes {
    /// Looks into a file that came with a message. Nothing is said of one that is no document, and costs nothing.
    pub(super) async fn note(
        &self,
        attachment: &Attachment,
        own: &Path,
        file: &Path,
    ) -> DocumentNote {
        let media = ["image/", "audio/", "video/"];
        let mime = attachment.mime.as_deref().unwrap_or_default();
        if attachment.kind != AttachmentKind::Document
            || media.iter().any(|kind| mime.starts_with(kind))
        {
            return DocumentNote::default();
        }
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let Some(bytes) = content(file, &name).await else { return DocumentNote::default() };
        if let Some(text) = plain(&bytes, &name) {
            let first = self.redactor.clean(&first(text.lines()));
            return DocumentNote { what: String::new(), first };
        }
        let read = self.reader.read(DocumentFile { bytes, name: &name, own });
        match tokio::time::timeout(TIMEOUT, read).await {
            Ok(Ok(document)) => {
                let lines = document.pages.iter().flat_map(|page| page.text.lines());
                let first = self.redactor.clean(&first(lines));
                let warning = document.warnings.first().map(|warning| format!("; {warning}"));
                let what = format!("; {}{}", document.summary(), warning.unwrap_or_default());
                DocumentNote { what, first }
            }
            Ok(Err(why)) => DocumentNote { what: format!("; {why}"), first: String::new() },
            Err(_) => {
                tracing::warn!(name, "a document was not read in time to be told with its message");
                DocumentNote::default()
            }
        }
    }
}

/// The bytes of a file that may be a document.
async fn content(file: &Path, name: &str) -> Option<Vec<u8>> {
    let file = tokio::fs::File::open(file).await.ok()?;
    if file.metadata().await.ok()?.len() > MAX_FILE {
        return None;
    }
    let mut bytes = Vec::new();
    file.take(MAX_FILE).read_to_end(&mut bytes).await.ok()?;
    let head = &bytes[..bytes.len().min(HEAD)];
    let is_text = !head.contains(&0) || encoding::is_wide(head);
    (!bytes.is_empty() && (is_text || may_be_document(head, name))).then_some(bytes)
}

/// Text that shows what it is as it stands.
fn plain<'a>(bytes: &'a [u8], name: &str) -> Option<&'a str> {
    let text = std::str::from_utf8(bytes).ok()?;
    (!text.contains('\0') && !is_html(text) && !may_be_document(bytes, name)).then_some(text)
}

/// The first lines with something in them.
fn first<'a>(lines: impl Iterator<Item = &'a str>) -> String {
    let mut text = String::new();
    for line in lines.map(str::trim).filter(|line| !line.is_empty()) {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(line);
        if let Some((end, _)) = text.char_indices().nth(FIRST) {
            text.truncate(end);
            text.push('…');
            break;
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_lines_are_few() {
        let of = |text: &str| first(text.lines());
        assert_eq!(of("\n one \n\n two\n"), "one\ntwo");
        let long = of(&"äöü line\n".repeat(500));
        assert_eq!((long.chars().count(), long.ends_with('…')), (FIRST + 1, true));
        assert_eq!(of(" \n"), "");
    }
}
