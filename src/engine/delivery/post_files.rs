//! Files of posts: copies that lie under the digests of their bytes until no post and no schedule names them.

use std::collections::HashSet;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use async_trait::async_trait;
use chrono::{DateTime, TimeDelta, Utc};
use selkie_channel_core::Redactor;
use selkie_channel_core::hash::in_hex;
use sha2::{Digest as _, Sha256};
use tokio::fs;

use crate::delivery::checked;
use crate::delivery::outgoing::{FOLDER, OF_POSTS};
use selkie_tools::ToolError;
use selkie_tools::ports::{self, KeptFile};

/// What each copy is called, in the folder of its digest.
const COPY: &str = "copy";
/// A copy that is younger may be of a post that is not stored yet.
const YOUNG: TimeDelta = TimeDelta::hours(1);

/// The folder of copies.
pub struct PostFiles {
    folder: PathBuf,
    redactor: Redactor,
}

impl PostFiles {
    /// Keeps copies below the cache; the folder is made with the first.
    pub fn below(cache_dir: &Path, redactor: Redactor) -> Self {
        Self { folder: cache_dir.join(FOLDER).join(OF_POSTS), redactor }
    }

    /// Copies a file; `None` when it holds a secret.
    async fn copied(&self, file: File) -> io::Result<Option<KeptFile>> {
        let private = |folder: &Path| {
            let mut builder = fs::DirBuilder::new();
            builder.recursive(true).mode(0o700);
            let folder = folder.to_owned();
            async move { builder.create(folder).await }
        };
        private(&self.folder).await?;
        let begun = self.folder.join(format!(".{}", uuid::Uuid::now_v7()));
        let (mut digest, mut bytes) = (Sha256::new(), 0);
        let note = |piece: &[u8]| {
            digest.update(piece);
            bytes += piece.len() as u64;
        };
        let copied = checked::copy(file, &begun, self.redactor.search(), note).await;
        if !matches!(copied, Ok(true)) {
            fs::remove_file(&begun).await.ok();
            return copied.map(|_| None);
        }
        let sha256 = in_hex(&digest.finalize());
        let own = self.folder.join(&sha256);
        private(&own).await?;
        let path = own.join(COPY);
        // In place of the same bytes: it is young again.
        fs::rename(&begun, &path).await?;
        Ok(Some(KeptFile { path, bytes, sha256 }))
    }

    /// Whether nothing was ever kept.
    pub fn is_unused(&self) -> bool {
        !self.folder.is_dir()
    }

    /// Removes the copies that are not named, and not young.
    pub fn sweep(&self, named: &HashSet<PathBuf>, now: DateTime<Utc>) {
        let Ok(entries) = std::fs::read_dir(&self.folder) else { return };
        for entry in entries.flatten() {
            let own = entry.path();
            let copy = if own.is_dir() { own.join(COPY) } else { own.clone() };
            let changed = copy.metadata().and_then(|found| found.modified());
            let is_young = changed.is_ok_and(|at| DateTime::<Utc>::from(at) > now - YOUNG);
            if is_young || named.contains(&copy) {
                continue;
            }
            let gone = match own.is_dir() {
                true => std::fs::remove_dir_all(&own),
                false => std::fs::remove_file(&own),
            };
            if let Err(error) = gone {
                tracing::warn!(path = %own.display(), %error, "an old copy cannot be removed");
            }
        }
    }
}

#[async_trait]
impl ports::PostFiles for PostFiles {
    async fn keep(&self, file: File, name: &str) -> Result<KeptFile, ToolError> {
        match self.copied(file).await {
            Ok(Some(kept)) => Ok(kept),
            Ok(None) => Err(ToolError::tell(format!("refusing to post {name}: {}", checked::WHY))),
            Err(error) => {
                Err(ToolError::tell(format!("{name} could not be copied for posting: {error}")))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use selkie_tools::ports::PostFiles as _;

    fn kept_in(cache: &Path, redactor: &Redactor) -> PostFiles {
        PostFiles::below(cache, redactor.clone())
    }

    async fn keep(files: &PostFiles, path: &Path) -> Result<KeptFile, ToolError> {
        files.keep(File::open(path).unwrap(), "cat.png").await
    }

    #[tokio::test]
    async fn the_same_bytes_are_kept_once_and_stay_what_they_were() {
        let cache = tempfile::tempdir().unwrap();
        let files = kept_in(cache.path(), &Redactor::default());
        let from = cache.path().join("from");
        fs::write(&from, "first").unwrap();
        let first = keep(&files, &from).await.unwrap();
        assert_eq!(keep(&files, &from).await.unwrap(), first);
        fs::write(&from, "second").unwrap();
        let second = keep(&files, &from).await.unwrap();
        assert_ne!(second.path, first.path);
        assert_eq!(fs::read_to_string(&first.path).unwrap(), "first");
        assert_eq!(first.bytes, 5);
        assert_eq!(&first.sha256[..8], "a7937b64");
        assert_eq!(fs::read_dir(&files.folder).unwrap().count(), 2);
    }

    #[tokio::test]
    async fn a_file_with_a_secret_in_it_is_not_kept() {
        let cache = tempfile::tempdir().unwrap();
        let redactor = Redactor::default();
        redactor.learn("110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw1");
        let files = kept_in(cache.path(), &redactor);
        let from = cache.path().join("from");
        for secret in [
            "110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw1",
            "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
        ] {
            fs::write(&from, format!("x {secret}")).unwrap();
            let why = keep(&files, &from).await.unwrap_err().to_string();
            assert!(why.contains("or something that looks like one"), "{why}");
        }
        assert_eq!(fs::read_dir(&files.folder).unwrap().count(), 0);
    }

    #[tokio::test]
    async fn what_nobody_names_goes_when_it_is_old() {
        let cache = tempfile::tempdir().unwrap();
        let files = kept_in(cache.path(), &Redactor::default());
        let from = cache.path().join("from");
        let mut all = Vec::new();
        for text in ["named", "not named"] {
            fs::write(&from, text).unwrap();
            all.push(keep(&files, &from).await.unwrap().path);
        }
        let named = HashSet::from([all[0].clone()]);
        let written = DateTime::<Utc>::from(fs::metadata(&all[1]).unwrap().modified().unwrap());
        files.sweep(&named, written);
        assert!(all[0].exists() && all[1].exists(), "they are young");
        files.sweep(&named, written + YOUNG + TimeDelta::seconds(1));
        assert!(all[0].exists() && !all[1].exists());
    }
}
