//! What a service is to run with, and whether it could.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Component, Path, PathBuf};

use thiserror::Error;

use super::machine::{Kind, Machine};

/// What the unit hides from the service: its own homes are empty, and so is its `/tmp`.
const HIDDEN: [&str; 5] = ["/home", "/root", "/run/user", "/tmp", "/var/tmp"];
/// So many of each are taken.
const MAX: usize = 64;

/// What it is to run with; every path is in full, as the service sees it.
#[derive(Clone, Debug)]
pub struct ServiceSpec {
    /// The program.
    pub program: PathBuf,
    /// Its config.
    pub config: PathBuf,
    /// Its state folder, when it is not the usual one.
    pub state: Option<PathBuf>,
    /// Folders that it may write to.
    pub workspaces: Vec<PathBuf>,
    /// Files with a secret each, named like their keys.
    pub credentials: Vec<PathBuf>,
}

/// Why a service could not run like this.
#[derive(Debug, Error)]
#[error("{what} {}: {why}", path.display())]
pub struct Unfit {
    what: &'static str,
    path: PathBuf,
    why: String,
}

impl ServiceSpec {
    /// Looks whether a service could run with it.
    ///
    /// # Errors
    /// The first thing that is in the way, with what to do.
    pub fn check(&self, machine: &Machine) -> Result<(), Unfit> {
        if self.workspaces.len() > MAX {
            let path = self.workspaces[MAX].clone();
            let why =
                format!("is one too many, at most {MAX} are accepted: name the folder above them");
            return Err(Unfit { what: "--workspace", path, why });
        }
        for (what, path) in self.paths() {
            writable(path).map_err(|why| Unfit { what, path: path.to_owned(), why })?;
        }
        let checks = [
            ("--program", &self.program, program(machine, &self.program)),
            ("--config", &self.config, config(machine, &self.config)),
        ];
        for (what, path, checked) in checks {
            checked.map_err(|why| Unfit { what, path: path.clone(), why })?;
        }
        if machine.asked.kind == Kind::User {
            return Ok(());
        }
        if let Some(state) = &self.state {
            below_var_lib(state).map_err(|why| Unfit {
                what: "--state",
                path: state.clone(),
                why,
            })?;
        }
        for folder in &self.workspaces {
            let unfit = |why| Unfit { what: "--workspace", path: folder.clone(), why };
            workspace(machine, folder).map_err(unfit)?;
        }
        Ok(())
    }

    fn paths(&self) -> impl Iterator<Item = (&'static str, &Path)> {
        let one = [("--program", &self.program), ("--config", &self.config)].into_iter();
        let state = self.state.iter().map(|path| ("--state", path));
        let folders = self.workspaces.iter().map(|path| ("--workspace", path));
        let secrets = self.credentials.iter().map(|path| ("credential", path));
        one.chain(state).chain(folders).chain(secrets).map(|(what, path)| (what, path.as_path()))
    }
}

/// Whether a path can stand in a unit.
fn writable(path: &Path) -> Result<(), String> {
    let Some(text) = path.to_str() else {
        return Err("is not UTF-8, as a unit has to be: name another one".to_owned());
    };
    if text.chars().any(char::is_control) {
        return Err("holds a control character: name another one".to_owned());
    }
    match path.components().any(|part| part == Component::ParentDir) {
        true => Err("holds `..`: name it in full".to_owned()),
        false => Ok(()),
    }
}

fn program(machine: &Machine, path: &Path) -> Result<(), String> {
    if !machine.below(path).is_file() {
        return Err(format!("{}does not exist: name selkie's own file", looked_at(machine, path)));
    }
    match machine.asked.kind == Kind::System && is_hidden(path) {
        true => Err(format!(
            "cannot be seen by the service: sudo install -m 755 {} /usr/local/bin/selkie, then sudo /usr/local/bin/selkie \
             service install, or install it for yourself (--user)",
            path.display()
        )),
        false => Ok(()),
    }
}

fn config(machine: &Machine, path: &Path) -> Result<(), String> {
    let file = machine.below(path);
    let Ok(metadata) = fs::metadata(&file) else {
        return Err(format!(
            "{}does not exist: selkie init makes one, --config names another one",
            looked_at(machine, path)
        ));
    };
    if !metadata.is_file() {
        return Err("is not a file: name the config".to_owned());
    }
    if machine.asked.kind == Kind::User {
        return Ok(());
    }
    if is_hidden(path) {
        let why = "cannot be seen by the service: put it into /etc/selkie, or install it for yourself (--user)";
        return Err(why.to_owned());
    }
    match metadata.permissions().mode() & 0o004 {
        0 => Err(
            "cannot be read by the service, whose user is created at each start: put its secrets into files beside it, named like their \
             keys (llm.api_key), and chmod 644 it, or install it for yourself (--user)"
                .to_owned(),
        ),
        _ => Ok(()),
    }
}

fn workspace(machine: &Machine, folder: &Path) -> Result<(), String> {
    if !machine.below(folder).is_dir() {
        return Err(format!(
            "{}is not a folder: make it first, writable for the service",
            looked_at(machine, folder)
        ));
    }
    match is_hidden(folder) {
        true => Err("cannot be seen by the service: take one below /srv".to_owned()),
        false => Ok(()),
    }
}

/// Names what was looked at, where it is not what was named.
fn looked_at(machine: &Machine, path: &Path) -> String {
    match &machine.asked.root {
        Some(_) => format!("{} ", machine.below(path).display()),
        None => String::new(),
    }
}

fn below_var_lib(state: &Path) -> Result<(), String> {
    let below = state.strip_prefix("/var/lib").ok();
    match below.is_some_and(|below| below.components().next().is_some()) {
        true => Ok(()),
        false => {
            Err("is not below /var/lib, where systemd makes the folder for the service's user"
                .to_owned())
        }
    }
}

fn is_hidden(path: &Path) -> bool {
    HIDDEN.iter().any(|hidden| path.starts_with(hidden))
}
