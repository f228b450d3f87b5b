//! Gives what root's commands make in the folders of somebody else's selkie to whom the state folder belongs: the
//! daemon, which runs as them, could not use it.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use rustix::fs::{AtFlags, CWD, Dir, FileType, Gid, Mode, OFlags, Stat, Uid};
use rustix::io::Errno;

use super::args::Command;
use selkie_app::Binary;
use selkie_app::build::{ConfigChoice, sources};
use selkie_config::read;
use selkie_domain::clock::{Clock as _, SystemClock};

/// Times of files lag behind the clock, and some hold whole seconds: by so many at most.
const LAG: i64 = 2;
/// Folders lie less deep.
const DEEPEST: usize = 64;

/// Waits for the end of a command that root runs.
pub struct RootCommand {
    folders: Vec<PathBuf>,
    since: i64,
}

impl RootCommand {
    /// Notes the moment from which on things are new. `None` where nothing is to be given to anybody.
    ///
    /// # Errors
    /// When the state folder is somebody else's, and what is in it leads root elsewhere.
    pub fn before(
        binary: &Binary,
        chosen: &ConfigChoice,
        command: &Command,
    ) -> anyhow::Result<Option<Self>> {
        let is_elsewhere = matches!(command, Command::Demo(_) | Command::Service(_));
        let owned = if is_elsewhere { None } else { Self::of(binary, chosen)? };
        Ok(owned.filter(|_| !matches!(command, Command::Run)))
    }

    /// The same for whatever is done from here on.
    ///
    /// # Errors
    /// When the state folder is somebody else's, and what is in it leads root elsewhere.
    pub fn of(binary: &Binary, chosen: &ConfigChoice) -> anyhow::Result<Option<Self>> {
        if !rustix::process::geteuid().is_root() {
            return Ok(None);
        }
        // What is wrong with the config the command itself tells.
        let config = read(&sources(binary, chosen), &binary.kits).ok();
        let Some(found) = config.and_then(|config| config.folders()) else { return Ok(None) };
        let folders = found.folders;
        leads_nowhere_else(&folders.state)?;
        let since = SystemClock.now().timestamp() - LAG;
        Ok(Some(Self { folders: vec![folders.state, folders.cache], since }))
    }

    /// Gives what has come since then, and is root's, to the state folder's owner.
    ///
    /// # Errors
    /// When something cannot be given; says what to do.
    pub fn hand_over(&self) -> anyhow::Result<()> {
        let [state, ..] = &self.folders[..] else { return Ok(()) };
        let Some(owner) = fs::metadata(state).ok().filter(|owner| owner.uid() != 0) else {
            return Ok(());
        };
        let to = To {
            uid: Uid::from_raw(owner.uid()),
            gid: Gid::from_raw(owner.gid()),
            since: self.since,
        };
        self.folders.iter().try_for_each(|folder| to.give_all(folder)).with_context(|| {
            let state = state.display();
            format!(
                "files that root has made cannot be given to the owner of {state}: run `chown -R --reference={state} {state}`"
            )
        })
    }
}

/// Refuses a state folder of somebody else in which a link leads to what is not theirs: root would write there.
fn leads_nowhere_else(state: &Path) -> anyhow::Result<()> {
    let Some(owner) = fs::metadata(state).ok().map(|owner| owner.uid()).filter(|uid| *uid != 0)
    else {
        return Ok(());
    };
    for entry in fs::read_dir(state)? {
        let entry = entry?;
        let is_theirs = |path: &Path| fs::metadata(path).is_ok_and(|to| to.uid() == owner);
        anyhow::ensure!(
            !entry.file_type()?.is_symlink() || is_theirs(&entry.path()),
            "{} is a link to what does not belong to the state folder's owner (user {owner}), and root would write there: \
             remove it, or run this as that user",
            entry.path().display()
        );
    }
    Ok(())
}

/// Who gets it, and from when on it is new.
struct To {
    uid: Uid,
    gid: Gid,
    since: i64,
}

impl To {
    fn give_all(&self, folder: &Path) -> Result<(), Errno> {
        // The folder itself may be named through a link: below it none is followed.
        match fs::canonicalize(folder) {
            Ok(real) => self.give(CWD, &real, DEEPEST),
            Err(_) => Ok(()),
        }
    }

