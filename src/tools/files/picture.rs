//! A picture file → a picture that every model takes: copied, scaled or written anew into the
//! conversation's own folder, under the hash of its bytes. Decoding is isolated work, one at a time.

use std::io::Cursor;
use std::path::Path;
use std::sync::Arc;

use image::metadata::Orientation;
use image::{
    DynamicImage, GrayImage, ImageDecoder as _, ImageFormat, ImageReader, Limits, RgbImage,
};
use selkie_documents::{PagePicture, page_picture};
use sha2::{Digest as _, Sha256};

use crate::ToolError;
use crate::isolate::{Isolate, Job};
use selkie_domain::transcript::Picture;

/// Bytes that providers take as they are (Anthropic: 5 MB of one picture).
const MAX_BYTES: usize = 5 * 1000 * 1000;
/// A picture's longest side, pixels: providers scale larger ones down themselves, or take them for many times the price.
const MAX_SIDE: u32 = 1568;
/// A file larger than this is not decoded.
pub(super) const LARGEST: u64 = 64 * 1024 * 1024;
/// Memory one decoded picture may take: a small file can claim a huge one.
const MEMORY: u64 = 256 * 1024 * 1024;
/// Pixels that fit there, with four bytes each.
const MAX_PIXELS: u64 = MEMORY / 4;
/// Bytes in which a picture says how large it is; a camera's own notes may stand before.
const HEAD: usize = 256 * 1024;

/// Keeps what a model may look at in `own/pictures` and says where. Nothing is decoded here: what is not
/// taken as it stands is made anew where it can do no harm.
///
/// # Errors
/// In words for the model: the bytes are no picture that can be read, or the folder takes no file.
pub(crate) async fn kept(
    bytes: Vec<u8>,
    own: &Path,
    isolate: &dyn Isolate,
) -> Result<Picture, ToolError> {
    let (mime, bytes) = match as_it_stands(&bytes) {
        Some(mime) => (mime.to_owned(), bytes),
        None => made(Job::Picture, bytes, isolate).await?,
    };
    stored(own, mime, bytes).await
}

/// Keeps the picture of a page that has no text in `own/pictures`.
///
/// # Errors
/// In words for the model: there is none that can be read, or the folder takes no file.
pub(super) async fn of_scan(
    pdf: Vec<u8>,
    page: u32,
    own: &Path,
    isolate: &dyn Isolate,
) -> Result<Picture, ToolError> {
    let (mime, bytes) = made(Job::Scan { page }, pdf, isolate).await?;
    stored(own, mime, bytes).await
}

async fn stored(own: &Path, mime: String, bytes: Vec<u8>) -> Result<Picture, ToolError> {
    let own = own.to_owned();
    let done = tokio::task::spawn_blocking(move || put(&own, mime, &bytes)).await;
    done.map_err(|_| ToolError::tell("the picture cannot be kept in the cache folder"))?
}

async fn made(
    job: Job,
    bytes: Vec<u8>,
    isolate: &dyn Isolate,
) -> Result<(String, Vec<u8>), ToolError> {
    let out = isolate.run(job, bytes).await?;
    let unclear = || ToolError::tell("the picture could not be read");
    let line = memchr::memchr(b'\n', &out).ok_or_else(unclear)?;
    let mime = String::from_utf8_lossy(&out[..line]).into_owned();
    Ok((mime, out[line + 1..].to_vec()))
}

fn put(own: &Path, mime: String, bytes: &[u8]) -> Result<Picture, ToolError> {
    let folder = own.join("pictures");
    let ending = mime.trim_start_matches("image/");
    let name = format!("{}.{ending}", hash(bytes));
    let path = folder.join(&name);
    if !path.exists() {
        let fault = |e: std::io::Error| {
            ToolError::tell(format!("the picture cannot be kept in the cache folder: {e}"))
        };
        std::fs::create_dir_all(&folder).map_err(fault)?;
        // Whole or not at all: another call may be keeping the same one.
        let staged = folder.join(format!(".{name}.{:?}", std::thread::current().id()));
        std::fs::write(&staged, bytes).map_err(fault)?;
        std::fs::rename(&staged, &path).map_err(fault)?;
    }
    Ok(Picture { path: path.to_string_lossy().into_owned(), mime })
}

/// The type of a picture that providers take, by its first bytes; `None` when these do not tell.
fn as_it_stands(bytes: &[u8]) -> Option<&'static str> {
    let head = &bytes[..bytes.len().min(HEAD)];
    let (name, size) = super::image::known(head, |_, _| None)?;
    let (width, height) = size?;
    let side = u64::from(MAX_SIDE);
    let fits =
        bytes.len() <= MAX_BYTES && (1..=side).contains(&width) && (1..=side).contains(&height);
    match name {
        "PNG" => Some("image/png"),
        "JPEG" => Some("image/jpeg"),
        "GIF" => Some("image/gif"),
        "WebP" => Some("image/webp"),
        _ => None,
    }
    .filter(|_| fits)
}

