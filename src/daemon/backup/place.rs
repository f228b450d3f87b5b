//! Puts a restored life in the place of the one that is there: whole, or not at all. Everything is ready in a folder of
//! its own before the first file moves; a mark says how far the moving is, so that a killed one is brought to its end.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use super::contents::CONFIG;

/// Where a restored life is made ready, in the state folder.
pub const STAGE: &str = "restore.part";
/// How folders are named into which the life before was moved.
pub const ASIDE: &str = "before-restore-";
/// While the life before is moved away, and while the restored one moves in.
pub const MARKS: [&str; 2] = ["restore.moving-away", "restore.moving-in"];

/// What a mark says when the database alone is replaced.
const ONLY_DATABASE: &str = "database";

/// A state folder in which a life is restored.
pub struct Place {
    state: PathBuf,
    /// What stays where it is: the backup's own folder, when it lies in here.
    stays: Option<String>,
    /// The database alone is replaced.
    only_database: bool,
}

impl Place {
    /// Looks at a state folder whose lock is held; the backup that is restored stays in it.
    pub fn of(state: &Path, backup: &Path) -> Self {
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let inside = real(backup).strip_prefix(real(state)).map(Path::to_owned).ok();
        let first = inside.as_deref().and_then(|inside| inside.components().next());
        let stays = first.and_then(|part| part.as_os_str().to_str()).map(str::to_owned);
        Self { state: state.to_owned(), stays, only_database: false }
    }

    /// The same for a database alone: all other files stay.
    #[must_use]
    pub fn of_the_database(self) -> Self {
        Self { only_database: true, ..self }
    }

    /// Where the restored life is made ready.
    pub fn stage(&self) -> PathBuf {
        self.state.join(STAGE)
    }

    /// Lists what lives there now, by names.
    ///
    /// # Errors
    /// When the folder cannot be read.
    pub fn lives(&self) -> io::Result<Vec<String>> {
        let mut names = names(&self.state)?;
        names.retain(|name| {
            let is_meant = !self.only_database
                || (name.starts_with("selkie.db") && !name.starts_with("selkie.db.backup-"));
            is_meant
                && !(name == "selkie.lock"
                    || name == CONFIG
                    || name == STAGE
                    || MARKS.contains(&name.as_str())
                    || name.starts_with(ASIDE)
                    || self.stays.as_ref() == Some(name))
        });
        Ok(names)
    }

    /// Notes that what was made ready moves into its place, and what is there into `aside`, a name that begins with
    /// [`ASIDE`], or one like it that is free: from now on it will.
    ///
    /// # Errors
    /// When it cannot be noted: nothing has moved.
    pub fn begin(&self, aside: &str) -> anyhow::Result<()> {
        if let Some(stays) = self.stays.as_ref().filter(|name| self.stage().join(name).exists()) {
            anyhow::bail!(
                "the backup lies in {}, which it would replace: move it out of the state folder first",
                self.state.join(stays).display()
            );
        }
        self.mark(&free(&self.state, aside)).context("the backup cannot be put in place")
    }

    /// Moves, or goes on with a moving that was broken off; returns where the life before was moved to, `None` when none was.
    ///
    /// # Errors
    /// When something cannot be moved.
    pub fn finish(&self) -> anyhow::Result<Option<String>> {
        let said = |error: io::Error| {
            anyhow::anyhow!(
                "the backup cannot be put in place: {error}. Make that possible and run `selkie restore` again: it \
                 continues where it stopped"
            )
        };
        let Some(begun) = begun(&self.state) else { return Ok(None) };
        let noted = fs::read_to_string(self.state.join(begun)).map_err(said)?;
        let (aside, only) = noted.split_once('\n').unwrap_or((&noted, ""));
        let place = Self {
            state: self.state.clone(),
            stays: self.stays.clone(),
            only_database: only == ONLY_DATABASE,
        };
        anyhow::ensure!(
            aside.starts_with(ASIDE) && !aside.contains('/'),
            "{} does not say where to: remove it, and restore once more",
            self.state.join(begun).display()
        );
        place.through(begun, aside).map_err(said)?;
        Ok(self.state.join(aside).exists().then(|| aside.to_owned()))
    }

