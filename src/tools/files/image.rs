//! An image's type and size, from its first bytes and, where these point elsewhere, from there.

/// Says what an image is; `None` when the bytes are none that is known. `at` reads bytes at a place of the
/// file: formats that keep their size at the end are followed there.
pub(super) fn described(head: &[u8], at: impl Fn(u64, usize) -> Option<Vec<u8>>) -> Option<String> {
    let (name, size) = known(head, at)?;
    Some(in_words(name, size))
}

/// Says what a drawing is; `None` when the text is none.
pub(super) fn drawing(head: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(head);
    let start = text.trim_start_matches('\u{feff}').trim_start();
    let tag = &text[text.find("<svg")?..];
    // Text that speaks of drawings does not begin like markup.
    if !start.starts_with(['<']) || !tag[4..].starts_with(|c: char| c.is_whitespace() || c == '>') {
        return None;
    }
    let tag = &tag[..tag.find('>').unwrap_or(tag.len())];
    let own = pixels(tag, "width").zip(pixels(tag, "height"));
    let view = || {
        let numbers: Vec<f64> =
            attribute(tag, "viewBox")?.split([' ', ',']).filter_map(|n| n.parse().ok()).collect();
        Some((whole(*numbers.get(2)?)?, whole(*numbers.get(3)?)?))
    };
    Some(in_words("SVG", own.or_else(view)))
}

fn in_words(name: &str, size: Size) -> String {
    match size {
        Some((width, height)) => format!("{name} image, {width}×{height} pixels"),
        None => format!("{name} image"),
    }
}

/// Width and height, where they are told.
pub(crate) type Size = Option<(u64, u64)>;

/// Returns an image's type, and its width and height where they are told. `at` as in [`described`].
pub(crate) fn known(
    head: &[u8],
    at: impl Fn(u64, usize) -> Option<Vec<u8>>,
) -> Option<(&'static str, Size)> {
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
        return Some(("BMP", bmp(head)));
    }
    match head.get(..4)? {
        b"II*\0" => Some(("TIFF", tiff(head, little, at))),
        b"MM\0*" => Some(("TIFF", tiff(head, big, at))),
        _ => None,
    }
}

/// The old header has short numbers; in the newer ones a picture may be stored from its top: height < 0.
fn bmp(head: &[u8]) -> Size {
    if little(head, 14, 4) == Some(12) {
        return little(head, 18, 2).zip(little(head, 20, 2));
    }
    let height = u32::try_from(little(head, 22, 4)?).ok()?.cast_signed();
    Some((little(head, 18, 4)?, u64::from(height.unsigned_abs())))
}

/// How a number of so many bytes is read at a place.
type Number = fn(&[u8], usize, usize) -> Option<u64>;

/// The directory of the first picture: entries of 12 bytes, tag, type, count, value.
fn tiff(head: &[u8], number: Number, at: impl Fn(u64, usize) -> Option<Vec<u8>>) -> Size {
    const MAX: usize = 64;
    let directory = at(number(head, 4, 4)?, 2 + MAX * 12)?;
    let entries = usize::try_from(number(&directory, 0, 2)?).ok()?.min(MAX);
    let value = |tag: u64| {
        let entry =
            (0..entries).map(|n| 2 + n * 12).find(|e| number(&directory, *e, 2) == Some(tag))?;
        // Type 3 is a short number, at the front of the four bytes.
        let bytes = if number(&directory, entry + 2, 2)? == 3 { 2 } else { 4 };
        number(&directory, entry + 8, bytes)
    };
    value(256).zip(value(257))
}

/// `width="24"` and `width='24.5px'`, in whole pixels; other units say nothing of pixels.
fn pixels(tag: &str, name: &str) -> Option<u64> {
    let value = attribute(tag, name)?;
    whole(value.trim().trim_end_matches("px").parse().ok()?)
}

fn attribute<'a>(tag: &'a str, name: &str) -> Option<&'a str> {
    let mut from = 0;
    loop {
        let at = from + tag[from..].find(name)?;
        from = at + name.len();
        let rest = tag[from..].trim_start().strip_prefix('=').map(str::trim_start);
        let quote = rest.and_then(|r| r.chars().next()).filter(|c| matches!(c, '"' | '\''));
        if let (Some(rest), Some(quote)) = (rest, quote)
            && tag[..at].ends_with(char::is_whitespace)
        {
            return rest[1..].split(quote).next();
        }
    }
}

fn whole(number: f64) -> Option<u64> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "in the range of u32"
    )]
    (number.round() >= 1.0 && number <= f64::from(u32::MAX)).then_some(number.round() as u64)
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

    /// Reads from the same bytes.
    fn of(bytes: &[u8]) -> impl Fn(u64, usize) -> Option<Vec<u8>> {
        |at, len| {
            let rest = bytes.get(usize::try_from(at).ok()?..)?;
            Some(rest[..len.min(rest.len())].to_vec())
        }
    }

    #[test]
    fn drawings_are_told_from_text_about_them() {
        for (text, said) in [
            ("<svg width=\"24\" height='12.4px'>", Some("SVG image, 24×12 pixels")),
            (
                "\u{feff}<?xml version='1.0'?>\n<!-- x -->\n<svg stroke-width=\"2\" viewBox=\"0 0 10,20\">",
                Some("SVG image, 10×20 pixels"),
            ),
            ("<svg width='100%' height='5cm'></svg>", Some("SVG image")),
            ("An <svg> is a drawing", None),
            ("<p>no <svgs></p>", None),
            ("<svg", None),
        ] {
            assert_eq!(drawing(text.as_bytes()).as_deref(), said, "{text}");
        }
    }

    #[test]
    fn headers_tell_type_and_size() {
        let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x02\x80\0\0\x01\xe0";
        let gif = b"GIF89a\x0a\0\x14\0";
        let jpeg = b"\xff\xd8\xff\xe0\0\x04ab\xff\xc0\0\x11\x08\0\x20\0\x30";
        let webp = b"RIFF....WEBPVP8X....\0\0\0\0\x0f\0\0\x1f\0\0";
        let bmp = b"BM\x46\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0\x02\0\0\0\xfd\xff\xff\xff\x01\0";
        let tiff = b"MM\0*\0\0\0\x08\0\x02\x01\0\0\x03\0\0\0\x01\0\x05\0\0\x01\x01\0\x04\0\0\0\x01\0\0\0\x07";
        let all: [&[u8]; 9] = [png, gif, jpeg, webp, bmp, tiff, b"II*\0", b"BM, a maker", b"text"];
        let said: Vec<_> = all
            .into_iter()
            .map(|head| described(head, of(head)).unwrap_or_else(|| "none".to_owned()))
            .collect();
        insta::assert_snapshot!(said.join("\n"), @r"
        PNG image, 640×480 pixels
        GIF image, 10×20 pixels
        JPEG image, 48×32 pixels
        WebP image, 16×32 pixels
        BMP image, 2×3 pixels
        TIFF image, 5×7 pixels
        TIFF image
        none
        none
        ");
    }

    proptest! {
        #[test]
        fn any_bytes_are_taken(magic in prop::sample::select(vec![&b"\xff\xd8\xff"[..], b"RIFF....WEBP", b"BM", b"II*\0\x08\0\0\0"]), rest: Vec<u8>) {
            let bytes = [magic, &rest].concat();
            let _ = described(&bytes, of(&bytes));
            let _ = drawing(&[b"<svg ", rest.as_slice()].concat());
        }
    }
}
