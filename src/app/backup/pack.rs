//! Writes an archive: the label, the files, and the list of them.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};

use flate2::Compression;
use flate2::write::GzEncoder;
use rustix::fs::OFlags;
use tar::{Builder, EntryType, Header};

use super::contents::{ArchivedFile, LABEL, LIST, Label};
use super::digest::DigestReader;
use super::files::Item;

/// A file of at most so many bytes is read at once: whoever changes it meanwhile does not come in between.
const SMALL: u64 = 1 << 20;

/// Writes an archive to its end and onto the disk; a file that has gone meanwhile is not in it.
///
/// # Errors
/// As writing and reading fail, with the file that it was about.
pub fn pack(to: &File, label: &Label, items: &[Item]) -> anyhow::Result<()> {
    // What is stored is mostly text: more than this costs time and saves little.
    let zipped = GzEncoder::new(BufWriter::new(to), Compression::new(3));
    let mut archive = Builder::new(zipped);
    let text = serde_json::to_vec_pretty(label)?;
    append(&mut archive, LABEL, &text)?;
    let mut list = Vec::new();
    for item in items {
        list.extend(one(&mut archive, item).map_err(|error| about(item, error))?);
    }
    append(&mut archive, LIST, &serde_json::to_vec(&list)?)?;
    let mut written = archive.into_inner()?.finish()?;
    written.flush()?;
    drop(written);
    to.sync_all()?;
    Ok(())
}

fn about(item: &Item, error: io::Error) -> anyhow::Error {
    let kind = error.kind();
    let path = item.path.display();
    match kind {
        // That is the archive's own.
        ErrorKind::StorageFull | ErrorKind::FileTooLarge | ErrorKind::QuotaExceeded => error.into(),
        _ => anyhow::Error::new(error).context(format!("{path} cannot be copied")),
    }
}

/// Takes one file; `None` when it has gone.
fn one<W: Write>(archive: &mut Builder<W>, item: &Item) -> io::Result<Option<ArchivedFile>> {
    let flags = OFlags::NOFOLLOW.bits().cast_signed();
    let file = match OpenOptions::new().read(true).custom_flags(flags).open(&item.path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        file => file?,
    };
    let found = file.metadata()?;
    let (bytes, digest) = if found.len() <= SMALL {
        let mut all = Vec::new();
        file.take(SMALL + 1).read_to_end(&mut all)?;
        take(archive, item, found.mtime(), all.len() as u64, all.as_slice())?
    } else {
        take(archive, item, found.mtime(), found.len(), file.take(found.len()))?
    };
    Ok(Some(ArchivedFile { path: item.name.clone(), bytes, sha256: digest }))
}

fn take<W: Write>(
    archive: &mut Builder<W>,
    item: &Item,
    changed: i64,
    bytes: u64,
    from: impl Read,
) -> io::Result<(u64, String)> {
    let mut header = header(bytes);
    header.set_mtime(u64::try_from(changed).unwrap_or_default());
    let mut from = DigestReader::new(from);
    archive.append_data(&mut header, &item.name, &mut from)?;
    if from.count() != bytes {
        return Err(io::Error::other("it was cut while it was read: try again"));
    }
    Ok((bytes, from.sha256()))
}

fn append<W: Write>(archive: &mut Builder<W>, name: &str, text: &[u8]) -> io::Result<()> {
    archive.append_data(&mut header(text.len() as u64), name, text)
}

fn header(bytes: u64) -> Header {
    let mut header = Header::new_gnu();
    header.set_entry_type(EntryType::Regular);
    header.set_mode(0o600);
    header.set_size(bytes);
    header
}
