//! How long something may take.

use std::ops::RangeInclusive;
use std::time::Duration;

/// Reads a length of time of a range: `100ms`, `45s`, `45`; a number without a unit counts seconds.
///
/// # Errors
/// The value, and what is taken.
pub fn span(text: &str, range: RangeInclusive<Duration>) -> Result<Duration, String> {
    parsed(text.trim()).filter(|length| range.contains(length)).ok_or_else(|| {
        let least = written(*range.start());
        let most = written(*range.end());
        format!("{text:?} is not accepted; it takes {least} to {most}")
    })
}

fn parsed(text: &str) -> Option<Duration> {
    if let Some(number) = text.strip_suffix("ms") {
        return number.trim().parse().ok().map(Duration::from_millis);
    }
    let number = text.strip_suffix('s').unwrap_or(text);
    number.trim().parse().ok().map(Duration::from_secs)
}

fn written(length: Duration) -> String {
    match length.subsec_millis() {
        0 => format!("{}s", length.as_secs()),
        _ => format!("{}ms", length.as_millis()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_is_read_within_its_range() {
        let range = || Duration::from_millis(100)..=Duration::from_secs(45);
        let read = |text| span(text, range());
        for (text, millis) in [("100ms", 100), (" 45 s", 45_000), ("7", 7_000)] {
            assert_eq!(read(text), Ok(Duration::from_millis(millis)), "{text}");
        }
        for wrong in ["99ms", "46s", "", "s", "-1s", "1.5s", "99999999999999999999s", "1m"] {
            let taken = format!("{wrong:?} is not accepted; it takes 100ms to 45s");
            assert_eq!(read(wrong), Err(taken));
        }
    }
}
