//! Pairing: the verbs of [`Pairings`].

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use selkie_channel_core::PersonId;

use super::rows::{millis, time};
use crate::error::Result;
use crate::pairing::{PairedPerson, PairingOutcome, PairingRequest, Pairings, StrangersCode};
use crate::sql::{Plan, SqlLedger};
use crate::tx::Tx;
use crate::value::{Row, params};
use selkie_domain::facts::Trust;
use selkie_domain::pairing::{GUESSES, IGNORED, TRIES};

/// All of it stands behind one another.
const PLAN: Plan = Plan::DURABLE;
const KEY: &str = "pairing";
/// So many requests are kept. The oldest makes way for the next, so that nobody who fills them shuts others out.
const MAX_REQUESTS: i64 = 100;
/// A request that an owner has granted.
const LET_IN: i64 = 1;
/// One whose stranger they ignore.
const IGNORES: i64 = 2;

#[async_trait]
impl Pairings for SqlLedger {
    async fn open_pairing(&self, code: &str, until: DateTime<Utc>) -> Result<()> {
        let code = code.to_owned();
        let until = millis(until);
        self.write(PLAN.after(KEY), move |tx| {
            tx.execute_later(
                "INSERT INTO pairing (id, code, tries, until, person) VALUES (1, ?1, 0, ?2, NULL)
                 ON CONFLICT (id) DO UPDATE SET code = excluded.code, tries = 0, until = excluded.until, person = NULL",
                params![code.as_str(), until],
            )
        })
        .await
    }

    async fn pair(&self, person: &PersonId, code: &str) -> Result<bool> {
        let person = person.clone();
        let code = code.to_owned();
        let now = self.now();
        self.write(PLAN.after(KEY), move |tx| pair(tx, &person, &code, now)).await
    }

    async fn has_paired(&self, person: &PersonId, code: &str) -> Result<bool> {
        let person = person.clone();
        let code = code.to_owned();
        self.write(Plan::RELAXED.after(KEY), move |tx| {
            tx.exists(
                "SELECT 1 FROM pairing WHERE person = ?1 AND code = ?2",
                params![person.as_str(), code.as_str()],
            )
        })
        .await
    }

    async fn request_pairing(&self, request: PairingRequest) -> Result<StrangersCode> {
        let now = self.now();
        self.write(PLAN.after(KEY), move |tx| ask(tx, &request, now)).await
    }

    async fn approve_pairing(&self, code: &str) -> Result<PairingOutcome> {
        let code = code.to_owned();
        let now = self.now();
        self.write(PLAN.after(KEY), move |tx| approve(tx, &code, now)).await
    }

    async fn settle_pairing(&self, code: &str, lets_in: bool) -> Result<Option<PairingRequest>> {
        let code = code.to_owned();
        let now = self.now();
        self.write(PLAN.after(KEY), move |tx| settle(tx, &code, lets_in, now)).await
    }

    async fn pairing_requests(&self) -> Result<Vec<PairingRequest>> {
        let now = millis(self.now());
        let open = self.write(Plan::RELAXED.after(KEY), move |tx| {
            tx.all(
                "SELECT person, name, code, until FROM pairing_request
                 WHERE tries < ?1 AND until > ?2 AND approved = 0 ORDER BY until, person",
                params![TRIES, now],
                request,
            )
        });
        open.await
    }

    async fn paired(&self) -> Result<Vec<PairedPerson>> {
        let paired = self.write(Plan::RELAXED.after(KEY), |tx| {
            tx.all("SELECT person, trust FROM paired ORDER BY at, person", params![], |row| {
                let is_owner = row.get::<String>(1)? == Trust::Owner.name();
                let trust = if is_owner { Trust::Owner } else { Trust::Allowed };
                Ok(PairedPerson { person: PersonId::new(row.get::<String>(0)?), trust })
            })
        });
        paired.await
    }

    async fn unpair(&self, person: &PersonId) -> Result<bool> {
        let person = person.clone();
        let gone = self.write(PLAN.after(KEY), move |tx| {
            tx.execute_later(
                "DELETE FROM pairing_request WHERE person = ?1",
                params![person.as_str()],
            )?;
            tx.execute_later("DELETE FROM pairing WHERE person = ?1", params![person.as_str()])?;
            tx.execute("DELETE FROM paired WHERE person = ?1", params![person.as_str()])
        });
        Ok(gone.await? > 0)
    }
}

