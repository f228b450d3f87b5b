//! Installing and removing a service: first what would be done, then doing it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::machine::Machine;
use super::own::{self, UnitState};
use super::systemd;
use super::text;
use super::wanted::{ServiceSpec, Unfit};

/// Why a service is not installed or removed.
#[derive(Debug, Error)]
pub enum Unable {
    /// It could not run like this.
    #[error(transparent)]
    Unfit(#[from] Unfit),
    /// A package has brought it.
    #[error("{} is a package's: systemctl enable --now starts it, and systemctl edit changes it; --name gives another one of your own a name", .0.display())]
    Packaged(PathBuf),
    /// A person has changed it.
    #[error("{} is not as selkie wrote it: move your lines to `{to_edit}`, then use --force, which keeps it as {}.old", path.display(), path.display())]
    Changed {
        /// Which file.
        path: PathBuf,
        /// What changes a service without that.
        to_edit: String,
    },
    /// There is none.
    #[error("{} does not exist: selkie service status looks for a service of this name", .0.display())]
    NotInstalled(PathBuf),
    /// A file cannot be read or written.
    #[error("{}: {source}; a service for the whole machine takes root (sudo), --user installs one for you", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// systemd says no.
    #[error("{0}: selkie logs and journalctl -xe tell why")]
    Systemd(io::Error),
}

/// A file to write.
#[derive(Clone, Debug)]
pub struct File {
    /// Where.
    pub path: PathBuf,
    /// What stands there then.
    pub text: String,
    found: UnitState,
}

impl File {
    fn new(path: PathBuf, body: &str, to_edit: &str) -> Result<Self, Unable> {
        let found = look(&path)?;
        Ok(Self { path, text: own::signed(body, to_edit), found })
    }

    /// Whether it stands there already.
    pub fn is_there(&self) -> bool {
        fs::read_to_string(&self.path).is_ok_and(|text| text == self.text)
    }
}

/// An installation that is ready to be made.
#[derive(Debug)]
pub struct Ready<'a> {
    machine: &'a Machine,
    /// What is written.
    pub files: [File; 2],
}

impl<'a> Ready<'a> {
    /// Makes it ready; nothing is changed.
    ///
    /// # Errors
    /// When the service could not run like this, or a file is another's and is not to be replaced.
    pub fn new(machine: &'a Machine, wanted: &ServiceSpec, force: bool) -> Result<Self, Unable> {
        wanted.check(machine)?;
        if let Some(packaged) = machine.packaged() {
            return Err(Unable::Packaged(packaged));
        }
        let to_edit = machine.to_edit();
        let unit = File::new(machine.unit_file(), &text::unit(machine.asked.kind), &to_edit)?;
        let beside =
            File::new(machine.drop_in(), &text::drop_in(&machine.asked, wanted), &to_edit)?;
        let files = [unit, beside];
        match files.iter().find(|file| file.found == UnitState::Theirs) {
            Some(file) if !force => Err(Unable::Changed { path: file.path.clone(), to_edit }),
            _ => Ok(Self { machine, files }),
        }
    }

    /// Writes it; returns where what was there before is now.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn write(&self) -> Result<Vec<PathBuf>, Unable> {
        let mut aside = Vec::new();
        for file in &self.files {
            let failed = |source| Unable::File { path: file.path.clone(), source };
            if file.found == UnitState::Theirs {
                aside.push(own::put_aside(&file.path).map_err(failed)?);
            }
            own::write(&file.path, &file.text).map_err(failed)?;
        }
        Ok(aside)
    }

    /// Has systemd read it and start it, now and from now on.
    ///
    /// # Errors
    /// When systemd does not.
    pub fn start(&self) -> Result<(), Unable> {
        let unit = self.machine.unit_name();
        let tell = |words: &[&str]| systemd::tell(self.machine, words).map_err(Unable::Systemd);
        tell(&["daemon-reload"])?;
        tell(&["enable", "--now", "--", &unit])
    }
}

/// Has systemd start a package's service from now on, and now: one that runs starts again, with what is new.
///
/// # Errors
/// When systemd does not.
pub fn keep_running(machine: &Machine) -> Result<(), Unable> {
    let unit = machine.unit_name();
    let tell = |words: &[&str]| systemd::tell(machine, words).map_err(Unable::Systemd);
    tell(&["enable", "--", &unit])?;
    tell(&["restart", "--", &unit])
}

/// A removal that is ready to be made.
#[derive(Debug)]
pub struct Removal<'a> {
    machine: &'a Machine,
    /// What goes.
    pub files: Vec<PathBuf>,
}

impl<'a> Removal<'a> {
    /// Makes it ready; nothing is changed.
    ///
    /// # Errors
    /// When there is none, or a person has changed a file of it.
    pub fn new(machine: &'a Machine, force: bool) -> Result<Self, Unable> {
        let mut files = Vec::new();
        for path in [machine.unit_file(), machine.drop_in()] {
            match look(&path)? {
                UnitState::Nothing => {}
                UnitState::Theirs if !force => {
                    return Err(Unable::Changed { path, to_edit: machine.to_edit() });
                }
                UnitState::Ours(_) | UnitState::Theirs => files.push(path),
            }
        }
        match (files.is_empty(), machine.packaged()) {
            (false, _) => Ok(Self { machine, files }),
            (true, Some(packaged)) => Err(Unable::Packaged(packaged)),
            (true, None) => Err(Unable::NotInstalled(machine.unit_file())),
        }
    }

    /// Stops it where systemd runs, and takes its files away; returns where changed ones are kept.
    ///
    /// # Errors
    /// When systemd or a file does not let go.
    pub fn remove(&self) -> Result<Vec<PathBuf>, Unable> {
        let tell = |words: &[&str]| systemd::tell(self.machine, words).map_err(Unable::Systemd);
        if self.machine.runs {
            tell(&["disable", "--now", "--", &self.machine.unit_name()])?;
        }
        let mut aside = Vec::new();
        for path in &self.files {
            let failed = |source| Unable::File { path: path.clone(), source };
            match look(path)? {
                UnitState::Theirs => aside.push(own::put_aside(path).map_err(failed)?),
                UnitState::Ours(_) | UnitState::Nothing => fs::remove_file(path).map_err(failed)?,
            }
        }
        self.tidy();
        if self.machine.runs {
            tell(&["daemon-reload"])?;
        }
        Ok(aside)
    }

    /// Takes away what is of no use without them: an empty folder, and the link that would start it.
    fn tidy(&self) {
        if let Some(folder) = self.machine.drop_in().parent() {
            // One that holds a person's lines is not empty, and stays.
            fs::remove_dir(folder).ok();
        }
        let link = self.machine.start_link();
        let name = self.machine.unit_name();
        if fs::read_link(&link).is_ok_and(|to| to.ends_with(&name)) {
            fs::remove_file(&link).ok();
        }
    }
}

fn look(path: &Path) -> Result<UnitState, Unable> {
    own::found(path).map_err(|source| Unable::File { path: path.to_owned(), source })
}
