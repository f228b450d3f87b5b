//! Where status messages stand: the verbs of [`StatusMessages`].

use async_trait::async_trait;
use selkie_channel_core::{AccountId, ConversationId, MessageRef};

use crate::domain::ids::TaskId;
use crate::store::error::Result;
use crate::store::sql::{Plan, SqlLedger};
use crate::store::status::{StatusMessages, Stray};
use crate::store::value::params;

#[async_trait]
impl StatusMessages for SqlLedger {
    async fn note_status(&self, task: TaskId, message: Option<MessageRef>) -> Result<()> {
        self.write(Plan::RELAXED.after(&task.0), move |tx| {
            tx.execute_later(
                "INSERT INTO status_message (task, message) VALUES (?1, ?2)
                 ON CONFLICT (task) DO UPDATE SET message = excluded.message",
                params![task.0, message.as_ref().map(MessageRef::as_str)],
            )
        })
        .await
    }

    async fn forget_status(&self, task: TaskId) -> Result<()> {
        self.write(Plan::RELAXED.after(&task.0), move |tx| {
            tx.execute_later("DELETE FROM status_message WHERE task = ?1", params![task.0])
        })
        .await
    }

    async fn noted_status(&self, task: TaskId) -> Result<Option<Option<MessageRef>>> {
        let noted = self.write(Plan::RELAXED.after(&task.0), move |tx| {
            let sql = "SELECT message FROM status_message WHERE task = ?1";
            tx.first::<Option<String>>(sql, params![task.0])
        });
        Ok(noted.await?.map(|message| message.map(MessageRef::new)))
    }

    async fn stray_statuses(&self) -> Result<Vec<Stray>> {
        self.write(Plan::RELAXED, |tx| {
            tx.all(
                "SELECT s.task, c.account, c.key, s.message FROM status_message s
                 JOIN task t ON t.id = s.task JOIN conversation c ON c.id = t.conversation
                 WHERE t.state IN ('done', 'failed', 'stopped') ORDER BY s.task",
                params![],
                |row| {
                    let (account, key): (String, String) = (row.get(1)?, row.get(2)?);
                    let message: Option<String> = row.get(3)?;
                    Ok(Stray {
                        task: TaskId(row.get(0)?),
                        conversation: ConversationId::new(AccountId::new(account), key),
                        message: message.map(MessageRef::new),
                    })
                },
            )
        })
        .await
    }
}
