//! Where OAuth 2.0's tokens are kept: a file of our own, written whole and synced before it counts.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use chrono::{DateTime, Utc};
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};

const VERSION: u16 = 1;

/// The tokens of one user. A refresh token works once: each refresh brings its successor.
#[derive(Clone, Debug)]
pub struct Tokens {
    /// Proves the user until `until`.
    pub access: SecretString,
    /// Brings the next pair, once.
    pub refresh: SecretString,
    /// When the access token ends.
    pub until: DateTime<Utc>,
}

/// The file.
#[derive(Debug)]
pub struct TokenFile {
    folder: PathBuf,
    /// Names the configured refresh token that all of the file's descend from.
    seed: String,
}

#[derive(Serialize, Deserialize)]
struct StoredToken {
    v: u16,
    seed: String,
    access_token: String,
    refresh_token: String,
    until: DateTime<Utc>,
}

impl TokenFile {
    /// Keeps the descendants of a configured refresh token in a folder; touches nothing yet.
    pub fn new(folder: PathBuf, configured: &SecretString) -> Self {
        Self { folder, seed: short_digest(configured.expose_secret()) }
    }

    /// Returns what was kept; `None` when nothing was, or when the config holds a newer first token.
    ///
    /// # Errors
    /// When there is a file and it cannot be read.
    pub fn load(&self) -> io::Result<Option<Tokens>> {
        let text = match std::fs::read(self.path()) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let written: StoredToken = serde_json::from_slice(&text)?;
        if written.v != VERSION {
            let message = format!("it is of version {}, this selkie knows {VERSION}", written.v);
            return Err(io::Error::new(ErrorKind::InvalidData, message));
        }
        Ok((written.seed == self.seed).then(|| Tokens {
            access: SecretString::from(written.access_token),
            refresh: SecretString::from(written.refresh_token),
            until: written.until,
        }))
    }

    /// Replaces the file. When this returns, the tokens outlive a loss of power.
    ///
    /// # Errors
    /// When they are not kept: the file is as it was.
    pub fn store(&self, tokens: &Tokens) -> io::Result<()> {
        let written = StoredToken {
            v: VERSION,
            seed: self.seed.clone(),
            access_token: tokens.access.expose_secret().to_owned(),
            refresh_token: tokens.refresh.expose_secret().to_owned(),
            until: tokens.until,
        };
        DirBuilder::new().recursive(true).mode(0o700).create(&self.folder)?;
        let beside = self.folder.join("oauth2.new");
        // What a crash left half written would keep its own mode.
        match std::fs::remove_file(&beside) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&beside)?;
        file.write_all(&serde_json::to_vec_pretty(&written)?)?;
        file.sync_all()?;
        std::fs::rename(&beside, self.path())?;
        sync(&self.folder)?;
        // The folder itself may be as new as the file.
        self.folder.parent().map_or(Ok(()), sync)
    }

    /// Where it lies.
    pub fn path(&self) -> PathBuf {
        self.folder.join("oauth2.json")
    }
}

fn sync(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// Returns a short name of a text that tells nothing of it.
pub fn short_digest(text: &str) -> String {
    let digest = ring::digest::digest(&ring::digest::SHA256, text.as_bytes());
    digest.as_ref()[..8].iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn tokens(refresh: &str) -> Tokens {
        let secret = |text: &str| SecretString::from(text.to_owned());
        Tokens { access: secret("access"), refresh: secret(refresh), until: DateTime::UNIX_EPOCH }
    }

    #[test]
    fn what_is_stored_is_ours_alone_and_is_read_back() {
        let home = tempfile::tempdir().unwrap();
        let first = SecretString::from("first".to_owned());
        let file = TokenFile::new(home.path().join("channels/x"), &first);
        assert!(file.load().unwrap().is_none());
        file.store(&tokens("second")).unwrap();
        std::fs::write(home.path().join("channels/x/oauth2.new"), "half").unwrap();
        file.store(&tokens("third")).unwrap();
        assert_eq!(file.load().unwrap().unwrap().refresh.expose_secret(), "third");
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&file.path()), mode(&home.path().join("channels"))), (0o600, 0o700));
        let text = std::fs::read_to_string(file.path()).unwrap();
        assert!(!text.contains("first"), "the configured token is not written down");
    }

    #[test]
    fn a_newly_configured_token_counts_more_than_the_file() {
        let home = tempfile::tempdir().unwrap();
        let file = |seed: &str| {
            TokenFile::new(home.path().to_owned(), &SecretString::from(seed.to_owned()))
        };
        file("old").store(&tokens("second")).unwrap();
        assert!(file("new").load().unwrap().is_none());
        std::fs::write(file("old").path(), "{").unwrap();
        assert!(file("old").load().is_err());
    }
}
