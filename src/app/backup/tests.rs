//! Backups that are none, and such that mean harm.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write as _};

use anyhow::Context as _;
use chrono::DateTime;
use flate2::Compression;
use flate2::write::GzEncoder;
use tar::{Builder, EntryType, Header};

use super::contents::{ArchivedFile, FORMAT, LABEL, LIST, Label};
use super::digest::DigestReader;
use super::files::Item;
use super::pack::pack;
use super::unpack::{Looks, Taker, unpack};
use selkie_domain::screen::steers;

/// Keeps what it is given.
#[derive(Default)]
struct Keeps(BTreeMap<String, Vec<u8>>);

impl Taker for Keeps {
    fn label(&mut self, _: &Label) -> anyhow::Result<()> {
        Ok(())
    }

    fn file(&mut self, name: &str, from: &mut dyn Read) -> anyhow::Result<()> {
        let mut all = Vec::new();
        from.read_to_end(&mut all)?;
        self.0.insert(name.to_owned(), all);
        Ok(())
    }
}

fn label(files: u64, bytes: u64) -> Label {
    Label {
        format: FORMAT,
        selkie: "9.9.9".to_owned(),
        schema: 1,
        engine: "sqlite".to_owned(),
        made_at: DateTime::UNIX_EPOCH,
        was_running: true,
        files,
        bytes,
        rows: BTreeMap::new(),
    }
}

/// One entry of a made-up archive.
struct Entry {
    name: Vec<u8>,
    kind: EntryType,
    bytes: Vec<u8>,
    /// What its header says, when that is a lie.
    says: Option<u64>,
}

fn entry(name: &str, bytes: impl Into<Vec<u8>>) -> Entry {
    Entry { name: name.into(), kind: EntryType::Regular, bytes: bytes.into(), says: None }
}

fn link(name: &str, kind: EntryType) -> Entry {
    Entry { kind, ..entry(name, "") }
}

fn list(files: &[&str]) -> Entry {
    let listed = files.iter().map(|name| {
        let mut bytes = DigestReader::new(name.as_bytes());
        std::io::copy(&mut bytes, &mut std::io::sink()).unwrap();
        ArchivedFile { path: (*name).to_owned(), bytes: bytes.count(), sha256: bytes.sha256() }
    });
    entry(LIST, serde_json::to_vec(&listed.collect::<Vec<_>>()).unwrap())
}

fn labelled(files: u64, bytes: u64) -> Entry {
    entry(LABEL, serde_json::to_vec(&label(files, bytes)).unwrap())
}

/// Writes headers to the letter: a library would refuse to.
fn archive(entries: &[Entry]) -> File {
    let mut builder =
        Builder::new(GzEncoder::new(tempfile::tempfile().unwrap(), Compression::fast()));
    for Entry { name, kind, bytes, says } in entries {
        let mut header = Header::new_gnu();
        let place = &mut header.as_old_mut().name;
        place[..name.len()].copy_from_slice(name);
        header.set_entry_type(*kind);
        header.set_mode(0o600);
        header.set_size(says.unwrap_or(bytes.len() as u64));
        if *kind == EntryType::Symlink {
            header.set_link_name("/etc").unwrap();
        }
        header.set_cksum();
        builder.append(&header, bytes.as_slice()).unwrap();
    }
    rewound(builder.into_inner().unwrap().finish().unwrap())
}

fn rewound(mut file: File) -> File {
    file.seek(SeekFrom::Start(0)).unwrap();
    file
}

fn refused(file: File) -> String {
    let mut keeps = Keeps::default();
    format!("{:#}", unpack(file, &mut keeps).unwrap_err())
}

#[test]
fn what_is_packed_is_unpacked_whatever_its_name_and_size() {
    let folder = tempfile::tempdir().unwrap();
    let deep = format!("state/{}/note.md", "long".repeat(50));
    let contents = [
        ("selkie.db", vec![7; 3 << 20]),
        ("state/TODO.md", b"- tea".to_vec()),
        ("state/empty", Vec::new()),
        (deep.as_str(), b"deep".to_vec()),
    ];
    let mut items = Vec::new();
    for (at, (name, bytes)) in contents.iter().enumerate() {
        let path = folder.path().join(at.to_string());
        std::fs::write(&path, bytes).unwrap();
        items.push(Item { name: (*name).to_owned(), path, bytes: bytes.len() as u64 });
    }
    items.push(Item { name: "state/gone".into(), path: folder.path().join("gone"), bytes: 1 });
    let file = tempfile::tempfile().unwrap();
    let said = label(5, 3 << 20);
    pack(&file, &said, &items).unwrap();
    let mut keeps = Keeps::default();
    assert_eq!(unpack(rewound(file), &mut keeps).unwrap(), said);
    let expected = contents.map(|(name, bytes)| (name.to_owned(), bytes));
    assert_eq!(keeps.0, BTreeMap::from(expected));
}

