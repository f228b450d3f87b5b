//! The pictures of one answer, as far as they come with it: nothing is fetched.

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use serde_json::Value;

use crate::dialect;
use selkie_domain::answer_picture::AnswerPicture;

/// No answer has more of them.
const MAX: usize = 4;

/// Some servers leave the padding away.
pub(super) const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// What has arrived of them so far.
#[derive(Default)]
pub(super) struct Pictures {
    taken: Vec<AnswerPicture>,
    bytes: usize,
    /// There were some that are not taken.
    misses: bool,
}

impl Pictures {
    /// Takes the picture of a part of type `image_url`, when its address holds it.
    pub fn take_part(&mut self, part: &Value) {
        let address = &part["image_url"];
        let address = address["url"].as_str().or(address.as_str()).unwrap_or("");
        let data = address.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,"));
        match data {
            Some((_, base64)) => self.take(base64),
            None => self.miss("it does not come with the answer"),
        }
    }

    /// Takes a picture.
    pub fn take(&mut self, base64: &str) {
        if let Err(why) = self.taken(base64) {
            self.miss(why);
        }
    }

    /// Returns the pictures, and the words with a line where some are missing.
    pub fn finish(self, text: String) -> (Vec<AnswerPicture>, String) {
        let text = match (self.misses, text.trim_end()) {
            (false, _) => text,
            (true, "") => dialect::unshown(Some("a picture")),
            (true, words) => format!("{words}\n\n{}", dialect::unshown(Some("a picture"))),
        };
        (self.taken, text)
    }

    fn taken(&mut self, base64: &str) -> Result<(), &'static str> {
        let room = AnswerPicture::MAX_BYTES - self.bytes;
        // Not decoded when it cannot fit: padding is two bytes at most.
        if base64.len() / 4 * 3 > room + 2 {
            return Err("the pictures of one answer may have 10 MiB");
        }
        let bytes = BASE64.decode(base64).map_err(|_| "it is no base64")?;
        if bytes.len() > room {
            return Err("the pictures of one answer may have 10 MiB");
        }
        let picture = AnswerPicture::of(bytes).ok_or("it is no PNG, JPEG, WebP or GIF")?;
        if self.taken.contains(&picture) {
            return Ok(());
        }
        if self.taken.len() == MAX {
            return Err("an answer may have four");
        }
        self.bytes += picture.bytes().len();
        self.taken.push(picture);
        Ok(())
    }

    /// Told once: an answer may be nothing but such pictures.
    fn miss(&mut self, why: &str) {
        if !std::mem::replace(&mut self.misses, true) {
            tracing::warn!(why, "a picture of the model is not taken");
        }
    }
}

#[cfg(test)]
mod tests {
    use base64::engine::general_purpose;
    use serde_json::json;

    use super::*;

    const NAMED: &str = "[a picture from the model, which cannot be shown]";

    fn png(bytes: usize) -> Vec<u8> {
        let mut png = b"\x89PNG\r\n\x1a\n".to_vec();
        png.resize(bytes, 7);
        png
    }

    fn address(kind: &str, bytes: &[u8]) -> String {
        format!("data:{kind};base64,{}", general_purpose::STANDARD.encode(bytes))
    }

    fn taken(addresses: &[String]) -> (Vec<usize>, String) {
        let mut pictures = Pictures::default();
        for address in addresses {
            pictures.take_part(&json!({ "type": "image_url", "image_url": { "url": address } }));
        }
        let (taken, text) = pictures.finish("Here: ".to_owned());
        (taken.iter().map(|picture| picture.bytes().len()).collect(), text)
    }

    #[test]
    fn a_picture_in_an_address_is_taken_once() {
        let one = address("image/png", &png(20));
        assert_eq!(taken(&[one.clone(), one.clone()]), (vec![20], "Here: ".to_owned()));
        let (bare, kind) = (one.trim_end_matches('=').to_owned(), address("text/html", &png(20)));
        assert_eq!(taken(&[bare, kind]).0, [20], "its own bytes say what it is");
        let mut pictures = Pictures::default();
        pictures.take_part(&json!({ "image_url": one }));
        assert_eq!(pictures.finish(String::new()).0.len(), 1);
    }

    #[test]
    fn what_is_not_taken_is_named_once() {
        let named = (vec![], format!("Here:\n\n{NAMED}"));
        for bad in [
            "https://example.com/cat.png",
            "file:///etc/passwd",
            "data:image/png;base64,@@@@",
            "data:image/png,plain",
            "",
            &address("text/html", b"<script>alert(1)</script>"),
            &address("image/svg+xml", b"<svg/>"),
            &address("image/png", &png(11 * 1024 * 1024)),
        ] {
            assert_eq!(taken(&[bad.to_owned(), bad.to_owned()]), named, "{bad:.40}");
        }
        assert_eq!(Pictures { misses: true, ..Pictures::default() }.finish("".into()).1, NAMED);
    }

    #[test]
    fn no_answer_brings_more_than_there_is_room_for() {
        let many: Vec<String> = (20..30).map(|n| address("image/png", &png(n))).collect();
        assert_eq!(taken(&many).0, [20, 21, 22, 23]);
        let sizes = [6, 5, 4].map(|mib| address("image/png", &png(mib * 1024 * 1024)));
        assert_eq!(taken(&sizes).0, [6 * 1024 * 1024, 4 * 1024 * 1024]);
    }
}
