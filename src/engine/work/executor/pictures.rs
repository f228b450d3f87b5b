//! The pictures of an answer, as its conversation's channel takes them: each as one, or named in words.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use selkie_channel_core::Body;

use crate::delivery::outgoing::NoCopy;
use crate::work::executor::TaskExecutor;
use crate::work::messages;
use crate::work::workspace::own_folder;
use selkie_agent::DriveOutcome;
use selkie_domain::answer_picture::AnswerPicture;
use selkie_domain::facts::Where;
use selkie_store::TaskClaim;
use selkie_tools::PICTURES;

/// What of an answer's pictures is said.
#[derive(Debug, Default)]
pub struct AnswerPictures {
    /// Those that are sent.
    pub bodies: Vec<Body>,
    /// A sentence for each that is not.
    pub sentences: Vec<String>,
}

impl AnswerPictures {
    /// Returns an answer's words with the sentences behind them.
    pub fn with_words(&self, text: &str) -> String {
        let words = (!text.is_empty()).then_some(text).into_iter();
        words.chain(self.sentences.iter().map(String::as_str)).collect::<Vec<_>>().join("\n\n")
    }
}

impl TaskExecutor {
    /// Makes the pictures of an answer ready to be sent: the very bytes that the model drew, without a secret in them.
    pub(super) async fn pictures(
        &self,
        claimed: &TaskClaim,
        ending: &DriveOutcome,
    ) -> AnswerPictures {
        let mut all = AnswerPictures::default();
        let account = self.context.accounts.of(&claimed.conversation);
        let is_sent = account.is_some_and(|account| account.channel.sender.sends_pictures());
        let below = format!("{}/{PICTURES}", own_folder(claimed.place_row));
        let folder = self.attachments.cache_dir.join(&below);
        for name in &ending.pictures {
            if !is_sent {
                let place = match claimed.facts.place {
                    Where::CommandLine { .. } => folder.join(name).display().to_string(),
                    Where::Channel(_) => format!("file_cache_dir/{below}/{name}"),
                };
                all.sentences.push(messages::picture_kept(&place));
                continue;
            }
            match self.outgoing(claimed, &folder, name).await {
                Ok(path) => {
                    let path = path.to_string_lossy().into_owned();
                    all.bodies.push(Body::Photo { path, caption: None });
                }
                Err(why) => {
                    let task = claimed.claim.task;
                    tracing::warn!(%task, name, why, "a picture of the model is not sent");
                    all.sentences.push(messages::picture_not_sent(&why));
                }
            }
        }
        all
    }

    async fn outgoing(
        &self,
        claimed: &TaskClaim,
        folder: &Path,
        name: &str,
    ) -> Result<PathBuf, String> {
        let path = folder.join(name);
        let read = tokio::task::spawn_blocking(move || read(&path)).await;
        let read = read.unwrap_or_else(|error| Err(io::Error::other(error)));
        let bytes = read.map_err(|error| format!("its file cannot be read ({error})"))?;
        // Whatever lies there by now: only what the model drew is sent.
        let picture = AnswerPicture::of(bytes).filter(|picture| picture.name() == name);
        let picture = picture.ok_or("its file was changed")?;
        let search = self.context.runtime.redactor.search();
        let task = claimed.claim.task;
        let copy =
            self.outbox.files().put_checked(task, name, picture.bytes().clone(), search).await;
        copy.map_err(|none| match none {
            NoCopy::Secret => "it holds one of the bot's own secrets".to_owned(),
            NoCopy::Broken(error) => format!("it cannot be copied for sending ({error})"),
        })
    }
}

/// Reads no more than a picture may have, and waits for nobody to write.
fn read(path: &Path) -> io::Result<Vec<u8>> {
    let flags = OFlags::NOFOLLOW.union(OFlags::NONBLOCK).bits().cast_signed();
    let file = File::options().read(true).custom_flags(flags).open(path)?;
    let mut bytes = Vec::new();
    file.take(AnswerPicture::MAX_BYTES as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}