#[test]
fn names_that_lead_elsewhere_and_what_is_no_file_are_refused() {
    let long = format!("state/{}", "a/".repeat(40));
    for name in [
        "state/../../etc/passwd",
        "../TODO.md",
        "/etc/passwd",
        "state/./TODO.md",
        "state//TODO.md",
        "state/",
        "state",
        "elsewhere/TODO.md",
        "state/a\\..\\b",
        "state/\u{1b}]0;x",
        "state/a\nb",
        "state/\u{85}",
        "state/\u{202e}dm.exe",
        "state/a\u{2066}b/c",
        "state/notes.md ",
        "state/notes.md.",
        "state/a /b",
        "state/a./b",
        "state/a.. /b",
        "state/...",
        "state/ ",
        "state/a\u{a0}",
        "state/a\u{3000}",
        "state/a\u{2028}",
        "state/a\u{200b}",
        "state/a.\u{fe0f}",
        "cache/posts/a ",
        "state/config.yaml",
        "state/selkie.db",
        "state/selkie.lock",
        "state/run/processes.json",
        "state/restore.moving-in",
        "state/before-restore-1/x",
        "cache/../TODO.md",
        "",
        long.as_str(),
    ] {
        let says = refused(archive(&[labelled(9, 99), entry(name, name)]));
        assert!(says.contains("not the name of a file that selkie keeps"), "{name}: {says}");
        assert!(says.contains(&format!("{name:?}")) && !says.contains(steers), "{says}");
    }
    let says =
        refused(archive(&[labelled(9, 99), Entry { name: vec![b's', 0xff], ..entry("", "") }]));
    assert!(says.contains("is not text"), "{says}");
    for kind in [
        EntryType::Symlink,
        EntryType::Link,
        EntryType::Directory,
        EntryType::Fifo,
        EntryType::Char,
        EntryType::Block,
        EntryType::GNUSparse,
        EntryType::XHeader,
        EntryType::XGlobalHeader,
        EntryType::GNULongLink,
    ] {
        let says = refused(archive(&[labelled(9, 99), link("state/a", kind)]));
        assert!(says.contains("that is not a file"), "{kind:?}: {says}");
    }
}

#[test]
fn more_than_the_label_says_is_refused_before_it_is_read() {
    let many: Vec<Entry> = [labelled(1, 99)]
        .into_iter()
        .chain(["state/a", "state/b"].map(|name| entry(name, name)))
        .collect();
    assert!(refused(archive(&many)).contains("more files than its label says"));
    // Before a single file is read.
    let says = "it holds 300013 files, and selkie restores 250000 at most";
    assert_eq!(refused(archive(&[labelled(300_013, 99)])), says);
    let huge = Entry { says: Some(1 << 40), ..entry("state/a", "a") };
    assert!(refused(archive(&[labelled(9, 99), huge])).contains("more bytes than its label says"));
    let huge = Entry { says: Some(1 << 40), ..entry(LABEL, "a") };
    assert!(refused(archive(&[huge])).contains("not a backup made by selkie"));
    let huge = Entry { says: Some(1 << 40), ..entry(LIST, "a") };
    assert!(refused(archive(&[labelled(9, 99), huge])).contains("list of files is too long"));
    let huge = Entry { says: Some(1 << 40), ..link("././@LongLink", EntryType::GNULongName) };
    assert!(refused(archive(&[labelled(9, 99), huge])).contains("a name in it is too long"));
}

