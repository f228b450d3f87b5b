//! What the command line asks of selkie, and the one function that answers it: in the daemon, or in the command's own
//! process where none runs.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::answered::NotDone;
use crate::app::App;
use crate::approvals::decide;
use crate::backup::{ResumeReport, resume};
use crate::forgetting::{ForgetReport, forget};
use crate::manual_tool_call::{self, ByHand, CallReport};
use crate::pairing::{self, OpenCode, Pairings};
use crate::people::{self, DoubtfulTodos, Todos};
use crate::posts::{self, PostEdit};
use crate::schedules::{self, ImportResult, New, import};
use crate::sessions::{self, values};
use selkie_domain::approval::Verdict;
use selkie_domain::ids::ScheduleId;
use selkie_domain::schedule::Wish;
use selkie_engine::delivery::say::SayOutcome;
use selkie_engine::terminal::ask::{Ask, Reply};
use selkie_people::book::ContactList;
use selkie_people::files::{Doubtful, Version};
use selkie_people::undone::RestoredVersion;
use selkie_schedule::post_view::PostView;
use selkie_schedule::view::{Time, View};
use selkie_schedule::zone::Zone;
use selkie_store::{ApprovalRow, WaitingThen};
use selkie_tools::ports::Silent;

/// What is asked.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "a field is what the command calls it")]
pub enum Request {
    /// The zone that times are read in.
    Zone,
    /// The owner's own words in a conversation.
    Say { to: String, text: String },
    /// The answer of somebody at a terminal.
    Answer { question: String, reply: Ask },
    /// Calls of tools by hand.
    Call(Box<ByHand>),
    /// What waits for approval, and who is muted.
    Approvals,
    /// A decision about the approval with this code, or key.
    Decide { code: String, verdict: Verdict },
    /// A code that makes an owner, in the place of the one before.
    OpenPairing,
    /// Who was paired, and who asks to be.
    Paired,
    /// A stranger with this code is let in.
    ApprovePairing { code: String },
    /// Somebody is no longer what pairing made them.
    Unpair { person: String },
    /// Schedules; those that are over, too.
    Schedules { all: bool },
    /// One schedule.
    Schedule { id: ScheduleId },
    /// A new schedule.
    AddSchedule(Box<New>),
    /// All of these schedules, or none where one cannot be; in a preview they are looked at alone.
    ImportSchedules { all: Vec<New>, preview: bool },
    /// A schedule is removed, waits, or goes on.
    WishSchedule { id: ScheduleId, wish: Wish },
    /// A schedule comes due now.
    RunSchedule { id: ScheduleId },
    /// The newest times of a schedule.
    Times { id: ScheduleId, limit: usize },
    /// Drafts, scheduled posts, and the newest that went out or did not.
    Posts,
    /// One post.
    Post { id: String },
    /// A post is not posted.
    CancelPost { id: String },
    /// A post that was refused, or is unclear, is tried once more.
    RetryPost { id: String },
    /// A scheduled post gets other words, or another time.
    EditPost { id: String, edit: PostEdit },
    /// Everybody whom the bot knows.
    Contacts,
    /// One of them, by id or name.
    Contact { who: String },
    /// One contact goes into another.
    MergeContacts { from: String, into: String },
    /// What people want done.
    Todos,
    /// What of it may be others' words.
    DoubtfulTodos,
    /// These items are the owner's own words, or those of the chat that they name.
    TrustTodos { items: Vec<Doubtful> },
    /// The earlier versions of a file of the state folder.
    Versions { file: String },
    /// An earlier version, else the newest, takes the place of a file.
    Undo { file: String, to: Option<String> },
    /// The conversations, the last active first.
    Sessions { limit: usize },
    /// All that is kept of what was said in one.
    Session { id: String },
    /// The newest tasks.
    Tasks { limit: usize },
    /// The chains of what is so named.
    Trace { message: String },
    /// Somebody is forgotten, or it is only looked at what there is of them.
    Forget { who: String, only_look: bool },
    /// A restored life goes on, or it is only looked at what is held.
    Resume { only_look: bool, waiting: Option<WaitingThen> },
}

/// What is answered.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the types say what they hold")]
pub enum Response {
    /// What came of it, for people.
    Said(String),
    /// What became of words that were said somewhere.
    Told(SayOutcome),
    Zone(Zone),
    Reply(Reply),
    Called(Vec<CallReport>),
    Approvals {
        open: Vec<ApprovalRow>,
        muted: Vec<ApprovalRow>,
    },
    Code(OpenCode),
    Paired(Pairings),
    Schedules(Vec<View>),
    Imported(ImportResult),
    Times(Vec<Time>),
    Posts(Vec<PostView>),
    Contacts(ContactList),
    Todos(Todos),
    DoubtfulTodos(DoubtfulTodos),
    /// So many items are the owner's now.
    Trusted(usize),
    Versions(Vec<Version>),
    Undone(RestoredVersion),
    /// Conversations, words, tasks or chains.
    Rows(Vec<Value>),
    Forgotten(Box<ForgetReport>),
    Resumed(ResumeReport),
}

