//! A picture file → a picture that every model takes: copied, scaled or written anew into the
//! conversation's own folder, under the hash of its bytes.

use std::io::Cursor;
use std::path::Path;

use image::{DynamicImage, ImageFormat, ImageReader, Limits};
use sha2::{Digest as _, Sha256};

use crate::domain::transcript::Picture;
use crate::tools::ToolError;

/// Bytes that providers take as they are (Anthropic: 5 MB of one picture).
const MOST_BYTES: usize = 5 * 1000 * 1000;
/// Pixels of a side that providers take (Anthropic: 8000).
const MOST_SIDE: u32 = 8000;
/// A scaled picture's longest side: providers scale larger ones down themselves.
const SCALED: u32 = 2048;
/// A file larger than this is not decoded.
pub(super) const LARGEST: u64 = 64 * 1024 * 1024;
/// Memory one decoded picture may take: a small file can claim a huge one.
const MEMORY: u64 = 256 * 1024 * 1024;

/// Keeps what a model may look at in `own/pictures` and says where.
///
/// # Errors
/// In words for the model: the bytes are no picture that can be read, or the folder takes no file.
pub(super) fn kept(bytes: &[u8], own: &Path) -> Result<Picture, ToolError> {
    let (mime, made) = takeable(bytes)
        .map_err(|e| ToolError::tell(format!("it is damaged or too large ({e})")))?;
    let bytes = made.as_deref().unwrap_or(bytes);
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
        let staged = tempfile_in(&folder, &name);
        std::fs::write(&staged, bytes).map_err(fault)?;
        std::fs::rename(&staged, &path).map_err(fault)?;
    }
    Ok(Picture { path: path.to_string_lossy().into_owned(), mime: mime.to_owned() })
}

fn tempfile_in(folder: &Path, name: &str) -> std::path::PathBuf {
    let this = std::thread::current().id();
    folder.join(format!(".{name}.{this:?}"))
}

fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|b| format!("{b:02x}")).collect()
}

/// Returns the type, and new bytes when the file's own will not be taken.
fn takeable(bytes: &[u8]) -> Result<(&'static str, Option<Vec<u8>>), image::ImageError> {
    let reader = || ImageReader::new(Cursor::new(bytes)).with_guessed_format();
    let format = reader().map_err(image::ImageError::IoError)?.format();
    let usual = match format {
        Some(ImageFormat::Png) => Some("image/png"),
        Some(ImageFormat::Jpeg) => Some("image/jpeg"),
        Some(ImageFormat::Gif) => Some("image/gif"),
        Some(ImageFormat::WebP) => Some("image/webp"),
        _ => None,
    };
    let (width, height) = reader().map_err(image::ImageError::IoError)?.into_dimensions()?;
    let fits = bytes.len() <= MOST_BYTES && width <= MOST_SIDE && height <= MOST_SIDE;
    if let Some(mime) = usual.filter(|_| fits) {
        return Ok((mime, None));
    }
    let mut limits = Limits::default();
    limits.max_alloc = Some(MEMORY);
    let mut reader = reader().map_err(image::ImageError::IoError)?;
    reader.limits(limits);
    let picture = reader.decode()?;
    let large = width > SCALED || height > SCALED;
    let picture = if large { picture.thumbnail(SCALED, SCALED) } else { picture };
    written(&picture)
}

/// PNG keeps drawings sharp; what is still too large then is a photo, and a photo is a JPEG.
fn written(picture: &DynamicImage) -> Result<(&'static str, Option<Vec<u8>>), image::ImageError> {
    let mut bytes = Cursor::new(Vec::new());
    picture.write_to(&mut bytes, ImageFormat::Png)?;
    if bytes.get_ref().len() <= MOST_BYTES {
        return Ok(("image/png", Some(bytes.into_inner())));
    }
    let mut bytes = Cursor::new(Vec::new());
    picture.to_rgb8().write_to(&mut bytes, ImageFormat::Jpeg)?;
    Ok(("image/jpeg", Some(bytes.into_inner())))
}

#[cfg(test)]
mod tests {
    use image::RgbImage;
    use proptest::prelude::*;

    use super::*;

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

    fn keep(bytes: &[u8]) -> (String, Vec<u8>) {
        let folder = tempfile::tempdir().unwrap();
        let picture = kept(bytes, folder.path()).unwrap();
        assert_eq!(kept(bytes, folder.path()).unwrap(), picture, "kept once");
        (picture.mime, std::fs::read(&picture.path).unwrap())
    }

    #[test]
    fn what_models_take_is_kept_as_it_is_and_the_rest_becomes_that() {
        for format in [ImageFormat::Png, ImageFormat::Jpeg, ImageFormat::Gif, ImageFormat::WebP] {
            let bytes = drawn(8, 6, format);
            let (mime, same) = keep(&bytes);
            assert_eq!((mime.as_str(), same), (format.to_mime_type(), bytes));
        }
        for format in [ImageFormat::Bmp, ImageFormat::Tiff] {
            let (mime, made) = keep(&drawn(8, 6, format));
            assert_eq!(mime, "image/png");
            let same = image::load_from_memory(&made).unwrap().to_rgb8();
            assert_eq!(same, image::load_from_memory(&drawn(8, 6, format)).unwrap().to_rgb8());
        }
    }

    #[test]
    fn a_huge_picture_is_scaled() {
        let bytes = drawn(2400, 1200, ImageFormat::Bmp);
        assert!(bytes.len() > MOST_BYTES);
        let (_, made) = keep(&bytes);
        assert!(made.len() <= MOST_BYTES);
        let small = image::load_from_memory(&made).unwrap();
        assert_eq!((small.width(), small.height()), (2048, 1024));
    }

    #[test]
    fn a_small_file_that_claims_a_huge_picture_is_refused() {
        let mut bytes = drawn(8, 6, ImageFormat::Bmp);
        bytes[18..22].copy_from_slice(&60_000u32.to_le_bytes());
        bytes[22..26].copy_from_slice(&60_000u32.to_le_bytes());
        let folder = tempfile::tempdir().unwrap();
        assert!(kept(&bytes, folder.path()).is_err());
    }

    proptest! {
        #[test]
        fn any_bytes_are_taken(magic in prop::sample::select(vec![&b"BM"[..], b"II*\0", b"MM\0*", b"\x89PNG\r\n\x1a\n", b"GIF89a"]), rest: Vec<u8>) {
            let folder = tempfile::tempdir().unwrap();
            let _ = kept(&[magic, &rest].concat(), folder.path());
        }
    }
}
