//! A place that goes on under another id: its conversations are renamed in one transaction, and keep
//! history, todos, epoch and lane.

use super::places::rename;
use super::{lanes, locks, met};
use crate::error::Result;
use crate::tx::Tx;
use crate::value::params;

/// Moves every conversation of `old`, wherever it is by now, to `new`. Doing it twice changes nothing.
pub fn move_place(tx: &mut dyn Tx, account: &str, old: &str, new: &str) -> Result<()> {
    let known: Option<String> = tx.first(
        "SELECT new FROM place_alias WHERE account = ?1 AND old = ?2",
        params![account, old],
    )?;
    let old = known.as_deref().unwrap_or(old);
    if old == new {
        return Ok(());
    }
    lock_both(tx, account, old, new)?;
    alias_place(tx, account, old, new)?;
    // What was set under the new name stays, as the newer word.
    tx.execute_later(
        "UPDATE workspace SET place = ?3 WHERE account = ?1 AND place = ?2
             AND NOT EXISTS (SELECT 1 FROM workspace w WHERE w.account = ?1 AND w.place = ?3)",
        params![account, old, new],
    )?;
    tx.execute_later(
        "DELETE FROM workspace WHERE account = ?1 AND place = ?2",
        params![account, old],
    )?;
    tx.execute_later(
        "UPDATE timezone SET who = ?3 WHERE account = ?1 AND who = ?2
             AND NOT EXISTS (SELECT 1 FROM timezone t WHERE t.account = ?1 AND t.who = ?3)",
        params![account, old, new],
    )?;
    tx.execute_later(
        "DELETE FROM timezone WHERE account = ?1 AND who = ?2",
        params![account, old],
    )?;
    met::move_met(tx, account, old, new)?;
    let moving: Vec<(i64, String)> = tx.all(
        "SELECT id, key FROM conversation WHERE account = ?1 AND place = ?2 ORDER BY id",
        params![account, old],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    for (row, key) in moving {
        let to = rename(&key, old, new);
        if to != key {
            merge_away(tx, account, &to, row)?;
            rename_one(tx, account, RenamedConversation { row, key: &key, to: &to })?;
        }
        tx.execute_later("UPDATE conversation SET place = ?2 WHERE id = ?1", params![row, new])?;
    }
    Ok(())
}

fn lock_both(tx: &mut dyn Tx, account: &str, old: &str, new: &str) -> Result<()> {
    if tx.is_alone() {
        return Ok(());
    }
    let rows = tx.column(
        "SELECT id FROM conversation WHERE account = ?1 AND place IN (?2, ?3)",
        params![account, old, new],
    )?;
    locks::rows(tx, rows)
}

fn alias_place(tx: &mut dyn Tx, account: &str, old: &str, new: &str) -> Result<()> {
    // A place that moves back is no alias any more; older names point straight at the newest.
    tx.execute_later(
        "DELETE FROM place_alias WHERE account = ?1 AND old = ?2",
        params![account, new],
    )?;
    tx.execute_later(
        "UPDATE place_alias SET new = ?3 WHERE account = ?1 AND new = ?2",
        params![account, old, new],
    )?;
    tx.execute_later(
        "INSERT INTO place_alias (account, old, new) VALUES (?1, ?2, ?3)
         ON CONFLICT (account, old) DO UPDATE SET new = excluded.new",
        params![account, old, new],
    )
}

/// A conversation that gets another key.
struct RenamedConversation<'a> {
    row: i64,
    key: &'a str,
    to: &'a str,
}

fn rename_one(tx: &mut dyn Tx, account: &str, renamed: RenamedConversation<'_>) -> Result<()> {
    let RenamedConversation { row, key, to } = renamed;
    tx.execute_later(
        "DELETE FROM conversation_alias WHERE account = ?1 AND old = ?2",
        params![account, to],
    )?;
    tx.execute_later(
        "INSERT INTO conversation_alias (account, old, conversation) VALUES (?1, ?2, ?3)
         ON CONFLICT (account, old) DO UPDATE SET conversation = excluded.conversation",
        params![account, key, row],
    )?;
    tx.execute_later("UPDATE conversation SET key = ?2 WHERE id = ?1", params![row, to])?;
    tx.execute_later(
        "UPDATE lane SET name = ?2 WHERE name = ?1",
        params![&format!("{account}|{key}"), &format!("{account}|{to}")],
    )
}

