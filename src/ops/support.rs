//! A bundle for whoever helps: how selkie is built, set up and stands, without secrets and without anybody's words.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use flate2::Compression;
use flate2::write::GzEncoder;
use selkie_channel_core::{Redactor, shorten};
use serde::Serialize;
use serde_json::{Value, json};
use tar::{Builder, EntryType, Header};

/// So much of the end of a log is taken.
const LOG_BYTES: u64 = 256 << 10;
/// A line of it is no longer.
const MAX_LINE: usize = 500;

/// A file of the bundle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Piece {
    /// Its name.
    pub name: &'static str,
    /// What it tells.
    pub what: &'static str,
    /// How large it is.
    pub bytes: usize,
    #[serde(skip)]
    text: Vec<u8>,
}

impl Piece {
    /// Writes a value as a file, redacted.
    ///
    /// # Errors
    /// When it cannot be written as JSON.
    pub fn of(
        name: &'static str,
        what: &'static str,
        value: &impl Serialize,
        redactor: &Redactor,
    ) -> anyhow::Result<Self> {
        let text = serde_json::to_string_pretty(value)?;
        Ok(Self::text(name, what, &text, redactor))
    }

    /// Takes a text as a file, redacted.
    pub fn text(name: &'static str, what: &'static str, text: &str, redactor: &Redactor) -> Self {
        let text = redactor.clean(text).into_bytes();
        Self { name, what, bytes: text.len(), text }
    }
}

/// Takes out of the config what schedules are to do: people wrote that; how many there are stays.
pub fn without_words(lines: Value) -> Value {
    let Value::Array(lines) = lines else { return lines };
    let veiled = lines.into_iter().map(|mut line| {
        if line["key"].as_str().is_some_and(|key| key.split('.').next() == Some("schedules")) {
            line["value"] = match &line["value"] {
                Value::Array(all) => json!(format!("[{} schedules]", all.len())),
                Value::Null => Value::Null,
                _ => json!("[words]"),
            };
        }
        line
    });
    Value::Array(veiled.collect())
}

/// Takes the names of schedules out of a status: people chose them.
pub fn without_names(mut status: Value) -> Value {
    if let Some(next) = status["next"].as_array_mut() {
        next.iter_mut().for_each(|it| it["name"] = json!("[a name]"));
    }
    status
}

/// Reads the end of a log, each line cut.
///
/// # Errors
/// When it cannot be read.
pub fn end_of_log(path: &Path) -> anyhow::Result<String> {
    let unread = || format!("the log {} cannot be read", path.display());
    // Before it is opened: a pipe would be waited for without an end.
    let found = fs::metadata(path).with_context(unread)?;
    if !found.is_file() {
        bail!("{} is not a file: name the file that selkie's log is written to", path.display());
    }
    let mut file = File::open(path).with_context(unread)?;
    let from = found.len().saturating_sub(LOG_BYTES);
    file.seek(SeekFrom::Start(from)).with_context(unread)?;
    let mut bytes = Vec::new();
    file.take(LOG_BYTES).read_to_end(&mut bytes).with_context(unread)?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    // The first line is cut where not all is read, and may be the rest of a secret.
    let lines = text.lines().skip(usize::from(from > 0));
    Ok(lines.map(|line| shorten(line, MAX_LINE) + "\n").collect())
}

/// Writes the bundle, for us alone, whole or not at all.
///
/// # Errors
/// When it cannot be written.
pub fn write(to: &Path, replaces: bool, pieces: &[Piece]) -> anyhow::Result<()> {
    if !replaces && to.symlink_metadata().is_ok() {
        bail!("{} is there already: name another file, or replace it with --force", to.display());
    }
    let mut part = to.as_os_str().to_owned();
    part.push(".part");
    let part = PathBuf::from(part);
    let written = written(&part, pieces).and_then(|()| Ok(fs::rename(&part, to)?));
    if written.is_err() {
        // A half one is of no use to anybody.
        fs::remove_file(&part).ok();
    }
    written.with_context(|| format!("{} cannot be written", to.display()))
}

fn written(part: &Path, pieces: &[Piece]) -> anyhow::Result<()> {
    match fs::remove_file(part) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error.into()),
        _ => {}
    }
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(part)?;
    let mut archive = Builder::new(GzEncoder::new(file, Compression::default()));
    for piece in pieces {
        let mut header = Header::new_gnu();
        header.set_entry_type(EntryType::Regular);
        header.set_mode(0o600);
        header.set_size(piece.text.len() as u64);
        archive.append_data(&mut header, piece.name, piece.text.as_slice())?;
    }
    let mut file = archive.into_inner()?.finish()?;
    file.flush()?;
    Ok(file.sync_all()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_wrote_is_counted_and_not_told() {
        let lines = json!([
            { "key": "schedules", "value": [{ "prompt": "tell me" }], "from": "config.yaml:4" },
            { "key": "schedules.0.prompt", "value": "tell me", "from": "config.yaml:4" },
            { "key": "timezone", "value": "Europe/Berlin", "from": "default" },
        ]);
        let veiled = without_words(lines);
        let values: Vec<&Value> = [0, 1, 2].map(|at| &veiled[at]["value"]).into();
        assert_eq!(values, ["[1 schedules]", "[words]", "Europe/Berlin"]);
        let status =
            without_names(json!({ "next": [{ "id": 7, "name": "call Grace" }], "pid": 1 }));
        assert_eq!(status, json!({ "next": [{ "id": 7, "name": "[a name]" }], "pid": 1 }));
    }

    #[test]
    fn only_whole_lines_of_the_end_of_a_log_are_taken() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        let line = "x".repeat(MAX_LINE);
        fs::write(&log, format!("secret {}\nlast {line}\n", "y".repeat(LOG_BYTES as usize)))
            .unwrap();
        let end = end_of_log(&log).unwrap();
        assert!(end.starts_with("last x") && end.ends_with("x…\n") && !end.contains('y'), "{end}");
        assert!(end_of_log(folder.path()).is_err());
    }
}
