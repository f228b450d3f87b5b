//! Folders of skills: read wherever skills are loaded, never written, and no cleaner than who reviewed them says.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use selkie_domain::taint::Taint;

/// What of a checkout nobody reviews.
const UNSEEN: &str = ".git";

/// The folders of the skills that a task has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SkillFolders(Arc<[SkillFolder]>);

/// The folder of a skill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillFolder {
    /// Its real path.
    pub path: PathBuf,
    /// Whose words its files hold.
    pub level: Taint,
    /// When a file of it was last changed, as it was seen: seconds and nanoseconds. A file that has changed since is
    /// somebody's.
    pub changed: [i64; 2],
}

impl SkillFolders {
    /// These.
    pub fn of(folders: impl Iterator<Item = SkillFolder>) -> Self {
        Self(folders.collect())
    }

    /// Returns their real paths.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.0.iter().map(|folder| folder.path.as_path())
    }

    /// Whether a real path lies in one of them.
    pub(crate) fn hold(&self, real: &Path) -> bool {
        self.around(real).is_some()
    }

    /// Returns the level of a file of one of them; nothing for any other.
    pub(super) fn level(&self, real: &Path, file: &Metadata) -> Option<Taint> {
        let folder = self.around(real)?;
        let is_unseen = real.components().any(|part| part.as_os_str() == UNSEEN);
        let is_newer = file.is_file() && [file.ctime(), file.ctime_nsec()] > folder.changed;
        Some(if is_unseen || is_newer { Taint::Raw } else { folder.level })
    }

    fn around(&self, real: &Path) -> Option<&SkillFolder> {
        self.0.iter().find(|folder| real.starts_with(&folder.path))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::paths::{Finder, Level, Roots, of_command};
    use crate::testkit::Folders;
    use selkie_domain::facts::Trust;

    /// The roots of somebody whom the state folder is closed to, with these skills.
    fn roots(folders: &Folders, skills: &[(&str, Taint)]) -> Roots {
        let all = skills.iter().map(|(path, level)| {
            let path = folders.at(path);
            let file = fs::metadata(path.join("SKILL.md")).unwrap();
            SkillFolder { path, level: *level, changed: [file.ctime(), file.ctime_nsec()] }
        });
        let level = Level::of_task(Taint::Clean, Trust::Allowed);
        Roots { state: None, level, skills: SkillFolders::of(all), ..folders.roots() }
    }

    #[test]
    fn a_skill_is_read_and_never_written_and_keeps_its_level() {
        let folders = Folders::new();
        for path in
            ["state/skills/new/SKILL.md", "state/skills/x/notes.md", "state/skills/tea/a/b.md"]
        {
            folders.put(path, "x");
        }
        folders.put("state/skills/tea/SKILL.md", "x");
        let skills = [("state/skills/tea", Taint::Clean), ("state/skills/new", Taint::Raw)];
        let roots = roots(&folders, &skills);
        let find = Finder { tool: "read_file", roots: &roots, deny: &[] };
        let read = |path: &str| {
            let roots =
                Roots { level: Level::of_task(Taint::Clean, Trust::Allowed), ..roots.clone() };
            let find = Finder { roots: &roots, ..find };
            find.existing(path)
                .map(|found| drop(found.open().unwrap()))
                .map_err(|why| why.to_string())?;
            Ok::<_, String>(roots.level.read())
        };
        let whole = folders.at("state/skills/tea/a/b.md").display().to_string();
        assert_eq!(read("file_state_dir/skills/tea/a/b.md"), Ok(Taint::Clean));
        assert_eq!(read(&whole), Ok(Taint::Clean));
        assert_eq!(read("file_state_dir/skills/new/SKILL.md"), Ok(Taint::Raw));
        for closed in
            ["file_state_dir/skills/x/notes.md", "file_state_dir/skills/tea/../../TODO.md"]
        {
            assert!(
                read(closed).unwrap_err().contains("file_state_dir is closed here"),
                "{closed}"
            );
        }
        for path in [whole.as_str(), "file_state_dir/skills/tea/new.md"] {
            let why = find.writable(path).unwrap_err().to_string();
            assert!(why.contains("tools do not") || why.contains("closed here"), "{why}");
        }
        let cmd = |path: &str| of_command(&format!("cat {path}"), &folders.at("work"), &roots);
        assert_eq!(cmd(&whole), Taint::Clean);
        assert_eq!(cmd(&folders.at("state/skills/new/SKILL.md").display().to_string()), Taint::Raw);
        // A file that has changed since it was looked at is nobody's who reviewed it.
        let before = SkillFolder {
            path: folders.at("state/skills/tea"),
            level: Taint::Clean,
            changed: [0, 0],
        };
        let skills = SkillFolders::of(std::iter::once(before));
        let later = Roots { skills, level: Level::default(), ..roots.clone() };
        let find = Finder { roots: &later, ..find };
        find.existing(&whole).unwrap().open().unwrap();
        assert_eq!(later.level.read(), Taint::Raw);
    }

    #[test]
    fn what_lies_among_the_skills_and_is_none_is_others_words_to_an_owner_too() {
        let folders = Folders::new();
        folders.put("state/skills/x/notes.md", "x");
        let roots = folders.roots();
        let find = Finder { tool: "read_file", roots: &roots, deny: &[] };
        find.existing("file_state_dir/skills/x/notes.md").unwrap().open().unwrap();
        assert_eq!(roots.level.read(), Taint::Raw);
    }
}
