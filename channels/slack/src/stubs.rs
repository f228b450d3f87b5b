//! Files of which a message tells the id alone (they lie in another workspace): asked for their name and
//! kind before the message is stored.

use std::time::Duration;

use futures_util::future::join_all;
use selkie_channel_core::{Attachment, Inbound};
use tokio::time::timeout;

use crate::api::Api;
use crate::hear;
use crate::refusal;

/// An event must be acknowledged within three seconds, and stored before.
const TIMEOUT: Duration = Duration::from_millis(800);
/// Files that are asked for in one go.
const MAX: usize = 10;

/// Fills in what the messages did not tell of their files; what is not to be had stays as it is.
pub async fn fill(api: &Api, batch: &mut [Inbound]) {
    let files = batch.iter_mut().flat_map(|inbound| &mut inbound.attachments);
    let asked = files.filter(|file| file.name.is_empty()).take(MAX).map(|file| one(api, file));
    let asked: Vec<_> = asked.collect();
    if !asked.is_empty() && timeout(TIMEOUT, join_all(asked)).await.is_err() {
        tracing::debug!("the names of files did not arrive in time");
    }
}

async fn one(api: &Api, file: &mut Attachment) {
    let Some(handle) = hear::handle(&file.handle) else { return };
    match api.ask("files.info", &[("file", handle.file.as_str())]).await {
        Ok(answer) => {
            if let Some(told) = hear::told_of_file(&answer) {
                *file = told;
            }
        }
        Err(fault) => {
            tracing::debug!(why = refusal::why(&fault), "Slack says nothing about a file")
        }
    }
}
