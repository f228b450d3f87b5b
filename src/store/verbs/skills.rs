//! Which skills are in force in a conversation: the verbs of [`LoadedSkills`].

use async_trait::async_trait;
use selkie_channel_core::ConversationId;

use super::conversations;
use crate::error::Result;
use crate::skills::{LoadedSkills, MAX_SKILLS};
use crate::sql::{Plan, SqlLedger};
use crate::tx::Tx;
use crate::value::params;

/// Reads the names, which hold no space.
fn of(tx: &mut dyn Tx, conversation: i64) -> Result<Vec<String>> {
    let sql = "SELECT skills FROM conversation WHERE id = ?1";
    let names: Option<String> = tx.only(sql, params![conversation])?;
    Ok(names.unwrap_or_default().split_whitespace().map(str::to_owned).collect())
}

#[async_trait]
impl LoadedSkills for SqlLedger {
    async fn skills(&self, conversation: &ConversationId) -> Result<Vec<String>> {
        let id = conversation.clone();
        self.write(Plan::RELAXED.after(&conversation.full()), move |tx| match conversations::find(
            tx, &id,
        )? {
            Some(row) => of(tx, row),
            None => Ok(Vec::new()),
        })
        .await
    }

    async fn add_skill(&self, conversation: &ConversationId, name: &str) -> Result<()> {
        let id = conversation.clone();
        let name = name.to_owned();
        self.write(Plan::DURABLE.after(&conversation.full()), move |tx| {
            let row = conversations::speak(tx, &id)?;
            let mut names = of(tx, row)?;
            names.retain(|other| *other != name);
            names.push(name.clone());
            let names = &names[names.len().saturating_sub(MAX_SKILLS)..];
            let sql = "UPDATE conversation SET skills = ?2 WHERE id = ?1";
            tx.execute_later(sql, params![row, &names.join(" ")])
        })
        .await
    }
}
