//! Makes the scope of a call: what it may touch, from the facts and the shape of its task.

use std::sync::Arc;
use std::time::Duration;

use selkie_channel_core::Audience;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::work::workspace::{self, Workspaces, own_folder};
use selkie_domain::clock::SharedClock;
use selkie_domain::command_line;
use selkie_domain::facts::{Facts, Where};
use selkie_people::update::Conversations;
use selkie_sandbox::Confinement;
use selkie_shape::Shape;
use selkie_shape::roots::{Reach, Workspace};
use selkie_skills::SkillBook;
use selkie_store::TaskClaim;
use selkie_tools::asked::{Speaker, UserText};
use selkie_tools::memory::port::Memory;
use selkie_tools::paths::{Level, Lists, Roots, SkillFolders};
use selkie_tools::ports::{
    Addressees, Agents, Asker, Modes, Permissions, PostFiles, Progress, Reply, Sessions, Studio,
    Timetable, TodoFile, Todos,
};
use selkie_tools::scope::{Outward, Scope};

/// No call of a tool takes longer.
const MAX_CALL: Duration = Duration::from_secs(120);

/// Makes scopes.
#[derive(Clone)]
pub struct Scopes {
    pub(crate) todos: Arc<dyn Todos>,
    pub(crate) todo_file: Arc<dyn TodoFile>,
    pub(crate) memory: Arc<dyn Memory>,
    pub(crate) skills: Arc<SkillBook>,
    pub(crate) timetable: Arc<dyn Timetable>,
    pub(crate) post_files: Arc<dyn PostFiles>,
    pub(crate) studio: Arc<dyn Studio>,
    pub(crate) addressees: Arc<dyn Addressees>,
    pub(crate) sessions: Arc<dyn Sessions>,
    pub(crate) agents: Arc<dyn Agents>,
    pub(crate) modes: Arc<dyn Modes>,
    pub(crate) workspaces: Workspaces,
    pub(crate) lists: Lists,
    pub(crate) conversations: Arc<dyn Conversations>,
    pub(crate) clock: SharedClock,
}

/// Where a task speaks and tells how far it is, and what ends it.
pub struct Ports {
    pub(crate) reply: Arc<dyn Reply>,
    pub(crate) progress: Arc<dyn Progress>,
    pub(crate) asker: Arc<dyn Asker>,
    pub(crate) cancel: CancellationToken,
}

impl Scopes {
    /// Makes the scope of one call.
    pub fn make(
        &self,
        claimed: &TaskClaim,
        facts: &Facts,
        shape: &Shape,
        call: &str,
        at: &Ports,
    ) -> Scope {
        Scope {
            task: claimed.claim.task,
            call: call.to_owned(),
            conversation: claimed.conversation.clone(),
            agent: facts.parent.as_ref().map(|parent| parent.name.clone()),
            message: facts.message.clone(),
            speaker: facts.speaker.clone(),
            is_private: facts.audience() == Audience::Direct,
            trust: facts.trust,
            mode: facts.mode,
            trigger: facts.trigger,
            taint: facts.taint,
            outward: Outward::Free,
            approved: None,
            earlier: Arc::default(),
            plan: None,
            given: Vec::new(),
            kept: None,
            roots: Roots {
                confinement: shape.confinement,
                ..self.roots(claimed, facts, shape.roots.opens)
            },
            reply: Arc::clone(&at.reply),
            tools: Arc::clone(shape.registry.block()),
            progress: Arc::clone(&at.progress),
            todos: Arc::clone(&self.todos),
            todo_file: Arc::clone(&self.todo_file),
            memory: Arc::clone(&self.memory),
            skills: Arc::clone(&self.skills) as _,
            own_memory: claimed.agent.as_ref().and_then(|agent| agent.memory.clone()),
            asked: Arc::new(asked(claimed)),
            timetable: Arc::clone(&self.timetable),
            addressees: Arc::clone(&self.addressees),
            sessions: Arc::clone(&self.sessions),
            agents: Arc::clone(&self.agents),
            begun: Vec::new(),
            post_files: Arc::clone(&self.post_files),
            studio: Arc::clone(&self.studio),
            modes: Arc::clone(&self.modes),
            permissions: Permissions {
                asker: Arc::clone(&at.asker),
                of: shape.registry.approvers(),
                halts: Arc::default(),
            },
            spent: Arc::default(),
            deadline: Instant::now() + MAX_CALL,
            task_deadline: Instant::now() + Duration::from_secs(24 * 60 * 60),
            cancel: at.cancel.clone(),
            clock: Arc::clone(&self.clock),
        }
    }