#[test]
fn what_is_not_what_it_says_is_refused() {
    let db = || entry("selkie.db", "selkie.db");
    let whole =
        [labelled(9, 99), db(), entry("state/a", "state/a"), list(&["selkie.db", "state/a"])];
    unpack(archive(&whole), &mut Keeps::default()).unwrap();
    type Case = (&'static str, Vec<Entry>);
    let cases: Vec<Case> = vec![
        ("not a backup made by selkie", vec![]),
        ("not a backup made by selkie", vec![db()]),
        ("not a backup made by selkie", vec![entry(LABEL, "{}")]),
        ("reads form 1", vec![entry(LABEL, r#"{"format": 2, "selkie": "3.0"}"#)]),
        ("cut or damaged", vec![labelled(9, 99), db()]),
        ("holds no database", vec![labelled(9, 99), list(&[])]),
        ("twice", vec![labelled(9, 99), db(), db()]),
        (
            "\"state/A\" and \"state/a\", which may be one",
            vec![labelled(9, 99), db(), entry("state/A", ""), entry("state/a", "")],
        ),
        (
            "which may be one",
            vec![labelled(9, 99), db(), entry("state/\u{e9}", ""), entry("state/e\u{301}", "")],
        ),
        ("what its list says", vec![labelled(9, 99), db(), list(&["selkie.db", "state/a"])]),
        ("what its list says", vec![labelled(9, 99), db(), list(&[])]),
        ("what its list says", vec![labelled(9, 99), db(), list(&["selkie.db", "selkie.db"])]),
        (
            "damaged or changed",
            vec![labelled(9, 99), entry("selkie.db", "something"), list(&["selkie.db"])],
        ),
        (
            "follows its list",
            vec![labelled(9, 99), db(), list(&["selkie.db"]), entry("state/a", "a")],
        ),
    ];
    for (expected, entries) in cases {
        let says = refused(archive(&entries));
        assert!(says.contains(expected), "{expected}: {says}");
    }
}

#[test]
fn what_was_cut_anywhere_is_refused() {
    let whole = archive(&[labelled(9, 99), entry("selkie.db", "selkie.db"), list(&["selkie.db"])]);
    let mut bytes = Vec::new();
    let mut reading = whole;
    reading.read_to_end(&mut bytes).unwrap();
    for length in (0..bytes.len()).step_by(7) {
        let mut cut = tempfile::tempfile().unwrap();
        cut.write_all(&bytes[..length]).unwrap();
        assert!(unpack(rewound(cut), &mut Keeps::default()).is_err(), "{length}");
    }
}

#[test]
fn what_selkie_has_not_made_is_no_backup() {
    let said = |bytes: &[u8]| {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        format!("{:#}", unpack(rewound(file), &mut Looks).unwrap_err())
    };
    for other in [&b"garbage\n"[..], b"", b"\x1f", &[b'x'; 4096]] {
        assert_eq!(said(other), "it is not a backup made by selkie");
    }
    let cut = said(b"\x1f\x8b\x08\x00");
    assert_eq!(cut, "the backup ends too early, at its beginning: it was cut");
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(&[b'x'; 4096]).unwrap();
    let packed = said(&packed.finish().unwrap());
    assert!(packed.starts_with("it is not a backup made by selkie"), "{packed}");
}

/// Whoever takes the files says that it cannot write them: that is not what was wrong.
#[test]
fn what_was_cut_inside_a_file_is_told_as_cut() {
    struct Writes;
    impl Taker for Writes {
        fn label(&mut self, _: &Label) -> anyhow::Result<()> {
            Ok(())
        }

        fn file(&mut self, name: &str, from: &mut dyn Read) -> anyhow::Result<()> {
            let copied = std::io::copy(from, &mut std::io::sink());
            copied.map(drop).with_context(|| format!("{name} cannot be written"))
        }
    }
    let long: Vec<u8> =
        (0..40_000_u32).flat_map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes()).collect();
    let mut whole =
        archive(&[labelled(9, 999_999), entry("selkie.db", long), list(&["selkie.db"])]);
    let mut bytes = Vec::new();
    whole.read_to_end(&mut bytes).unwrap();
    let mut cut = tempfile::tempfile().unwrap();
    cut.write_all(&bytes[..bytes.len() / 2]).unwrap();
    let error = unpack(rewound(cut), &mut Writes).unwrap_err();
    let says = format!("{error:#}");
    assert!(says.contains("the backup ends too early, at \"selkie.db\""), "{says}");
    assert!(!says.contains("written"), "{says}");
}
