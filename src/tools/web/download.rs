//! A body that is saved as a file: whole, in the conversation's own folder, and not with a secret in it.

use std::io;

use reqwest::Method;
use selkie_channel_core::Search;
use serde_json::json;

use super::answer::OpenResponse;
use super::page::content_type;
use crate::paths::{Finder, Location, refused};
use crate::scope::Scope;
use crate::{Output, ToolError};

/// Bytes of a download that are written at once.
const BUFFER: usize = 256 * 1024;

/// Where a download goes: beneath the conversation's own folder of the cache, whatever the workspace.
pub(super) fn place(tool: &'static str, scope: &Scope, path: &str) -> Result<Location, ToolError> {
    let path = path.trim();
    if path.starts_with("file_state_dir") {
        return Err(ToolError::tell(format!(
            "invalid download_path: {path} (takes a path in this chat's own folder, such as file_cache_dir/page.html)"
        )));
    }
    let path = path.strip_prefix("file_cache_dir/").unwrap_or(path);
    let aliased =
        if path.starts_with('/') { path.to_owned() } else { format!("file_cache_dir/{path}") };
    let mut roots = scope.roots.clone();
    roots.workspace = None;
    roots.state = None;
    Finder { tool, roots: &roots, deny: &[] }.writable(&aliased)
}

/// Saves a body as it comes: on the disk beside its place, and there when it is whole.
pub(super) async fn download(
    method: &Method,
    mut opened: OpenResponse,
    target: Location,
    most: u64,
    mut search: Option<Search>,
) -> Result<Output, ToolError> {
    let echoed =
        || ToolError::tell("a secret of this machine stands in the answer: nothing was saved");
    let target = target.foreign();
    let path = target.shown();
    let real = target.real();
    let refused = |e: io::Error| refused(&path, &e);
    let mut file = on_disk(move || target.begin(None)).await?.map_err(refused)?;
    let mut bytes = 0_u64;
    let mut buffer = Vec::with_capacity(BUFFER);
    while let Some(piece) = opened.piece().await? {
        if search.as_mut().is_some_and(|search| search.finds(&piece)) {
            return Err(echoed());
        }
        bytes += piece.len() as u64;
        buffer.extend_from_slice(&piece);
        if buffer.len() >= BUFFER {
            let full = std::mem::replace(&mut buffer, Vec::with_capacity(BUFFER));
            file = on_disk(move || file.push(&full).map(|()| file)).await?.map_err(refused)?;
        }
    }
    if opened.truncated {
        return Err(ToolError::tell(format!(
            "download truncated (max_bytes={most}): nothing was saved"
        )));
    }
    if search.is_some_and(Search::finds_in_rest) {
        return Err(echoed());
    }
    let last = move || file.push(&buffer).and_then(|()| file.done()?.commit());
    on_disk(last).await?.map_err(refused)?;
    let told = json!({
        "url": opened.url.as_str(), "method": method.as_str(), "status": opened.status.as_u16(),
        "content_type": content_type(&opened.headers), "bytes": bytes, "path": path,
        "abs_path": real.to_string_lossy(), "saved": true
    });
    Ok(Output::ok(format!("{told:#}")))
}

async fn on_disk<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, ToolError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|_| ToolError::Abort("the daemon is stopping".to_owned()))
}
