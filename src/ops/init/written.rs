//! Writing the config: the files of its secrets first, then the config in one step. What is not finished is taken away.

use std::collections::BTreeMap;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{Access, CWD, RenameFlags, access, renameat_with};
use rustix::io::Errno;
use secrecy::ExposeSecret as _;

use super::Answers;
use super::readers::Readers;

/// The folder of the secrets, beside the config.
const SECRETS: &str = "secrets";
/// So many names are tried for one secret, or for a config that goes aside.
const MAX_NAMES: u32 = 1000;

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
pub struct WrittenFiles {
    /// The config.
    pub config: PathBuf,
    /// The files of its secrets, those too that were there already.
    pub secrets: Vec<PathBuf>,
    /// Where the config went that was there.
    pub old: Option<PathBuf>,
    /// Who can read it.
    pub readers: Readers,
}

/// Why nothing was written.
#[derive(Debug, thiserror::Error)]
pub enum NotWritten {
    /// A file cannot be written.
    #[error("{0} cannot be written: {1}")]
    Io(PathBuf, io::Error),
    /// A config is there, which would go there.
    #[error(
        "{0} already exists: nothing was written. --force writes a new one and keeps the old one as {1}"
    )]
    IsThere(PathBuf, PathBuf),
    /// What it would say is not accepted.
    #[error("{0}")]
    Refused(String),
}

impl Target {
    /// Says who could write there, where this user cannot: before anything is asked.
    pub fn unwritable(&self) -> Option<String> {
        let folder = self.folder();
        let is_closed = folder.is_dir() && access(folder, Access::WRITE_OK).is_err();
        is_closed.then(|| {
            format!(
                "you may not write to {}: run selkie init as its owner (root: sudo), or name another file with --config",
                folder.display()
            )
        })
    }

    fn folder(&self) -> &Path {
        let folder = self.path.parent().unwrap_or(Path::new("."));
        // A relative name has an empty folder.
        if folder.as_os_str().is_empty() { Path::new(".") } else { folder }
    }

    /// Whether a config is there.
    pub fn is_there(&self) -> bool {
        self.path.symlink_metadata().is_ok()
    }

    /// Returns where the config goes that is there: under a name that nothing has.
    pub fn old(&self) -> PathBuf {
        let free = |path: &PathBuf| path.symlink_metadata().is_err();
        self.olds().find(free).unwrap_or_else(|| beside(&self.path, "old"))
    }

    fn olds(&self) -> impl Iterator<Item = PathBuf> {
        numbered("old").map(|ending| beside(&self.path, &ending))
    }

    /// Says that a config is there.
    pub fn there(&self) -> NotWritten {
        NotWritten::IsThere(self.path.clone(), self.old())
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
    ) -> Result<WrittenFiles, NotWritten> {
        if self.is_there() && !self.replaces {
            return Err(self.there());
        }
        let folder = self.folder();
        let mut builder = DirBuilder::new();
        let made = builder.recursive(true).mode(0o700).create(folder);
        made.map_err(|e| NotWritten::Io(folder.to_owned(), e))?;
        let readers = Readers::of(&self.path);
        let mut made = MadeFiles { files: Vec::new(), folder: None, readers };
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
        made.keep();
        let secrets = files.values().map(|file| folder.join(file)).collect();
        synced(folder).map_err(|e| NotWritten::Io(self.path.clone(), e))?;
        Ok(WrittenFiles { config: self.path.clone(), secrets, old, readers })
    }

    /// Gives the new config its name, in one step; returns where the old one went.
    fn take_place(&self, part: &Path) -> Result<Option<PathBuf>, NotWritten> {
        let failed = |e: io::Error| NotWritten::Io(self.path.clone(), e);
        match renamed(part, &self.path, RenameFlags::NOREPLACE) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists && !self.replaces => {
                Err(self.there())
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                renamed(part, &self.path, RenameFlags::EXCHANGE).map_err(failed)?;
                match self.kept(part) {
                    Ok(old) => Ok(Some(old)),
                    Err(error) => {
                        // What cannot be kept is not replaced.
                        renamed(part, &self.path, RenameFlags::EXCHANGE).map_err(failed)?;
                        Err(failed(error))
                    }
                }
            }
            Err(error) => Err(failed(error)),
            Ok(()) => Ok(None),
        }
    }

    /// Gives the config of before a name that nothing has; returns it.
    fn kept(&self, part: &Path) -> io::Result<PathBuf> {
        for old in self.olds() {
            match renamed(part, &old, RenameFlags::NOREPLACE) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                renamed => return renamed.map(|()| old),
            }
        }
        Err(full())
    }
}

/// Numbers a name from the second one on: `old`, `old.2`.
fn numbered(name: &str) -> impl Iterator<Item = String> {
    let numbered =
        move |number| if number == 1 { name.to_owned() } else { format!("{name}.{number}") };
    (1..=MAX_NAMES).map(numbered)
}

fn full() -> io::Error {
    io::Error::other(format!("{MAX_NAMES} files of that name are there"))
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
    File::open(folder)?.sync_all()
}

