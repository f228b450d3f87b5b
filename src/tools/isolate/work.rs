//! What a job comes to. Pure: bytes in, bytes or words out.

use reqwest::Url;

use super::job::Job;
use super::speech;
use crate::files::picture;
use crate::web::{page, search};

/// Does a job.
pub(super) fn done(job: &Job, bytes: Vec<u8>) -> Result<Vec<u8>, String> {
    match job {
        Job::Page { url, format } => {
            let url = Url::parse(url).map_err(|e| format!("invalid url: {e}"))?;
            let html = String::from_utf8_lossy(&bytes);
            Ok(page::cut(&page::readable(&html, &url, *format)).into_bytes())
        }
        Job::Results { engine } => {
            let hits = search::hits(*engine, &String::from_utf8_lossy(&bytes))?;
            serde_json::to_vec(&hits).map_err(|e| e.to_string())
        }
        Job::Picture => picture::takeable(&bytes).map(|(mime, made)| typed(mime, &made)),
        Job::Scan { page } => {
            picture::of_page(&bytes, *page).map(|(mime, made)| typed(mime, &made))
        }
        Job::Document { name } => match selkie_documents::read(&bytes, name) {
            Ok(document) => Ok(document.to_bytes()),
            Err(error) => Err(format!("it {error}")),
        },
        Job::Speech => speech::wav(bytes),
        #[cfg(any(test, debug_assertions))]
        Job::Misbehave(how) => Ok(misbehaved(*how)),
    }
}

/// Writes the type of a picture before its bytes.
fn typed(mime: &str, picture: &[u8]) -> Vec<u8> {
    [mime.as_bytes(), b"\n", picture].concat()
}

#[cfg(any(test, debug_assertions))]
fn misbehaved(how: super::job::Misbehaviour) -> Vec<u8> {
    use super::job::Misbehaviour;
    let mut taken = Vec::new();
    match how {
        Misbehaviour::Memory => loop {
            taken.push(vec![1_u8; 1024 * 1024]);
        },
        Misbehaviour::Time => loop {
            std::hint::spin_loop();
        },
        Misbehaviour::Stack => vec![deep(1)],
        Misbehaviour::Words => vec![b'x'; super::job::RESULT as usize + 1],
    }
}

#[cfg(any(test, debug_assertions))]
fn deep(n: u8) -> u8 {
    let frame = std::hint::black_box([n; 4096]);
    if frame[0] == 0 { 0 } else { deep(std::hint::black_box(frame[1])).max(frame[2]) }
}
