//! What tasks have cost: five columns of their row.

use super::rows::{count, small};
use crate::error::Result;
use crate::tx::Tx;
use crate::value::{Row, params};
use selkie_domain::usage::Usage;

/// Reads the five columns of a usage from `first` on.
pub fn usage(row: &dyn Row, first: usize) -> Result<Usage> {
    Ok(Usage {
        calls: row.get(first)?,
        input: count(row.get(first + 1)?),
        cached: count(row.get(first + 2)?),
        output: count(row.get(first + 3)?),
        micro_usd: count(row.get(first + 4)?),
        ..Usage::default()
    })
}

/// Returns what a task has cost so far.
pub fn cost(tx: &mut dyn Tx, task: i64) -> Result<Usage> {
    let sql = "SELECT calls, input, cached, output, micro_usd FROM task WHERE id = ?1";
    tx.one(sql, params![task], |row| usage(row, 0))
}

/// Counts what a task has cost besides its steps.
pub fn spend(tx: &mut dyn Tx, task: i64, usage: Usage) -> Result<()> {
    let Usage { calls, input, cached, output, micro_usd, thoughts: _ } = usage;
    let [input, cached, output, money] = [input, cached, output, micro_usd].map(small);
    tx.execute_later(
        "UPDATE task SET calls = calls + ?2, input = input + ?3, cached = cached + ?4,
             output = output + ?5, micro_usd = micro_usd + ?6 WHERE id = ?1",
        params![task, calls, input, cached, output, money],
    )
}