    /// What is looked at is what is given: the folder's owner may put anything in its place meanwhile.
    fn give<F: rustix::fd::AsFd, P: rustix::path::Arg>(
        &self,
        at: F,
        name: P,
        deep: usize,
    ) -> Result<(), Errno> {
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let found = match rustix::fs::openat(at, name, flags, Mode::empty()) {
            Err(Errno::NOENT) => return Ok(()),
            found => found?,
        };
        let stat = rustix::fs::fstat(&found)?;
        let is_folder = FileType::from_raw_mode(stat.st_mode) == FileType::Directory;
        if self.is_roots_and_new(&stat) && (is_folder || stat.st_nlink == 1) {
            let uid = Some(self.uid);
            let gid = Some(self.gid);
            rustix::fs::chownat(&found, "", uid, gid, AtFlags::EMPTY_PATH)?;
        }
        if !is_folder || deep == 0 {
            return Ok(());
        }
        let listed = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder = rustix::fs::openat(&found, ".", listed, Mode::empty())?;
        for entry in Dir::read_from(&folder)? {
            let entry = entry?;
            if ![c".", c".."].contains(&entry.file_name()) {
                self.give(&folder, entry.file_name(), deep - 1)?;
            }
        }
        Ok(())
    }

    /// What root has put there before, it may have meant so.
    fn is_roots_and_new(&self, stat: &Stat) -> bool {
        stat.st_uid == 0 && stat.st_ctime >= self.since
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{chown, symlink};

    use super::*;

    const NOBODY: u32 = 65534;

    #[test]
    fn root_follows_no_link_that_leads_out_of_the_owners_things() {
        if !rustix::process::geteuid().is_root() {
            eprintln!("NOT TESTED: only root gives files away");
            return;
        }
        let home = tempfile::tempdir().unwrap();
        let [state, roots, theirs] = ["s", "roots", "theirs"].map(|name| home.path().join(name));
        for folder in [&state, &roots, &theirs] {
            fs::create_dir(folder).unwrap();
        }
        chown(&theirs, Some(NOBODY), Some(NOBODY)).unwrap();
        symlink(&roots, state.join("kept")).unwrap();
        leads_nowhere_else(&state).expect("root's own folder");
        chown(&state, Some(NOBODY), Some(NOBODY)).unwrap();
        let why = leads_nowhere_else(&state).unwrap_err().to_string();
        assert!(why.contains("s/kept is a link"), "{why}");
        fs::remove_file(state.join("kept")).unwrap();
        symlink(&theirs, state.join("kept")).unwrap();
        leads_nowhere_else(&state).expect("their own");
        symlink(home.path().join("none"), state.join("run")).unwrap();
        leads_nowhere_else(&state).expect_err("it would be made");
    }

    #[test]
    fn what_is_new_and_roots_is_given_and_nothing_else() {
        if !rustix::process::geteuid().is_root() {
            eprintln!("NOT TESTED: only root gives files away");
            return;
        }
        let home = tempfile::tempdir().unwrap();
        let [state, cache] = ["s", "c"].map(|name| home.path().join(name));
        let outside = home.path().join("outside");
        for folder in [&state.join("kept/deep"), &cache.join("media"), &outside] {
            fs::create_dir_all(folder).unwrap();
        }
        for file in [state.join("kept/deep/file"), outside.join("file"), state.join("linked")] {
            fs::write(file, "").unwrap();
        }
        fs::write(state.join("others"), "").unwrap();
        chown(state.join("others"), Some(1), Some(1)).unwrap();
        symlink(&outside, state.join("link")).unwrap();
        fs::hard_link(state.join("linked"), home.path().join("linked")).unwrap();
        let owned = |since| RootCommand { folders: vec![state.clone(), cache.clone()], since };
        let uid = |path: &Path| fs::symlink_metadata(path).unwrap().uid();
        owned(0).hand_over().unwrap();
        assert_eq!(uid(&cache), 0, "root's own folder stays root's");
        chown(&state, Some(NOBODY), Some(NOBODY)).unwrap();
        owned(i64::MAX).hand_over().unwrap();
        assert_eq!(uid(&cache), 0, "it was there before");
        owned(0).hand_over().unwrap();
        for name in ["s/kept", "s/kept/deep", "s/kept/deep/file", "s/link", "c", "c/media"] {
            assert_eq!(uid(&home.path().join(name)), NOBODY, "{name}");
        }
        for (name, stays) in [("s/others", 1), ("outside", 0), ("outside/file", 0), ("linked", 0)] {
            assert_eq!(uid(&home.path().join(name)), stays, "{name}");
        }
    }
}
