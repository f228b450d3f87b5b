//! WAV as speech recognition takes it: 16 kHz, mono, 16 bits.

/// Samples of a second.
pub const RATE: u32 = 16_000;

/// Returns what stands before so many bytes of sound.
pub fn header(bytes: u32) -> [u8; 44] {
    let mut header =
        *b"RIFF\0\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\0\0\0\0\0\0\0\0\x02\0\x10\0data\0\0\0\0";
    header[4..8].copy_from_slice(&bytes.saturating_add(36).to_le_bytes());
    header[24..28].copy_from_slice(&RATE.to_le_bytes());
    header[28..32].copy_from_slice(&(2 * RATE).to_le_bytes());
    header[40..].copy_from_slice(&bytes.to_le_bytes());
    header
}

/// Returns a second in which nobody says anything.
pub fn silence() -> Vec<u8> {
    let mut all = header(2 * RATE).to_vec();
    all.resize(all.len() + 2 * RATE as usize, 0);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn silence_is_a_wav_file() {
        let bytes = silence();
        assert_eq!(bytes.len(), 44 + 32_000);
        assert_eq!((&bytes[..4], &bytes[8..16]), (&b"RIFF"[..], &b"WAVEfmt "[..]));
        let number = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        let told = (number(4), number(24), number(28), number(40));
        assert_eq!(told, (32_036, 16_000, 32_000, 32_000));
        assert_eq!(&bytes[36..40], b"data");
    }
}
