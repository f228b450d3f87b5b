//! Writing the config: the files of its secrets first, then the config in one step. What is not finished is taken away.

use std::collections::BTreeMap;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;
use secrecy::ExposeSecret as _;

use super::Answers;

/// The folder of the secrets, beside the config.
const SECRETS: &str = "secrets";
/// So many names are tried for one secret.
const MOST_NAMES: u32 = 1000;

/// Where the config goes.
#[derive(Clone, Debug)]
pub struct Target {
    /// The config.
    pub path: PathBuf,
    /// One that is there goes aside.
    pub replaces: bool,
}

/// What was written.
#[derive(Debug)]
pub struct Written {
    /// The config.
    pub config: PathBuf,
    /// The files of its secrets.
    pub secrets: Vec<PathBuf>,
    /// Where the config went that was there.
    pub old: Option<PathBuf>,
}

/// Why nothing was written.
#[derive(Debug, thiserror::Error)]
pub enum NotWritten {
    /// A file cannot be written.
    #[error("{0} cannot be written: {1}")]
    Io(PathBuf, io::Error),
    /// A config is there.
    #[error(
        "{0} already exists: nothing was written. --force writes a new one and keeps the old one as {0}.old"
    )]
    IsThere(PathBuf),
    /// What it would say is not accepted.
    #[error("{0}")]
    Refused(String),
}

impl Target {
    /// Whether a config is there.
    pub fn is_there(&self) -> bool {
        self.path.symlink_metadata().is_ok()
    }

    /// Writes answers. `render` makes the config's text, told where each secret stands; `check` looks at the file before
    /// it gets its name.
    ///
    /// # Errors
    /// When nothing was written, and why.
    pub fn write(
        &self,
        answers: &Answers,
        render: impl FnOnce(&BTreeMap<String, String>) -> String,
        check: impl FnOnce(&Path) -> Result<(), String>,
    ) -> Result<Written, NotWritten> {
        if self.is_there() && !self.replaces {
            return Err(NotWritten::IsThere(self.path.clone()));
        }
        let folder = self.path.parent().unwrap_or(Path::new("."));
        let mut made = Made::default();
        let mut files = BTreeMap::new();
        for (key, secret) in answers.secrets() {
            let name = made.secret(folder, key, secret.expose_secret())?;
            files.insert(key.to_owned(), format!("{SECRETS}/{name}"));
        }
        let part = beside(&self.path, &format!("new-{}", std::process::id()));
        made.file(&part, &render(&files)).map_err(|e| NotWritten::Io(part.clone(), e))?;
        check(&part).map_err(NotWritten::Refused)?;
        let old = self.take_place(&part)?;
        // It has its name: from here on everything stays.
        let secrets = made.keep(&part);
        synced(folder).map_err(|e| NotWritten::Io(self.path.clone(), e))?;
        Ok(Written { config: self.path.clone(), secrets, old })
    }

    /// Gives the new config its name, in one step; returns where the old one went.
    fn take_place(&self, part: &Path) -> Result<Option<PathBuf>, NotWritten> {
        let failed = |e: io::Error| NotWritten::Io(self.path.clone(), e);
        match renamed(part, &self.path, RenameFlags::NOREPLACE) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists && !self.replaces => {
                Err(NotWritten::IsThere(self.path.clone()))
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                renamed(part, &self.path, RenameFlags::EXCHANGE).map_err(failed)?;
                let old = beside(&self.path, "old");
                fs::rename(part, &old).map_err(failed)?;
                Ok(Some(old))
            }
            Err(error) => Err(failed(error)),
            Ok(()) => Ok(None),
        }
    }
}

/// Renames; a file system that cannot do it in one step does it in two.
fn renamed(from: &Path, to: &Path, how: RenameFlags) -> io::Result<()> {
    match renameat_with(CWD, from, CWD, to, how) {
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) if how == RenameFlags::EXCHANGE => {
            let aside = beside(from, "aside");
            fs::rename(to, &aside)?;
            fs::rename(from, to)?;
            fs::rename(&aside, from)
        }
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
            fs::hard_link(from, to)?;
            fs::remove_file(from)
        }
        renamed => Ok(renamed?),
    }
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{ending}"));
    path.with_file_name(name)
}

