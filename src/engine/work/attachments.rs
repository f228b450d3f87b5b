//! Fetches the files of a message into the conversation's own folder. A file that cannot be fetched is
//! a line that says so, never the end of a task.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use selkie_channel_core::{Attachment, AttachmentKind, Channel, Inbound};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio_util::sync::CancellationToken;

use crate::delivery::context::Context;
use crate::delivery::outbox::Outbox;
use crate::work::document_notes::{DocumentNote, DocumentNotes};
use crate::work::limits::Limits;
use crate::work::messages;
use crate::work::voice_settings::VoiceConfig;
use crate::work::workspace::own_folder;
use selkie_domain::ids::InboxId;
use selkie_domain::live::Live;
use selkie_domain::spoken::SpokenWords;
use selkie_domain::transcript::Picture;
use selkie_tools::PictureKeeper;

/// No file is waited for longer.
const TIMEOUT: Duration = Duration::from_secs(180);
/// The largest file of this machine that is copied, in bytes.
pub const MAX_COPIED: u64 = 20 * 1024 * 1024;
/// Endings of pictures that models look at.
const PICTURES: [&str; 5] = ["gif", "jpeg", "jpg", "png", "webp"];
/// The longest file name, in bytes.
const NAME_BYTES: usize = 120;

/// What is known of the files of a message.
#[derive(Debug, Default)]
pub struct MessageFiles {
    /// One line for each file; below that of a document how it begins.
    pub lines: Vec<String>,
    /// Those that a model can look at.
    pub pictures: Vec<Picture>,
    /// What of them was said aloud, as words: such a file has no line.
    pub spoken: Vec<SpokenWords>,
}

/// A message of a task.
#[derive(Clone, Copy, Debug)]
pub struct TaskMessage<'a> {
    /// The row of its place's first conversation.
    pub place_row: i64,
    /// Its own.
    pub row: InboxId,
    pub(crate) inbound: &'a Inbound,
}

/// Returns where the files of a message lie, within the cache: nothing else lies there.
pub(super) fn folder_of(place_row: i64, row: InboxId) -> String {
    format!("{}/in/{row}", own_folder(place_row))
}

/// Fetches what comes with messages.
#[derive(Clone)]
pub struct Attachments {
    pub(crate) context: Context,
    pub(crate) limits: Arc<Limits>,
    pub(crate) cache_dir: PathBuf,
    /// The model sees: where pictures of people are made ready for it.
    pub sees: Live<Option<PictureKeeper>>,
    /// Reads the documents of people.
    pub(crate) documents: DocumentNotes,
    pub(crate) outbox: Arc<Outbox>,
    /// Who writes down what people say aloud.
    pub voice: Live<Option<VoiceConfig>>,
}

impl Attachments {
    /// Fetches one file for who wrote a message, into the folder of its row.
    pub(super) async fn fetch_one(
        &self,
        attachment: &Attachment,
        message: TaskMessage<'_>,
        cancel: &CancellationToken,
        all: &mut MessageFiles,
    ) {
        match self.bring(attachment, message, cancel).await {
            Ok(file) => self.add(attachment, file, all).await,
            Err(line) => all.lines.push(line),
        }
    }

    /// The same, for whoever tells of it; the line that says why it is not there.
    pub(super) async fn bring(
        &self,
        attachment: &Attachment,
        message: TaskMessage<'_>,
        cancel: &CancellationToken,
    ) -> Result<CachedFile, String> {
        let TaskMessage { place_row, row, inbound } = message;
        let name = safe_name(attachment);
        let Some(account) = self.context.accounts.of(&inbound.conversation) else {
            return Err(self.missing(&name, "its channel is gone"));
        };
        let Ok(left) = self.limits.bytes_left(inbound).await else {
            return Err(messages::file_not_fetched(&attachment.name, messages::DOWNLOADS_REACHED));
        };
        let below = folder_of(place_row, row);
        let folder = self.cache_dir.join(&below);
        let fetched = tokio::select! {
            fetched = tokio::time::timeout(TIMEOUT, one(&account.channel, attachment, left, &folder, &name)) => {
                fetched.unwrap_or_else(|_| Err(format!("it took longer than {} s", TIMEOUT.as_secs())))
            }
            () = cancel.cancelled() => Err("the task was stopped".to_owned()),
        };
        match fetched {
            Ok((name, bytes)) => {
                self.limits.fetched(inbound, bytes).await;
                Ok(CachedFile { below, name, bytes })
            }
            Err(why) => Err(self.missing(&name, &why)),
        }
    }

