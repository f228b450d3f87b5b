//! Which profile and which agent answer in a conversation and how hard the model thinks, as its owner has chosen.

use crate::error::Result;
use crate::intake::ChosenHere;
use crate::notes::ChosenThere;
use crate::tx::Tx;
use crate::value::{Row, params};
use selkie_domain::choice::Choice;
use selkie_domain::effort::Effort;

/// Reads the model, the effort and the agent of three columns, from this one on.
pub fn read(row: &dyn Row, first: usize) -> Result<Choice> {
    let effort: Option<String> = row.get(first + 1)?;
    // A level that a newer selkie knows decides nothing here.
    let effort = effort.as_deref().and_then(Effort::parse);
    Ok(Choice { model: row.get(first)?, effort, agent: row.get(first + 2)? })
}

/// Returns what is chosen for a conversation, and for its chat where it is a thread.
pub fn of(tx: &mut dyn Tx, conversation: i64) -> Result<ChosenThere> {
    tx.one(
        "SELECT c.model, c.effort, c.agent, p.model, p.effort, p.agent FROM conversation c
         LEFT JOIN conversation p ON p.account = c.account AND p.key = c.place AND c.place <> c.key
         WHERE c.id = ?1",
        params![conversation],
        |row| Ok(ChosenThere { own: read(row, 0)?, chat: read(row, 3)? }),
    )
}

/// Sets one of them.
pub fn set(tx: &mut dyn Tx, conversation: i64, chosen: &ChosenHere) -> Result<()> {
    match chosen {
        ChosenHere::Model(model) => {
            let sql = "UPDATE conversation SET model = ?2 WHERE id = ?1";
            tx.execute_later(sql, params![conversation, model.as_deref()])
        }
        ChosenHere::Effort(effort) => {
            let sql = "UPDATE conversation SET effort = ?2 WHERE id = ?1";
            tx.execute_later(sql, params![conversation, effort.map(Effort::as_str)])
        }
        ChosenHere::Agent(agent) => {
            let sql = "UPDATE conversation SET agent = ?2 WHERE id = ?1";
            tx.execute_later(sql, params![conversation, agent.as_deref()])
        }
    }
}
