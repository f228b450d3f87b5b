//! Speech that was recorded as OGG with Opus, as WAV. Pure: bytes in, bytes or words out.

use std::io::Cursor;

use ogg::PacketReader;
use opus_decoder::OpusDecoder;

use selkie_domain::wav;

/// The longest that is converted, in samples: an hour.
const MAX_SAMPLES: usize = 3600 * wav::RATE as usize;
/// The most samples of one packet: 120 ms.
const MAX_PACKET: usize = wav::RATE as usize / 1000 * 120;
/// Opus counts what it skips at its beginning at this rate, in kHz.
const SKIP_KHZ: usize = 48;
/// How the first packet begins.
const HEAD: &[u8] = b"OpusHead";

/// Converts it.
///
/// # Errors
/// In words: it is no such recording, it is broken, or too long.
pub(super) fn wav(bytes: Vec<u8>) -> Result<Vec<u8>, String> {
    let no_opus = || "the recording cannot be converted: it is no OGG file with Opus".to_owned();
    let mut packets = PacketReader::new(Cursor::new(bytes));
    let head = packets.read_packet().ok().flatten().ok_or_else(no_opus)?;
    let skip = skipped(&head.data).ok_or_else(no_opus)?;
    let serial = head.stream_serial();
    let broken = |error: &dyn std::fmt::Display| format!("the recording is broken: {error}");
    let mut decoder = OpusDecoder::new(wav::RATE, 1).map_err(|error| broken(&error))?;
    let mut packet = vec![0_i16; MAX_PACKET];
    let mut samples = Vec::new();
    // The comment comes first; another stream than the first is not listened to.
    let mut comments = 1;
    while let Some(next) = packets.read_packet().map_err(|error| broken(&error))? {
        if next.stream_serial() != serial || next.data.is_empty() {
            continue;
        }
        if comments > 0 {
            comments -= 1;
            continue;
        }
        let count = decoder.decode(&next.data, &mut packet, false);
        let count = count.map_err(|error| broken(&error))?;
        samples.extend_from_slice(packet.get(..count).unwrap_or(&packet));
        if samples.len() > MAX_SAMPLES {
            return Err("the recording is longer than an hour".to_owned());
        }
    }
    let samples = samples.get(skip..).unwrap_or_default();
    let length = u32::try_from(2 * samples.len()).unwrap_or(u32::MAX);
    let mut out = wav::header(length).to_vec();
    out.extend(samples.iter().flat_map(|sample| sample.to_le_bytes()));
    Ok(out)
}

/// Returns how many samples of the beginning are none, by the first packet; `None` for what is no Opus of one voice.
fn skipped(head: &[u8]) -> Option<usize> {
    let rest = head.strip_prefix(HEAD)?;
    let [_version, 1 | 2, low, high, _, _, _, _, _gain, _, 0, ..] = rest else { return None };
    let skip = usize::from(u16::from_le_bytes([*low, *high]));
    Some(skip / (SKIP_KHZ / (wav::RATE as usize / 1000)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Half a second of a tone, by `opusenc`.
    const TONE: &[u8] = include_bytes!("testdata/tone.ogg");

    #[test]
    fn opus_becomes_wav() {
        let wav = wav(TONE.to_vec()).unwrap();
        let samples: Vec<i16> =
            wav[44..].chunks(2).map(|two| i16::from_le_bytes([two[0], two[1]])).collect();
        assert!((7_900..8_700).contains(&samples.len()), "{}", samples.len());
        let crossings = samples.windows(2).filter(|two| (two[0] < 0) != (two[1] < 0)).count();
        assert!((400..480).contains(&crossings), "440 Hz: {crossings} in half a second");
        assert_eq!(u32::from_le_bytes(wav[40..44].try_into().unwrap()) as usize, wav.len() - 44);
    }

    #[test]
    fn what_is_no_opus_is_said() {
        for other in [&b""[..], b"OggS", b"RIFF....WAVE", &TONE[..40]] {
            let why = wav(other.to_vec()).unwrap_err();
            assert!(why.contains("no OGG file with Opus"), "{why}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn no_file_breaks_it(at in 0..TONE.len(), byte: u8, end in 0..TONE.len()) {
            let mut spoilt = TONE.to_vec();
            spoilt[at] = byte;
            spoilt.truncate(end);
            let _any = wav(spoilt);
        }
    }
}