    /// Copies a file of this machine, which the command line has named, as if it had come with a message.
    pub async fn copy(&self, place_row: i64, path: &Path) -> MessageFiles {
        let mut all = MessageFiles::default();
        let below = format!("{}/in", own_folder(place_row));
        let folder = self.cache_dir.join(&below);
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let ending = path.extension().map(|ending| ending.to_ascii_lowercase()).unwrap_or_default();
        let is_picture = PICTURES.iter().any(|known| ending == *known);
        let kind = if is_picture { AttachmentKind::Photo } else { AttachmentKind::Document };
        let handle = String::new();
        let attachment = Attachment { handle, kind, name, mime: None, size: None, duration: None };
        let name = safe_name(&attachment);
        match into_folder(&folder, &name, async |part| copied(path, part).await).await {
            Ok((name, bytes)) => {
                self.add(&attachment, CachedFile { below, name, bytes }, &mut all).await
            }
            Err(why) => all.lines.push(self.missing(&name, &why)),
        }
        all
    }

    /// Tells of a file that is there.
    pub(super) async fn add(
        &self,
        attachment: &Attachment,
        stored: CachedFile,
        all: &mut MessageFiles,
    ) {
        let folder = self.cache_dir.join(&stored.below);
        let file = folder.join(&stored.name);
        let own = self.cache_dir.join(stored.below.split('/').next().unwrap_or_default());
        let DocumentNote { what, first } = self.documents.note(attachment, &own, &file).await;
        let note = match self.shown(attachment, &folder, &file).await {
            Some(Ok(picture)) => {
                all.pictures.push(picture);
                String::new()
            }
            Some(Err(why)) => format!("; it cannot be shown: {why}"),
            None => String::new(),
        };
        let first = if first.is_empty() { first } else { format!("\n{first}") };
        all.lines.push(self.line(attachment, &stored, &format!("{what}{note}")) + &first);
    }

    /// Tells where a file lies and what it is.
    pub(super) fn line(&self, attachment: &Attachment, stored: &CachedFile, note: &str) -> String {
        let CachedFile { below, name, bytes } = stored;
        format!("file_cache_dir/{below}/{name} ({}{note})", describe(attachment, *bytes))
    }

    /// Says why one is not there.
    fn missing(&self, name: &str, why: &str) -> String {
        let why = self.context.runtime.redactor.clean(why);
        tracing::warn!(name, why, "a file could not be fetched");
        messages::file_not_fetched(name, &why)
    }

    /// Keeps a picture for the model beside the file, when it sees. `None` for what is no picture.
    async fn shown(
        &self,
        attachment: &Attachment,
        folder: &Path,
        file: &Path,
    ) -> Option<Result<Picture, String>> {
        let keeper = Option::clone(&self.sees.now())?;
        let mime = attachment.mime.as_deref().unwrap_or_default();
        // A drawing is text: it is read, not looked at.
        let named = mime.starts_with("image/") && !mime.starts_with("image/svg");
        if attachment.kind != AttachmentKind::Photo && !named {
            return None;
        }
        let kept = match tokio::fs::read(file).await {
            Ok(bytes) => keeper.keep(bytes, folder).await.map_err(|e| e.to_string()),
            Err(error) => Err(error.to_string()),
        };
        Some(kept.inspect_err(|why| tracing::warn!(why, "a picture cannot be shown to the model")))
    }
}

/// A file in the cache folder: below which folder of it, and its name.
pub(super) struct CachedFile {
    pub(super) below: String,
    pub(super) name: String,
    pub(super) bytes: u64,
}

/// Fetches one file.
async fn one(
    channel: &Channel,
    attachment: &Attachment,
    left: u64,
    folder: &Path,
    name: &str,
) -> Result<(String, u64), String> {
    let Some(receiver) = &channel.receiver else {
        return Err("this channel brings no files".to_owned());
    };
    let most = channel.max_fetch_bytes.min(left);
    if let Some(size) = attachment.size.filter(|size| *size > most) {
        return Err(format!("it has {size} bytes, and at most {most} are fetched"));
    }
    into_folder(folder, name, async |part| stream(&**receiver, attachment, most, part).await).await
}

