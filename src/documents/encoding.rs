//! Bytes as text, in whatever encoding they are written: by their mark, by what they declare, by what they look like.

use std::borrow::Cow;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};

/// Bytes that are looked at for a declaration.
const HEAD: usize = 1024;
/// Bytes that are looked at for the order of those of UTF-16.
const ORDER: usize = 4096;

/// Text that was bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodedText {
    /// The text.
    pub text: String,
    /// The name of the encoding, as the web calls it.
    pub encoding: &'static str,
    /// Some bytes were none of that encoding, and are U+FFFD.
    pub is_broken: bool,
}

impl DecodedText {
    /// Returns the name of the encoding where it is not UTF-8.
    pub fn foreign(&self) -> Option<&'static str> {
        Some(self.encoding).filter(|name| *name != UTF_8.name())
    }
}

/// Decodes bytes as the encoding that they are in.
pub fn decode(bytes: &[u8]) -> DecodedText {
    decode_as(bytes, None)
}

/// Decodes bytes; `label` is what whoever brought them calls the encoding. A mark at the beginning counts more.
pub fn decode_as(bytes: &[u8], label: Option<&str>) -> DecodedText {
    let told = label.and_then(|label| Encoding::for_label(label.as_bytes()));
    let encoding = match Encoding::for_bom(bytes) {
        Some((encoding, _)) => encoding,
        None => told.or_else(|| declared(bytes)).unwrap_or_else(|| guessed(bytes)),
    };
    let (text, encoding, is_broken) = encoding.decode(bytes);
    DecodedText { text: Cow::into_owned(text), encoding: encoding.name(), is_broken }
}

/// Whether bytes with a zero among them are text of 16 bits: its zeros stand on one side of each pair.
pub fn is_wide(bytes: &[u8]) -> bool {
    matches!(Encoding::for_bom(bytes), Some((found, _)) if found != UTF_8) || wide(bytes).is_some()
}

/// What a page or XML says of itself, when its bytes can be that.
fn declared(bytes: &[u8]) -> Option<&'static Encoding> {
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(HEAD)]).to_ascii_lowercase();
    if !head.trim_start().starts_with('<') {
        return None;
    }
    let at =
        ["charset=", "encoding="].iter().find_map(|key| head.find(key).map(|at| at + key.len()));
    let value = head[at?..].trim_start_matches(['"', '\'', ' ']);
    let end = value.find(|c: char| !(c.is_ascii_alphanumeric() || "-_:.".contains(c)));
    let encoding = Encoding::for_label(&value.as_bytes()[..end.unwrap_or(value.len())])?;
    // Whoever could read the declaration byte by byte has no text of 16 bits.
    (encoding.is_ascii_compatible()
        && encoding.decode_without_bom_handling_and_without_replacement(bytes).is_some())
    .then_some(encoding)
}

fn guessed(bytes: &[u8]) -> &'static Encoding {
    if let Some(wide) = wide(bytes) {
        return wide;
    }
    // ISO-2022-JP is written with the bytes of ASCII: an escape says where it is something else.
    let is_escaped = bytes.windows(2).any(|two| two == b"\x1b$");
    if !is_escaped && (std::str::from_utf8(bytes).is_ok() || is_mostly_utf8(bytes)) {
        return UTF_8;
    }
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
    detector.feed(bytes, true);
    detector.guess(None, Utf8Detection::Deny)
}

/// Text of UTF-8 with a few broken bytes stays what it is.
fn is_mostly_utf8(bytes: &[u8]) -> bool {
    let mut counts = [0_usize; 2];
    for chunk in bytes.utf8_chunks() {
        counts[0] += chunk.valid().chars().filter(|c| !c.is_ascii()).count();
        counts[1] += usize::from(!chunk.invalid().is_empty());
    }
    counts[0] > 2 * counts[1]
}

fn wide(bytes: &[u8]) -> Option<&'static Encoding> {
    let pairs = bytes[..bytes.len().min(ORDER)].chunks_exact(2);
    let all = pairs.len();
    // What most text has in between its letters of any script: spaces, digits, marks.
    let is_plain =
        |byte: u8| byte.is_ascii_graphic() || matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | 0xa0..);
    let counts = pairs.fold([0, 0], |[little, big], pair| {
        [
            little + usize::from(pair[1] == 0 && is_plain(pair[0])),
            big + usize::from(pair[0] == 0 && is_plain(pair[1])),
        ]
    });
    let is_most = |many: usize, few: usize| all >= 2 && many * 10 > all * 7 && few == 0;
    match counts {
        [little, big] if is_most(little, big) => Some(UTF_16LE),
        [little, big] if is_most(big, little) => Some(UTF_16BE),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(bytes: &[u8]) -> String {
        let DecodedText { text, encoding, is_broken } = decode(bytes);
        format!("{encoding}{}: {text}", if is_broken { " broken" } else { "" })
    }

    #[test]
    fn encodings_are_known_by_mark_declaration_or_look() {
        let japanese = "商品名,数量\n緑茶,12\nほうじ茶,3\n".repeat(3);
        let in_encoding = |label: &str, text: &str| {
            Encoding::for_label(label.as_bytes()).unwrap().encode(text).0.into_owned()
        };
        for label in ["shift_jis", "euc-jp", "iso-2022-jp"] {
            let said = decode(&in_encoding(label, &japanese));
            assert_eq!(
                (said.text.as_str(), said.encoding.to_lowercase().as_str()),
                (&*japanese, label)
            );
        }
        let chinese = "我们的产品名称和数量如下，请在下个星期以前回复。
绿茶有十二盒，红茶还有三盒，谢谢大家的帮助。
"
        .repeat(3);
        assert_eq!(decode(&in_encoding("gbk", &chinese)).text, chinese);
        let little: Vec<u8> = "a;ü\n1;2".encode_utf16().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = "a;ü\n1;2".encode_utf16().flat_map(u16::to_be_bytes).collect();
        assert_eq!(seen(&little), "UTF-16LE: a;ü\n1;2");
        assert_eq!(seen(&[b"\xff\xfe", &*little].concat()), "UTF-16LE: a;ü\n1;2");
        assert_eq!(seen(&[b"\xfe\xff", &*big].concat()), "UTF-16BE: a;ü\n1;2");
        assert_eq!(seen(b"caf\xe9 cr\xe8me"), "windows-1252: café crème");
        assert_eq!(
            seen(b"<?xml version='1.0' encoding='iso-8859-2'?>\xb1"),
            "ISO-8859-2: <?xml version='1.0' encoding='iso-8859-2'?>ą"
        );
        assert_eq!(seen("äöü 漢字 👍".as_bytes()), "UTF-8: äöü 漢字 👍");
        assert_eq!(
            seen(&["Grüße aus Köln, schöne Tage".as_bytes(), b"\xff"].concat()),
            "UTF-8 broken: Grüße aus Köln, schöne Tage\u{fffd}"
        );
        assert_eq!(seen(b""), "UTF-8: ");
    }

    #[test]
    fn other_bytes_are_no_wide_text() {
        assert!(!is_wide(b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x03\0\x3e\0"));
        assert!(!is_wide(&[0; 64]));
        assert!(!is_wide(&[1, 0, 2, 0, 5, 0, 3, 0, 0xff, 0xff]));
        assert!(is_wide(b"a\0b\0c\0"));
    }
}
