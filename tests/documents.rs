//! Documents that nobody here made, each through the process that reads them: none ends who asks for it, and the words of PDFs
//! are those that `pdftotext` finds. `tests/run --documents` fetches some hundred and runs it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use selkie::tools::isolate::{Isolate as _, Job, Processes};
use selkie_documents::Document;

/// The folder, and the least part of the words of a PDF.
const FOLDER: &str = "SELKIE_DOCUMENTS";
const RECALL: f64 = 0.80;
/// Shorter texts say little of how well words are found.
const WORDS: usize = 20;

const ENDINGS: [&str; 13] = [
    "csv", "docx", "eml", "epub", "html", "odp", "ods", "odt", "pdf", "pptx", "xls", "xlsb", "xlsx",
];

/// What came of the files of one ending.
#[derive(Default)]
struct Tally {
    read: usize,
    refused: usize,
    crashed: usize,
    recalls: Vec<f64>,
    longest: Duration,
}

#[tokio::test]
#[ignore = "needs a folder of documents: tests/run --documents"]
async fn documents_of_others_are_read() {
    let folder = folder();
    let processes = Processes::new(PathBuf::from(env!("CARGO_BIN_EXE_selkie")));
    let mut tallies: BTreeMap<String, Tally> = BTreeMap::new();
    for file in files(Path::new(&folder)) {
        let ending = ending(&file);
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let begun = Instant::now();
        let bytes = fs::read(&file).expect("a file");
        let done = processes.run(Job::Document { name: name.clone() }, bytes).await;
        let tally = tallies.entry(ending.clone()).or_default();
        tally.longest = tally.longest.max(begun.elapsed());
        match done {
            Ok(pages) => {
                let document = Document::from_bytes(&pages).expect("pages");
                tally.read += 1;
                if ending == "pdf"
                    && let Some(recall) = recall(&file, &document)
                {
                    if recall < RECALL {
                        println!("recall {recall:.2}: {name} {:?}", document.warnings);
                    }
                    tally.recalls.push(recall);
                }
            }
            Err(error) => {
                let why = error.to_string();
                let is_crash = why.contains("breaks the reader") || why.contains("memory or time");
                tally.crashed += usize::from(is_crash);
                tally.refused += usize::from(!is_crash);
                println!("{name}: {why}");
            }
        }
    }
    let mut recalls = Vec::new();
    for (ending, tally) in &tallies {
        let Tally { read, refused, crashed, longest, .. } = tally;
        println!(
            "{ending}: {read} read, {refused} refused, {crashed} ended their process; longest {longest:.1?}"
        );
        recalls.extend(&tally.recalls);
    }
    let all: usize = tallies.values().map(|tally| tally.read + tally.refused + tally.crashed).sum();
    assert!(all > 0, "{folder} holds no documents");
    println!("{all} documents");
    if !recalls.is_empty() {
        let mean = recalls.iter().sum::<f64>() / recalls.len() as f64;
        println!("recall of the words of {} PDFs: {mean:.3}", recalls.len());
        assert!(mean >= RECALL, "{mean}");
    }
}

#[expect(clippy::disallowed_methods, reason = "a test's own switch, not the daemon's")]
fn folder() -> String {
    std::env::var(FOLDER).expect("SELKIE_DOCUMENTS names a folder")
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut folders = vec![folder.to_owned()];
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            match path.is_dir() {
                true => folders.push(path),
                false if ENDINGS.contains(&&*ending(&path)) => found.push(path),
                false => {}
            }
        }
    }
    found.sort();
    found
}

fn ending(path: &Path) -> String {
    path.extension().unwrap_or_default().to_string_lossy().to_lowercase()
}

/// The part of the words that `pdftotext` finds; none where it is missing, or finds few.
fn recall(file: &Path, document: &Document) -> Option<f64> {
    let told = Command::new("pdftotext").arg(file).arg("-").output().ok()?;
    let expected = words(&String::from_utf8_lossy(&told.stdout));
    if !told.status.success() || expected.len() < WORDS {
        return None;
    }
    let text: Vec<&str> = document.pages.iter().map(|page| page.text.as_str()).collect();
    let found = words(&text.join("\n"));
    Some(expected.intersection(&found).count() as f64 / expected.len() as f64)
}

fn words(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.chars().count() > 1);
    words.map(str::to_lowercase).collect()
}
