//! Copies a file that goes out, as long as no secret is found in it. Each piece is looked through on a thread that may take its
//! time, so that a large file holds nobody up, and the copying ends with its call.

use std::fs::File;
use std::io;
use std::path::Path;

use bytes::Bytes;
use selkie_channel_core::Search;
use tokio::fs;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

/// Bytes copied at once.
const PIECE: u64 = 256 * 1024;

/// What is told of a file with a secret in it, behind its name.
pub(super) const WHY: &str = "it contains one of the bot's own secrets, as it is or encoded, or something that looks like one \
     (a token, a key or a password); those never leave this machine. Take it out of the file and try again, or send another file";

/// Copies a file, as long as it is now, to a new one (0600), and hands each piece to `copied`. Returns `false` when a secret
/// stands in it: what was copied by then is no use.
pub(super) async fn copy(
    file: File,
    path: &Path,
    mut search: Search,
    mut copied: impl FnMut(&[u8]),
) -> io::Result<bool> {
    let length = file.metadata()?.len();
    let mut from = fs::File::from_std(file).take(length);
    let mut options = fs::OpenOptions::new();
    let mut to = options.write(true).create_new(true).mode(0o600).open(path).await?;
    loop {
        let mut piece = Vec::new();
        (&mut from).take(PIECE).read_to_end(&mut piece).await?;
        if piece.is_empty() {
            break;
        }
        let look = move || (search.finds(&piece), search, piece);
        let (is_found, looking, looked_at) = aside(look).await?;
        if is_found {
            return Ok(false);
        }
        copied(&looked_at);
        to.write_all(&looked_at).await?;
        search = looking;
    }
    if aside(move || search.finds_in_rest()).await? {
        return Ok(false);
    }
    to.flush().await?;
    // The row that names it is synced: after a power failure it must not name half a file.
    to.sync_all().await?;
    Ok(true)
}

/// Whether a secret stands in these bytes.
pub(super) async fn holds_secret(bytes: Bytes, mut search: Search) -> io::Result<bool> {
    aside(move || search.finds(&bytes) || search.finds_in_rest()).await
}

/// Works where it holds nobody up.
async fn aside<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> io::Result<T> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => Ok(done),
        Err(failed) => match failed.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(_) => Err(io::Error::other("the daemon is stopping")),
        },
    }
}
