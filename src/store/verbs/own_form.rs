//! What providers want back of a task's answers, as long as it is not over.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::error::Result;
use crate::read::KeptForm;
use crate::tx::Tx;
use crate::value::params;
use crate::work::StepForm;
use selkie_domain::own_form::OwnForm;

/// Keeps what came with new answers.
pub fn keep(tx: &mut dyn Tx, task: i64, kept: &[StepForm]) -> Result<()> {
    for StepForm { step, form } in kept {
        tx.execute_later(
            "INSERT INTO own_form (task, step, origin, form) VALUES (?1, ?2, ?3, ?4)",
            params![task, step, &*form.origin, &*form.json],
        )?;
    }
    Ok(())
}

/// Returns what is kept of a task, by the step.
pub fn of_task(tx: &mut dyn Tx, task: i64) -> Result<BTreeMap<String, OwnForm>> {
    let sql = "SELECT step, origin, form FROM own_form WHERE task = ?1";
    let kept: Vec<StepForm> = tx.all(sql, params![task], |row| {
        let origin = row.get::<&str>(1)?;
        let json = row.get::<&str>(2)?;
        let form = OwnForm { origin: Arc::from(origin), json: Arc::from(json) };
        Ok(StepForm { step: row.get(0)?, form })
    })?;
    Ok(kept.into_iter().map(|kept| (kept.step, kept.form)).collect())
}

/// Returns how much is kept of a task, by the step.
pub fn sizes(tx: &mut dyn Tx, task: i64) -> Result<Vec<KeptForm>> {
    let sql = "SELECT step, octet_length(form) FROM own_form WHERE task = ?1 ORDER BY step";
    tx.all(sql, params![task], |row| {
        let bytes = u64::try_from(row.get::<i64>(1)?).unwrap_or_default();
        Ok(KeptForm { step: row.get(0)?, bytes })
    })
}

/// Takes it away: the task has ended, or words that it may hold are taken back.
pub fn forget(tx: &mut dyn Tx, task: i64) -> Result<()> {
    tx.execute_later("DELETE FROM own_form WHERE task = ?1", params![task])
}