/// Fills a file under a temporary name and gives it its own when it is whole.
async fn into_folder(
    folder: &Path,
    name: &str,
    fill: impl AsyncFnOnce(&Path) -> Result<u64, String>,
) -> Result<(String, u64), String> {
    let said = |error: std::io::Error| format!("it cannot be stored: {error}");
    let mut builder = tokio::fs::DirBuilder::new();
    builder.recursive(true).mode(0o750).create(folder).await.map_err(said)?;
    let part = folder.join(format!(".part-{}", uuid::Uuid::now_v7()));
    let got = fill(&part).await;
    let named = match got {
        Ok(bytes) => place(&part, folder, name).await.map(|name| (name, bytes)).map_err(said),
        Err(why) => Err(why),
    };
    if named.is_err() {
        // Best effort: the sweep of the cache takes what is left.
        drop(tokio::fs::remove_file(&part).await);
    }
    named
}

/// Copies a file of this machine, up to a limit.
async fn copied(from: &Path, part: &Path) -> Result<u64, String> {
    let read = |error: std::io::Error| format!("it cannot be read: {error}");
    let file = tokio::fs::File::open(from).await.map_err(read)?;
    let metadata = file.metadata().await.map_err(read)?;
    if !metadata.is_file() || metadata.len() > MAX_COPIED {
        return Err(format!("it is no file of at most {MAX_COPIED} bytes"));
    }
    let said = |error: std::io::Error| format!("it cannot be stored: {error}");
    let mut to = new_file(part).await.map_err(said)?;
    let bytes = tokio::io::copy(&mut file.take(MAX_COPIED), &mut to).await.map_err(said)?;
    to.flush().await.map_err(said)?;
    Ok(bytes)
}

async fn new_file(path: &Path) -> std::io::Result<tokio::fs::File> {
    tokio::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path).await
}

async fn stream(
    receiver: &dyn selkie_channel_core::Receiver,
    attachment: &Attachment,
    most: u64,
    part: &Path,
) -> Result<u64, String> {
    let said = |error: std::io::Error| format!("it cannot be stored: {error}");
    let mut file = new_file(part).await.map_err(said)?;
    let bytes = receiver.fetch(attachment, most, &mut file).await?;
    file.flush().await.map_err(said)?;
    Ok(bytes)
}

/// Gives a whole file the first free one of `name.ext`, `name-2.ext`, …: a link fails where a file
/// is, so that two fetches never overwrite each other.
async fn place(part: &Path, folder: &Path, name: &str) -> std::io::Result<String> {
    for number in 1u32.. {
        let name = numbered(name, number);
        match tokio::fs::hard_link(part, folder.join(&name)).await {
            Ok(()) => {
                tokio::fs::remove_file(part).await?;
                return Ok(name);
            }
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists && number < 10_000 => {}
            Err(error) => return Err(error),
        }
    }
    Err(std::io::Error::other("no free name"))
}

/// Returns the name of the file that is the so many-th of its name in a folder, from 1.
pub(super) fn numbered(name: &str, number: u32) -> String {
    match (number, name.rsplit_once('.')) {
        (1, _) => name.to_owned(),
        (_, Some((stem, ext))) if !stem.is_empty() => format!("{stem}-{number}.{ext}"),
        _ => format!("{name}-{number}"),
    }
}

/// Makes a plain file name of whatever the sender called it: no folder, no control or direction
/// characters, not hidden, at most 120 bytes with its extension kept. What has no name is called by its kind, and ends as
/// its type does: programs go by that.
pub(super) fn safe_name(attachment: &Attachment) -> String {
    let base = attachment.name.rsplit(['/', '\\']).next().unwrap_or_default();
    let clean: String = base.chars().map(|c| if is_unfit(c) { '_' } else { c }).collect();
    let clean = clean.trim_matches(is_edge);
    if clean.is_empty() || clean.chars().all(|c| c == '_') {
        let ending = attachment.mime.as_deref().and_then(ending);
        let ending = ending.map(|ending| format!(".{ending}")).unwrap_or_default();
        return kind_name(attachment.kind).to_owned() + &ending;
    }
    shortened(clean)
}

