//! Reads an answer whose length nobody promised.

use reqwest::Response;

use super::fault::words;

/// What a platform's answer to a call may hold at most, bytes. The longest list a platform hands out at once
/// is far below.
pub const MAX_ANSWER: usize = 16 * 1024 * 1024;

/// Of a body that is no answer, characters that are told.
const TOLD: usize = 120;

/// Reads an answer to its end, `most` bytes of it.
///
/// # Errors
/// In words, without the URL: the answer broke off, or is longer. What it would have said is unknown.
pub async fn read(mut response: Response, most: usize) -> Result<Vec<u8>, String> {
    let promised = response.content_length().and_then(|length| usize::try_from(length).ok());
    let mut body = Vec::with_capacity(promised.unwrap_or_default().min(64 * 1024));
    loop {
        match response.chunk().await {
            Ok(Some(chunk)) if body.len() + chunk.len() > most => {
                return Err(format!("the answer is longer than {most} bytes"));
            }
            Ok(Some(chunk)) => body.extend_from_slice(&chunk),
            Ok(None) => return Ok(body),
            Err(error) => return Err(format!("the answer was cut: {}", words(error))),
        }
    }
}

/// Returns the first words of a body, on one line.
pub fn beginning(body: &[u8]) -> String {
    let words = String::from_utf8_lossy(body);
    let line = words.split_whitespace().collect::<Vec<_>>().join(" ");
    line.chars().take(TOLD).collect()
}