/// Each step is a compare-and-set: two who try at once count as two.
fn pair(tx: &mut dyn Tx, person: &PersonId, code: &str, now: DateTime<Utc>) -> Result<bool> {
    let person = person.as_str();
    let now = millis(now);
    let used = tx.execute(
        "UPDATE pairing SET person = ?1
         WHERE id = 1 AND code = ?2 AND tries < ?3 AND until > ?4 AND (person IS NULL OR person = ?1)",
        params![person, code, GUESSES, now],
    )?;
    if used > 0 {
        note(tx, person, Trust::Owner, now)?;
        return Ok(true);
    }
    tx.execute_later(
        "UPDATE pairing SET tries = tries + 1
         WHERE id = 1 AND code <> ?1 AND tries < ?2 AND until > ?3 AND person IS NULL",
        params![code, GUESSES, now],
    )?;
    Ok(false)
}

/// Whoever was let in before may become an owner; an owner stays one.
fn note(tx: &mut dyn Tx, person: &str, trust: Trust, now: i64) -> Result<()> {
    match trust {
        Trust::Owner => tx.execute_later(
            "INSERT INTO paired (person, trust, at) VALUES (?1, ?2, ?3)
             ON CONFLICT (person) DO UPDATE SET trust = excluded.trust",
            params![person, trust.name(), now],
        ),
        _ => tx.execute_later(
            "INSERT INTO paired (person, trust, at) VALUES (?1, ?2, ?3) ON CONFLICT (person) DO NOTHING",
            params![person, trust.name(), now],
        ),
    }
}

fn ask(tx: &mut dyn Tx, request: &PairingRequest, now: DateTime<Utc>) -> Result<StrangersCode> {
    let PairingRequest { person, name, code, until } = request;
    let person = person.as_str();
    let now = millis(now);
    tx.execute_later("DELETE FROM pairing_request WHERE until <= ?1", params![now])?;
    tx.execute_later(
        "INSERT INTO pairing_request (person, name, code, tries, until, approved)
         VALUES (?1, ?2, ?3, 0, ?4, 0) ON CONFLICT (person) DO NOTHING",
        params![person, name.as_str(), code.as_str(), millis(*until)],
    )?;
    // Who just asked stays, whatever the clock says of the others.
    let gone = tx.execute(
        "DELETE FROM pairing_request WHERE person IN (
             SELECT person FROM pairing_request WHERE person <> ?1 AND approved = 0
             ORDER BY until DESC, person LIMIT 1000000 OFFSET ?2)",
        params![person, MAX_REQUESTS - 1],
    )?;
    let code = tx.first(
        "SELECT code FROM pairing_request WHERE person = ?1 AND tries < ?2 AND approved = 0",
        params![person, TRIES],
    )?;
    Ok(StrangersCode { code, crowded: gone > 0 })
}

fn approve(tx: &mut dyn Tx, code: &str, now: DateTime<Utc>) -> Result<PairingOutcome> {
    let now = millis(now);
    let found: Option<(String, String)> = tx.optional(
        "UPDATE pairing_request SET approved = 1 WHERE code = ?1 AND tries < ?2 AND until > ?3
         RETURNING person, name",
        params![code, TRIES, now],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    if let Some((person, name)) = found {
        note(tx, &person, Trust::Allowed, now)?;
        return Ok(PairingOutcome::Done { person: PersonId::new(person), name });
    }
    let tries: Vec<i64> = tx.all(
        "UPDATE pairing_request SET tries = tries + 1
         WHERE tries < ?1 AND until > ?2 AND approved = 0 RETURNING tries",
        params![TRIES, now],
        |row| row.get(0),
    )?;
    let least = tries.into_iter().min();
    Ok(least
        .map_or(PairingOutcome::NoneOpen, |tries| PairingOutcome::Wrong { left: TRIES - tries }))
}

/// Settles a request by a button; what was settled otherwise stays so.
fn settle(
    tx: &mut dyn Tx,
    code: &str,
    lets_in: bool,
    now: DateTime<Utc>,
) -> Result<Option<PairingRequest>> {
    let until = if lets_in { None } else { Some(millis(now + IGNORED)) };
    let settled = if lets_in { LET_IN } else { IGNORES };
    let found = tx.optional(
        "UPDATE pairing_request SET approved = ?2, until = COALESCE(CAST(?3 AS BIGINT), until)
         WHERE code = ?1 AND until > ?4 AND approved IN (0, ?2) RETURNING person, name, code, until",
        params![code, settled, until, millis(now)],
        request,
    )?;
    if let Some(found) = &found
        && lets_in
    {
        note(tx, found.person.as_str(), Trust::Allowed, millis(now))?;
    }
    Ok(found)
}

fn request(row: &dyn Row) -> Result<PairingRequest> {
    Ok(PairingRequest {
        person: PersonId::new(row.get::<String>(0)?),
        name: row.get(1)?,
        code: row.get(2)?,
        until: time(row.get(3)?),
    })
}
