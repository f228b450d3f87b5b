//! Where status messages stand: the verbs of [`StatusMessages`].

use async_trait::async_trait;
use rusqlite::{Connection, OptionalExtension, params};
use selkie_channel_core::{AccountId, ConversationId, MessageRef};

use super::Sqlite;
use super::writer::Class;
use crate::domain::ids::TaskId;
use crate::store::{Result, StatusMessages, Stray};

#[async_trait]
impl StatusMessages for Sqlite {
    async fn note_status(&self, task: TaskId, message: Option<MessageRef>) -> Result<()> {
        let verb = move |conn: &Connection| {
            conn.prepare_cached(
                "INSERT INTO status_message (task, message) VALUES (?1, ?2)
                 ON CONFLICT (task) DO UPDATE SET message = excluded.message",
            )?
            .execute(params![task.0, message.as_ref().map(MessageRef::as_str)])?;
            Ok(())
        };
        self.writer.run(Class::Relaxed, 0, verb).await
    }

    async fn forget_status(&self, task: TaskId) -> Result<()> {
        let verb = move |conn: &Connection| {
            conn.prepare_cached("DELETE FROM status_message WHERE task = ?1")?.execute([task.0])?;
            Ok(())
        };
        self.writer.run(Class::Relaxed, 0, verb).await
    }

    async fn noted_status(&self, task: TaskId) -> Result<Option<Option<MessageRef>>> {
        let verb = move |conn: &Connection| {
            let noted: Option<Option<String>> = conn
                .prepare_cached("SELECT message FROM status_message WHERE task = ?1")?
                .query_row([task.0], |row| row.get(0))
                .optional()?;
            Ok(noted.map(|message| message.map(MessageRef::new)))
        };
        self.writer.run(Class::Relaxed, 0, verb).await
    }

    async fn stray_statuses(&self) -> Result<Vec<Stray>> {
        let verb = |conn: &Connection| {
            Ok(conn
                .prepare_cached(
                    "SELECT s.task, c.account, c.key, s.message FROM status_message s
                     JOIN task t ON t.id = s.task JOIN conversation c ON c.id = t.conversation
                     WHERE t.state IN ('done', 'failed', 'stopped') ORDER BY s.task",
                )?
                .query_map([], |row| {
                    let (account, key): (String, String) = (row.get(1)?, row.get(2)?);
                    let message: Option<String> = row.get(3)?;
                    Ok(Stray {
                        task: TaskId(row.get(0)?),
                        conversation: ConversationId::new(AccountId::new(account), key),
                        message: message.map(MessageRef::new),
                    })
                })?
                .collect::<rusqlite::Result<Vec<_>>>()?)
        };
        self.writer.run(Class::Relaxed, 0, verb).await
    }
}