fn synced(folder: &Path) -> io::Result<()> {
    // A relative name has an empty folder.
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    File::open(folder)?.sync_all()
}

/// What was made so far: gone again unless it is kept.
#[derive(Default)]
struct Made {
    files: Vec<PathBuf>,
    folder: Option<PathBuf>,
}

impl Made {
    /// Writes a new file that nobody else can read.
    fn file(&mut self, path: &Path, text: &str) -> io::Result<()> {
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
        self.files.push(path.to_owned());
        file.write_all(text.as_bytes())?;
        file.sync_all()
    }

    /// Writes a secret under a name that nothing has yet; returns the name.
    fn secret(&mut self, beside: &Path, key: &str, secret: &str) -> Result<String, NotWritten> {
        let folder = beside.join(SECRETS);
        match DirBuilder::new().mode(0o700).create(&folder) {
            Ok(()) => self.folder = Some(folder.clone()),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(NotWritten::Io(folder, error)),
        }
        let plain = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' };
        let key: String = key.chars().map(plain).collect();
        for number in 1..=MOST_NAMES {
            let name = if number == 1 { key.clone() } else { format!("{key}.{number}") };
            match self.file(&folder.join(&name), &format!("{secret}\n")) {
                Ok(()) => return Ok(name),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(NotWritten::Io(folder.join(name), error)),
            }
        }
        let full = io::Error::other(format!("{MOST_NAMES} files of that name are there"));
        Err(NotWritten::Io(folder.join(key), full))
    }

    /// Keeps all but this one, which has another name by now.
    fn keep(mut self, but: &Path) -> Vec<PathBuf> {
        self.folder = None;
        let mut files = std::mem::take(&mut self.files);
        files.retain(|file| file != but);
        files
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        for file in &self.files {
            fs::remove_file(file).ok();
        }
        if let Some(folder) = &self.folder {
            fs::remove_dir(folder).ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use secrecy::SecretString;

    use super::*;

    fn answers() -> Answers {
        let mut answers = Answers::default();
        answers.hide("a.token", SecretString::from("hunter2"));
        answers
    }

    fn write(target: &Target, text: &str) -> Result<Written, NotWritten> {
        target.write(&answers(), |files| format!("{text} {}", files["a.token"]), |_| Ok(()))
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<String> = entries.map(|name| name.into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_config_is_closed_to_others_and_its_secrets_stand_apart() {
        let home = tempfile::tempdir().unwrap();
        let target = Target { path: home.path().join("config.yaml"), replaces: false };
        let written = write(&target, "one").unwrap();
        assert_eq!(fs::read_to_string(&written.config).unwrap(), "one secrets/a.token");
        assert_eq!(fs::read_to_string(&written.secrets[0]).unwrap(), "hunter2\n");
        for path in [&written.config, &written.secrets[0]] {
            assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        }
        assert!(matches!(write(&target, "two"), Err(NotWritten::IsThere(_))));
        assert_eq!(names(home.path()), ["config.yaml", "secrets"]);
        let again = write(&Target { replaces: true, ..target }, "two").unwrap();
        assert_eq!(fs::read_to_string(&again.config).unwrap(), "two secrets/a.token.2");
        assert_eq!(fs::read_to_string(again.old.unwrap()).unwrap(), "one secrets/a.token");
        assert_eq!(names(&home.path().join("secrets")), ["a.token", "a.token.2"]);
    }

    #[test]
    fn what_is_refused_leaves_nothing() {
        let home = tempfile::tempdir().unwrap();
        let target = Target { path: home.path().join("config.yaml"), replaces: true };
        let refused = |_: &Path| Err("no".to_owned());
        let written = target.write(&answers(), |_| "text".to_owned(), refused);
        assert!(matches!(written, Err(NotWritten::Refused(why)) if why == "no"));
        assert_eq!(names(home.path()), [""; 0]);
    }
}