/// Keeps pictures that people send as tools keep theirs.
#[derive(Clone)]
pub struct PictureKeeper {
    /// Where what is not taken as it stands is decoded.
    pub isolate: Arc<dyn Isolate>,
}

impl PictureKeeper {
    /// Keeps a picture in the conversation's own folder `own`, made anew where models do not take it as it is.
    ///
    /// # Errors
    /// In words: the bytes are no picture that can be read, or the folder takes no file.
    pub async fn keep(&self, bytes: Vec<u8>, own: &Path) -> Result<Picture, ToolError> {
        kept(bytes, own, &*self.isolate).await
    }
}

fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|b| format!("{b:02x}")).collect()
}

/// Returns the type and the bytes of a picture that providers take, made of one that they do not. For
/// [`Job::Picture`].
///
/// # Errors
/// In words for the model: it is damaged, too large, or of a kind that is not decoded.
pub(crate) fn takeable(bytes: &[u8]) -> Result<(&'static str, Vec<u8>), String> {
    let fault = |e: image::ImageError| format!("it is damaged or too large ({e})");
    let reader = || {
        let reader = ImageReader::new(Cursor::new(bytes)).with_guessed_format();
        reader.map_err(|e| fault(image::ImageError::IoError(e)))
    };
    if reader()?.format() == Some(ImageFormat::Tiff) {
        return Err("TIFF pictures are not decoded: convert it to PNG or JPEG".to_owned());
    }
    // What it claims is looked at before a byte of it is decoded.
    let (width, height) = reader()?.into_dimensions().map_err(fault)?;
    if u64::from(width) * u64::from(height) > MAX_PIXELS {
        return Err(format!("it is too large: {width}×{height} pixels"));
    }
    let mut limits = Limits::default();
    limits.max_alloc = Some(MEMORY);
    let mut reader = reader()?;
    reader.limits(limits);
    let is_photo = reader.format() == Some(ImageFormat::Jpeg);
    let mut decoder = reader.into_decoder().map_err(fault)?;
    // Which way up a camera was held stands beside the pixels, and is lost when they are written anew.
    let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    let picture = DynamicImage::from_decoder(decoder).map_err(fault)?;
    let large = width > MAX_SIDE || height > MAX_SIDE;
    let mut picture = if large { picture.thumbnail(MAX_SIDE, MAX_SIDE) } else { picture };
    picture.apply_orientation(orientation);
    written(&picture, is_photo).map_err(fault)
}

/// Returns the type and the bytes of the picture that a PDF's page shows. For [`Job::Scan`].
///
/// # Errors
/// In words for the model: there is none, or none that can be read.
pub(crate) fn of_page(pdf: &[u8], page: u32) -> Result<(&'static str, Vec<u8>), String> {
    let none = || "no picture of the page can be read".to_owned();
    match page_picture(pdf, page).ok_or_else(none)? {
        PagePicture::Jpeg(bytes) => takeable(&bytes),
        PagePicture::Pixels { width, height, channels: 1, bytes } => {
            let grey = GrayImage::from_raw(width, height, bytes).ok_or_else(none)?;
            sized(DynamicImage::from(grey))
        }
        PagePicture::Pixels { width, height, bytes, .. } => {
            let colour = RgbImage::from_raw(width, height, bytes).ok_or_else(none)?;
            sized(DynamicImage::from(colour))
        }
    }
}

fn sized(picture: DynamicImage) -> Result<(&'static str, Vec<u8>), String> {
    let large = picture.width() > MAX_SIDE || picture.height() > MAX_SIDE;
    let picture = if large { picture.thumbnail(MAX_SIDE, MAX_SIDE) } else { picture };
    written(&picture, false).map_err(|e| format!("it is damaged or too large ({e})"))
}