impl Request {
    /// Answers it.
    ///
    /// # Errors
    /// What stands against it.
    pub async fn answer(self, app: &App) -> Result<Response, NotDone> {
        let flow = &*app.flow;
        let ledger = &*app.ledger;
        Ok(match self {
            Self::Zone => Response::Zone(app.plan.zone),
            Self::Say { to, text } => Response::Told(flow.say(&to, &text).await?),
            Self::Answer { question, reply } => {
                Response::Reply(flow.answer(&question, reply).await?)
            }
            Self::Call(calls) => {
                Response::Called(manual_tool_call::call(app, &calls, Arc::new(Silent)).await)
            }
            Self::Approvals => Response::Approvals {
                open: ledger.approvals(None).await?,
                muted: ledger.muted().await?,
            },
            Self::Decide { code, verdict } => Response::Said(decide(flow, &code, verdict).await?),
            Self::OpenPairing => Response::Code(pairing::open(flow).await?),
            Self::Paired => Response::Paired(pairing::list(flow).await?),
            Self::ApprovePairing { code } => Response::Said(pairing::let_in(flow, &code).await?),
            Self::Unpair { person } => Response::Said(pairing::remove(flow, &person).await?),
            Self::Schedules { all } => Response::Schedules(schedules::list(flow, all).await?),
            Self::Schedule { id } => Response::Schedules(schedules::show(flow, id).await?),
            Self::AddSchedule(new) => Response::Schedules(schedules::add(flow, *new).await?),
            Self::ImportSchedules { all, preview } => {
                Response::Imported(import(flow, all, preview).await?)
            }
            Self::WishSchedule { id, wish } => {
                Response::Schedules(schedules::wish(flow, id, wish).await?)
            }
            Self::RunSchedule { id } => Response::Schedules(schedules::run(flow, id).await?),
            Self::Times { id, limit } => Response::Times(schedules::times(flow, id, limit).await?),
            Self::Posts => Response::Posts(posts::list(flow).await?),
            Self::Post { id } => Response::Posts(posts::show(flow, &id).await?),
            Self::CancelPost { id } => Response::Posts(posts::cancel(flow, &id).await?),
            Self::RetryPost { id } => Response::Posts(posts::retry(flow, &id).await?),
            Self::EditPost { id, edit } => Response::Posts(posts::edit(flow, &id, edit).await?),
            Self::Contacts => Response::Contacts(people::list(flow).await?),
            Self::Contact { who } => Response::Contacts(people::show(flow, &who).await?),
            Self::MergeContacts { from, into } => {
                Response::Contacts(people::merge(flow, &from, &into).await?)
            }
            Self::Todos => Response::Todos(people::todos(flow).await?),
            Self::DoubtfulTodos => Response::DoubtfulTodos(people::doubtful(flow).await?),
            Self::TrustTodos { items } => Response::Trusted(people::trust(flow, items).await?),
            Self::Versions { file } => Response::Versions(people::versions(flow, &file).await?),
            Self::Undo { file, to } => Response::Undone(people::undo(flow, &file, to).await?),
            Self::Sessions { limit } => Response::Rows(sessions::list(ledger, limit).await?),
            Self::Session { id } => Response::Rows(sessions::said(ledger, &id).await?),
            Self::Tasks { limit } => Response::Rows(values(&ledger.tasks(None, limit).await?)?),
            Self::Trace { message } => Response::Rows(values(&ledger.trace(&message).await?)?),
            Self::Forget { who, only_look } => {
                Response::Forgotten(Box::new(forget(flow, who, only_look).await?))
            }
            Self::Resume { only_look, waiting } => {
                Response::Resumed(resume(flow, only_look, waiting).await?)
            }
        })
    }

    /// Why only a running daemon can do it.
    pub fn needs_daemon(&self) -> Option<&'static str> {
        match self {
            Self::RunSchedule { .. } => {
                Some("selkie is not running: start it, then run the schedule")
            }
            // What names none is told without one.
            Self::RetryPost { id } if posts::names_a_post(id) => {
                Some("selkie is not running: start it, then try the post again")
            }
            _ => None,
        }
    }

    /// Whether it may be the first that is done in a state folder. For a look none is made.
    pub fn may_be_first(&self) -> bool {
        // The first code is made before the first start.
        matches!(self, Self::AddSchedule(_) | Self::ImportSchedules { .. } | Self::OpenPairing)
    }
}
