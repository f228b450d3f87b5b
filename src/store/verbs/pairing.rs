//! Pairing: the verbs of [`Pairings`].

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use selkie_channel_core::PersonId;

use super::rows::millis;
use crate::domain::pairing::TRIES;
use crate::store::error::Result;
use crate::store::pairing::{Paired, Pairings};
use crate::store::sql::{Plan, SqlLedger};
use crate::store::tx::Tx;
use crate::store::value::params;

/// All of it stands behind one another.
const PLAN: Plan = Plan::DURABLE;
const KEY: &str = "pairing";

#[async_trait]
impl Pairings for SqlLedger {
    async fn open_pairing(&self, code: &str, until: DateTime<Utc>) -> Result<()> {
        let (code, until) = (code.to_owned(), millis(until));
        self.write(PLAN.after(KEY), move |tx| {
            tx.execute_later(
                "INSERT INTO pairing (id, code, tries, until, person) VALUES (1, ?1, 0, ?2, NULL)
                 ON CONFLICT (id) DO UPDATE SET code = excluded.code, tries = 0, until = excluded.until, person = NULL",
                params![code.as_str(), until],
            )
        })
        .await
    }

    async fn pair(&self, person: &PersonId, code: &str) -> Result<Paired> {
        let (person, code, now) = (person.clone(), code.to_owned(), self.now());
        self.write(PLAN.after(KEY), move |tx| pair(tx, &person, &code, now)).await
    }

    async fn paired(&self) -> Result<Vec<PersonId>> {
        let paired = self.write(Plan::RELAXED.after(KEY), |tx| {
            tx.all("SELECT person FROM paired ORDER BY at, person", params![], |row| {
                Ok(PersonId::new(row.get::<String>(0)?))
            })
        });
        paired.await
    }

    async fn unpair(&self, person: &PersonId) -> Result<bool> {
        let person = person.clone();
        let gone = self.write(PLAN.after(KEY), move |tx| {
            tx.execute("DELETE FROM paired WHERE person = ?1", params![person.as_str()])
        });
        Ok(gone.await? > 0)
    }
}

/// Each step is a compare-and-set: two who try at once count as two.
fn pair(tx: &mut dyn Tx, person: &PersonId, code: &str, now: DateTime<Utc>) -> Result<Paired> {
    let (person, now) = (person.as_str(), millis(now));
    let used = tx.execute(
        "UPDATE pairing SET person = ?1
         WHERE id = 1 AND code = ?2 AND tries < ?3 AND until > ?4 AND (person IS NULL OR person = ?1)",
        params![person, code, TRIES, now],
    )?;
    if used > 0 {
        tx.execute_later(
            "INSERT INTO paired (person, at) VALUES (?1, ?2) ON CONFLICT (person) DO NOTHING",
            params![person, now],
        )?;
        return Ok(Paired::Done);
    }
    let tries: Option<i64> = tx.optional(
        "UPDATE pairing SET tries = tries + 1
         WHERE id = 1 AND code <> ?1 AND tries < ?2 AND until > ?3 AND person IS NULL RETURNING tries",
        params![code, TRIES, now],
        |row| row.get(0),
    )?;
    Ok(tries.map_or(Paired::NoneOpen, |tries| Paired::Wrong { left: TRIES - tries }))
}