/// PNG keeps drawings sharp; what is still too large then is a photo, and a photo is a JPEG.
fn written(
    picture: &DynamicImage,
    is_photo: bool,
) -> Result<(&'static str, Vec<u8>), image::ImageError> {
    if !is_photo {
        let mut bytes = Cursor::new(Vec::new());
        picture.write_to(&mut bytes, ImageFormat::Png)?;
        if bytes.get_ref().len() <= MAX_BYTES {
            return Ok(("image/png", bytes.into_inner()));
        }
    }
    let mut bytes = Cursor::new(Vec::new());
    picture.to_rgb8().write_to(&mut bytes, ImageFormat::Jpeg)?;
    Ok(("image/jpeg", bytes.into_inner()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::isolate::InProcess;

    fn drawn(width: u32, height: u32, format: ImageFormat) -> Vec<u8> {
        let mut bytes = Cursor::new(Vec::new());
        // Noise, so that nothing gets small by packing.
        let noise = RgbImage::from_fn(width, height, |x, y| {
            let n = x.wrapping_mul(2_654_435_761).wrapping_add(y.wrapping_mul(40_503)) ^ (x * y);
            image::Rgb([n as u8, (n >> 8) as u8, (n >> 16) as u8])
        });
        noise.write_to(&mut bytes, format).unwrap();
        bytes.into_inner()
    }

    async fn keep(bytes: &[u8]) -> (String, Vec<u8>) {
        let folder = tempfile::tempdir().unwrap();
        let again = kept(bytes.to_vec(), folder.path(), &InProcess).await.unwrap();
        let picture = kept(bytes.to_vec(), folder.path(), &InProcess).await.unwrap();
        assert_eq!(again, picture, "kept once");
        (picture.mime, std::fs::read(&picture.path).unwrap())
    }

    #[tokio::test]
    async fn what_models_take_is_kept_as_it_is_and_the_rest_becomes_that() {
        for format in [ImageFormat::Png, ImageFormat::Jpeg, ImageFormat::Gif, ImageFormat::WebP] {
            let bytes = drawn(8, 6, format);
            let (mime, same) = keep(&bytes).await;
            assert_eq!((mime.as_str(), same), (format.to_mime_type(), bytes));
        }
        let drawn = drawn(8, 6, ImageFormat::Bmp);
        let (mime, made) = keep(&drawn).await;
        assert_eq!(mime, "image/png");
        let same = image::load_from_memory(&made).unwrap().to_rgb8();
        assert_eq!(same, image::load_from_memory(&drawn).unwrap().to_rgb8());
    }

    #[tokio::test]
    async fn a_photo_of_a_few_bytes_and_many_pixels_is_scaled() {
        let mut bytes = Cursor::new(Vec::new());
        RgbImage::new(3_024, 4_032).write_to(&mut bytes, ImageFormat::Jpeg).unwrap();
        let (mime, made) = keep(bytes.get_ref()).await;
        let small = image::load_from_memory(&made).unwrap();
        assert_eq!((mime.as_str(), small.width(), small.height()), ("image/jpeg", 1176, 1568));
    }

    #[test]
    fn a_photo_stays_the_right_way_up() {
        let plain = drawn(1_600, 16, ImageFormat::Jpeg);
        // A camera's note behind the first mark of the file: turned by a quarter.
        let exif = b"\xff\xe1\x00\x22Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0";
        let turned = [&plain[..2], exif, &plain[2..]].concat();
        let (_, made) = takeable(&turned).unwrap();
        let made = image::load_from_memory(&made).unwrap();
        assert!(made.height() > made.width(), "{}×{}", made.width(), made.height());
    }

    #[tokio::test]
    async fn a_huge_picture_is_scaled() {
        let bytes = drawn(2400, 1200, ImageFormat::Bmp);
        assert!(bytes.len() > MAX_BYTES);
        let (_, made) = keep(&bytes).await;
        assert!(made.len() <= MAX_BYTES);
        let small = image::load_from_memory(&made).unwrap();
        assert_eq!((small.width(), small.height()), (1568, 784));
    }

    #[tokio::test]
    async fn a_small_file_that_claims_a_huge_picture_is_refused() {
        let mut bytes = drawn(8, 6, ImageFormat::Bmp);
        bytes[18..22].copy_from_slice(&60_000u32.to_le_bytes());
        bytes[22..26].copy_from_slice(&60_000u32.to_le_bytes());
        assert_eq!(takeable(&bytes).unwrap_err(), "it is too large: 60000×60000 pixels");
        let folder = tempfile::tempdir().unwrap();
        assert!(kept(bytes, folder.path(), &InProcess).await.is_err());
        assert!(takeable(b"II*\0\x08\0\0\0\0\0").unwrap_err().contains("TIFF"));
    }

    proptest! {
        #[test]
        fn any_bytes_are_taken(magic in prop::sample::select(vec![&b"BM"[..], b"II*\0", b"MM\0*", b"\x89PNG\r\n\x1a\n", b"GIF89a"]), rest: Vec<u8>) {
            let bytes = [magic, &rest].concat();
            let _ = (takeable(&bytes), as_it_stands(&bytes));
        }
    }
}
