//! Files on their way out. A copy is taken while the tool's call stands, so that what was checked is
//! what is sent, whatever is put in its place; it goes when the part that names it is settled. One that holds
//! a secret is not made.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use selkie_channel_core::{Part, Search};
use serde_json::Value;
use tokio::io::AsyncWriteExt as _;

use crate::delivery::checked;

/// Its folder below the cache.
pub const FOLDER: &str = "outbox";

/// The folder in it that copies of posts' files have for themselves: they are no part's own.
pub(super) const OF_POSTS: &str = "posts";

/// Where these lie below the cache.
pub const POST_FILES: &str = "outbox/posts";

/// Why there is no copy.
#[derive(Debug)]
pub enum NoCopy {
    /// The file holds a secret.
    Secret,
    /// It cannot be read, or the copy not be written.
    Broken(io::Error),
}

impl From<io::Error> for NoCopy {
    fn from(error: io::Error) -> Self {
        Self::Broken(error)
    }
}

/// The folder of copies. Each lies in a folder of its own, under its own name.
pub struct OutgoingFiles {
    folder: PathBuf,
}

impl OutgoingFiles {
    /// Keeps copies below the cache; the folder is made with the first.
    pub fn below(cache_dir: &Path) -> Self {
        Self { folder: cache_dir.join(FOLDER) }
    }

    /// Copies an opened file, as long as it is now and while the search finds nothing in it, and returns where the
    /// copy lies (0600).
    pub async fn take(
        &self,
        task: impl std::fmt::Display,
        name: &str,
        file: fs::File,
        search: Search,
    ) -> Result<PathBuf, NoCopy> {
        let path = self.folder_for(task).await?.join(name);
        let none = match checked::copy(file, &path, search, |_| ()).await {
            Ok(true) => return Ok(path),
            Ok(false) => NoCopy::Secret,
            Err(error) => NoCopy::Broken(error),
        };
        self.remove(&path);
        Err(none)
    }

    /// Writes bytes into a file of their own, while the search finds nothing in them, and returns where it lies (0600).
    pub async fn put_checked(
        &self,
        task: impl std::fmt::Display,
        name: &str,
        bytes: Bytes,
        search: Search,
    ) -> Result<PathBuf, NoCopy> {
        match checked::holds_secret(bytes.clone(), search).await? {
            true => Err(NoCopy::Secret),
            false => Ok(self.put(task, name, &bytes).await?),
        }
    }

    /// Writes bytes into a file of their own and returns where it lies (0600).
    pub async fn put(
        &self,
        task: impl std::fmt::Display,
        name: &str,
        bytes: &[u8],
    ) -> io::Result<PathBuf> {
        let path = self.folder_for(task).await?.join(name);
        let mut options = tokio::fs::OpenOptions::new();
        let mut to = options.write(true).create_new(true).mode(0o600).open(&path).await?;
        let written = async {
            to.write_all(bytes).await?;
            to.flush().await?;
            to.sync_all().await
        };
        if let Err(error) = written.await {
            self.remove(&path);
            return Err(error);
        }
        Ok(path)
    }

    /// Makes a folder for one copy.
    async fn folder_for(&self, task: impl std::fmt::Display) -> io::Result<PathBuf> {
        let own = self.folder.join(format!("{task}-{}", uuid::Uuid::now_v7()));
        tokio::fs::DirBuilder::new().recursive(true).mode(0o700).create(&own).await?;
        Ok(own)
    }

    /// Removes what a part names: it will not be sent any more.
    pub fn settle(&self, part: &Part) {
        self.named(part).iter().for_each(|path| self.remove(path));
    }

    /// Removes what none of these parts names: copies of a process that died before it said anything.
    pub fn sweep<'a>(&self, due: impl Iterator<Item = &'a Part>) {
        let kept: Vec<PathBuf> = due.flat_map(|part| self.named(part)).collect();
        // No folder: nothing was ever sent.
        let Ok(entries) = fs::read_dir(&self.folder) else { return };
        for entry in entries.flatten() {
            let own = entry.path();
            if !own.ends_with(OF_POSTS)
                && !kept.iter().any(|path| path.starts_with(&own))
                && let Err(error) = fs::remove_dir_all(&own)
            {
                tracing::warn!(path = %own.display(), %error, "an old copy cannot be removed");
            }
        }
    }

    /// Removes one copy with its folder.
    pub fn remove(&self, path: &Path) {
        let Some(own) = path.parent().filter(|own| own.parent() == Some(&self.folder)) else {
            return;
        };
        match fs::remove_dir_all(own) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                tracing::warn!(path = %own.display(), %error, "a copy cannot be removed");
            }
            _ => {}
        }
    }

    /// The copies that stand in a part's call, whatever its channel calls them.
    fn named(&self, part: &Part) -> Vec<PathBuf> {
        let mut found = Vec::new();
        for value in [Some(&part.call), part.fallback.as_ref()].into_iter().flatten() {
            texts(value, &mut |text| {
                let path = Path::new(text);
                if path.starts_with(&self.folder) {
                    found.push(path.to_owned());
                }
            });
        }
        found
    }
}

