//! A whole life, table by table: read in the order of keys, written elsewhere, and settled there.

use std::collections::BTreeMap;
use std::sync::Mutex;

use selkie_channel_core::{ConversationId, locked};

use super::ending::{EndRecord, end};
use super::rows::{conversation, json};
use super::{lanes, outbox};
use crate::error::Result;
use crate::tables::Table;
use crate::tx::{Dialect, Tx};
use crate::value::{OwnedValue, Value, params};
use selkie_domain::question::QuestionResult;

/// So many rows are read and written at a time.
pub const PAGE: usize = 200;

/// Why a part that was open is unclear in a copy.
const COPIED: &str = "its ledger was copied before it was known whether it arrived";

/// The statements that carry one table; a program that copies makes them once.
#[derive(Debug)]
pub struct TableStatements {
    first: &'static str,
    next: &'static str,
    fill: &'static str,
    count: &'static str,
    /// Which columns are the key.
    key: Vec<usize>,
    /// How many columns it has.
    width: usize,
    numbered: Option<&'static str>,
}

/// A row: its values in the order of the table's columns.
pub type Line = Vec<OwnedValue>;

impl TableStatements {
    /// Returns the statements of a table, which are written once.
    pub fn of(table: &Table) -> &'static Self {
        static KNOWN: Mutex<BTreeMap<&'static str, &'static TableStatements>> =
            Mutex::new(BTreeMap::new());
        locked(&KNOWN)
            .entry(table.name)
            .or_insert_with(|| Box::leak(Box::new(Self::written(table))))
    }

    /// Counts its rows.
    pub fn count(&self) -> &'static str {
        self.count
    }

    fn written(table: &Table) -> Self {
        let Table { name, columns, key, numbered, .. } = *table;
        // Whether it is sealed is each one's own.
        let columns: Vec<&str> = columns.split(", ").filter(|name| *name != "sealed").collect();
        let keys: Vec<&str> = key.split(", ").collect();
        let places = |n: usize| (1..=n).map(|n| format!("?{n}")).collect::<Vec<_>>().join(", ");
        let rest = columns.iter().filter(|column| !keys.contains(column));
        let set: Vec<String> = rest.map(|column| format!("{column} = excluded.{column}")).collect();
        let known = match set.is_empty() {
            true => "NOTHING".to_owned(),
            false => format!("UPDATE SET {}", set.join(", ")),
        };
        let all = columns.join(", ");
        let select = format!("SELECT {all} FROM {name}");
        let order = format!("ORDER BY {key} LIMIT {PAGE}");
        let number = format!(
            "SELECT setval(pg_get_serial_sequence('{name}', 'id'), COALESCE(MAX(id), 0) + 1, FALSE) FROM {name}"
        );
        let key_at = |key: &&str| columns.iter().position(|column| column == key);
        Self {
            first: kept(format!("{select} {order}")),
            next: kept(format!("{select} WHERE ({key}) > ({}) {order}", places(keys.len()))),
            fill: kept(format!(
                "INSERT INTO {name} ({all}) VALUES ({}) ON CONFLICT ({key}) DO {known}",
                places(columns.len())
            )),
            count: kept(format!("SELECT COUNT(*) FROM {name}")),
            key: keys.iter().filter_map(key_at).collect(),
            width: columns.len(),
            numbered: numbered.then(|| kept(number)),
        }
    }

    /// Returns the key of a row, by which the page behind it is found.
    pub fn key_of(&self, line: &Line) -> Vec<OwnedValue> {
        self.key.iter().filter_map(|at| line.get(*at).cloned()).collect()
    }
}

/// A statement lives as long as the program: the engines know it by its place.
fn kept(sql: String) -> &'static str {
    Box::leak(sql.into_boxed_str())
}

/// Whether nothing has ever been stored.
pub fn is_empty(tx: &mut dyn Tx) -> Result<bool> {
    Ok(!tx.exists("SELECT 1 FROM conversation LIMIT 1", params![])?
        && !tx.exists("SELECT 1 FROM inbox LIMIT 1", params![])?
        && !tx.exists("SELECT 1 FROM cursor LIMIT 1", params![])?)
}

/// Reads the rows behind a key, from the first one without it.
pub fn page(
    tx: &mut dyn Tx,
    table: &TableStatements,
    after: Option<&[OwnedValue]>,
) -> Result<Vec<Line>> {
    let key: Vec<Value<'_>> = after.unwrap_or_default().iter().map(OwnedValue::value).collect();
    let sql = if after.is_some() { table.next } else { table.first };
    tx.all(sql, &key, |row| {
        (0..table.width).map(|at| row.value(at).map(OwnedValue::text)).collect()
    })
}

