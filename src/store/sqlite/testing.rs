//! What tests do to a ledger in a file and nobody else may.

use crate::sql::{Plan, SqlLedger};
use crate::tx::Tx;
use crate::value::{Value, params};

/// Lets the file grow to at most its size now plus `pages`, as on a disk that is full then.
pub async fn limit_growth(ledger: &SqlLedger, pages: i64) {
    let limit = move |tx: &mut dyn Tx| {
        let now: i64 = tx.only("PRAGMA page_count", params![])?;
        let limit = format!("PRAGMA max_page_count = {}", now + pages);
        tx.only::<i64>(Box::leak(limit.into_boxed_str()), params![])
    };
    ledger.write(Plan::RELAXED, limit).await.unwrap();
}

/// Returns how SQLite would carry out a statement, a line a step.
pub async fn plan(ledger: &SqlLedger, sql: &str) -> String {
    let sql: &'static str = Box::leak(format!("EXPLAIN QUERY PLAN {sql}").into_boxed_str());
    let given = ["?1", "?2", "?3"].iter().filter(|name| sql.contains(**name)).count();
    let lines = move |tx: &mut dyn Tx| {
        tx.all(sql, &[Value::Int(1), Value::Int(5), Value::Int(9)][..given], |row| {
            row.get::<String>(3)
        })
    };
    ledger.write(Plan::RELAXED, lines).await.unwrap().join("\n")
}
