//! What kind of file this is, from its first bytes.

/// What has a zero in it and is nothing that is known: it may be text of 16 bits.
pub(super) const UNKNOWN: &str = "binary data";
/// How many bytes tell.
pub(super) const HEAD: usize = 8 * 1024;

/// Names the type of a file that is no text; `None` for text.
pub(super) fn binary(head: &[u8]) -> Option<&'static str> {
    let known = MAGIC
        .iter()
        .find(|(at, magic, _)| head.get(*at..).is_some_and(|rest| rest.starts_with(magic)));
    if let Some((_, _, name)) = known {
        return Some(name);
    }
    head.contains(&0).then_some(UNKNOWN)
}

/// Where, which bytes, what it is.
const MAGIC: &[(usize, &[u8], &str)] = &[
    (0, b"\x89PNG\r\n\x1a\n", "a PNG image"),
    (0, b"\xff\xd8\xff", "a JPEG image"),
    (0, b"GIF8", "a GIF image"),
    (8, b"WEBP", "a WebP image"),
    (0, b"II*\0", "a TIFF image"),
    (0, b"MM\0*", "a TIFF image"),
    (0, b"\x1f\x8b", "gzip data"),
    (0, b"BZh", "bzip2 data"),
    (0, b"\xfd7zXZ\0", "xz data"),
    (0, b"\x28\xb5\x2f\xfd", "zstd data"),
    (0, b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (257, b"ustar", "a tar archive"),
    (0, b"\x7fELF", "a program"),
    (0, b"OggS", "Ogg audio"),
    (0, b"ID3", "MP3 audio"),
    (8, b"WAVE", "WAV audio"),
    (0, b"fLaC", "FLAC audio"),
    (4, b"ftyp", "MP4 media"),
    (0, b"\x1a\x45\xdf\xa3", "Matroska media"),
    (0, b"SQLite format 3\0", "an SQLite database"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_text_whatever_it_begins_with() {
        for text in ["", "hello", "PK", "%PDX", "BOM\u{feff}", "äöü 漢字 👍", "GIF is a format"]
        {
            assert_eq!(binary(text.as_bytes()), None, "{text}");
        }
        assert_eq!(binary(b"\x89PNG\r\n\x1a\n..."), Some("a PNG image"));
        assert_eq!(binary(b"RIFF....WEBPVP8 "), Some("a WebP image"));
        assert_eq!(binary(b"abc\0def"), Some("binary data"));
    }
}
