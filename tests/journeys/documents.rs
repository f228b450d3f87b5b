//! Documents that people send: the model is told what they are and how they begin, and reads them page by page, on every
//! channel. What would end who reads it ends no daemon.

use std::fs;
use std::io::Write as _;

use selkie_playground::Turn;
use selkie_playground::line_platform::{self, Draft, MediaKind};
use selkie_playground::slack;
use selkie_playground::telegram::{self, FileDraft, FileKind};
use serde_json::json;

use crate::support::contract::counted;
use crate::support::line::{self, Line};
use crate::support::world::World;

const PDF: &[u8] = include_bytes!("../../fuzz/seeds/office/tea.pdf");
const WORD: &[u8] = include_bytes!("../../fuzz/seeds/office/minutes.docx");
const EXCEL: &[u8] = include_bytes!("../../fuzz/seeds/office/sales.xlsx");
const CORNER: &[u8] = include_bytes!("../../fuzz/seeds/office/corner.xlsx");
const KANJI: &[u8] = include_bytes!("../../fuzz/seeds/office/shift-jis.csv");
const SECRET: &[u8] = include_bytes!("../../fuzz/seeds/office/secret.pdf");

/// A document: its name, its bytes, what is told with its message, and what a page of it says.
type Sent = (&'static str, &'static [u8], &'static str, &'static str);

const DOCUMENTS: [Sent; 4] = [
    ("tea.pdf", PDF, "PDF, 3 pages, \"Tea for two\"", "[page 3 of 3]\n## Chapter 3"),
    ("minutes.docx", WORD, "Word document, 2 parts", "Sencha | 2\nThe next meeting is on Friday."),
    ("sales.xlsx", EXCEL, "Excel workbook, 2 parts", "2 | Green tea | 12 | 2026-03-01"),
    ("tea.csv", KANJI, "CSV table, 1 part, Shift_JIS", "ほうじ茶,3,香ばしい"),
];

/// Who sends something, and how the answer to it is waited for.
#[derive(Clone, Copy, Debug)]
enum From {
    Telegram,
    Slack,
    Line,
}

async fn send(line: &Line, from: From, name: &str, bytes: &'static [u8]) -> String {
    let world = &line.world;
    match from {
        From::Telegram => {
            let draft = FileDraft::new(FileKind::Document, name, bytes);
            let sent = world.telegram().upload(telegram::PRIVATE, telegram::ADA, draft);
            world.answer(telegram::ADA, sent).await;
        }
        From::Slack => {
            let ts = world.slack().upload(slack::DM, slack::ADA, name, bytes);
            world.within("an answer", world.slack().wait_for_answer(slack::DM, &ts)).await;
        }
        From::Line => {
            use line_platform::ADA;
            let draft = Draft::new(MediaKind::File, name, bytes);
            let sent = line.platform().upload(ADA, ADA, draft);
            line.answer(ADA, &sent).await;
        }
    }
    prompt(world)
}

async fn say(line: &Line, from: From, text: &str) -> String {
    let world = &line.world;
    match from {
        From::Telegram => drop(world.ask(text).await),
        From::Slack => {
            let ts = world.slack().say(slack::DM, slack::ADA, text);
            world.within("an answer", world.slack().wait_for_answer(slack::DM, &ts)).await;
        }
        From::Line => drop(line.ask(line_platform::ADA, text).await),
    }
    prompt(world)
}

/// The last prompt, as it was written before it became JSON.
fn prompt(world: &World) -> String {
    world.last_prompt().replace("\\n", "\n").replace("\\\"", "\"")
}

/// The path by which a prompt names its last file.
fn path(prompt: &str) -> String {
    let (_, rest) = prompt.rsplit_once("(file: ").unwrap_or_else(|| panic!("no file in {prompt}"));
    rest.split_once(" (").expect("a kind after the path").0.to_owned()
}

/// A daemon on all three, with an owner on each.
async fn line() -> Line {
    let mut world = World::with_slack().await;
    line::add(&mut world, json!({}));
    let owners = [
        format!("tg:{}", telegram::ADA),
        format!("slack:{}:{}", slack::TEAM, slack::ADA),
        format!("line:{}", line_platform::ADA),
    ];
    world.home.set("owners", json!(owners));
    let daemon = world.daemon();
    let line = Line { world, daemon };
    line.listening().await;
    line
}

