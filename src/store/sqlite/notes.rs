//! The conversation's own small records: the verbs of [`Notes`].

use async_trait::async_trait;
use rusqlite::{Connection, OptionalExtension, params};
use selkie_channel_core::ConversationId;

use super::writer::Class;
use super::{Sqlite, claimed, conversations};
use crate::domain::facts::{Mode, Trust};
use crate::domain::taint::Taint;
use crate::store::{Notes, Result, Workplace};

/// Returns the folder that a conversation's place works in.
pub fn workspace(conn: &Connection, conversation: i64) -> Result<Option<String>> {
    Ok(conn
        .prepare_cached(
            "SELECT w.path FROM conversation c
             JOIN workspace w ON w.account = c.account AND w.place = c.place WHERE c.id = ?1",
        )?
        .query_row([conversation], |row| row.get(0))
        .optional()?)
}

fn place_row(conn: &Connection, conversation: i64) -> Result<i64> {
    Ok(conn
        .prepare_cached(
            "SELECT MIN(p.id) FROM conversation c
             JOIN conversation p ON p.account = c.account AND p.place = c.place WHERE c.id = ?1",
        )?
        .query_row([conversation], |row| row.get(0))?)
}

/// Sets the folder that a conversation's place works in, or takes it back.
pub fn set_workspace(conn: &Connection, conversation: i64, path: Option<&str>) -> Result<()> {
    let sql = match path {
        Some(_) => {
            "INSERT OR REPLACE INTO workspace (account, place, path)
             SELECT account, place, ?2 FROM conversation WHERE id = ?1"
        }
        None => {
            "DELETE FROM workspace WHERE ?2 IS NULL
               AND (account, place) = (SELECT account, place FROM conversation WHERE id = ?1)"
        }
    };
    conn.prepare_cached(sql)?.execute(params![conversation, path])?;
    Ok(())
}

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

    async fn workspace(&self, conversation: &ConversationId) -> Result<Workplace> {
        let id = conversation.clone();
        let verb = move |conn: &Connection| match conversations::find(conn, &id)? {
            Some(row) => {
                Ok(Workplace { row: Some(place_row(conn, row)?), set: workspace(conn, row)? })
            }
            None => Ok(Workplace::default()),
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

    async fn mode(&self, conversation: &ConversationId) -> Result<Mode> {
        let id = conversation.clone();
        let verb = move |conn: &Connection| match conversations::find(conn, &id)? {
            Some(row) => Ok(mode(
                conn.prepare_cached("SELECT plan FROM conversation WHERE id = ?1")?
                    .query_row([row], |row| row.get(0))?,
            )),
            None => Ok(Mode::Normal),
        };
        self.writer.run(Class::Relaxed, 0, verb).await
    }

    async fn level(&self, conversation: &ConversationId, trust: Trust) -> Result<Taint> {
        let id = conversation.clone();
        let verb = move |conn: &Connection| {
            let Some(row) = conversations::find(conn, &id)? else { return Ok((Vec::new(), None)) };
            let epoch = conn
                .prepare_cached("SELECT epoch FROM conversation WHERE id = ?1")?
                .query_row([row], |row| row.get(0))?;
            claimed::finished(conn, (row, epoch), claimed::HISTORY)
        };
        let (rows, asked_by) = self.writer.run(Class::Relaxed, 0, verb).await?;
        if asked_by.is_some_and(|least| least < trust) {
            return Ok(Taint::Raw);
        }
        let items = claimed::history(&rows).into_iter().flatten();
        Ok(items.map(|item| item.level_later()).max().unwrap_or_default())
    }

    async fn set_mode(&self, conversation: &ConversationId, mode: Mode) -> Result<()> {
        let id = conversation.clone();
        let verb = move |conn: &Connection| {
            let row = conversations::speak(conn, &id)?;
            change_mode(conn, row, mode)
        };
        self.writer.run(Class::Durable, 0, verb).await
    }
}

/// Reads the column that says what a conversation is in.
pub fn mode(plan: bool) -> Mode {
    if plan { Mode::Plan } else { Mode::Normal }
}

/// Changes what a conversation is in.
pub fn change_mode(conn: &Connection, conversation: i64, mode: Mode) -> Result<()> {
    conn.prepare_cached("UPDATE conversation SET plan = ?2 WHERE id = ?1")?
        .execute(params![conversation, mode == Mode::Plan])?;
    Ok(())
}