    fn through(&self, begun: &str, aside: &str) -> io::Result<()> {
        let [away, moving_in] = MARKS.map(|mark| self.state.join(mark));
        if begun == MARKS[0] {
            for name in self.lives()? {
                let to = self.state.join(aside);
                crate::daemon::state::make(&to)?;
                // Nothing that lies there is replaced.
                fs::rename(self.state.join(&name), to.join(free(&to, &name)))?;
            }
            sync(&self.state)?;
            fs::rename(&away, &moving_in)?;
            sync(&self.state)?;
        }
        for name in names(&self.stage())? {
            fs::rename(self.stage().join(&name), self.state.join(&name))?;
        }
        // A folder that stays is there already, and so is what lay in it.
        fs::remove_dir_all(self.stage())?;
        sync(&self.state)?;
        fs::remove_file(moving_in)
    }

    fn mark(&self, aside: &str) -> io::Result<()> {
        let mark = self.state.join(MARKS[0]);
        let part = self.stage().with_extension("mark");
        let only = if self.only_database { ONLY_DATABASE } else { "" };
        fs::write(&part, format!("{aside}\n{only}"))?;
        File::open(&part)?.sync_all()?;
        fs::rename(part, mark)?;
        sync(&self.state)
    }
}

/// Returns the mark of a moving that was broken off in a state folder.
pub fn begun(state: &Path) -> Option<&'static str> {
    MARKS.into_iter().find(|mark| state.join(mark).exists())
}

fn names(folder: &Path) -> io::Result<Vec<String>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut names = Vec::new();
    for entry in entries {
        let name = entry?.file_name().into_string();
        names.push(name.map_err(|name| io::Error::other(format!("{name:?} is no text")))?);
    }
    names.sort();
    Ok(names)
}

/// Returns a name that nothing in a folder has: this one, or with a number behind it.
fn free(folder: &Path, name: &str) -> String {
    let is_free = |name: &String| folder.join(name).symlink_metadata().is_err();
    let numbered = (2_u64..).map(|number| format!("{name}-{number}"));
    // Some number is free: a folder has fewer entries than there are numbers.
    std::iter::once(name.to_owned()).chain(numbered).find(is_free).unwrap_or_default()
}

/// Brings names to the disk.
fn sync(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two restores within one second, and one that an earlier version has left half done over the same name.
    #[test]
    fn nothing_that_was_moved_aside_before_is_in_the_way_or_replaced() {
        let home = tempfile::tempdir().unwrap();
        let state = home.path();
        let put = |name: &str, text: &str| {
            let path = state.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        let read = |name: &str| fs::read_to_string(state.join(name)).unwrap();
        let aside = "before-restore-1";
        for (life, wanted) in [("one", aside), ("two", "before-restore-1-2")] {
            put("TODO.md", life);
            put("kept/TODO.md/1", life);
            put(&format!("{STAGE}/TODO.md"), "restored");
            let place = Place::of(state, Path::new("backup"));
            place.begin(aside).unwrap();
            assert_eq!(place.finish().unwrap().as_deref(), Some(wanted));
            assert_eq!([read(&format!("{wanted}/TODO.md")), read("TODO.md")], [life, "restored"]);
        }
        put("kept/TODO.md/1", "three");
        put(&format!("{STAGE}/TODO.md"), "restored");
        put(MARKS[0], aside);
        Place::of(state, Path::new("backup")).finish().unwrap();
        assert_eq!(read(&format!("{aside}/TODO.md")), "one");
        assert_eq!(read(&format!("{aside}/TODO.md-2")), "restored");
        assert_eq!(
            [read(&format!("{aside}/kept/TODO.md/1")), read(&format!("{aside}/kept-2/TODO.md/1"))],
            ["one", "three"]
        );
    }
}
