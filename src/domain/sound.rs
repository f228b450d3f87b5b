//! A recording that was made of words, for what its bytes begin like.

use bytes::Bytes;

/// A recording of a kind that people can play, by its first bytes. Nobody has decoded it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sound {
    /// The file.
    pub bytes: Bytes,
    /// The ending of its name.
    pub ending: &'static str,
    /// Whether platforms show it as a voice note: OGG with Opus.
    pub is_voice_note: bool,
}

impl Sound {
    /// The most bytes of one: twenty mebibytes.
    pub const MAX_BYTES: usize = 20 << 20;

    /// Takes bytes for what they begin like.
    ///
    /// # Errors
    /// In words, what they are instead of a recording.
    pub fn of(bytes: impl Into<Bytes>) -> Result<Self, String> {
        let bytes = bytes.into();
        let kind = match &*bytes {
            [] => return Err("it answers with nothing".to_owned()),
            all if all.len() > Self::MAX_BYTES => {
                return Err(format!("the recording is larger than {} MiB", Self::MAX_BYTES >> 20));
            }
            // The first page of a stream holds its head alone.
            [b'O', b'g', b'g', b'S', rest @ ..] => {
                let head = &rest[..rest.len().min(256)];
                ("ogg", head.windows(8).any(|part| part == b"OpusHead"))
            }
            [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'A', b'V', b'E', ..] => ("wav", false),
            [b'I', b'D', b'3', ..] => ("mp3", false),
            [0xff, second, ..] if second & 0xe6 == 0xe2 => ("mp3", false),
            [_, _, _, _, b'f', b't', b'y', b'p', ..] => ("m4a", false),
            other => return Err(instead(other)),
        };
        Ok(Self { bytes, ending: kind.0, is_voice_note: kind.1 })
    }

    /// The name of its file.
    pub fn name(&self) -> String {
        format!("voice.{}", self.ending)
    }
}

fn instead(bytes: &[u8]) -> String {
    let is_page = bytes.trim_ascii_start().starts_with(b"<");
    let is_json = bytes.trim_ascii_start().starts_with(b"{");
    let what = match (is_page, is_json) {
        (true, _) => "a web page",
        (_, true) => "JSON",
        _ => "something else",
    };
    format!("it answers with {what} instead of a recording (OGG, WAV, MP3, M4A)")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wav;

    #[test]
    fn a_recording_is_what_begins_like_one() {
        let mut opus = b"OggS\0\x02".to_vec();
        opus.resize(28, 0);
        opus.extend(b"OpusHead\x01\x01");
        let vorbis = b"OggS\0\x02......................\x01vorbis".to_vec();
        for (bytes, ending, is_note) in [
            (opus, "ogg", true),
            (vorbis, "ogg", false),
            (wav::silence(), "wav", false),
            (b"ID3\x04rest".to_vec(), "mp3", false),
            (b"\xff\xfb\x90rest".to_vec(), "mp3", false),
            (b"\xff\xf3\x90rest".to_vec(), "mp3", false),
            (b"\0\0\0\x20ftypM4A ".to_vec(), "m4a", false),
        ] {
            let sound = Sound::of(bytes).unwrap();
            assert_eq!((sound.ending, sound.is_voice_note), (ending, is_note));
            assert_eq!(sound.name(), format!("voice.{ending}"));
        }
    }

    #[test]
    fn anything_else_is_named() {
        let why = |bytes: &[u8]| Sound::of(bytes.to_vec()).unwrap_err();
        assert_eq!(why(b""), "it answers with nothing");
        assert!(why(b" <!doctype html>").starts_with("it answers with a web page instead of"));
        assert!(why(b"{\"error\": 1}").starts_with("it answers with JSON instead of"));
        for odd in [&b"\xff\xf1aac"[..], b"Oggs", b"RIFF....WEBP", b"\xff", b"words"] {
            assert!(why(odd).starts_with("it answers with something else"), "{odd:?}");
        }
        let mut large = b"ID3".to_vec();
        large.resize(Sound::MAX_BYTES + 1, 0);
        assert_eq!(why(&large), "the recording is larger than 20 MiB");
    }
}