fn texts<'a>(value: &'a Value, visit: &mut impl FnMut(&'a str)) {
    match value {
        Value::String(text) => visit(text),
        Value::Array(items) => items.iter().for_each(|item| texts(item, visit)),
        Value::Object(map) => map.values().for_each(|item| texts(item, visit)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use selkie_channel_core::Redactor;
    use serde_json::json;

    use super::*;
    use crate::flow::testing;

    fn part(call: Value) -> Part {
        Part { call, ..testing::due(1).part }
    }

    async fn taken(outgoing: &OutgoingFiles, from: &Path) -> PathBuf {
        let file = fs::File::open(from).unwrap();
        outgoing.take(7, "a.txt", file, Redactor::default().search()).await.unwrap()
    }

    #[tokio::test]
    async fn a_file_with_a_secret_in_it_is_not_copied() {
        let cache = tempfile::tempdir().unwrap();
        let outgoing = OutgoingFiles::below(cache.path());
        let redactor = Redactor::default();
        redactor.learn("110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw1");
        let from = cache.path().join("from");
        for secret in [
            "110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw1",
            "MTEwMjAxNTQzOkFBSGRxVGN2Q0gxdkdXSnhmU2VvZlNBczBLNVBBTERzYXcx",
            "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
        ] {
            for before in [0, 256 * 1024 - 7, 600_000] {
                fs::write(&from, format!("{}\ntoken: {secret}\n", "x".repeat(before))).unwrap();
                let file = fs::File::open(&from).unwrap();
                let taken = outgoing.take(7, "a.txt", file, redactor.search()).await;
                assert!(matches!(taken, Err(NoCopy::Secret)), "{secret}: {taken:?}");
            }
        }
        assert_eq!(fs::read_dir(cache.path().join(FOLDER)).unwrap().count(), 0);
    }

    #[tokio::test]
    async fn a_copy_stays_what_it_was_until_its_part_is_settled() {
        let cache = tempfile::tempdir().unwrap();
        let outgoing = OutgoingFiles::below(cache.path());
        let from = cache.path().join("from");
        fs::write(&from, "first").unwrap();
        let (copy, other) = (taken(&outgoing, &from).await, taken(&outgoing, &from).await);
        fs::write(&from, "second").unwrap();
        assert_eq!(fs::read_to_string(&copy).unwrap(), "first");
        assert_eq!(copy.file_name().unwrap(), "a.txt");
        assert_eq!(fs::metadata(&copy).unwrap().permissions().mode() & 0o777, 0o600);
        outgoing.settle(&part(json!({ "upload": [{ "path": copy }], "text": "/etc/passwd" })));
        assert!(!copy.exists() && other.exists() && from.exists());
        outgoing.settle(&part(json!({ "path": other, "again": other })));
        assert_eq!(fs::read_dir(cache.path().join(FOLDER)).unwrap().count(), 0);
    }

    #[tokio::test]
    async fn a_sweep_leaves_what_is_still_to_be_sent() {
        let cache = tempfile::tempdir().unwrap();
        let outgoing = OutgoingFiles::below(cache.path());
        outgoing.sweep(std::iter::empty());
        let from = cache.path().join("from");
        fs::write(&from, "x").unwrap();
        let (due, orphan) = (taken(&outgoing, &from).await, taken(&outgoing, &from).await);
        outgoing.sweep([part(json!({ "upload": { "path": due } }))].iter());
        assert!(due.exists() && !orphan.exists() && from.exists());
    }

    #[test]
    fn no_part_can_name_the_folder_itself_or_anything_outside() {
        let cache = tempfile::tempdir().unwrap();
        let outgoing = OutgoingFiles::below(cache.path());
        let outbox = cache.path().join(FOLDER);
        fs::create_dir_all(outbox.join("7-x/deep")).unwrap();
        for path in [outbox.clone(), outbox.join("7-x"), outbox.join("7-x/deep/a"), "/".into()] {
            outgoing.settle(&part(json!(path)));
            assert!(outbox.join("7-x/deep").exists(), "{}", path.display());
        }
    }
}
