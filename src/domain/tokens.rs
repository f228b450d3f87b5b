//! How many tokens a text is taken for: the one estimate that everything is fitted by.

/// Bytes of a token, on the safe side for every script and tokenizer that we met; of English JSON it is about four.
pub const BYTES: usize = 3;

/// Estimates the tokens of a text.
pub fn of_text(text: &str) -> u64 {
    of_bytes(text.len())
}

/// Estimates the tokens of so many bytes.
pub fn of_bytes(bytes: usize) -> u64 {
    (bytes / BYTES) as u64 + 1
}

/// Returns the bytes for which there is room in so many tokens.
pub fn bytes(tokens: u64) -> usize {
    usize::try_from(tokens).unwrap_or(usize::MAX).saturating_mul(BYTES)
}