/// Writes rows.
pub fn fill(tx: &mut dyn Tx, table: &TableStatements, lines: &[Line]) -> Result<()> {
    for line in lines {
        let values: Vec<Value<'_>> = line.iter().map(OwnedValue::value).collect();
        tx.execute_later(table.fill, &values)?;
    }
    Ok(())
}

/// Lets the ids that the database gives go on behind those that were copied.
pub fn number(tx: &mut dyn Tx, table: &TableStatements) -> Result<()> {
    match table.numbered {
        Some(sql) if tx.dialect() == Dialect::Postgres => tx.only::<i64>(sql, params![]).map(drop),
        _ => Ok(()),
    }
}

/// Settles what was under way: nobody knows what became of it. Parts that were being sent are unclear, running tasks stopped,
/// open questions expired; what waits goes on waiting, tasks and messages alike. Returns the conversations whose tasks were stopped.
pub fn settle(tx: &mut dyn Tx, now: i64) -> Result<Vec<String>> {
    tx.execute_later(
        "UPDATE part SET state = 'unclear', open = 0, instance = NULL, reason = ?2, updated_at = ?1,
             told = (SELECT CASE WHEN answer = 1 THEN 0 END FROM outbound WHERE id = part.outbound)
         WHERE id IN (SELECT part FROM rendered) AND open = 1 AND state IN ('sending', 'unclear')",
        params![now, COPIED],
    )?;
    outbox::tidy(tx)?;
    let stopped = stop_running(tx, now)?;
    let asked: Vec<(i64, i64)> = tx.all(
        "SELECT t.id, t.lane FROM question q JOIN task t ON t.id = q.task WHERE q.state = 'open'",
        params![],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    tx.execute_later(
        "UPDATE question SET state = 'expired', given = ?1, settled_at = ?2 WHERE state = 'open'",
        params![&json(&QuestionResult::Expired)?, now],
    )?;
    for (task, lane) in asked {
        tx.execute_later(
            "UPDATE task SET state = 'waiting', start_at = 0 WHERE id = ?1 AND state = 'parked'",
            params![task],
        )?;
        lanes::refresh(tx, lane)?;
    }
    tx.execute_later("DELETE FROM status_message", params![])?;
    tx.execute_later("DELETE FROM streamed_message", params![])?;
    Ok(stopped)
}

/// A task that runs.
struct RunningTask {
    task: i64,
    lane: i64,
    conversation: ConversationId,
}

fn stop_running(tx: &mut dyn Tx, now: i64) -> Result<Vec<String>> {
    let mut running = tx.all(
        "SELECT t.id, t.lane, c.account, c.key FROM task t JOIN conversation c ON c.id = t.conversation
         WHERE t.state = 'running'",
        params![],
        |row| {
            let conversation = conversation(row, 2)?;
            Ok(RunningTask { task: row.get(0)?, lane: row.get(1)?, conversation })
        },
    )?;
    running.sort_by_key(|it: &RunningTask| it.task);
    for RunningTask { task, lane, .. } in &running {
        let why = Some("its ledger was copied while it ran");
        end(tx, *task, EndRecord { state: "stopped", why, at: now })?;
        lanes::refresh(tx, *lane)?;
    }
    Ok(running.iter().map(|it| it.conversation.to_string()).collect())
}

/// Returns why the ledger must not be used, if somebody has sealed it.
pub fn sealed(tx: &mut dyn Tx) -> Result<Option<String>> {
    Ok(tx.first::<Option<String>>("SELECT sealed FROM meta WHERE id = 1", params![])?.flatten())
}

/// Seals the ledger, or opens it again: whoever starts on a sealed one is told why not.
pub fn seal(tx: &mut dyn Tx, why: Option<&str>) -> Result<()> {
    tx.execute_later("UPDATE meta SET sealed = ?1 WHERE id = 1", params![why])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::TABLES;

    #[test]
    fn whether_a_store_is_sealed_is_not_carried() {
        assert!(TABLES.iter().any(|table| table.columns.contains("sealed")));
        for table in TABLES {
            let TableStatements { first, fill, .. } = TableStatements::of(table);
            assert!(!first.contains("sealed") && !fill.contains("sealed"), "{first}; {fill}");
        }
    }
}
