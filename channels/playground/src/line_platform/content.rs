//! Files that people send.

use bytes::Bytes;

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MediaKind {
    /// A picture.
    Image,
    /// A film.
    Video,
    /// A recording.
    Audio,
    /// Any file.
    File,
}

/// A file a person sends.
#[derive(Clone, Debug)]
pub struct Draft {
    /// What it is.
    pub kind: MediaKind,
    /// Its name, which LINE tells of files alone.
    pub name: String,
    /// The bytes.
    pub bytes: Bytes,
    /// How often the content host still says that it is being prepared.
    pub preparing: u32,
    /// Its preparation fails.
    pub failed: bool,
}

impl Draft {
    /// A file that is ready at once.
    pub fn new(kind: MediaKind, name: &str, bytes: impl Into<Bytes>) -> Self {
        Self { kind, name: name.to_owned(), bytes: bytes.into(), preparing: 0, failed: false }
    }

    /// The kind as LINE writes it, and its MIME type.
    pub(super) fn types(&self) -> (&'static str, &'static str) {
        match self.kind {
            MediaKind::Image => ("image", "image/jpeg"),
            MediaKind::Video => ("video", "video/mp4"),
            MediaKind::Audio => ("audio", "audio/x-m4a"),
            MediaKind::File => ("file", "application/octet-stream"),
        }
    }
}
