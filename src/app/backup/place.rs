//! Puts a restored life in the place of the one that is there: whole, or not at all. Everything is ready in a folder of
//! its own before the first file moves; a mark says how far the moving is, so that a killed one is brought to its end.
//! What somebody puts there meanwhile is moved aside, too.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use super::contents::CONFIG;
use super::unreplaced::{moved, put, reserved};

/// Where a restored life is made ready, in the state folder.
pub const STAGE: &str = "restore.part";
/// How folders are named into which the life before was moved.
pub const ASIDE: &str = "before-restore-";
/// While the life before is moved away, and while the restored one moves in.
pub const MARKS: [&str; 2] = ["restore.moving-away", "restore.moving-in"];
/// How a mark is named until it is whole.
pub const NEW_MARK: &str = "restore.mark";

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
                    || name == NEW_MARK
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
        let said = "the backup cannot be put in place";
        let aside = reserved(&self.state, aside).context(said)?;
        self.mark(&aside)
            .inspect_err(|_| {
                fs::remove_dir(self.state.join(&aside)).ok();
            })
            .context(said)
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
        let aside = self.state.join(aside);
        if begun == MARKS[0] {
            for name in self.lives()? {
                put_aside(&self.state.join(&name), &aside, &name)?;
            }
            sync(&self.state)?;
            fs::rename(&away, &moving_in)?;
            sync(&self.state)?;
        }
        for name in names(&self.stage())? {
            let to = self.state.join(&name);
            while !moved(&self.stage().join(&name), &to)? {
                // Somebody has made it since.
                put_aside(&to, &aside, &name)?;
            }
        }
        // What somebody has put there since is in it still: the next try moves it. A killed one had got as far as this.
        gone(fs::remove_dir(self.stage()))?;
        // It was made before anybody knew whether something lives here.
        fs::remove_dir(&aside).ok();
        sync(&self.state)?;
        fs::remove_file(moving_in)
    }

    fn mark(&self, aside: &str) -> io::Result<()> {
        let mark = self.state.join(MARKS[0]);
        let part = self.state.join(NEW_MARK);
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

/// What is gone need not be taken away.
fn gone(removed: io::Result<()>) -> io::Result<()> {
    match removed {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

/// Moves something of the life before into its folder.
fn put_aside(from: &Path, aside: &Path, name: &str) -> io::Result<()> {
    crate::state::make(aside)?;
    // Whoever has made it may have taken it away.
    gone(put(from, aside, name))
}

/// Brings names to the disk.
fn sync(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Life {
        home: tempfile::TempDir,
    }

    impl Life {
        fn new() -> Self {
            Self { home: tempfile::tempdir().unwrap() }
        }

        fn at(&self, name: &str) -> PathBuf {
            self.home.path().join(name)
        }

        fn put(&self, name: &str, text: &str) {
            fs::create_dir_all(self.at(name).parent().unwrap()).unwrap();
            fs::write(self.at(name), text).unwrap();
        }

        fn read(&self, name: &str) -> String {
            fs::read_to_string(self.at(name)).unwrap()
        }

        fn place(&self) -> Place {
            Place::of(self.home.path(), Path::new("backup"))
        }
    }

    const ASIDE_NOW: &str = "before-restore-1";

    /// Two restores within one second, and one that an earlier version has left half done over the same name.
    #[test]
    fn nothing_that_was_moved_aside_before_is_in_the_way_or_replaced() {
        let life = Life::new();
        for (old, wanted) in [("one", ASIDE_NOW), ("two", "before-restore-1-2")] {
            life.put("TODO.md", old);
            life.put("kept/TODO.md/1", old);
            life.put(&format!("{STAGE}/TODO.md"), "restored");
            life.place().begin(ASIDE_NOW).unwrap();
            assert_eq!(life.place().finish().unwrap().as_deref(), Some(wanted));
            let both = [life.read(&format!("{wanted}/TODO.md")), life.read("TODO.md")];
            assert_eq!(both, [old, "restored"]);
        }
        life.put("kept/TODO.md/1", "three");
        life.put(&format!("{STAGE}/TODO.md"), "restored");
        life.put(MARKS[0], ASIDE_NOW);
        life.place().finish().unwrap();
        let read = |name: &str| life.read(&format!("{ASIDE_NOW}/{name}"));
        assert_eq!([read("TODO.md"), read("TODO.md-2")], ["one", "restored"]);
        assert_eq!([read("kept/TODO.md/1"), read("kept-2/TODO.md/1")], ["one", "three"]);
    }

    #[test]
    fn the_folder_for_the_life_before_is_made_before_anything_moves_and_goes_when_it_was_not_needed()
     {
        let life = Life::new();
        life.put(&format!("{STAGE}/TODO.md"), "restored");
        life.place().begin(ASIDE_NOW).unwrap();
        assert!(life.at(ASIDE_NOW).is_dir());
        assert_eq!(life.place().finish().unwrap(), None);
        assert!(!life.at(ASIDE_NOW).exists());
        // What a kill leaves of a mark is no life.
        life.put(NEW_MARK, "before");
        assert_eq!(life.place().lives().unwrap(), ["TODO.md"]);
    }

    /// Killed between any two names and begun again, with something that somebody has made in between.
    #[test]
    fn what_somebody_makes_between_the_phases_is_moved_aside_and_a_killed_one_goes_on() {
        let life = Life::new();
        life.put("TODO.md", "old");
        for file in ["TODO.md", "kept/1"] {
            life.put(&format!("{STAGE}/{file}"), "restored");
        }
        life.place().begin(ASIDE_NOW).unwrap();
        put(&life.at("TODO.md"), &life.at(ASIDE_NOW), "TODO.md").unwrap();
        fs::rename(life.at(MARKS[0]), life.at(MARKS[1])).unwrap();
        assert!(moved(&life.at("restore.part/kept"), &life.at("kept")).unwrap());
        life.put("TODO.md", "somebody's");
        assert_eq!(life.place().finish().unwrap().as_deref(), Some(ASIDE_NOW));
        assert_eq!([life.read("TODO.md"), life.read("kept/1")], ["restored", "restored"]);
        let read = |name: &str| life.read(&format!("{ASIDE_NOW}/{name}"));
        assert_eq!([read("TODO.md"), read("TODO.md-2")], ["old", "somebody's"]);
        // Killed before its mark went.
        life.put(MARKS[1], ASIDE_NOW);
        assert_eq!(life.place().finish().unwrap().as_deref(), Some(ASIDE_NOW));
        assert!(begun(life.home.path()).is_none());
        // The next one of the same second.
        life.put(&format!("{STAGE}/TODO.md"), "once more");
        life.place().begin(ASIDE_NOW).unwrap();
        assert_eq!(life.place().finish().unwrap().as_deref(), Some("before-restore-1-2"));
        assert_eq!(read("TODO.md-2"), "somebody's");
    }
}
