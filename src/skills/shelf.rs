//! The skills of one installation: found, read, compared with what was reviewed, installed and taken away.

use std::collections::HashMap;
use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use chrono::{DateTime, Utc};
use rustix::fs::{FlockOperation, flock};
use selkie_channel_core::locked;

use crate::catalogue::{self, Catalogue};
use crate::error::SkillError;
use crate::lock::{Lock, LockEntry};
use crate::name;
use crate::package::Package;
use crate::skill::Skill;
use crate::tree::{self, FoundFile, Tree};

/// The folder of the state folder in which skills are installed.
const FOLDER: &str = "skills";
/// Files that are looked at, of all skills together.
const MAX_LOOKS: usize = 20_000;

/// The skills of an installation.
#[derive(Debug)]
pub struct Shelf {
    state: PathBuf,
    folders: Vec<PathBuf>,
    /// What was read, by folder: read again when a file has changed.
    read: Mutex<HashMap<PathBuf, ReadSkill>>,
}

/// A skill as it was when it was read, or why it is none.
#[derive(Clone, Debug)]
struct ReadSkill {
    files: Vec<FoundFile>,
    outcome: Result<Skill, String>,
}

impl Shelf {
    /// Those of a state folder, and of these others, which are only read.
    pub fn new(state: PathBuf, folders: Vec<PathBuf>) -> Self {
        Self { state, folders, read: Mutex::default() }
    }

    /// Lists the folders of skills below one. Blocks.
    pub fn folders(root: &Path) -> Vec<PathBuf> {
        catalogue::folders(root, &mut Catalogue::default())
    }

    /// Looks which skills there are. Blocks.
    ///
    /// # Errors
    /// When the list of what was reviewed is damaged.
    pub fn catalogue(&self) -> Result<Catalogue, SkillError> {
        Ok(self.look(&Lock::read(&self.state)?))
    }

    /// The same where nothing counts as reviewed when that list is damaged.
    pub fn usable(&self) -> Catalogue {
        let lock = Lock::read(&self.state).unwrap_or_else(|error| {
            tracing::error!(%error, "no skill counts as reviewed");
            Lock::default()
        });
        self.look(&lock)
    }