/// The usual ending of files of a type: mostly the type's own second word.
pub(super) fn ending(mime: &str) -> Option<&str> {
    Some(match mime.split(';').next()?.trim() {
        "image/jpeg" => "jpg",
        "audio/mpeg" => "mp3",
        "audio/mp4" | "audio/x-m4a" => "m4a",
        "video/quicktime" => "mov",
        "text/plain" => "txt",
        other => {
            let (_, own) = other.split_once('/')?;
            let is_one = own.len() <= 5 && own.bytes().all(|byte| byte.is_ascii_alphanumeric());
            return Some(own).filter(|own| is_one && !own.is_empty());
        }
    })
}

fn shortened(name: &str) -> String {
    if name.len() <= NAME_BYTES {
        return name.to_owned();
    }
    match name.rsplit_once('.') {
        Some((stem, ext)) if ext.len() <= 16 => {
            let end = stem.floor_char_boundary(NAME_BYTES - ext.len() - 1);
            format!("{}.{ext}", &stem[..end])
        }
        _ => name[..name.floor_char_boundary(NAME_BYTES)].trim_end_matches(is_edge).to_owned(),
    }
}

fn is_edge(c: char) -> bool {
    c == '.' || c.is_whitespace()
}

/// Characters that make a name lie or a path of it: controls, direction marks, invisible ones.
fn is_unfit(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}')
        || matches!(c, '\u{61c}' | '\u{feff}' | '/' | '\\' | ':' | '\u{2028}' | '\u{2029}')
}

fn describe(attachment: &Attachment, bytes: u64) -> String {
    let mut text = kind_name(attachment.kind).to_owned();
    if let Some(mime) = &attachment.mime {
        let mime: String = mime.chars().filter(char::is_ascii_graphic).take(80).collect();
        _ = write!(text, ", {mime}");
    }
    _ = write!(text, ", {bytes} bytes");
    text
}

const fn kind_name(kind: AttachmentKind) -> &'static str {
    match kind {
        AttachmentKind::Document => "document",
        AttachmentKind::Photo => "photo",
        AttachmentKind::Voice => "voice",
        AttachmentKind::Audio => "audio",
        AttachmentKind::Video => "video",
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_are_plain() {
        let safe = |name: &str| safe_name(&file(name, AttachmentKind::Document, None));
        assert_eq!(safe("../../etc/passwd"), "passwd");
        assert_eq!(safe("a\0b\u{202e}gpj.exe"), "a_b_gpj.exe");
        assert_eq!(safe(".bashrc"), "bashrc");
        for nothing in ["", "..", "/", "\0", " . "] {
            assert_eq!(safe(nothing), "document", "{nothing:?}");
        }
        assert_eq!(numbered("a.tar.gz", 2), "a.tar-2.gz");
        assert_eq!(numbered("a", 3), "a-3");
    }

    fn file(name: &str, kind: AttachmentKind, mime: Option<&str>) -> Attachment {
        let name = name.to_owned();
        let mime = mime.map(str::to_owned);
        Attachment { handle: String::new(), kind, name, mime, size: None, duration: None }
    }

    #[test]
    fn what_has_no_name_ends_as_its_type_does() {
        use AttachmentKind::{Audio, Document, Photo, Video, Voice};
        for (kind, mime, name) in [
            (Voice, "audio/ogg", "voice.ogg"),
            (Video, "video/mp4", "video.mp4"),
            (Photo, "image/jpeg", "photo.jpg"),
            (Audio, "audio/mpeg", "audio.mp3"),
            (Document, "application/pdf", "document.pdf"),
            (Document, "application/octet-stream", "document"),
            (Document, "x/../../y", "document"),
            (Voice, "audio/ogg; codecs=opus", "voice.ogg"),
        ] {
            assert_eq!(safe_name(&file("", kind, Some(mime))), name, "{mime}");
        }
        assert_eq!(safe_name(&file("a", Voice, Some("audio/ogg"))), "a", "a name is the sender's");
    }

    proptest! {
        #[test]
        fn no_name_is_a_path_or_too_long(name in "(\\PC|[./\\\\\0\u{202e}]){0,300}") {
            let safe = safe_name(&file(&name, AttachmentKind::Photo, None));
            prop_assert!(!safe.is_empty() && safe.len() <= NAME_BYTES);
            prop_assert!(!safe.starts_with('.') && !safe.contains(is_unfit));
            prop_assert_eq!(safe_name(&file(&safe, AttachmentKind::Photo, None)), safe);
        }
    }
}
