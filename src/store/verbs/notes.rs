//! The conversation's own small records: the verbs of [`Notes`].

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use selkie_channel_core::{AccountId, ConversationId, PersonId, PlaceId};

use super::{approving, chosen, conversations, history, private};
use crate::error::Result;
use crate::notes::{ChosenThere, Notes, Whose, Workplace, ZoneOf};
use crate::sql::{Plan, SqlLedger};
use crate::tx::Tx;
use crate::value::params;
use selkie_domain::facts::{Mode, Trust};
use selkie_domain::taint::Taint;

/// Sets the folder that a conversation's place works in, or takes it back.
pub fn set_workspace(tx: &mut dyn Tx, conversation: i64, path: Option<&str>) -> Result<()> {
    match path {
        Some(path) => tx.execute_later(
            "INSERT INTO workspace (account, place, path)
             SELECT account, place, CAST(?2 AS TEXT) FROM conversation WHERE id = ?1
             ON CONFLICT (account, place) DO UPDATE SET path = excluded.path",
            params![conversation, path],
        ),
        None => tx.execute_later(
            "DELETE FROM workspace
             WHERE (account, place) = (SELECT account, place FROM conversation WHERE id = ?1)",
            params![conversation],
        ),
    }
}

/// Sets the time zone of a person or a place, or takes it back.
pub fn set_zone(tx: &mut dyn Tx, set: &ZoneOf) -> Result<()> {
    let ZoneOf { whose, zone } = set;
    let (account, who) = match whose {
        Whose::Person(person) => ("", person.as_str()),
        Whose::Place(place) => (place.account().as_str(), place.key()),
    };
    if zone.is_empty() {
        let sql = "DELETE FROM timezone WHERE account = ?1 AND who = ?2";
        return tx.execute_later(sql, params![account, who]);
    }
    tx.execute_later(
        "INSERT INTO timezone (account, who, zone) VALUES (?1, ?2, ?3)
         ON CONFLICT (account, who) DO UPDATE SET zone = excluded.zone",
        params![account, who, zone],
    )
}

/// Changes what a conversation is in.
pub fn change_mode(
    tx: &mut dyn Tx,
    conversation: i64,
    mode: Mode,
    now: DateTime<Utc>,
) -> Result<()> {
    let sql = "UPDATE conversation SET plan = ?2 WHERE id = ?1";
    tx.execute_later(sql, params![conversation, mode == Mode::Plan])?;
    match mode {
        Mode::Plan => approving::withdraw_in(tx, conversation, now),
        Mode::Normal => Ok(()),
    }
}

#[async_trait]
impl Notes for SqlLedger {
    async fn todos(&self, conversation: &ConversationId) -> Result<Option<String>> {
        let id = conversation.clone();
        self.write(Plan::RELAXED.after(&conversation.full()), move |tx| {
            let Some(row) = conversations::find(tx, &id)? else { return Ok(None) };
            tx.only("SELECT todos FROM conversation WHERE id = ?1", params![row])
        })
        .await
    }

    async fn workspace(&self, conversation: &ConversationId) -> Result<Workplace> {
        let id = conversation.clone();
        self.write(Plan::RELAXED.after(&conversation.full()), move |tx| {
            let Some(row) = conversations::find(tx, &id)? else { return Ok(Workplace::default()) };
            tx.one(
                "SELECT (SELECT MIN(p.id) FROM conversation p
                         WHERE p.account = c.account AND p.place = c.place),
                        (SELECT path FROM workspace w WHERE w.account = c.account AND w.place = c.place)
                 FROM conversation c WHERE c.id = ?1",
                params![row],
                |row| Ok(Workplace { row: row.get(0)?, set: row.get(1)? }),
            )
        })
        .await
    }

    async fn set_todos(&self, conversation: &ConversationId, json: String) -> Result<()> {
        let id = conversation.clone();
        self.write(Plan::DURABLE.after(&conversation.full()), move |tx| {
            let row = conversations::speak(tx, &id)?;
            let sql = "UPDATE conversation SET todos = ?2 WHERE id = ?1";
            tx.execute_later(sql, params![row, &json])
        })
        .await
    }

    async fn mode(&self, conversation: &ConversationId) -> Result<Mode> {
        let id = conversation.clone();
        self.write(Plan::RELAXED.after(&conversation.full()), move |tx| {
            let Some(row) = conversations::find(tx, &id)? else { return Ok(Mode::Normal) };
            let plan = tx.only("SELECT plan FROM conversation WHERE id = ?1", params![row])?;
            Ok(if plan { Mode::Plan } else { Mode::Normal })
        })
        .await
    }

    async fn chosen(&self, conversation: &ConversationId) -> Result<ChosenThere> {
        let id = conversation.clone();
        self.write(Plan::RELAXED.after(&conversation.full()), move |tx| {
            let Some(row) = conversations::find(tx, &id)? else {
                return Ok(ChosenThere::default());
            };
            chosen::of(tx, row)
        })
        .await
    }

    async fn level(&self, conversation: &ConversationId, trust: Trust) -> Result<Taint> {
        let id = conversation.clone();
        let history = self.write(Plan::RELAXED.after(&conversation.full()), move |tx| {
            let Some(row) = conversations::find(tx, &id)? else {
                return Ok(history::RawHistory::default());
            };
            let epoch = tx.only("SELECT epoch FROM conversation WHERE id = ?1", params![row])?;
            history::finished(tx, row, epoch, history::HISTORY)
        });
        let history = history.await?;
        if history.asked_by.is_some_and(|least| least < trust) {
            return Ok(Taint::Raw);
        }
        let items = history::read(&history.items).into_iter().flatten();
        Ok(items.map(|item| item.level_later()).max().unwrap_or_default())
    }

    async fn last_private(
        &self,
        person: &PersonId,
        accounts: &[AccountId],
    ) -> Result<Option<ConversationId>> {
        let person = person.clone();
        let accounts = accounts.to_vec();
        self.read(move |tx| private::last(tx, &person, &accounts)).await
    }

    async fn zones(&self) -> Result<Vec<ZoneOf>> {
        self.write(Plan::RELAXED.after("zones"), move |tx| {
            tx.all("SELECT account, who, zone FROM timezone", params![], |row| {
                let account: &str = row.get(0)?;
                let who: &str = row.get(1)?;
                let whose = match account {
                    "" => Whose::Person(PersonId::new(who)),
                    account => Whose::Place(PlaceId::new(AccountId::new(account), who)),
                };
                Ok(ZoneOf { whose, zone: row.get(2)? })
            })
        })
        .await
    }

    async fn set_mode(&self, conversation: &ConversationId, mode: Mode) -> Result<()> {
        let id = conversation.clone();
        let now = self.now();
        self.write(Plan::DURABLE.after(&conversation.full()), move |tx| {
            let row = conversations::speak(tx, &id)?;
            change_mode(tx, row, mode, now)
        })
        .await
    }
}
