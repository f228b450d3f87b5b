//! An image's type and size, from its first bytes.

/// Says what an image is; `None` when the bytes are none that is known.
pub(super) fn described(head: &[u8]) -> Option<String> {
    let (name, size) = known(head)?;
    Some(match size {
        Some((width, height)) => format!("{name} image, {width}×{height} pixels"),
        None => format!("{name} image"),
    })
}

type Size = Option<(u64, u64)>;

fn known(head: &[u8]) -> Option<(&'static str, Size)> {
    let pair = |width: Option<u64>, height: Option<u64>| width.zip(height);
    if head.starts_with(b"\x89PNG\r\n\x1a\n") {
        return Some(("PNG", pair(big(head, 16, 4), big(head, 20, 4))));
    }
    if head.starts_with(b"GIF87a") || head.starts_with(b"GIF89a") {
        return Some(("GIF", pair(little(head, 6, 2), little(head, 8, 2))));
    }
    if head.starts_with(b"\xff\xd8\xff") {
        return Some(("JPEG", jpeg(head)));
    }
    if head.starts_with(b"RIFF") && head.get(8..12) == Some(b"WEBP") {
        return Some(("WebP", webp(head)));
    }
    if head.starts_with(b"BM") && little(head, 6, 4) == Some(0) {
        return Some(("BMP", pair(little(head, 18, 4), little(head, 22, 4))));
    }
    let tiff = head.starts_with(b"II*\0") || head.starts_with(b"MM\0*");
    tiff.then_some(("TIFF", None))
}

fn big(bytes: &[u8], at: usize, len: usize) -> Option<u64> {
    Some(bytes.get(at..at + len)?.iter().fold(0, |sum, b| sum << 8 | u64::from(*b)))
}

fn little(bytes: &[u8], at: usize, len: usize) -> Option<u64> {
    Some(bytes.get(at..at + len)?.iter().rev().fold(0, |sum, b| sum << 8 | u64::from(*b)))
}

/// The first frame header tells; other segments are skipped by their lengths.
fn jpeg(head: &[u8]) -> Size {
    let mut at = 2;
    loop {
        let marker = *head.get(at + 1).filter(|_| head[at] == 0xff)?;
        if matches!(marker, 0xc0..=0xcf) && !matches!(marker, 0xc4 | 0xc8 | 0xcc) {
            return big(head, at + 7, 2).zip(big(head, at + 5, 2));
        }
        at += 2 + usize::try_from(big(head, at + 2, 2)?).ok()?;
    }
}

fn webp(head: &[u8]) -> Size {
    match head.get(12..16)? {
        b"VP8X" => Some((little(head, 24, 3)? + 1, little(head, 27, 3)? + 1)),
        b"VP8 " => Some((little(head, 26, 2)? & 0x3fff, little(head, 28, 2)? & 0x3fff)),
        b"VP8L" => {
            let bits = little(head, 21, 4)?;
            Some(((bits & 0x3fff) + 1, (bits >> 14 & 0x3fff) + 1))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn headers_tell_type_and_size() {
        let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x02\x80\0\0\x01\xe0";
        let gif = b"GIF89a\x0a\0\x14\0";
        let jpeg = b"\xff\xd8\xff\xe0\0\x04ab\xff\xc0\0\x11\x08\0\x20\0\x30";
        let webp = b"RIFF....WEBPVP8X....\0\0\0\0\x0f\0\0\x1f\0\0";
        let said: Vec<_> = [&png[..], gif, jpeg, webp, b"II*\0", b"BM, a maker", b"text"]
            .iter()
            .map(|head| described(head).unwrap_or_else(|| "none".to_owned()))
            .collect();
        insta::assert_snapshot!(said.join("\n"), @r"
        PNG image, 640×480 pixels
        GIF image, 10×20 pixels
        JPEG image, 48×32 pixels
        WebP image, 16×32 pixels
        TIFF image
        none
        none
        ");
    }

    proptest! {
        #[test]
        fn any_bytes_are_taken(magic in prop::sample::select(vec![&b"\xff\xd8\xff"[..], b"RIFF....WEBP", b"BM"]), rest: Vec<u8>) {
            let _ = described(&[magic, &rest].concat());
        }
    }
}
