//! Where messages stand that change while a task works: the verbs of [`StatusMessages`].

use async_trait::async_trait;
use selkie_channel_core::{AccountId, ConversationId, MessageRef};

use super::rows::{json, read_json};
use crate::error::Result;
use crate::sql::{Plan, SqlLedger};
use crate::status::{StatusChange, StatusMessages, StatusNote, Stray};
use crate::tx::Tx;
use crate::value::params;
use selkie_domain::ids::TaskId;

#[async_trait]
impl StatusMessages for SqlLedger {
    async fn note_status(&self, of: StatusChange, task: TaskId, noted: StatusNote) -> Result<()> {
        let part = noted.part.as_ref().map(json).transpose()?;
        self.write(Plan::RELAXED.after(&task.0), move |tx| {
            let message = noted.message.as_ref().map(MessageRef::as_str);
            match of {
                StatusChange::Status => tx.execute_later(
                    "INSERT INTO status_message (task, message) VALUES (?1, ?2)
                     ON CONFLICT (task) DO UPDATE SET message = excluded.message",
                    params![task.0, message],
                ),
                StatusChange::Answer => tx.execute_later(
                    "INSERT INTO streamed_message (task, message, part) VALUES (?1, ?2, ?3)
                     ON CONFLICT (task) DO UPDATE SET message = excluded.message, part = excluded.part",
                    params![task.0, message, part.as_deref()],
                ),
            }
        })
        .await
    }

    async fn forget_status(&self, of: StatusChange, task: TaskId) -> Result<()> {
        self.write(Plan::RELAXED.after(&task.0), move |tx| forget(tx, of, task.0)).await
    }

    async fn noted_status(&self, of: StatusChange, task: TaskId) -> Result<Option<StatusNote>> {
        let sql = match of {
            StatusChange::Status => "SELECT message, NULL FROM status_message WHERE task = ?1",
            StatusChange::Answer => "SELECT message, part FROM streamed_message WHERE task = ?1",
        };
        self.write(Plan::RELAXED.after(&task.0), move |tx| {
            tx.optional(sql, params![task.0], |row| {
                let message: Option<String> = row.get(0)?;
                let part: Option<String> = row.get(1)?;
                let part =
                    part.map(|part| read_json("streamed_message", task.0, &part)).transpose()?;
                Ok(StatusNote { message: message.map(MessageRef::new), part })
            })
        })
        .await
    }

    async fn stray_statuses(&self, of: StatusChange) -> Result<Vec<Stray>> {
        let sql = match of {
            StatusChange::Status => {
                "SELECT s.task, c.account, c.key, s.message FROM status_message s
                 JOIN task t ON t.id = s.task JOIN conversation c ON c.id = t.conversation
                 WHERE t.state IN ('done', 'failed', 'stopped') ORDER BY s.task"
            }
            StatusChange::Answer => {
                "SELECT s.task, c.account, c.key, s.message FROM streamed_message s
                 JOIN task t ON t.id = s.task JOIN conversation c ON c.id = t.conversation
                 WHERE t.state IN ('done', 'failed', 'stopped') ORDER BY s.task"
            }
        };
        self.write(Plan::RELAXED, move |tx| {
            tx.all(sql, params![], |row| {
                let account: String = row.get(1)?;
                let key: String = row.get(2)?;
                let message: Option<String> = row.get(3)?;
                Ok(Stray {
                    task: TaskId(row.get(0)?),
                    conversation: ConversationId::new(AccountId::new(account), key),
                    message: message.map(MessageRef::new),
                })
            })
        })
        .await
    }
}

/// Forgets such a message of a task.
pub(super) fn forget(tx: &mut dyn Tx, of: StatusChange, task: i64) -> Result<()> {
    let sql = match of {
        StatusChange::Status => "DELETE FROM status_message WHERE task = ?1",
        StatusChange::Answer => "DELETE FROM streamed_message WHERE task = ?1",
    };
    tx.execute_later(sql, params![task])
}
