//! The headers by which services sign: read strictly, for anybody can write them.

use axum::http::HeaderMap;
use ring::digest::SHA256_OUTPUT_LEN;

/// A signature of HMAC-SHA256.
pub type Signature = [u8; SHA256_OUTPUT_LEN];

/// Signatures that one header may hold: two while a secret is changed.
const MAX_SIGNATURES: usize = 8;

/// When something was signed, in seconds, with one signature or several.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct SignedAt<'h> {
    /// As it was written, for it is signed so.
    pub time: &'h str,
    /// Each would do.
    pub signatures: Vec<Signature>,
}

/// Returns the text of a header that stands there once.
pub fn only<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    let mut all = headers.get_all(name).iter();
    let first = all.next()?;
    match all.next() {
        None => first.to_str().ok().map(str::trim),
        Some(_) => None,
    }
}

/// Reads 64 hexadecimal digits behind a prefix.
pub fn hex(text: &str, prefix: &str) -> Option<Signature> {
    let digits = text.strip_prefix(prefix)?.as_bytes();
    if digits.len() != 2 * SHA256_OUTPUT_LEN {
        return None;
    }
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let mut signature = [0; SHA256_OUTPUT_LEN];
    for (byte, pair) in signature.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = digit(pair[0])? << 4 | digit(pair[1])?;
    }
    Some(signature)
}

/// Reads `t=…,v1=…`, as Stripe signs. Signatures of other versions are passed over.
pub fn signed_at(text: &str) -> Option<SignedAt<'_>> {
    let mut read = SignedAt::default();
    for part in text.split(',') {
        match part.trim().split_once('=')? {
            ("t", _) if !read.time.is_empty() => return None,
            ("t", time) => read.time = time,
            ("v1", _) if read.signatures.len() == MAX_SIGNATURES => return None,
            ("v1", signature) => read.signatures.push(hex(signature, "")?),
            _ => {}
        }
    }
    (!read.time.is_empty() && !read.signatures.is_empty()).then_some(read)
}

/// Reads seconds since 1970: digits alone.
pub fn seconds(text: &str) -> Option<i64> {
    let is_plain = (1..=12).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
    is_plain.then(|| text.parse().ok()).flatten()
}

/// Reads the token of `Bearer TOKEN`.
pub fn bearer(text: &str) -> Option<&str> {
    let (scheme, token) = text.split_once(' ')?;
    let token = token.trim();
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token)
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;
    use proptest::prelude::*;
    use selkie_channel_core::hash::in_hex;

    use super::*;

    #[test]
    fn what_stands_twice_is_nobodys() {
        let mut headers = HeaderMap::new();
        headers.insert("x-signature", HeaderValue::from_static(" a "));
        assert_eq!(only(&headers, "X-Signature"), Some("a"));
        headers.append("x-signature", HeaderValue::from_static("b"));
        assert_eq!(only(&headers, "X-Signature"), None);
    }

    #[test]
    fn half_a_header_is_none() {
        let whole = in_hex(&[0xab; 32]);
        let read = |text: &str| signed_at(text).map(|read| read.signatures.len());
        assert_eq!(read(&format!("t=1,v1={whole}, v0=zz,v1={whole}")), Some(2));
        for text in ["", "t=1", &format!("v1={whole}"), &format!("t=1,t=2,v1={whole}"), "t=1,v1=ab"]
        {
            assert_eq!(read(text), None, "{text}");
        }
        let many = format!("t=1{}", format!(",v1={whole}").repeat(9));
        assert_eq!(read(&many), None, "nobody has so many secrets");
        for text in ["", "-1", "+1", "1.5", "1e3", " 1", "9999999999999"] {
            assert_eq!(seconds(text), None, "{text}");
        }
        for text in ["", "Bearer", "Bearer ", "Basic abc"] {
            assert_eq!(bearer(text), None, "{text}");
        }
        assert_eq!(bearer("bearer  abc "), Some("abc"));
    }

    proptest! {
        /// Whatever is sent, reading ends; what is read says the same when it is written again.
        #[test]
        fn any_header_is_read_or_none(text in ".{0,300}") {
            if let Some(read) = hex(&text, "sha256=") {
                prop_assert_eq!(format!("sha256={}", in_hex(&read)), text.to_lowercase());
            }
            if let Some(read) = signed_at(&text) {
                prop_assert!(read.signatures.len() <= MAX_SIGNATURES);
            }
            if let Some(read) = seconds(&text) {
                prop_assert!(read >= 0);
            }
            bearer(&text);
        }

        /// What is nearly such a header is read or none.
        #[test]
        fn any_list_is_read_or_none(text in "((t|v1|v0|=|,| |[0-9a-f]{64})){0,12}") {
            signed_at(&text);
        }

        #[test]
        fn a_signature_survives_being_written(signature in any::<[u8; 32]>(), time in 0..i64::from(u32::MAX)) {
            let written = format!("t={time},v1={}", in_hex(&signature));
            let read = signed_at(&written).unwrap();
            prop_assert_eq!((read.time, &read.signatures[..]), (&*time.to_string(), &[signature][..]));
            prop_assert_eq!(seconds(read.time), Some(time));
        }
    }
}
