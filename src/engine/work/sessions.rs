//! The conversations that there are, as tools and people see them: listed, read, and spoken into by a task of another one.

use std::sync::Arc;

use async_trait::async_trait;
use selkie_channel_core::{Audience, ConversationId, PersonId};

use crate::delivery::account::Account;
use crate::delivery::context::Context;
use crate::delivery::outbox::Outbox;
use crate::work::conversation_log;
use crate::work::messages::sessions as messages;
use crate::work::rights::{self, Rights};
use selkie_domain::cause::Cause;
use selkie_domain::command_line;
use selkie_domain::facts::{Facts, Trigger, Trust, Where};
use selkie_domain::ids::TaskId;
use selkie_domain::taint::Taint;
use selkie_domain::words::Words;
use selkie_schedule::zone::Zone;
use selkie_store::read::{ConversationRow, ConversationStatus};
use selkie_store::{Fuse, Location, NewTask, StoreError, TaskRequest};
use selkie_tools::ToolError;
use selkie_tools::ports::{History, Sessions, TodoReport, Visitor};

/// So many of the last active conversations are known to lists, and found by their keys.
const LOOKED_THROUGH: usize = 10_000;

/// Conversations over the ledger.
pub struct SessionBook {
    pub(crate) context: Context,
    pub(crate) outbox: Arc<Outbox>,
    pub(crate) rights: Arc<Rights>,
}

/// Who looks at conversations, and from where.
#[derive(Clone, Copy)]
pub struct Viewer<'a> {
    pub(crate) here: &'a ConversationId,
    pub(crate) person: Option<&'a PersonId>,
    /// An owner alone reads what is told.
    pub sees_all: bool,
}

impl<'a> From<&'a Visitor> for Viewer<'a> {
    fn from(by: &'a Visitor) -> Self {
        Self { here: &by.conversation, person: by.person.as_ref(), sees_all: by.sees_all }
    }
}

/// Where a list of conversations is read.
#[derive(Clone, Copy)]
pub struct SessionScope<'a> {
    pub(crate) here: &'a ConversationId,
    /// By whose clocks times are told; a model reads them as they are stored.
    pub zone: Option<Zone>,
}

/// Which conversations somebody may know of.
enum View {
    All,
    /// Their own: where they speak alone with the bot, and the one that they ask in.
    Own {
        here: ConversationId,
        private: Vec<String>,
    },
}

impl View {
    fn shows(&self, account: Option<&Arc<Account>>, id: &ConversationId) -> bool {
        match self {
            Self::All => true,
            Self::Own { here, private } => {
                let place = account.map(|account| account.channel.address.place(id));
                here == id || place.is_some_and(|place| private.contains(&place.full()))
            }
        }
    }
}

#[async_trait]
impl Sessions for SessionBook {
    async fn list(&self, by: &Visitor, limit: usize) -> Result<TodoReport, ToolError> {
        let rows = self.seen(by.into()).await.map_err(|error| self.failed(&error))?;
        let others = rows.iter().take(limit).any(|row| row.id != by.conversation);
        let text = self.lines(&rows, limit, SessionScope { here: &by.conversation, zone: None });
        // What chats are called others have written.
        Ok(TodoReport { text, level: if others { Taint::Raw } else { Taint::Clean } })
    }

    async fn history(
        &self,
        by: &Visitor,
        session: &str,
        limit: usize,
    ) -> Result<History, ToolError> {
        let id = self.found(by, session).await?.id;
        let ledger = &self.context.storage.ledger;
        let of = (id != by.conversation).then_some(&id);
        if let Some(other) = of {
            // Noted before it is read: what is forgotten in between is not read any more.
            ledger.takes_from(by.task, other).await.map_err(|error| self.failed(&error))?;
        }
        let tasks = ledger.said(&id, false, limit).await;
        let entries = conversation_log::entries(tasks.map_err(|error| self.failed(&error))?);
        let newest = &entries[entries.len().saturating_sub(limit)..];
        Ok(History { text: messages::history(&id, newest), of: of.cloned() })
    }

    async fn send(&self, by: &Visitor, session: &str, content: &str) -> Result<String, ToolError> {
        let to = self.found(by, session).await?;
        if to.id == by.conversation {
            return Err(ToolError::tell(messages::is_this_one(session)));
        }
        let asker = self.asker(by)?;
        let request = self.request(by, &to, &asker, content)?;
        let runtime = &self.context.runtime;
        let fuse =
            Fuse { permits: 0, instance: runtime.instance.clone(), now: runtime.clock.now() };
        let outbox = Arc::clone(&self.outbox);
        let ledger = Arc::clone(&self.context.storage.ledger);
        let stored = async move {
            let requested = ledger.request(request, fuse).await;
            outbox.wake();
            requested
        };
        let requested = runtime.to_the_end(stored).await.map_err(|error| self.failed(&error))?;
        Ok(messages::sent(&to.id, requested.is_new))
    }

    async fn status(&self, by: &Visitor) -> Result<String, ToolError> {
        let ledger = &self.context.storage.ledger;
        let status: ConversationStatus =
            ledger.status(&by.conversation).await.map_err(|error| self.failed(&error))?;
        let tasks = ledger.said(&by.conversation, false, LOOKED_THROUGH).await;
        let entries = conversation_log::entries(tasks.map_err(|error| self.failed(&error))?);
        Ok(messages::status(&by.conversation, entries.len(), &status))
    }
}

