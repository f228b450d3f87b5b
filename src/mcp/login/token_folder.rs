//! The files of tokens: one a server, written whole, by one process at a time; what stands there is known to the redactor.

use std::collections::{BTreeMap, VecDeque};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use reqwest::Url;
use rustix::fs::{FlockOperation, flock};
use selkie_channel_core::{Redactor, locked};

use super::error::LoginError;
use super::grant::Grant;
use crate::private_file;

const MAX_FILE: u64 = 256 * 1024;
/// Grants of one server whose secrets are hidden: what is older has ended.
const KNOWN: usize = 3;

/// The folder `mcp` of the state folder. A copy is the same.
#[derive(Clone)]
pub struct TokenFolder {
    folder: PathBuf,
    /// Hides what stands there.
    pub(crate) redactor: Redactor,
    known: Arc<Mutex<BTreeMap<String, VecDeque<Vec<String>>>>>,
}

impl TokenFolder {
    /// Takes the folder `mcp` of the state folder, and whoever hides what stands there.
    pub fn of(state: &Path, redactor: &Redactor) -> Self {
        let folder = state.join("mcp");
        Self { folder, redactor: redactor.clone(), known: Arc::default() }
    }

    /// Whether somebody has signed in at a server of this address.
    pub fn is_signed_in(&self, server: &str, url: &str) -> Result<bool, LoginError> {
        let grant = self.read(server)?;
        Ok(grant.zip(Url::parse(url).ok()).is_some_and(|(grant, url)| grant.is_for(&url)))
    }

    /// Forgets what was granted, and says whether there was something. The authorization server is not told.
    pub async fn sign_out(&self, server: &str) -> Result<bool, LoginError> {
        let _lock = self.lock(server).await?;
        let had = self.read(server).map_or(true, |grant| grant.is_some());
        self.remove(server)?;
        Ok(had)
    }

    pub(crate) fn read(&self, server: &str) -> Result<Option<Grant>, LoginError> {
        let path = self.path(server, "json");
        let bytes = private_file::read(&path, MAX_FILE).map_err(failure(&path, "read"))?;
        let Some(bytes) = bytes else { return Ok(None) };
        // What is wrong with it is said without what stands there.
        let broken = |_| io::Error::new(io::ErrorKind::InvalidData, "it is no file of tokens");
        let grant: Grant =
            serde_json::from_slice(&bytes).map_err(broken).map_err(failure(&path, "read"))?;
        self.hide_grant(server, &grant);
        Ok(Some(grant))
    }

    /// Keeps what was granted: it is on the disk when this returns.
    pub(crate) fn write(&self, server: &str, grant: &Grant) -> Result<(), LoginError> {
        self.hide_grant(server, grant);
        let written = private_file::write(&self.folder, &format!("{server}.token.json"), grant);
        written.map_err(failure(&self.path(server, "json"), "written"))
    }

    pub(crate) fn remove(&self, server: &str) -> Result<(), LoginError> {
        let path = self.path(server, "json");
        private_file::remove(&path).map_err(failure(&path, "removed"))
    }

    /// Keeps other processes, and other tasks of this one, from the tokens of a server until the file is closed; makes the
    /// folder.
    pub(crate) async fn lock(&self, server: &str) -> Result<File, LoginError> {
        let folder = self.folder.clone();
        let path = self.path(server, "lock");
        let told = failure(&path, "locked");
        let locked = tokio::task::spawn_blocking(move || {
            private_file::make_folder(&folder)?;
            let mut options = OpenOptions::new();
            let file = options.write(true).create(true).truncate(false).mode(0o600).open(&path)?;
            flock(&file, FlockOperation::LockExclusive)?;
            Ok(file)
        });
        locked.await.unwrap_or_else(|error| Err(io::Error::other(error))).map_err(told)
    }

    /// Hides the secrets of a grant, and ends hiding those that ended long ago: a daemon that lives for months would
    /// look for thousands.
    fn hide_grant(&self, server: &str, grant: &Grant) {
        let mut known = locked(&self.known);
        let known = known.entry(server.to_owned()).or_default();
        let Grant { access_token, refresh_token, client, .. } = grant;
        let secrets = [Some(access_token), refresh_token.as_ref(), client.secret.as_ref()];
        let secrets: Vec<String> = secrets.into_iter().flatten().cloned().collect();
        if known.back() == Some(&secrets) {
            return;
        }
        secrets.iter().for_each(|secret| self.redactor.learn(secret));
        known.push_back(secrets);
        if known.len() > KNOWN {
            let old = known.pop_front().unwrap_or_default();
            let is_gone = |secret: &&String| !known.iter().flatten().any(|kept| kept == *secret);
            old.iter().filter(is_gone).for_each(|secret| self.redactor.forget(secret));
        }
    }

    fn path(&self, server: &str, kind: &str) -> PathBuf {
        self.folder.join(format!("{server}.token.{kind}"))
    }
}

fn failure(path: &Path, what: &'static str) -> impl Fn(io::Error) -> LoginError + use<> {
    let path = path.display().to_string();
    move |why| LoginError::Unusable(format!("the file of tokens {path} cannot be {what}: {why}"))
}
