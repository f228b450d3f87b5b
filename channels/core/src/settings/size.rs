//! How large something may be.

/// Bytes in a mebibyte.
pub const MIB: u64 = 1024 * 1024;

/// Reads a size of at most `most` bytes, one at least.
///
/// # Errors
/// The value, and what is taken.
pub fn size(bytes: u64, most: u64) -> Result<u64, String> {
    if (1..=most).contains(&bytes) {
        return Ok(bytes);
    }
    let upwards = if most == u64::MAX { "or more".to_owned() } else { format!("to {most}") };
    Err(format!("{bytes} is not accepted; it takes 1 {upwards} bytes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_and_too_much_are_no_sizes() {
        assert_eq!(size(7, 7), Ok(7));
        let wrong = |bytes, most| size(bytes, most).unwrap_err();
        assert_eq!(wrong(8, 7), "8 is not accepted; it takes 1 to 7 bytes");
        assert_eq!(wrong(0, u64::MAX), "0 is not accepted; it takes 1 or more bytes");
    }
}
