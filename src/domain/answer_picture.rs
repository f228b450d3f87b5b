//! A picture that a model has put into its answer.

use std::fmt;

use bytes::Bytes;
use sha2::{Digest as _, Sha256};

/// A picture of a kind that chats show, by its first bytes. Nobody has decoded it.
#[derive(Clone, PartialEq, Eq)]
pub struct AnswerPicture {
    bytes: Bytes,
    ending: &'static str,
}

/// A picture that is wished for.
#[derive(Clone, Debug)]
pub struct PictureWish {
    /// What it is to show.
    pub prompt: String,
    /// Width and height in pixels (`1024x1024`); the usual ones where none are said.
    pub size: Option<String>,
    /// The picture that is to be changed, where it is not a new one.
    pub picture: Option<AnswerPicture>,
}

impl AnswerPicture {
    /// All pictures of one answer, in bytes; no platform takes a larger one as a picture.
    pub const MAX_BYTES: usize = 10 * 1024 * 1024;

    /// Takes bytes for what they begin like; `None` when that is no PNG, JPEG, WebP or GIF.
    pub fn of(bytes: impl Into<Bytes>) -> Option<Self> {
        let bytes = bytes.into();
        let ending = match &*bytes {
            [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => "png",
            [0xff, 0xd8, 0xff, ..] => "jpg",
            [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => "webp",
            [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => "gif",
            _ => return None,
        };
        Some(Self { bytes, ending })
    }

    /// Its bytes, as they came.
    pub fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// Its media type.
    pub fn mime(&self) -> &'static str {
        match self.ending {
            "png" => "image/png",
            "jpg" => "image/jpeg",
            "webp" => "image/webp",
            _ => "image/gif",
        }
    }

    /// The name of its file, made of its bytes: the same picture has the same one.
    pub fn name(&self) -> String {
        let hash = Sha256::digest(&self.bytes);
        let hash: String = hash.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
        format!("picture-{hash}.{}", self.ending)
    }
}

impl fmt::Debug for AnswerPicture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AnswerPicture({} bytes, {})", self.bytes.len(), self.ending)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_is_what_begins_like_one_and_is_named_after_its_bytes() {
        let name = |bytes: &'static [u8]| AnswerPicture::of(bytes).map(|picture| picture.name());
        for (bytes, ending) in [
            (&b"\x89PNG\r\n\x1a\nrest"[..], ".png"),
            (b"\xff\xd8\xff\xe0rest", ".jpg"),
            (b"RIFF....WEBPVP8 ", ".webp"),
            (b"GIF89arest", ".gif"),
        ] {
            let name = name(bytes).unwrap();
            assert!(name.starts_with("picture-") && name.ends_with(ending), "{name}");
        }
        for none in [&b""[..], b"<html>", b"\x89PNG", b"RIFF....WAVE", b"<svg/>", b"%PDF-1.7"] {
            assert_eq!(name(none), None);
        }
        assert_eq!(name(b"GIF89aone"), name(b"GIF89aone"));
        assert_ne!(name(b"GIF89aone"), name(b"GIF89atwo"));
    }
}
