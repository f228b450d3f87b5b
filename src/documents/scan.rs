//! The picture of a scanned page: what a PDF shows where it has no text.

use lopdf::Document as Pdf;
use lopdf::xobject::PdfImage;

/// Bytes of a picture's pixels.
const MAX_PIXELS: usize = 128 * 1024 * 1024;

/// Filters that only pack bytes.
const PACKED: [&str; 3] = ["ASCII85Decode", "FlateDecode", "LZWDecode"];

/// The picture of a page.
#[derive(Debug, PartialEq, Eq)]
pub enum PagePicture {
    /// A JPEG file.
    Jpeg(Vec<u8>),
    /// Rows of pixels, a byte for each channel.
    Pixels {
        /// Pixels of a row.
        width: u32,
        /// Rows.
        height: u32,
        /// 1 for grey, 3 for red, green and blue.
        channels: u8,
        /// The rows.
        bytes: Vec<u8>,
    },
}

/// Returns the largest picture of a PDF's page, from 1; `None` where there is none, or none in a form that is read (JPEG,
/// or 8 bits of grey or of colour).
pub fn page_picture(bytes: &[u8], page: u32) -> Option<PagePicture> {
    let pdf = Pdf::load_mem(bytes).ok()?;
    let id = *pdf.get_pages().get(&page)?;
    let images = pdf.get_page_images(id).ok()?;
    let largest = images.iter().max_by_key(|image| image.width.saturating_mul(image.height))?;
    let filters: Vec<&str> = largest.filters.iter().flatten().map(String::as_str).collect();
    if filters == ["DCTDecode"] {
        return Some(PagePicture::Jpeg(largest.content.to_vec()));
    }
    let is_packed = filters.iter().all(|filter| PACKED.contains(filter));
    is_packed.then(|| pixels(&pdf, largest)).flatten()
}

fn pixels(pdf: &Pdf, image: &PdfImage<'_>) -> Option<PagePicture> {
    let channels = match image.color_space.as_deref() {
        Some("DeviceGray") => 1,
        Some("DeviceRGB") => 3,
        _ => return None,
    };
    let width = u32::try_from(image.width).ok()?;
    let height = u32::try_from(image.height).ok()?;
    let size = usize::try_from(width).ok()?.checked_mul(usize::try_from(height).ok()?)?;
    let size = size.checked_mul(usize::from(channels))?;
    if image.bits_per_component != Some(8) || size > MAX_PIXELS {
        return None;
    }
    let stream = pdf.get_object(image.id).ok()?.as_stream().ok()?;
    let mut bytes = stream.get_plain_content().ok()?;
    bytes.truncate(size);
    (bytes.len() == size).then_some(PagePicture::Pixels { width, height, channels, bytes })
}

#[cfg(test)]
mod tests {
    use lopdf::{Dictionary, Object, Stream, dictionary};

    use super::*;

    /// A PDF of one page that shows this.
    fn pdf(image: Dictionary, content: &[u8]) -> Vec<u8> {
        let mut pdf = Pdf::with_version("1.5");
        let mut entries = dictionary! { "Type" => "XObject", "Subtype" => "Image" };
        entries.extend(&image);
        let mut stream = Stream::new(entries, content.to_vec());
        if image.get(b"Filter").is_err() {
            stream.compress().unwrap();
        }
        let image = pdf.add_object(stream);
        let pages = pdf.new_object_id();
        let page = pdf.add_object(dictionary! {
            "Type" => "Page", "Parent" => pages,
            "Resources" => dictionary! { "XObject" => dictionary! { "I" => image } },
        });
        let kids = dictionary! { "Type" => "Pages", "Kids" => vec![page.into()], "Count" => 1 };
        pdf.objects.insert(pages, Object::Dictionary(kids));
        let catalog = pdf.add_object(dictionary! { "Type" => "Catalog", "Pages" => pages });
        pdf.trailer.set("Root", catalog);
        let mut bytes = Vec::new();
        pdf.save_to(&mut bytes).unwrap();
        bytes
    }

    fn sized(width: i64, height: i64) -> Dictionary {
        dictionary! { "Width" => width, "Height" => height, "ColorSpace" => "DeviceGray", "BitsPerComponent" => 8 }
    }

    #[test]
    fn a_scan_is_its_picture() {
        let jpeg = dictionary! { "Width" => 2, "Height" => 1, "Filter" => "DCTDecode" };
        assert_eq!(
            page_picture(&pdf(jpeg, b"\xff\xd8\xff"), 1),
            Some(PagePicture::Jpeg(b"\xff\xd8\xff".to_vec()))
        );
        let grey = [7; 400];
        let wanted =
            PagePicture::Pixels { width: 20, height: 20, channels: 1, bytes: grey.to_vec() };
        assert_eq!(page_picture(&pdf(sized(20, 20), &grey), 1), Some(wanted));
    }

    #[test]
    fn what_lies_about_its_size_and_what_is_no_page_is_none() {
        for (width, height) in [(20, 21), (-1, 20), (i64::MAX, i64::MAX), (100_000, 100_000)] {
            assert_eq!(
                page_picture(&pdf(sized(width, height), &[7; 400]), 1),
                None,
                "{width}×{height}"
            );
        }
        let good = pdf(sized(20, 20), &[7; 400]);
        assert_eq!(page_picture(&good, 2), None);
        assert_eq!(page_picture(b"%PDF-1.7", 1), None);
    }
}
