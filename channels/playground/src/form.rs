//! Queries and forms: `a=1&b=two+words`.

/// The pairs of a query or a form, decoded.
pub(crate) fn pairs(text: &str) -> Vec<(String, String)> {
    let pair = |pair: &str| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        (decoded(&name.replace('+', " ")), decoded(&value.replace('+', " ")))
    };
    text.split('&').filter(|pair| !pair.is_empty()).map(pair).collect()
}

/// Decodes `%41`; a sign with anything else behind it stays.
pub(crate) fn decoded(text: &str) -> String {
    let mut pieces = text.split('%');
    let mut bytes = pieces.next().unwrap_or_default().as_bytes().to_vec();
    for piece in pieces {
        let byte = piece.get(..2).and_then(|hex| u8::from_str_radix(hex, 16).ok());
        bytes.push(byte.unwrap_or(b'%'));
        bytes.extend_from_slice(&piece.as_bytes()[if byte.is_some() { 2 } else { 0 }..]);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