/// What was made so far: gone again unless it is kept.
struct MadeFiles {
    files: Vec<PathBuf>,
    folder: Option<PathBuf>,
    readers: Readers,
}

impl MadeFiles {
    /// Writes a new file that nobody but its readers can read.
    fn file(&mut self, path: &Path, text: &str) -> io::Result<()> {
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
        self.files.push(path.to_owned());
        self.readers.give(&file)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()
    }

    /// Writes a secret under a name that nothing has yet, unless a file of it holds just that; returns the name.
    fn secret(&mut self, beside: &Path, key: &str, secret: &str) -> Result<String, NotWritten> {
        let folder = beside.join(SECRETS);
        match DirBuilder::new().mode(0o700).create(&folder) {
            Ok(()) => self.folder = Some(folder.clone()),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(NotWritten::Io(folder, error)),
        }
        let given = File::open(&folder).and_then(|opened| self.readers.give(&opened));
        given.map_err(|error| NotWritten::Io(folder.clone(), error))?;
        let plain = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' };
        let key: String = key.chars().map(plain).collect();
        for name in numbered(&key) {
            let file = folder.join(&name);
            match self.file(&file, &format!("{secret}\n")) {
                Ok(()) => return Ok(name),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                    if self.holds(&file, secret) {
                        return Ok(name);
                    }
                }
                Err(error) => return Err(NotWritten::Io(folder.join(name), error)),
            }
        }
        Err(NotWritten::Io(folder.join(key), full()))
    }

    /// Whether a file holds this secret, and nobody else can read it.
    fn holds(&self, file: &Path, secret: &str) -> bool {
        let is_closed =
            file.symlink_metadata().is_ok_and(|found| self.readers.are_alone_with(&found));
        is_closed && fs::read_to_string(file).is_ok_and(|text| text.trim() == secret.trim())
    }

    /// Keeps all of it.
    fn keep(mut self) {
        self.folder = None;
        self.files.clear();
    }
}

impl Drop for MadeFiles {
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

    fn answers(secret: &str) -> Answers {
        let mut answers = Answers::default();
        answers.hide("a.token", SecretString::from(secret));
        answers
    }

    fn write(target: &Target, secret: &str, text: &str) -> Result<WrittenFiles, NotWritten> {
        target.write(&answers(secret), |files| format!("{text} {}", files["a.token"]), |_| Ok(()))
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
        let written = write(&target, "hunter2", "one").unwrap();
        assert_eq!(fs::read_to_string(&written.config).unwrap(), "one secrets/a.token");
        assert_eq!(fs::read_to_string(&written.secrets[0]).unwrap(), "hunter2\n");
        for path in [&written.config, &written.secrets[0]] {
            assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        }
        let refused = write(&target, "hunter3", "two").unwrap_err().to_string();
        assert!(refused.ends_with("/config.yaml.old"), "{refused}");
        assert_eq!(names(home.path()), ["config.yaml", "secrets"]);
        let again = write(&Target { replaces: true, ..target }, "hunter3", "two").unwrap();
        assert_eq!(fs::read_to_string(&again.config).unwrap(), "two secrets/a.token.2");
        assert_eq!(fs::read_to_string(again.old.unwrap()).unwrap(), "one secrets/a.token");
        assert_eq!(names(&home.path().join("secrets")), ["a.token", "a.token.2"]);
    }

    #[test]
    fn no_config_of_before_is_lost_and_no_secret_is_stored_twice() {
        let home = tempfile::tempdir().unwrap();
        let target = Target { path: home.path().join("config.yaml"), replaces: true };
        for (text, secret) in [("one", "hunter2"), ("two", "hunter3"), ("three", "hunter2")] {
            let old = target.old();
            let written = write(&target, secret, text).unwrap();
            assert!(written.old.is_none_or(|it| it == old), "the name is told before");
            assert!(written.secrets.iter().all(|file| file.is_file()));
        }
        let text = |name: &str| fs::read_to_string(home.path().join(name)).unwrap();
        assert_eq!(text("config.yaml"), "three secrets/a.token");
        assert_eq!(text("config.yaml.old"), "one secrets/a.token");
        assert_eq!(text("config.yaml.old.2"), "two secrets/a.token.2");
        assert_eq!(names(&home.path().join("secrets")), ["a.token", "a.token.2"]);
        // One that others can read is nobody's secret any more.
        let open = home.path().join("secrets/a.token");
        fs::set_permissions(&open, fs::Permissions::from_mode(0o644)).unwrap();
        write(&target, "hunter2", "four").unwrap();
        assert_eq!(text("config.yaml"), "four secrets/a.token.3");
        assert_eq!(text("config.yaml.old.3"), "three secrets/a.token");
    }

    #[test]
    fn what_is_refused_leaves_nothing() {
        let home = tempfile::tempdir().unwrap();
        let target = Target { path: home.path().join("config.yaml"), replaces: true };
        let refused = |_: &Path| Err("no".to_owned());
        let written = target.write(&answers("hunter2"), |_| "text".to_owned(), refused);
        assert!(matches!(written, Err(NotWritten::Refused(why)) if why == "no"));
        assert_eq!(names(home.path()), [""; 0]);
    }
}
