//! Real documents, and what somebody would make to end who reads them.

use std::io::{Cursor, Write as _};

use zip::write::{SimpleFileOptions, ZipWriter};

use crate::{Document, DocumentError, read};

fn seed(name: &str) -> Vec<u8> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/seeds/office/");
    std::fs::read(format!("{folder}{name}")).unwrap()
}

fn told(document: &Document) -> String {
    let mut text = document.summary();
    for warning in &document.warnings {
        text.push_str(&format!("\n! {warning}"));
    }
    for (number, page) in (1..).zip(&document.pages) {
        text.push_str(&format!("\n[{}]\n{}", document.name_of(number), page.text));
    }
    text
}

fn seen(name: &str) -> String {
    told(&read(&seed(name), name).unwrap())
}

fn zipped(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in files {
        zip.start_file(*name, SimpleFileOptions::default()).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

fn word(xml: &[u8]) -> Vec<u8> {
    zipped(&[("[Content_Types].xml", b"<Types/>"), ("word/document.xml", xml)])
}

fn refused(bytes: &[u8]) -> String {
    read(bytes, "it").unwrap_err().to_string()
}

#[test]
fn a_pdf_is_read_page_by_page_and_says_what_is_scanned() {
    insta::assert_snapshot!(seen("tea.pdf"), @r#"
    PDF, 3 pages, "Tea for two"
    [page 1 of 3]
    ## Chapter 1

    The harvest of Darjeeling begins in March.
    [page 2 of 3]
    ## Chapter 2

    Second flush leaves are picked in June.
    [page 3 of 3]
    ## Chapter 3

    ## The autumn crop closes the year.
    "#);
    insta::assert_snapshot!(seen("scanned.pdf"), @r#"
    PDF, 2 pages
    ! Page 2 is scanned, or holds no text that can be read, and was not read.
    [page 1 of 2]
    A page of words that anybody can read.
    [page 2 of 2]

    "#);
}

#[test]
fn word_documents_and_open_texts_are_read() {
    insta::assert_snapshot!(seen("minutes.docx"), @r#"
    Word document, 2 parts, "Minutes of the tea round"
    [part 1 of 2]
    # Minutes
    Ada opens the meeting at nine. Umlauts: Grüße.
    - buy kettles
    Sort | Minutes
    Sencha | 2
    The next meeting is on Friday.
    [part 2 of 2: footer]
    Tea Round Ltd
    "#);
    insta::assert_snapshot!(seen("letter.odt"), @r#"
    OpenDocument text, 1 part, "A letter"
    [part 1 of 1]
    # Letter
    Dear   Grace
    "#);
}

#[test]
fn sheets_of_all_forms_are_read_row_by_row() {
    insta::assert_snapshot!(seen("sales.xlsx"), @r#"
    Excel workbook, 2 parts, "Tea sales"
    [part 1 of 2: sheet "Sales", rows 1-3]
    1 | Product | Sold | On
    2 | Green tea | 12 | 2026-03-01
    3 | Oolong | 3.5 | 2026-03-02 14:30
    [part 2 of 2: sheet "Stock", rows 1-3]
    1 | Kettle
    3 | | | TRUE
    "#);
    insta::assert_snapshot!(seen("old.xls"), @r#"
    Excel workbook of before 2007, 1 part
    [part 1 of 1: sheet "Alt", rows 1-2]
    1 | old tea
    2 | | 42
    "#);
    insta::assert_snapshot!(seen("table.ods"), @r#"
    OpenDocument spreadsheet, 1 part
    [part 1 of 1: sheet "Blatt", rows 1-1048573]
    1 | cell 0
    2 | cell 1
    1048573 | far
    "#);
}

#[test]
fn slides_books_letters_and_pages_are_read() {
    insta::assert_snapshot!(seen("talk.pptx"), @r#"
    PowerPoint presentation, 2 slides, "Tea talk"
    [slide 1 of 2]
    Why tea
    It warms.
    It wakes.

    Notes: Smile here.
    [slide 2 of 2]
    Thank you
    "#);
    insta::assert_snapshot!(seen("tea.epub"), @r#"
    EPUB book, 2 parts, "The book of tea"
    [part 1 of 2: Cup 1]
    # Cup 1
    Tea is a work of art & needs a master hand 1.
    [part 2 of 2: Cup 2]
    # Cup 2
    Tea is a work of art & needs a master hand 2.
    "#);
    insta::assert_snapshot!(seen("letter.eml"), @r#"
    e-mail, 1 part, "Grüße vom Tee"
    ! What is attached to it was not read.
    [part 1 of 1]
    From: Ada <ada@example.org>
    To: Grace <grace@example.org>
    Date: 2026-11-27T10:00:00Z
    Subject: Grüße vom Tee

    The parcel is on its way — größer als gedacht.

    Attached: invoice.pdf (application/pdf, 10 bytes)
    "#);
    insta::assert_snapshot!(seen("page.html"), @r#"
    HTML page, 1 part, "Tea page"
    [part 1 of 1]
    Steep for two minutes.
    "#);
}

#[test]
fn text_is_read_in_its_encoding() {
    insta::assert_snapshot!(seen("shift-jis.csv"), @r#"
    CSV table, 1 part, Shift_JIS
    [part 1 of 1: rows 1-4]
    1 | 商品名 | 数量 | 備考
    2 | 緑茶 | 12 | 京都のお茶
    3 | ほうじ茶 | 3 | 香ばしい
    4 | 玄米茶 | 7 | お米入り
    "#);
    insta::assert_snapshot!(seen("utf-16.txt"), @r#"
    text, 1 part, UTF-16LE
    [part 1 of 1]
    Bestellung: Grüner Tee
    Menge: zwölf
    "#);
}

#[test]
fn what_is_read_can_be_handed_on() {
    let document = read(&seed("sales.xlsx"), "sales.xlsx").unwrap();
    let again = Document::from_bytes(&document.to_bytes()).unwrap();
    assert_eq!(told(&again), told(&document));
    assert_eq!(Document::from_bytes(b"{}\n"), None);
}

#[test]
fn a_name_that_claims_something_else_is_told() {
    let document = read(&seed("minutes.docx"), "invoice.PDF").unwrap();
    assert_eq!(document.warnings, ["Its name ends in .pdf, but it is a Word document."]);
}

/// As memory, all cells of such a sheet take half a terabyte.
#[test]
fn a_cell_in_the_last_corner_costs_nothing() {
    insta::assert_snapshot!(seen("corner.xlsx"), @r#"
    Excel workbook, 1 part
    [part 1 of 1: sheet "Sheet", rows 1-1048576]
    1 | first
    1048576 | XFD1048576: last
    "#);
}

#[test]
fn what_is_encrypted_is_not_read() {
    let manifest = b"<manifest:manifest xmlns:manifest='m'><manifest:file-entry><manifest:encryption-data/></manifest:file-entry></manifest:manifest>";
    let text = zipped(&[
        ("mimetype", b"application/vnd.oasis.opendocument.text"),
        ("META-INF/manifest.xml", manifest),
        ("content.xml", b"\x8f\x00\x17"),
    ]);
    let mut office = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1".to_vec();
    office.extend("EncryptedPackage".encode_utf16().flat_map(u16::to_le_bytes));
    for (bytes, what) in [
        (seed("secret.pdf"), "a PDF"),
        (text, "an OpenDocument text"),
        (office, "an office document"),
    ] {
        assert_eq!(refused(&bytes), format!("is {what} that is encrypted, and was not read"));
    }
}

#[test]
fn a_bomb_is_not_unpacked() {
    let bomb = word(&vec![b' '; 80 * 1024 * 1024]);
    assert!(bomb.len() < 200_000);
    assert!(matches!(read(&bomb, "x.docx"), Err(DocumentError::TooLarge(_))));
    let nested = zipped(&[("inner.zip", &word(b"<w:t>inner</w:t>"))]);
    assert_eq!(refused(&nested), "is a ZIP archive, and no document");
    // A book of Excel is unpacked by its own reader: what it claims is looked at first.
    let sheet = vec![b'0'; 70 * 1024 * 1024];
    let book = zipped(&[("xl/workbook.xml", b"<workbook/>"), ("xl/sharedStrings.xml", &sheet)]);
    assert!(matches!(read(&book, "x.xlsx"), Err(DocumentError::TooLarge(_))));
}

#[test]
fn entities_are_not_expanded() {
    let entities = b"<!DOCTYPE d [<!ENTITY a 'ha'><!ENTITY b '&a;&a;&a;'><!ENTITY x SYSTEM 'file:///etc/passwd'>]>\
        <w:document xmlns:w='w'><w:body><w:p><w:r><w:t>A&amp;B &b;&x;&#x26;</w:t></w:r></w:p></w:body></w:document>";
    let document = read(&word(entities), "x.docx").unwrap();
    assert_eq!(document.pages[0].text, "A&B &");
}

#[test]
fn depth_and_length_of_xml_are_bounded() {
    let deep =
        [b"<w:d xmlns:w='w'><w:p><w:t>top</w:t></w:p>".to_vec(), b"<w:x>".repeat(100_000)].concat();
    let document = read(&word(&deep), "x.docx").unwrap();
    assert!(document.pages[0].text.contains("top"));
    assert!(document.warnings[0].contains("nested too deep"), "{:?}", document.warnings);
    let long = [
        b"<w:d xmlns:w='w'><w:p><w:t>".to_vec(),
        "word ".repeat(2_000_000).into_bytes(),
        b"</w:t></w:p></w:d>".to_vec(),
    ]
    .concat();
    let document = read(&word(&long), "x.docx").unwrap();
    let text: usize = document.pages.iter().map(|page| page.text.len()).sum();
    assert!(text > 5 * 1024 * 1024 && text <= crate::bounds::TEXT, "{text}");
    assert!(document.warnings[0].contains("its end was not read"), "{:?}", document.warnings);
}

#[test]
fn what_breaks_off_is_read_as_far_as_it_goes_or_refused() {
    for name in
        ["tea.pdf", "minutes.docx", "sales.xlsx", "old.xls", "tea.epub", "talk.pptx", "letter.odt"]
    {
        let whole = seed(name);
        for part in [whole.len() / 2, whole.len() - 30, 600.min(whole.len()), 9] {
            // It comes back, whatever it says.
            drop(read(&whole[..part], name));
        }
        assert!(refused(&whole[..whole.len() / 2]).len() > 10, "{name}");
    }
    assert_eq!(
        refused(b"PK\x03\x04rest"),
        "is a ZIP archive that cannot be opened, and no document"
    );
    assert_eq!(refused(b"\x7fELF\x02\x01\x01\0\0\0\0"), "is binary data, and no document");
    assert!(refused(b"%PDF-1.7\nnothing").starts_with("is a PDF that is damaged ("));
}

#[test]
fn what_cannot_be_read_of_a_workbook_or_a_text_is_said() {
    const BOOK: &[u8] = br#"<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets><sheet name="Tea" sheetId="1" r:id="rId1"/><sheet name="Milk" sheetId="2" r:id="rId2"/></sheets></workbook>"#;
    const RELATIONS: &[u8] = br#"<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="rId2" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" Target="worksheets/sheet2.xml"/></Relationships>"#;
    const ROOT: &[u8] = br#"<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="xl/workbook.xml"/></Relationships>"#;
    const SHEET: &[u8] =
        br#"<worksheet><sheetData><row r="1"><c r="A1"><v>7</v></c></row></sheetData></worksheet>"#;
    let book = zipped(&[
        ("[Content_Types].xml", b"<Types/>"),
        ("_rels/.rels", ROOT),
        ("xl/workbook.xml", BOOK),
        ("xl/_rels/workbook.xml.rels", RELATIONS),
        ("xl/worksheets/sheet1.xml", SHEET),
        ("xl/worksheets/sheet2.xml", b"<worksheet>"),
    ]);
    let book = read(&book, "a.xlsx").unwrap();
    assert!(book.pages.iter().any(|page| page.text.contains("1 | 7")), "{}", told(&book));
    assert!(book.warnings.iter().any(|warning| warning.contains("\"Milk\"")), "{}", told(&book));
    let text = zipped(&[
        ("[Content_Types].xml", b"<Types/>"),
        ("word/document.xml", b"<w><p><t>Tea</t></p></w>"),
        ("word/footnotes.xml", b"<w><p><t>of 2026</t>"),
    ]);
    let text = read(&text, "a.docx").unwrap();
    assert!(text.warnings[0].starts_with("A part of it (footnotes) is damaged"), "{}", told(&text));
    assert!(text.pages.iter().any(|page| page.text.contains("of 2026")), "{}", told(&text));
}
