//! Which files a task's tools see: THE table of roots, beside the table of tools. The first row that holds
//! decides; what it does not open is closed.

use selkie_channel_core::Audience;

use selkie_domain::facts::{Facts, Trigger, Trust};

/// A row of the table.
#[derive(Debug, PartialEq, Eq)]
pub struct Row {
    /// Its name in tests and traces.
    pub id: &'static str,
    when: When,
    /// What it opens beside the conversation's own folder of the cache, which is always open.
    pub opens: Reach,
    /// What may be read, for people: `<tool> in <setting>: …`.
    pub reads: &'static str,
    /// What may be written.
    pub writes: &'static str,
}

/// What a row opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reach {
    /// The workspace: to read and to write.
    pub workspace: Workspace,
    /// The list of the state folder that tools know: to read, and but for what defines the bot to write.
    pub state: bool,
    /// Skills, to read.
    pub skills: bool,
    /// The rest of the machine, to read.
    pub elsewhere: bool,
}

/// Which workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Workspace {
    /// None.
    No,
    /// The one that an owner has set for the place, if there is one.
    Set,
    /// Also the one that config gives.
    Any,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum When {
    Stranger,
    Webhook,
    Group,
    Allowed,
    Always,
}

/// Tools that work with files: a hook that opens none of them reads none.
const OF_FILES: &str = "apply_patch bash edit_file git_status glob grep list_files notebook_edit patch powershell process \
    read_file write_file";

/// The table. Credentials, the config and what it reads, the database and the daemon's own folders are
/// closed in every row, by device and inode: no row can open them.
pub const ROOTS: &[Row] = &[
    Row {
        id: "stranger",
        when: When::Stranger,
        opens: Reach { workspace: Workspace::No, state: false, skills: false, elsewhere: false },
        reads: "only this chat's own folder (file_cache_dir)",
        writes: "only this chat's own folder (file_cache_dir)",
    },
    Row {
        id: "webhook",
        when: When::Webhook,
        opens: Reach { workspace: Workspace::No, state: false, skills: true, elsewhere: false },
        reads: "only this chat's own folder (file_cache_dir), unless the hook's tools open files",
        writes: "only this chat's own folder (file_cache_dir), unless the hook's tools open files",
    },
    Row {
        id: "group",
        when: When::Group,
        opens: Reach { workspace: Workspace::Set, state: false, skills: true, elsewhere: false },
        reads: "only this chat's own folder (file_cache_dir), skills, and the workspace if an owner has set one here \
                with /workspace",
        writes: "only this chat's own folder (file_cache_dir), and the workspace if an owner has set one here with \
                 /workspace",
    },
    Row {
        id: "allowed",
        when: When::Allowed,
        opens: Reach { workspace: Workspace::Any, state: false, skills: true, elsewhere: false },
        reads: "only this chat's own folder (file_cache_dir), its workspace and skills",
        writes: "only this chat's own folder (file_cache_dir) and its workspace",
    },
    Row {
        id: "owner",
        when: When::Always,
        opens: Reach { workspace: Workspace::Any, state: true, skills: true, elsewhere: true },
        reads: "the workspace, this chat's own folder (file_cache_dir), the owner's files of file_state_dir, and \
                files elsewhere on this machine",
        writes: "the workspace, this chat's own folder (file_cache_dir), and the owner's files of file_state_dir \
                 but HEARTBEAT.md, persona, skills and policy",
    },
];

/// Finds the row of a task.
pub fn row(facts: &Facts) -> &'static Row {
    // The last row always holds.
    ROOTS.iter().find(|row| row.when.holds(facts)).unwrap_or(&ROOTS[0])
}

impl When {
    fn holds(self, facts: &Facts) -> bool {
        match self {
            Self::Stranger => facts.trust == Trust::Stranger,
            Self::Webhook => {
                let is_of_files = |name: &String| OF_FILES.split(' ').any(|one| one == name);
                let opens_files = facts.opened.iter().any(is_of_files);
                facts.trigger == Trigger::Webhook && !opens_files
            }
            Self::Group => facts.audience() == Audience::Group,
            Self::Allowed => facts.trust == Trust::Allowed,
            Self::Always => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn less_trust_opens_no_more() {
        let open = |reach: Reach| {
            let [state, skills, elsewhere] =
                [reach.state, reach.skills, reach.elsewhere].map(u8::from);
            (reach.workspace as u8, state.min(skills), elsewhere)
        };
        for pair in ROOTS.windows(2) {
            let (less, more) = (open(pair[0].opens), open(pair[1].opens));
            assert!(less.0 <= more.0 && less.1 <= more.1 && less.2 <= more.2, "{}", pair[1].id);
        }
        assert_eq!(ROOTS[0].when, When::Stranger, "what no row holds is what the first gives");
    }
}