    fn look(&self, lock: &Lock) -> Catalogue {
        let mut catalogue = Catalogue::default();
        let mut left = MAX_LOOKS;
        let own = self.own();
        for root in std::iter::once(&own).chain(&self.folders) {
            let root = match root.canonicalize() {
                Ok(root) => root,
                // Without skills there is no folder; one that the config names and that is missing is noted with the config.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => {
                    catalogue.skip(root, format!("it cannot be read: {error}"));
                    continue;
                }
            };
            let is_own = own.canonicalize().is_ok_and(|own| own == root);
            for folder in catalogue::folders(&root, &mut catalogue) {
                let below = folder.strip_prefix(&root).ok().filter(|_| is_own);
                let key = below.unwrap_or(&folder).to_string_lossy().into_owned();
                match self.one(&folder, &mut left) {
                    Ok(skill) => catalogue.add(known(skill, key, lock)),
                    Err(why) => catalogue.skip(&folder, why),
                }
            }
        }
        catalogue.skills.sort_by(|a, b| a.name.cmp(&b.name));
        catalogue
    }

    fn one(&self, folder: &Path, left: &mut usize) -> Result<Skill, String> {
        if *left == 0 {
            return Err(format!(
                "more than {MAX_LOOKS} files lie in skills: this one is not looked at"
            ));
        }
        let files = tree::walk(folder).map_err(|why| why.to_string())?;
        *left = left.saturating_sub(files.len());
        if let Some(read) = locked(&self.read).get(folder).filter(|read| read.files == files) {
            return read.outcome.clone();
        }
        let outcome = read(folder, &files).map_err(|why| why.to_string());
        let read = ReadSkill { files, outcome: outcome.clone() };
        locked(&self.read).insert(folder.to_owned(), read);
        outcome
    }

    /// Says which skill a new one takes the place of; nothing where there is none of its name.
    ///
    /// # Errors
    /// When another one has that name, or one that it could be taken for.
    pub fn judge(&self, package: &Package) -> Result<Option<Skill>, SkillError> {
        let catalogue = self.catalogue()?;
        let odd = |why: String| SkillError::unfit(format!("the name {:?} {why}", package.name));
        let names = catalogue.skills.iter().map(|skill| skill.name.as_str());
        if let Some(other) = name::similar(&package.name, names) {
            return Err(odd(format!("could be taken for the installed skill {other}")));
        }
        let Some(before) = catalogue.find(&package.name) else { return Ok(None) };
        if before.key != package.name {
            return Err(odd(format!("is taken by the skill in {}", before.folder.display())));
        }
        Ok(Some(before.clone()))
    }

    /// Installs a skill that its owner has seen, in the place of the one of its name.
    ///
    /// # Errors
    /// As [`Shelf::judge`], and when the disk refuses: then all is as before.
    pub fn install(&self, package: &Package, now: DateTime<Utc>) -> Result<PathBuf, SkillError> {
        let own = self.own();
        let held = self.hold()?;
        self.judge(package)?;
        let folder = |prefix: &str| {
            let open = Permissions::from_mode(0o750);
            tempfile::Builder::new().prefix(prefix).permissions(open).tempdir_in(&own)
        };
        let place = own.join(&package.name);
        let place_it = || {
            let new = folder(".new-")?;
            write(&package.tree, new.path())?;
            let old = folder(".old-")?;
            let before = old.path().join("before");
            if place.exists() {
                fs::rename(&place, &before)?;
            }
            fs::rename(new.keep(), &place).inspect_err(|_| _ = fs::rename(&before, &place))?;
            held.sync_all()
        };
        place_it().map_err(SkillError::io(&own, "written"))?;
        self.note(&package.name, &package.hash, Some(&package.source), now)?;
        Ok(place)
    }

    /// Notes that an owner has seen the files of a skill that have this hash.
    ///
    /// # Errors
    /// When it cannot be noted.
    pub fn review(&self, skill: &Skill, hash: &str, now: DateTime<Utc>) -> Result<(), SkillError> {
        let _held = self.hold()?;
        self.note(&skill.key, hash, skill.source.as_deref(), now)
    }

    /// Takes an installed skill away.
    ///
    /// # Errors
    /// When it lies in a folder that is only read, or the disk refuses.
    pub fn remove(&self, skill: &Skill) -> Result<(), SkillError> {
        let _held = self.hold()?;
        let place = self.own().join(&skill.key);
        if Path::new(&skill.key).is_absolute() || !place.is_dir() {
            let folder = skill.folder.display();
            return Err(SkillError::unfit(format!(
                "{folder} is only read by selkie: remove it there"
            )));
        }
        fs::remove_dir_all(&place).map_err(SkillError::io(&place, "removed"))?;
        let mut lock = Lock::read(&self.state)?;
        lock.skills.remove(&skill.key);
        lock.write(&self.state)
    }

    fn note(
        &self,
        key: &str,
        hash: &str,
        source: Option<&str>,
        now: DateTime<Utc>,
    ) -> Result<(), SkillError> {
        let mut lock = Lock::read(&self.state)?;
        let source = source.map(str::to_owned);
        let entry = LockEntry { source, reviewed: hash.to_owned(), at: now };
        lock.skills.insert(key.to_owned(), entry);
        lock.write(&self.state)
    }

    fn own(&self) -> PathBuf {
        self.state.join(FOLDER)
    }

    /// Keeps other commands from changing what is installed meanwhile; makes the folder.
    fn hold(&self) -> Result<File, SkillError> {
        let own = self.own();
        let refused = || SkillError::io(&own, "written");
        DirBuilder::new().recursive(true).mode(0o750).create(&own).map_err(refused())?;
        let folder = File::open(&own).map_err(refused())?;
        flock(&folder, FlockOperation::LockExclusive).map_err(|error| refused()(error.into()))?;
        Ok(folder)
    }
}

fn known(skill: Skill, key: String, lock: &Lock) -> Skill {
    let locked = lock.skills.get(&key);
    let is_reviewed = locked.is_some_and(|locked| locked.reviewed == skill.hash);
    let source = locked.and_then(|locked| locked.source.clone());
    Skill { key, is_reviewed, source, ..skill }
}

fn read(folder: &Path, files: &[FoundFile]) -> Result<Skill, SkillError> {
    let package = Package::of(Tree::of_folder(folder)?, "")?;
    Ok(Skill {
        name: package.name,
        description: package.description,
        folder: folder.to_owned(),
        source: None,
        hash: package.hash,
        is_reviewed: false,
        files: files.len(),
        bytes: package.tree.bytes(),
        warnings: package.warnings,
        key: String::new(),
        auth_profiles: package.auth_profiles,
        changed: files.iter().map(|file| file.changed).max().unwrap_or_default(),
    })
}

/// Writes all files of a skill into an empty folder, durably.
fn write(tree: &Tree, folder: &Path) -> std::io::Result<()> {
    for (path, file) in &tree.files {
        let place = folder.join(path);
        if let Some(parent) = place.parent() {
            DirBuilder::new().recursive(true).mode(0o750).create(parent)?;
        }
        let mode = if file.is_program { 0o700 } else { 0o600 };
        let mut made = OpenOptions::new().write(true).create_new(true).mode(mode).open(&place)?;
        made.write_all(&file.bytes)?;
        made.sync_all()?;
    }
    File::open(folder)?.sync_all()
}
