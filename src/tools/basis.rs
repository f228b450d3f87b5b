//! What a call works with besides its arguments: its working folder, the files it reads, what a name stands for.

use std::fs::File;
use std::io;
use std::path::PathBuf;

use rustix::fs::{Mode, OFlags};

use crate::identity::Identity;
use crate::paths::Location;
use selkie_domain::tool::Class;

/// What a call works with. Approval of the call covers it: what differs when it starts is refused.
#[derive(Debug, Default)]
pub struct Basis {
    /// The folder that it works in.
    pub folder: Option<WorkFolder>,
    /// The files whose content it takes somewhere.
    pub reads: Vec<Location>,
    /// What a name among its arguments stands for.
    pub names: Option<NameMeaning>,
}

/// What a name stands for, as a person is told.
#[derive(Clone, Debug)]
pub struct NameMeaning {
    /// The name: `p1`.
    pub name: String,
    /// What it is: a command line.
    pub is: String,
    /// Tells it from another one that is called and looks the same.
    pub identity: String,
}

/// Where a call puts text that somebody will read, now or later: approval of it covers that.
#[derive(Clone, Debug, Default)]
pub struct Target {
    /// How far the text goes.
    pub reach: Reach,
    /// What its words stand for.
    pub names: Vec<NameMeaning>,
    /// Whoever asks may speak to them without asking.
    pub is_excused: bool,
}

/// How far the text of a call goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reach {
    /// This conversation and the bot's own records.
    #[default]
    Here,
    /// Another conversation.
    Elsewhere,
    /// A public account.
    Public,
}

impl Target {
    /// Takes how far the text of a tool's calls goes from its class.
    pub fn of(class: Class) -> Self {
        let reach = match class {
            Class::Message => Reach::Elsewhere,
            Class::Public => Reach::Public,
            _ => Reach::Here,
        };
        Self { reach, ..Self::default() }
    }
}

impl Reach {
    /// Returns the class whose rules such a call has to satisfy, whatever its tool's own.
    pub const fn class(self) -> Option<Class> {
        match self {
            Self::Here => None,
            Self::Elsewhere => Some(Class::Message),
            Self::Public => Some(Class::Public),
        }
    }
}

/// A folder that a command is to be run in.
#[derive(Debug)]
pub struct WorkFolder {
    /// Its real path.
    pub path: PathBuf,
    /// The folder itself, whatever is called so later; `None` where there is none yet.
    pub opened: Option<File>,
}

impl WorkFolder {
    /// Opens a folder by its path.
    pub fn at(path: PathBuf) -> Self {
        let folder = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let opened = rustix::fs::open(&path, folder, Mode::empty()).ok().map(File::from);
        Self { path, opened }
    }

    /// Returns which folder it is.
    pub fn identity(&self) -> Option<Identity> {
        self.opened.as_ref().and_then(|file| file.metadata().ok()).map(|found| Identity::of(&found))
    }

    /// Returns a path that leads a started process to the folder that was opened, whatever has its name by then.
    ///
    /// # Errors
    /// When there is no such folder.
    pub fn way(&self) -> io::Result<PathBuf> {
        let Some(opened) = &self.opened else {
            return Err(io::Error::new(io::ErrorKind::NotFound, "there is no such folder"));
        };
        Ok(by_handle(opened).unwrap_or_else(|| self.path.clone()))
    }
}

/// The child of a fork has our handles until it becomes another program, and looks for its folder before.
#[cfg(target_os = "linux")]
fn by_handle(opened: &File) -> Option<PathBuf> {
    use std::os::fd::AsRawFd as _;
    let way = PathBuf::from(format!("/proc/self/fd/{}", opened.as_raw_fd()));
    way.exists().then_some(way)
}

#[cfg(not(target_os = "linux"))]
fn by_handle(_: &File) -> Option<PathBuf> {
    None
}
