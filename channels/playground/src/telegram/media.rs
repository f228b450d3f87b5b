//! `sendDocument`, `sendPhoto`, `sendVoice`, and `getFile`.

use std::borrow::Cow;

use serde_json::{Value, json};

use super::chat::{Content, Draft, FileKind};
use super::params::{Params, Upload};
use super::refusal::Refusal;
use super::send::{check_length, parsed, post};
use super::target::Target;
use super::{Server, keyboard, render};

const MAX_CAPTION: usize = 1024;
const MAX_UPLOAD: usize = 50 * 1024 * 1024;
const MAX_PHOTO: usize = 10 * 1024 * 1024;
const MAX_DOWNLOAD: u64 = 20 * 1024 * 1024;

/// Sends a file that comes with the call or that the server has.
pub(crate) fn file(server: &Server, params: &Params, kind: FileKind) -> Result<String, Refusal> {
    let target = Target::read(&server.world(), params)?;
    let (text, entities) = parsed(params, "caption", "caption_entities")?;
    check_length(&text, MAX_CAPTION, "message caption is too long")?;
    let markup = keyboard::read(params)?;
    let source = source(params, kind)?;
    if let Source::Known(id) = &source
        && !server.world().files.get(id.as_ref()).is_some_and(|file| file.kind == kind)
    {
        return Err(Refusal::bad("wrong file identifier/HTTP URL specified"));
    }
    server.count_pace(target.chat)?;
    let file_id = match source {
        Source::Known(id) => id.into_owned(),
        Source::New(upload) => server.world().store_file(kind, &upload.name, upload.bytes.clone()),
    };
    let bare = Draft::text(0, target.thread, "");
    let content = Content::File(file_id);
    let draft = Draft { content, text, entities, reply_to: target.reply_to, markup, ..bare };
    post(server, target.chat, draft)
}

enum Source<'a> {
    New(&'a Upload),
    Known(Cow<'a, str>),
}

/// Finds the file: a part of the form, `attach://<part>`, or a known id.
fn source(params: &Params, kind: FileKind) -> Result<Source<'_>, Refusal> {
    let field = match kind {
        FileKind::Document => "document",
        FileKind::Photo => "photo",
        FileKind::Voice => "voice",
    };
    let upload = match params.text(field) {
        None => params.file(field),
        Some(text) => match text.strip_prefix("attach://") {
            Some(part) => params.file(part),
            None if text.is_empty() => None,
            None => return Ok(Source::Known(text)),
        },
    };
    let missing = || Refusal::bad(format!("there is no {field} in the request"));
    let upload = upload.ok_or_else(missing)?;
    check_upload(upload, kind)?;
    Ok(Source::New(upload))
}

fn check_upload(upload: &Upload, kind: FileKind) -> Result<(), Refusal> {
    let size = upload.bytes.len();
    if size == 0 {
        return Err(Refusal::bad("file must be non-empty"));
    }
    if size > MAX_UPLOAD {
        return Err(Refusal::new(413, "Request Entity Too Large"));
    }
    if kind != FileKind::Photo {
        return Ok(());
    }
    if size > MAX_PHOTO {
        return Err(Refusal::bad(format!("file of size {size} bytes is too big for a photo")));
    }
    if is_image(&upload.bytes) { Ok(()) } else { Err(Refusal::bad("IMAGE_PROCESS_FAILED")) }
}

fn is_image(bytes: &[u8]) -> bool {
    let starts = [&b"\x89PNG\r\n\x1a\n"[..], b"\xff\xd8\xff", b"GIF8", b"BM"];
    starts.iter().any(|start| bytes.starts_with(start))
        || bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(&b"WEBP"[..])
}

/// `getFile`.
pub(crate) fn get_file(server: &Server, params: &Params) -> Result<String, Refusal> {
    let id = params.text("file_id").ok_or_else(|| Refusal::bad("file_id not specified"))?;
    let world = server.world();
    let file = world.files.get(id.as_ref()).ok_or_else(|| Refusal::bad("invalid file_id"))?;
    if file.size > MAX_DOWNLOAD {
        return Err(Refusal::bad("file is too big"));
    }
    let answer: Value = json!({
        "file_id": id, "file_unique_id": render::unique(&id), "file_size": file.size,
        "file_path": file.path,
    });
    Ok(answer.to_string())
}