impl SessionBook {
    /// Lists the conversations that somebody may know of, the last active first.
    pub async fn seen(&self, by: Viewer<'_>) -> Result<Vec<ConversationRow>, StoreError> {
        let view = self.view(by).await?;
        let mut rows = self.context.storage.ledger.conversations(LOOKED_THROUGH).await?;
        rows.retain(|row| view.shows(self.context.accounts.of(&row.id).as_ref(), &row.id));
        Ok(rows)
    }

    async fn view(&self, by: Viewer<'_>) -> Result<View, StoreError> {
        if by.sees_all {
            return Ok(View::All);
        }
        let here = by.here.clone();
        let account = self.context.accounts.of(&here);
        let audience = account.map(|account| account.channel.address.features(&here).audience);
        let (Some(person), Some(Audience::Direct)) = (by.person, audience) else {
            return Ok(View::Own { here, private: Vec::new() });
        };
        let accounts: Vec<_> = self.context.accounts.ids().collect();
        let last = self.context.storage.ledger.last_private(person, &accounts).await?;
        let known = self.context.accounts.private(person);
        let place = |id: ConversationId| {
            let account = self.context.accounts.of(&id)?;
            Some(account.channel.address.place(&id).full())
        };
        let private = [last, known].into_iter().flatten().filter_map(place).collect();
        Ok(View::Own { here, private })
    }

    /// Finds a conversation by its id. Of one that there is and one that is not known the same is said.
    async fn found(&self, by: &Visitor, session: &str) -> Result<ConversationRow, ToolError> {
        let rows = self.seen(by.into()).await;
        let mut rows = rows.map_err(|error| self.failed(&error))?;
        rows.retain(|row| row.id.key() == session || row.id.full() == session);
        match rows.len() {
            0 => Err(ToolError::tell(messages::not_found(session))),
            1 => Ok(rows.remove(0)),
            _ => {
                let all: Vec<String> = rows.iter().map(|row| row.id.full()).collect();
                Err(ToolError::tell(messages::several(session, &all)))
            }
        }
    }

    fn asker(&self, by: &Visitor) -> Result<PersonId, ToolError> {
        match &by.person {
            Some(person) if *person != command_line::person() => Ok(person.clone()),
            None if !command_line::is_at(&by.conversation) => {
                Err(ToolError::tell(messages::NOBODY_ASKS.to_owned()))
            }
            // Whoever works at this machine is its first owner.
            _ => self.rights.owners.first().cloned().ok_or_else(|| {
                ToolError::tell("`owners` is empty in the config, and a message needs somebody who asked for it")
            }),
        }
    }

    /// The task that the words begin: on behalf of who asked, with no more than their rights there, its words nobody's own.
    fn request(
        &self,
        by: &Visitor,
        to: &ConversationRow,
        asker: &PersonId,
        content: &str,
    ) -> Result<TaskRequest, ToolError> {
        let gone = || ToolError::tell(messages::nobody_there(&to.id));
        let account = self.context.accounts.of(&to.id).ok_or_else(gone)?;
        if account.posts_by().is_some() || to.closed.is_some() {
            return Err(gone());
        }
        let address = &account.channel.address;
        let place = address.place(&to.id);
        let there = account
            .with_allowed(|allow| rights::trust(&self.rights.owners, allow, asker, &place))
            .filter(|trust| *trust > Trust::Stranger);
        let Some(there) = there else {
            return Err(ToolError::tell(messages::not_heard_there(&to.id)));
        };
        let runtime = &self.context.runtime;
        let now = runtime.clock.now();
        let here = Where::Channel(address.features(&to.id));
        let facts = Facts {
            taint: Taint::Raw,
            trigger: Trigger::Relayed,
            ..Facts::of(here, Some(asker.clone()), by.trust.min(there), now)
        };
        let cause = match command_line::is_at(&by.conversation) && by.task == TaskId(0) {
            // A call by hand belongs to no task: each is meant.
            true => Cause::CommandLine { id: uuid::Uuid::now_v7().to_string() },
            false => Cause::Conversation { task: by.task, call: by.call.clone() },
        };
        let words = Words {
            name: by.name.clone(),
            note: messages::RELAYED.to_owned(),
            ..Words::said(asker.clone(), now, runtime.redactor.clean(content))
        };
        Ok(TaskRequest {
            location: Location { conversation: to.id.clone(), place, title: String::new() },
            order: now.timestamp_micros(),
            task: NewTask::new(cause, facts),
            words,
        })
    }

    /// Writes a line for each of the first `limit` conversations, and how many there are besides.
    pub fn lines(
        &self,
        rows: &[ConversationRow],
        limit: usize,
        listing: SessionScope<'_>,
    ) -> String {
        let SessionScope { here, zone } = listing;
        let kind = |row: &ConversationRow| {
            let account = self.context.accounts.of(&row.id)?;
            let features = account.channel.address.features(&row.id);
            Some(format!("{}:{}", features.channel, features.kind))
        };
        let line = |row: &ConversationRow| {
            let (kind, is_here) = (kind(row), row.id == *here);
            messages::line(row, &messages::SessionStyle { kind: kind.as_deref(), is_here, zone })
        };
        let lines: Vec<String> = rows.iter().take(limit).map(line).collect();
        messages::list(&lines, rows.len().saturating_sub(limit))
    }

    fn failed(&self, error: &StoreError) -> ToolError {
        self.context.storage.trouble(error);
        ToolError::Abort(error.to_string())
    }
}
