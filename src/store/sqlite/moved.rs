//! A place that goes on under another id: its conversations are renamed in one transaction, and keep
//! history, todos, epoch and lane.

use rusqlite::{Connection, OptionalExtension, params};

use super::{lanes, read};
use crate::store::Result;

/// Returns a conversation's key after its place moved. Keys are opaque: only one that is the place's
/// own, or begins with it (a topic), changes.
pub fn rename(key: &str, old_place: &str, new_place: &str) -> String {
    match key.strip_prefix(old_place) {
        Some(suffix) => format!("{new_place}{suffix}"),
        None => key.to_owned(),
    }
}

/// Moves every conversation of `old`, wherever it is by now, to `new`. Doing it twice changes nothing.
pub fn move_place(conn: &Connection, account: &str, old: &str, new: &str) -> Result<()> {
    let known: Option<String> = conn
        .prepare_cached("SELECT new FROM place_alias WHERE account = ?1 AND old = ?2")?
        .query_row([account, old], |row| row.get(0))
        .optional()?;
    let old = known.as_deref().unwrap_or(old);
    if old == new {
        return Ok(());
    }
    alias_place(conn, account, old, new)?;
    // What was set under the new name stays, as the newer word.
    conn.prepare_cached(
        "UPDATE OR IGNORE workspace SET place = ?3 WHERE account = ?1 AND place = ?2",
    )?
    .execute([account, old, new])?;
    conn.prepare_cached("DELETE FROM workspace WHERE account = ?1 AND place = ?2")?
        .execute([account, old])?;
    let moving: Vec<(i64, String)> = conn
        .prepare_cached("SELECT id, key FROM conversation WHERE account = ?1 AND place = ?2")?
        .query_map([account, old], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    for (row, key) in moving {
        let to = rename(&key, old, new);
        if to != key {
            merge_away(conn, account, &to, row)?;
            rename_one(conn, account, (row, &key), &to)?;
        }
        conn.prepare_cached("UPDATE conversation SET place = ?2 WHERE id = ?1")?
            .execute(params![row, new])?;
    }
    Ok(())
}

fn alias_place(conn: &Connection, account: &str, old: &str, new: &str) -> Result<()> {
    // A place that moves back is no alias any more; older names point straight at the newest.
    conn.prepare_cached("DELETE FROM place_alias WHERE account = ?1 AND old = ?2")?
        .execute([account, new])?;
    conn.prepare_cached("UPDATE place_alias SET new = ?3 WHERE account = ?1 AND new = ?2")?
        .execute([account, old, new])?;
    conn.prepare_cached(
        "INSERT OR REPLACE INTO place_alias (account, old, new) VALUES (?1, ?2, ?3)",
    )?
    .execute([account, old, new])?;
    Ok(())
}

fn rename_one(conn: &Connection, account: &str, (row, key): (i64, &str), to: &str) -> Result<()> {
    conn.prepare_cached("DELETE FROM conversation_alias WHERE account = ?1 AND old = ?2")?
        .execute([account, to])?;
    conn.prepare_cached("INSERT OR REPLACE INTO conversation_alias VALUES (?1, ?2, ?3)")?
        .execute(params![account, key, row])?;
    conn.prepare_cached("UPDATE conversation SET key = ?2 WHERE id = ?1")?
        .execute(params![row, to])?;
    conn.prepare_cached("UPDATE lane SET name = ?2 WHERE name = ?1")?
        .execute([format!("{account}|{key}"), format!("{account}|{to}")])?;
    Ok(())
}

/// The new key may already have a conversation, when its first message came before the news of the
/// move: what happened there joins the old conversation, which keeps its history and epoch.
fn merge_away(conn: &Connection, account: &str, key: &str, into: i64) -> Result<()> {
    let young: Option<i64> = conn
        .prepare_cached("SELECT id FROM conversation WHERE account = ?1 AND key = ?2")?
        .query_row([account, key], |row| row.get(0))
        .optional()?;
    let Some(young) = young.filter(|y| *y != into) else { return Ok(()) };
    merge_lanes(conn, account, key, into)?;
    let epoch: i64 =
        conn.query_row("SELECT epoch FROM conversation WHERE id = ?1", [into], |row| row.get(0))?;
    let endings: i64 = conn.query_row(
        "SELECT COALESCE(MAX(finish), 0) FROM task
         WHERE conversation = ?1 AND epoch = ?2 AND finish IS NOT NULL",
        [into, epoch],
        |row| row.get(0),
    )?;
    let tasks = format!(
        "UPDATE task SET conversation = ?1, epoch = CASE WHEN epoch NOT NULL THEN ?3 END,
             finish = finish + ?4
         WHERE id IN ({})",
        read::TASKS_OF.replace("?1", "?2")
    );
    conn.execute(&tasks, [into, young, epoch, endings])?;
    for sql in [
        "UPDATE inbox SET conversation = ?1 WHERE conversation = ?2",
        "UPDATE outbound SET conversation = ?1 WHERE conversation = ?2",
        "UPDATE part SET conversation = ?1 WHERE conversation = ?2",
        "UPDATE question SET conversation = ?1 WHERE conversation = ?2",
        "UPDATE conversation_alias SET conversation = ?1 WHERE conversation = ?2",
        "UPDATE conversation SET closed = NULL, todos = COALESCE(conversation.todos, young.todos)
         FROM conversation young WHERE conversation.id = ?1 AND young.id = ?2",
    ] {
        conn.execute(sql, [into, young])?;
    }
    conn.execute("DELETE FROM conversation WHERE id = ?1", [young])?;
    Ok(())
}

fn merge_lanes(conn: &Connection, account: &str, young_key: &str, into: i64) -> Result<()> {
    let old_key: String =
        conn.query_row("SELECT key FROM conversation WHERE id = ?1", [into], |row| row.get(0))?;
    let young = lanes::row_of(conn, &format!("{account}|{young_key}"))?;
    let old = lanes::row_of(conn, &format!("{account}|{old_key}"))?;
    // Both may have a running task. One lane runs one: the younger claim is lost and made again.
    conn.execute(
        "UPDATE task SET state = 'waiting', boot = NULL, start_at = 0
         WHERE lane = ?1 AND state = 'running'
           AND EXISTS (SELECT 1 FROM task WHERE lane = ?2 AND state = 'running')",
        [young, old],
    )?;
    conn.execute("UPDATE task SET lane = ?2 WHERE lane = ?1", [young, old])?;
    conn.execute("DELETE FROM lane WHERE id = ?1", [young])?;
    lanes::refresh(conn, old)
}

#[cfg(test)]
mod tests {
    use super::rename;

    #[test]
    fn only_keys_of_the_place_change() {
        assert_eq!(rename("tg:-5", "tg:-5", "tg:-1005"), "tg:-1005");
        assert_eq!(rename("tg:-5:7", "tg:-5", "tg:-1005"), "tg:-1005:7");
        assert_eq!(rename("tg:99", "tg:-5", "tg:-1005"), "tg:99");
    }
}