#[tokio::test(flavor = "multi_thread")]
async fn a_document_is_told_and_read_on_every_channel() {
    let line = line().await;
    for from in [From::Telegram, From::Slack, From::Line] {
        for (name, bytes, told, words) in DOCUMENTS {
            let prompt = send(&line, from, name, bytes).await;
            let (_, newest) = prompt.rsplit_once("(file: ").expect("a file");
            assert!(newest.contains(told), "{from:?} {name}: {newest}");
            assert!(newest.contains("<<<untrusted first lines of this file\n"), "{newest}");
            let read = json!({ "path": path(&prompt) });
            let turns = vec![Turn::call("read_file", read), Turn::text("read")];
            line.world.playground.model().script(turns);
            let prompt = say(&line, from, "read it").await;
            assert!(prompt.contains(words), "{from:?} {name}: {prompt}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn one_page_is_read_and_what_is_no_document_is_named() {
    let line = line().await;
    let prompt = send(&line, From::Telegram, "tea.pdf", PDF).await;
    let read = json!({ "path": path(&prompt), "page": "2" });
    line.world.playground.model().script(vec![Turn::call("read_file", read), Turn::text("read")]);
    let prompt = say(&line, From::Telegram, "the second page").await;
    assert!(prompt.contains("[page 2 of 3]\n## Chapter 2"), "{prompt}");
    assert!(prompt.contains("[There is more: use page=\"3\" to continue.]"), "{prompt}");
    for (name, bytes, told) in [
        ("secret.pdf", SECRET.to_vec(), "it is a PDF that is encrypted, and was not read"),
        ("invoice.pdf", WORD.to_vec(), "Its name ends in .pdf, but it is a Word document."),
        ("corner.xlsx", CORNER.to_vec(), "Excel workbook, 1 part"),
        ("bomb.docx", bomb(), "it is a document that takes more than is allowed"),
        ("half.docx", WORD[..9_000].to_vec(), "it is a ZIP archive that cannot be opened"),
    ] {
        let prompt = send(&line, From::Telegram, name, Box::leak(bytes.into_boxed_slice())).await;
        let (_, newest) = prompt.rsplit_once("(file: ").expect("a file");
        assert!(newest.contains(told), "{name}: {newest}");
    }
}

/// A Word document of 80 KB whose text takes 80 MB.
fn bomb() -> Vec<u8> {
    let mut packed = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::best());
    let mut crc = flate2::Crc::new();
    for _ in 0..80 {
        let piece = vec![b' '; 1024 * 1024];
        crc.update(&piece);
        packed.write_all(&piece).expect("memory");
    }
    let packed = packed.finish().expect("memory");
    let name = b"word/document.xml";
    let fields = |out: &mut Vec<u8>| {
        out.extend([20, 0, 0, 0, 8, 0, 0, 0, 0, 0]);
        out.extend(crc.sum().to_le_bytes());
        out.extend(u32::try_from(packed.len()).expect("small").to_le_bytes());
        out.extend((80_u32 * 1024 * 1024).to_le_bytes());
        out.extend(u16::try_from(name.len()).expect("short").to_le_bytes());
        out.extend([0, 0]);
    };
    let mut zip = Vec::new();
    zip.extend(b"PK\x03\x04");
    fields(&mut zip);
    zip.extend(name);
    zip.extend(&packed);
    let directory = zip.len();
    zip.extend(b"PK\x01\x02\x14\0");
    fields(&mut zip);
    zip.extend([0; 14]);
    zip.extend(name);
    let end = u32::try_from(zip.len()).expect("small");
    let directory = u32::try_from(directory).expect("small");
    zip.extend(b"PK\x05\x06\0\0\0\0\x01\0\x01\0");
    zip.extend((end - directory).to_le_bytes());
    zip.extend(directory.to_le_bytes());
    zip.extend([0, 0]);
    zip
}

#[tokio::test(flavor = "multi_thread")]
async fn the_pages_of_a_document_go_with_its_message() {
    use line_platform::ADA;
    let line = line().await;
    let sent = line.platform().upload(ADA, ADA, Draft::new(MediaKind::File, "tea.pdf", PDF));
    line.answer(ADA, &sent).await;
    let kept = || {
        let folders = fs::read_dir(line.world.home.cache()).expect("the cache").flatten();
        let pages =
            folders.filter(|entry| entry.file_name().to_string_lossy().ends_with(".documents"));
        pages.flat_map(|entry| fs::read_dir(entry.path()).into_iter().flatten()).count()
    };
    assert_eq!(kept(), 1);
    line.platform().unsend(ADA, ADA, &sent);
    let gone = "SELECT count(*) FROM inbox WHERE disposition = 'unsend' AND done_at IS NOT NULL";
    counted(&line.world, gone, 1).await;
    assert_eq!(kept(), 0);
}
