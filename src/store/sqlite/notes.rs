//! The conversation's own small records: the verbs of [`Notes`].

use async_trait::async_trait;
use rusqlite::{Connection, params};
use selkie_channel_core::ConversationId;

use super::writer::Class;
use super::{Sqlite, conversations};
use crate::store::{Notes, Result};

#[async_trait]
impl Notes for Sqlite {
    async fn todos(&self, conversation: &ConversationId) -> Result<Option<String>> {
        let id = conversation.clone();
        let verb = move |conn: &Connection| match conversations::find(conn, &id)? {
            Some(row) => Ok(conn
                .prepare_cached("SELECT todos FROM conversation WHERE id = ?1")?
                .query_row([row], |row| row.get(0))?),
            None => Ok(None),
        };
        self.writer.run(Class::Relaxed, 0, verb).await
    }

    async fn set_todos(&self, conversation: &ConversationId, json: String) -> Result<()> {
        let id = conversation.clone();
        let verb = move |conn: &Connection| {
            let row = conversations::speak(conn, &id)?;
            conn.prepare_cached("UPDATE conversation SET todos = ?2 WHERE id = ?1")?
                .execute(params![row, json])?;
            Ok(())
        };
        self.writer.run(Class::Durable, 0, verb).await
    }
}
