//! What a file is, by its bytes: names lie.

use serde::{Deserialize, Serialize};

/// What a document is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// PDF.
    Pdf,
    /// Word, `.docx`.
    Word,
    /// Excel, `.xlsx`.
    Excel,
    /// Excel in its binary form, `.xlsb`.
    BinaryExcel,
    /// Excel of before 2007, `.xls`.
    OldExcel,
    /// PowerPoint, `.pptx`.
    Slides,
    /// OpenDocument text, `.odt`.
    OpenText,
    /// OpenDocument spreadsheet, `.ods`.
    OpenSheets,
    /// OpenDocument presentation, `.odp`.
    OpenSlides,
    /// EPUB.
    Epub,
    /// A letter, `.eml`.
    Mail,
    /// HTML.
    Html,
    /// Rows of separated values.
    Csv,
    /// Text.
    Text,
}

impl Kind {
    /// What it is called, with its article.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pdf => "a PDF",
            Self::Word => "a Word document",
            Self::Excel | Self::BinaryExcel => "an Excel workbook",
            Self::OldExcel => "an Excel workbook of before 2007",
            Self::Slides => "a PowerPoint presentation",
            Self::OpenText => "an OpenDocument text",
            Self::OpenSheets => "an OpenDocument spreadsheet",
            Self::OpenSlides => "an OpenDocument presentation",
            Self::Epub => "an EPUB book",
            Self::Mail => "an e-mail",
            Self::Html => "an HTML page",
            Self::Csv => "a CSV table",
            Self::Text => "a text",
        }
    }

    /// What its pages are called.
    pub const fn unit(self) -> &'static str {
        match self {
            Self::Pdf => "page",
            Self::Slides | Self::OpenSlides => "slide",
            _ => "part",
        }
    }

    /// The endings that its files have.
    pub(crate) const fn endings(self) -> &'static [&'static str] {
        match self {
            Self::Pdf => &["pdf"],
            Self::Word => &["docx", "docm", "dotx", "dotm"],
            Self::Excel => &["xlsx", "xlsm", "xltx", "xltm"],
            Self::BinaryExcel => &["xlsb"],
            Self::OldExcel => &["xls", "xlt"],
            Self::Slides => &["pptx", "pptm", "ppsx", "potx"],
            Self::OpenText => &["odt", "ott"],
            Self::OpenSheets => &["ods", "ots"],
            Self::OpenSlides => &["odp", "otp"],
            Self::Epub => &["epub"],
            Self::Mail => &["eml"],
            Self::Html => &["html", "htm", "xhtml"],
            Self::Csv => &["csv", "tsv"],
            Self::Text => &["txt"],
        }
    }

    const ALL: [Self; 14] = [
        Self::Pdf,
        Self::Word,
        Self::Excel,
        Self::BinaryExcel,
        Self::OldExcel,
        Self::Slides,
        Self::OpenText,
        Self::OpenSheets,
        Self::OpenSlides,
        Self::Epub,
        Self::Mail,
        Self::Html,
        Self::Csv,
        Self::Text,
    ];

    /// Returns the ending of a name when it is one of another kind of document.
    pub(crate) fn claimed(self, name: &str) -> Option<String> {
        let ending = ending(name)?;
        let others = Self::ALL.iter().filter(|kind| **kind != self);
        let claims = others.flat_map(|kind| kind.endings()).any(|known| *known == ending);
        (claims && !self.endings().contains(&&*ending)).then_some(ending)
    }
}

/// Returns a name's ending, in small letters.
pub(crate) fn ending(name: &str) -> Option<String> {
    name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase())
}

/// Whether a file that begins like this and has this name is to be read as a document: what it is tells who reads it. A
/// letter is text, and read as one where its name does not say that it was saved.
pub fn may_be_document(head: &[u8], name: &str) -> bool {
    let is_saved = || ending(name).is_some_and(|ending| Kind::Mail.endings().contains(&&*ending));
    is_pdf(head) || is_archive(head) || is_compound(head) || (is_saved() && is_mail(head))
}

/// A PDF may have a few bytes before its beginning.
pub(crate) fn is_pdf(bytes: &[u8]) -> bool {
    bytes[..bytes.len().min(1024)].windows(5).any(|five| five == b"%PDF-")
}

pub(crate) fn is_archive(bytes: &[u8]) -> bool {
    bytes.starts_with(b"PK\x03\x04")
}

/// A file system in a file, as Office wrote before 2007 and writes around what it encrypts.
pub(crate) fn is_compound(bytes: &[u8]) -> bool {
    bytes.starts_with(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")
}

/// A letter begins with headers; two of those that a program writes make one.
pub(crate) fn is_mail(bytes: &[u8]) -> bool {
    const BY_PROGRAMS: [&str; 6] = [
        "message-id:",
        "mime-version:",
        "received:",
        "return-path:",
        "dkim-signature:",
        "delivered-to:",
    ];
    const BY_PEOPLE: [&str; 4] = ["from:", "to:", "subject:", "date:"];
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(8 * 1024)]).into_owned();
    let mut headers = [0_usize; 2];
    for line in head.lines() {
        let lower = line.to_ascii_lowercase();
        let is_header = lower.split_once(':').is_some_and(|(name, _)| {
            !name.is_empty() && name.bytes().all(|b| b.is_ascii_graphic())
        });
        if !is_header && !line.starts_with([' ', '\t']) {
            break;
        }
        headers[0] += usize::from(BY_PROGRAMS.iter().any(|name| lower.starts_with(name)));
        headers[1] += usize::from(BY_PEOPLE.iter().any(|name| lower.starts_with(name)));
    }
    headers[0] >= 1 && headers[1] >= 2
}

/// Whether text is a page: it begins as one, behind declarations and comments.
pub fn is_html(text: &str) -> bool {
    let mut rest = text.trim_start_matches('\u{feff}').trim_start();
    for _ in 0..16 {
        let end = match rest {
            _ if rest.starts_with("<!--") => "-->",
            _ if rest.starts_with("<?") => "?>",
            _ => break,
        };
        let Some(at) = rest.find(end) else { return false };
        rest = rest[at + end.len()..].trim_start();
    }
    let begins =
        |tag: &str| rest.get(..tag.len()).is_some_and(|head| head.eq_ignore_ascii_case(tag));
    begins("<!doctype html") || begins("<html")
}