/// The new key may already have a conversation, when its first message came before the news of the
/// move: what happened there joins the old conversation, which keeps its history and epoch.
fn merge_away(tx: &mut dyn Tx, account: &str, key: &str, into: i64) -> Result<()> {
    let young: Option<i64> = tx.first(
        "SELECT id FROM conversation WHERE account = ?1 AND key = ?2",
        params![account, key],
    )?;
    let Some(young) = young.filter(|y| *y != into) else { return Ok(()) };
    merge_lanes(tx, account, key, into)?;
    let epoch: i64 = tx.only("SELECT epoch FROM conversation WHERE id = ?1", params![into])?;
    let endings: i64 = tx.only(
        "SELECT COALESCE(MAX(finish), 0) FROM task
         WHERE conversation = ?1 AND epoch = ?2 AND finish IS NOT NULL",
        params![into, epoch],
    )?;
    tx.execute_later(
        "UPDATE task SET conversation = ?1, epoch = CASE WHEN epoch IS NOT NULL THEN CAST(?3 AS BIGINT) END,
             finish = finish + ?4
         WHERE id IN (SELECT id FROM task WHERE conversation = ?2 AND finish IS NOT NULL
             UNION ALL SELECT id FROM task WHERE conversation = ?2 AND state = 'running'
             UNION ALL SELECT id FROM task WHERE conversation = ?2 AND state = 'waiting'
             UNION ALL SELECT id FROM task WHERE conversation = ?2 AND state = 'parked')",
        params![into, young, epoch, endings],
    )?;
    for sql in [
        "UPDATE inbox SET conversation = ?1 WHERE conversation = ?2",
        "UPDATE outbound SET conversation = ?1 WHERE conversation = ?2",
        "UPDATE part SET conversation = ?1 WHERE conversation = ?2",
        "UPDATE question SET conversation = ?1 WHERE conversation = ?2",
        "UPDATE approval_asked SET conversation = ?1 WHERE conversation = ?2",
        "UPDATE schedule SET conversation = ?1 WHERE conversation = ?2",
        "UPDATE conversation_alias SET conversation = ?1 WHERE conversation = ?2",
        "UPDATE conversation SET closed = NULL, todos = COALESCE(conversation.todos, young.todos),
             skills = COALESCE(conversation.skills, young.skills)
         FROM conversation young WHERE conversation.id = ?1 AND young.id = ?2",
    ] {
        tx.execute_later(sql, params![into, young])?;
    }
    tx.execute_later("DELETE FROM conversation WHERE id = ?1", params![young])
}

fn merge_lanes(tx: &mut dyn Tx, account: &str, young_key: &str, into: i64) -> Result<()> {
    let old_key: String = tx.only("SELECT key FROM conversation WHERE id = ?1", params![into])?;
    let young = lanes::row_of(tx, &format!("{account}|{young_key}"))?;
    let old = lanes::row_of(tx, &format!("{account}|{old_key}"))?;
    // Both may have a running task. One lane runs one: the younger claim is lost and made again.
    tx.execute_later(
        "UPDATE task SET state = 'waiting', instance = NULL, start_at = 0
         WHERE lane = ?1 AND state = 'running'
           AND EXISTS (SELECT 1 FROM task WHERE lane = ?2 AND state = 'running')",
        params![young, old],
    )?;
    tx.execute_later("UPDATE task SET lane = ?2 WHERE lane = ?1", params![young, old])?;
    tx.execute_later("DELETE FROM lane WHERE id = ?1", params![young])?;
    lanes::refresh(tx, old)
}
