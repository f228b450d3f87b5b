//! Work on foreign bytes that goes wrong ends a process that was made for it, and is an answer here.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use selkie::tools::isolate::{Isolate as _, Job, Processes};

fn processes() -> Processes {
    Processes::new(PathBuf::from(env!("CARGO_BIN_EXE_selkie")))
}

async fn page(html: String) -> String {
    let job: Job =
        serde_json::from_str(r#"{"page": {"url": "https://example.com/", "format": "markdown"}}"#)
            .unwrap();
    let processes = processes();
    let read = processes.run(job, html.into_bytes());
    let read = tokio::time::timeout(Duration::from_secs(60), read);
    match read.await.expect("an end") {
        Ok(page) => String::from_utf8(page).unwrap(),
        Err(error) => error.to_string(),
    }
}

#[tokio::test]
async fn hostile_pages_have_an_end() {
    assert_eq!(page("<title>T</title><p>One <b>word</b>".to_owned()).await, "# T\n\nOne **word**");
    let attributes: String = (0..300_000).map(|n| format!(" a{n}=1")).collect();
    for (html, begins) in [
        (format!("<html><body>{}deep", "<path>".repeat(50_000)), "deep"),
        (format!("{}wide", "<div></x>".repeat(500_000)), "wide"),
        (format!("{}deep{}", "<div>".repeat(50_000), "</div>".repeat(50_000)), "deep"),
        (format!("<p{attributes}>many"), "many"),
        ("<p>x".repeat(1_250_000), "x x"),
        // Drawings that are none: what counts tags is deceived, and the tree itself is looked at.
        (format!("<svg><p>{}deep", "<path/>".repeat(50_000)), "deep"),
    ] {
        let begun = Instant::now();
        let said = page(html).await;
        assert!(
            said.starts_with(begins),
            "{begins}: {}",
            said.chars().take(200).collect::<String>()
        );
        eprintln!("{begins}: {:?}", begun.elapsed());
    }
}

#[cfg(debug_assertions)]
#[tokio::test]
async fn what_takes_too_much_is_ended_and_told() {
    use selkie::tools::isolate::Misbehaviour::{Memory, Stack, Time, Words};
    for how in [Memory, Stack, Words, Time] {
        let done = processes().run(Job::Misbehave(how), Vec::new()).await;
        let said = done.unwrap_err().to_string();
        let expected = "the page could not be read: it needs more memory or time than is allowed";
        assert_eq!(said, expected, "{how:?}");
    }
}

#[cfg(debug_assertions)]
#[tokio::test]
async fn work_that_nobody_waits_for_is_ended() {
    use selkie::tools::isolate::Misbehaviour::Time;
    let processes = processes();
    // Dropped, each of them gives back its place: else the third would wait for the first.
    for _ in 0..4 {
        let work = processes.run(Job::Misbehave(Time), Vec::new());
        assert!(tokio::time::timeout(Duration::from_millis(300), work).await.is_err());
    }
}

/// A PDF of 700 KB whose one page takes 700 MB: its parser takes what it gets, and its process has no more.
#[tokio::test]
async fn a_document_that_fills_its_process_is_told() {
    use std::io::Write as _;
    let mut packed = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
    let piece = vec![b' '; 1024 * 1024];
    (0..700).for_each(|_| packed.write_all(&piece).unwrap());
    let packed = packed.finish().unwrap();
    let mut pdf = b"%PDF-1.4\n1 0 obj\n<</Type/Catalog/Pages 2 0 R>>\nendobj\n\
        2 0 obj\n<</Type/Pages/Kids[3 0 R]/Count 1>>\nendobj\n\
        3 0 obj\n<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R/Resources<<>>>>\nendobj\n"
        .to_vec();
    pdf.extend(
        format!("4 0 obj\n<</Length {}/Filter/FlateDecode>>\nstream\n", packed.len()).bytes(),
    );
    pdf.extend(packed);
    pdf.extend(b"\nendstream\nendobj\ntrailer<</Root 1 0 R>>\nstartxref\n0\n%%EOF");
    let done = processes().run(Job::Document { name: "bomb.pdf".to_owned() }, pdf).await;
    assert_eq!(
        done.unwrap_err().to_string(),
        "the document could not be read: it needs more memory or time than is allowed"
    );
}