    fn roots(&self, claimed: &TaskClaim, facts: &Facts, opens: Reach) -> Roots {
        let at_terminal = matches!(facts.place, Where::CommandLine { .. });
        let workspace = match (opens.workspace, at_terminal) {
            (Workspace::No, _) | (Workspace::Set, true) => None,
            (Workspace::Any, true) => workspace::of_agent(claimed)
                .or_else(|| command_line::workspace(&claimed.conversation)),
            (opened, false) => self.workspaces.of(claimed, facts.trust, opened == Workspace::Set),
        };
        let Workspaces { state_dir, cache_dir, ours, .. } = &self.workspaces;
        Roots {
            cache: cache_dir.clone(),
            own: cache_dir.join(own_folder(claimed.place_row)),
            state: opens.state.then(|| state_dir.clone()),
            workspace,
            elsewhere: opens.elsewhere,
            skills: if opens.skills {
                self.skills.folders(facts.trust)
            } else {
                SkillFolders::default()
            },
            confinement: Confinement::default(),
            lists: self.lists(claimed, facts),
            level: Level::of_task(facts.taint, facts.trust).noting(&self.workspaces.commands),
            ours: ours.clone(),
        }
    }
}

impl Scopes {
    /// The lists, as far as an owner alone reads them: nobody else has written the items of that chat.
    fn lists(&self, claimed: &TaskClaim, facts: &Facts) -> Lists {
        match facts.is_owner_alone() {
            true => self.lists.seen_from(self.conversations.chat(&claimed.conversation)),
            false => self.lists.clone(),
        }
    }
}

/// What people wrote that a task answers: their messages, or the words it has instead of one.
fn asked(claimed: &TaskClaim) -> UserText {
    let mut asked = UserText::default();
    // What an agent says nobody has written.
    let own = claimed.words.as_ref().map(|words| match words.agent {
        Some(_) => String::new(),
        None => words.letter(claimed.facts.trigger).own,
    });
    let words = claimed.words.iter().zip(&own);
    let words = words.map(|(words, own)| (&words.person, &words.name, own));
    let heard = claimed.heard.iter().map(|(_, m)| (&m.speaker.id, &m.speaker.name, &m.text));
    for (id, name, text) in words.chain(heard) {
        if !asked.text.is_empty() {
            asked.text.push('\n');
        }
        asked.text.push_str(text);
        if !asked.people.iter().any(|other| other.id == *id) {
            asked.people.push(Speaker { id: id.clone(), name: name.clone() });
        }
    }
    asked
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::flow::testing;
    use crate::work::records::Records;
    use crate::work::workspace::WorkspaceSettings;
    use selkie_domain::clock::SystemClock;
    use selkie_domain::owners::Owners;
    use selkie_tools::paths::Ours;

    #[test]
    fn a_closed_shape_leaves_the_own_folder_alone() {
        let context = testing::desk().context;
        let records = Arc::new(Records {
            storage: Arc::clone(&context.storage),
            accounts: Arc::clone(&context.accounts),
            acquaintances: testing::acquaintances(&context),
            owners: Owners::default(),
        });
        let scopes = Scopes {
            todos: Arc::clone(&records) as _,
            todo_file: Arc::new(selkie_tools::absent::NoTodoFile),
            memory: Arc::new(selkie_tools::absent::NoMemory),
            skills: Arc::new(SkillBook::new(
                "/s".into(),
                &selkie_skills::Settings::default(),
                Arc::clone(&context.storage.ledger),
            )),
            timetable: Arc::new(selkie_tools::absent::NoTimetable),
            post_files: Arc::new(selkie_tools::absent::NoPostFiles),
            studio: Arc::new(selkie_tools::absent::NoStudio),
            addressees: Arc::new(selkie_tools::absent::NoAddressees),
            sessions: Arc::new(selkie_tools::absent::NoSessions),
            agents: Arc::new(selkie_tools::absent::NoAgents),
            conversations: Arc::clone(&records) as _,
            modes: records,
            workspaces: Workspaces {
                settings: WorkspaceSettings::default(),
                state_dir: "/s".into(),
                cache_dir: "/c".into(),
                ours: Ours::default(),
                commands: Arc::default(),
            },
            lists: Lists::default(),
            clock: Arc::new(SystemClock),
        };
        let mut claimed = testing::claimed(1, &testing::message("tg:1", "hi"));
        claimed.place_row = 7;
        claimed.conversation = command_line::conversation(std::path::Path::new("/home/me"));
        claimed.facts.place = Where::CommandLine { terminal: true };
        let opens = |id| selkie_shape::roots::ROOTS.iter().find(|row| row.id == id).unwrap().opens;
        let open = scopes.roots(&claimed, &claimed.facts, opens("owner"));
        assert_eq!(open.own, PathBuf::from("/c/c7"));
        assert_eq!(open.workspace, Some("/home/me".into()));
        assert!(open.elsewhere && open.state.is_some());
        let closed = scopes.roots(&claimed, &claimed.facts, opens("group"));
        assert_eq!((closed.state, closed.workspace, closed.elsewhere), (None, None, false));
    }
}
