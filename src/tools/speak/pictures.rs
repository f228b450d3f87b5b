//! Pictures of a post: found among the conversation's files and judged before anybody is asked, kept with the post.

use std::fs::File;
use std::io::Read as _;

use selkie_channel_core::{PictureKind, PostPicture, Posting};
use serde_json::Value;

use super::leaving::leaving;
use crate::ToolError;
use crate::basis::Basis;
use crate::files::image::{Size, known};
use crate::paths::{Location, Roots};
use crate::scope::Scope;
use crate::shown::Preview;

/// The argument that names them.
pub(super) const NAME: &str = "pictures";
/// Bytes in which a picture says what it is; a camera's own notes may stand before its size.
const HEAD: u64 = 256 * 1024;

/// A picture that can be posted.
struct CheckedPicture {
    located: Location,
    kind: &'static PictureKind,
    size: Size,
    bytes: u64,
}

/// Says why pictures can never be posted, if so.
pub(super) fn fault(data: &'static Posting, roots: &Roots, args: &Value) -> Option<String> {
    judged(data, roots, args).err()
}

/// Keeps them with their post.
pub(super) async fn kept(
    data: &'static Posting,
    scope: &Scope,
    args: &Value,
) -> Result<Vec<PostPicture>, ToolError> {
    let judged = judged(data, &scope.roots, args).map_err(ToolError::Tell)?;
    let mut pictures = Vec::new();
    for CheckedPicture { located, kind, .. } in judged {
        let name = name(&located);
        let unread = |error| ToolError::tell(format!("pictures: {name} cannot be read: {error}"));
        let file = located.open().map_err(unread)?;
        // Something else may have been put in its place.
        let changed = || ToolError::tell(format!("pictures: {name} was changed meanwhile"));
        if file.metadata().map_err(unread)?.len() > kind.max_bytes {
            return Err(changed());
        }
        let kept = scope.post_files.keep(file, &name).await?;
        if kept.bytes > kind.max_bytes || look(&kept.path) != Some(kind.name) {
            return Err(changed());
        }
        pictures.push(PostPicture {
            path: kept.path.to_string_lossy().into_owned(),
            name,
            mime: kind.mime.to_owned(),
            bytes: kept.bytes,
            sha256: kept.sha256,
        });
    }
    Ok(pictures)
}

/// What a call with them works with: approval is for their bytes.
pub(super) fn basis(data: &Posting, scope: &Scope, args: &Value) -> Basis {
    let found = written(args).filter_map(|path| leaving(data.now.name, &scope.roots, path).ok());
    Basis { reads: found.collect(), ..Basis::default() }
}

/// What a preview cannot show.
pub(super) fn unseen(args: &Value) -> Vec<String> {
    written(args).map(|path| format!("what {path} shows")).collect()
}

/// Adds them to what a person is shown: which, of which kind, how large.
pub(super) fn noted(
    shown: Preview,
    data: &'static Posting,
    roots: &Roots,
    args: &Value,
) -> Preview {
    written(args).fold(shown, |shown, path| {
        let words = match judge(data, roots, path) {
            Ok(CheckedPicture { located, kind, size, bytes }) => {
                let pixels = size.map(|(width, height)| format!(", {width}×{height} pixels"));
                let pixels = pixels.unwrap_or_default();
                format!("{} ({} image{pixels}, {bytes} bytes)", located.shown(), kind.name)
            }
            Err(why) => why,
        };
        shown.noting("picture", words)
    })
}

fn judged(
    data: &'static Posting,
    roots: &Roots,
    args: &Value,
) -> Result<Vec<CheckedPicture>, String> {
    let most = data.pictures.most;
    let paths: Vec<&str> = written(args).collect();
    if paths.len() > most {
        return Err(format!("pictures: a post has {most} at most, not {}", paths.len()));
    }
    let judged = paths.iter().map(|path| judge(data, roots, path));
    let judged = judged.collect::<Result<Vec<_>, String>>()?;
    match judged.iter().find(|one| one.kind.alone && judged.len() > 1) {
        Some(one) => Err(format!("pictures: a {} stands alone in its post", one.kind.name)),
        None => Ok(judged),
    }
}

fn judge(data: &'static Posting, roots: &Roots, path: &str) -> Result<CheckedPicture, String> {
    let located = leaving(data.now.name, roots, path).map_err(|why| format!("pictures: {why}"))?;
    let unread = |error: std::io::Error| format!("pictures: {path} cannot be read: {error}");
    let (file, _) = located.look().map_err(unread)?;
    let bytes = file.metadata().map_err(unread)?.len();
    let found = head(file).map_err(unread)?;
    let found = known(&found, |_, _| None);
    let kinds = data.pictures.kinds;
    let kind = found.and_then(|(name, _)| kinds.iter().find(|kind| kind.name == name));
    let Some(kind) = kind else {
        let names: Vec<&str> = kinds.iter().map(|kind| kind.name).collect();
        return Err(format!(
            "pictures: {path} is none that can be posted (takes {})",
            names.join(", ")
        ));
    };
    if bytes > kind.max_bytes {
        let name = kind.name;
        let most = kind.max_bytes;
        return Err(format!("pictures: {path} has {bytes} bytes, and a {name} {most} at most"));
    }
    Ok(CheckedPicture { located, kind, size: found.and_then(|(_, size)| size), bytes })
}

fn head(file: File) -> std::io::Result<Vec<u8>> {
    let mut head = Vec::new();
    file.take(HEAD).read_to_end(&mut head)?;
    Ok(head)
}

/// What a kept copy is.
fn look(path: &std::path::Path) -> Option<&'static str> {
    known(&head(File::open(path).ok()?).ok()?, |_, _| None).map(|(name, _)| name)
}

fn written(args: &Value) -> impl Iterator<Item = &str> {
    let all = args.get(NAME).and_then(Value::as_array).into_iter().flatten();
    all.map(|path| path.as_str().unwrap_or_default())
}

/// The name that people know.
fn name(located: &Location) -> String {
    let real = located.real();
    let name = real.file_name().map(|name| name.to_string_lossy().into_owned());
    selkie_channel_core::file::name(&name.unwrap_or_default())
}
