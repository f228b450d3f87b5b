//! Held answers: offered by a button, and where they stand. The verbs of [`DeferredReplies`].
//!
//! A hold is open until its answer went out. A held part is open and nobody's to send.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use selkie_channel_core::{ConversationId, Inbound};

use super::fetched::{self, Effect};
use super::outbox::DraftText;
use super::rows::load;
use super::stored_words::read_body;
use super::{conversations, fence, held_answers, history, locks, standing};
use crate::delivery::{DeliveryState, QueuedOutbound};
use crate::error::Result;
use crate::hold::{DeferredReplies, FetchEffect, FetchResult, HeldAnswer, Offer, Swept};
use crate::sql::{Plan, SqlLedger};
use crate::tx::Tx;
use crate::value::params;
use selkie_domain::ids::{InboxId, OutboundId, TaskId};
use selkie_domain::task::Claim;

/// More tasks with a right to answer do not wait at a start.
const MAX_WAITING: i64 = 1_000;
/// What stands before the number of the task that absorbed another.
const ABSORBED: &str = "absorbed by task ";

#[async_trait]
impl DeferredReplies for SqlLedger {
    async fn hold(&self, claim: &Claim, offer: Offer) -> Result<Option<QueuedOutbound>> {
        let claim = claim.clone();
        let now = self.now();
        let key = offer.key;
        let draft = DraftText::new(offer.draft)?;
        let plan = Plan::DURABLE.bytes(draft.bytes()).after(&claim.task.0);
        self.write(plan, move |tx| {
            locks::of_task(tx, claim.task.0, [draft.conversation()])?;
            match fence::held(tx, &claim)? {
                Some(_) => held_answers::button(tx, claim.task.0, &key, &draft, now),
                None => Ok(None),
            }
        })
        .await
    }

    async fn hold_waiting(&self, row: InboxId, offer: Offer) -> Result<Option<QueuedOutbound>> {
        let now = self.now();
        let key = offer.key;
        let draft = DraftText::new(offer.draft)?;
        let plan = Plan::DURABLE.bytes(draft.bytes()).after(&row.0);
        self.write(plan, move |tx| {
            locks::of_row(tx, row.0, [draft.conversation()])?;
            match waiting(tx, row.0)? {
                Some(task) => held_answers::button(tx, task, &key, &draft, now),
                None => Ok(None),
            }
        })
        .await
    }

    async fn rights_waiting(&self) -> Result<Vec<(InboxId, Inbound)>> {
        let rows = self.write(Plan::RELAXED, rights_waiting).await?;
        let mut waiting: Vec<(InboxId, Inbound)> = history::readable(
            rows.iter().map(|(row, text)| Ok((InboxId(*row), load::<Inbound>(*row, text)?))),
        );
        waiting.retain(|(_, inbound)| inbound.reply_window.is_some());
        Ok(waiting)
    }

    async fn held(&self, conversation: &ConversationId, key: &str) -> Result<Option<HeldAnswer>> {
        let conversation = conversation.clone();
        let key = key.to_owned();
        self.write(Plan::RELAXED.after(&conversation.full()), move |tx| {
            let Some(row) = conversations::find(tx, &conversation)? else { return Ok(None) };
            answer(tx, row, conversation.account().as_str(), &key)
        })
        .await
    }

    async fn fetch(&self, row: InboxId, effect: FetchEffect) -> Result<Option<FetchResult>> {
        let effect = Effect::new(effect)?;
        let now = self.now();
        let plan = Plan::DURABLE.bytes(effect.bytes()).after(&row.0);
        self.write(plan, move |tx| fetched::fetch(tx, row.0, &effect, now)).await
    }

    async fn sweep_held(&self, now: DateTime<Utc>) -> Result<Swept> {
        self.write(Plan::RELAXED, move |tx| fetched::sweep(tx, now)).await
    }
}

/// Returns the task of a message while it waits in its lane.
fn waiting(tx: &mut dyn Tx, row: i64) -> Result<Option<i64>> {
    tx.first(
        "SELECT t.id FROM inbox i JOIN task t ON t.id = i.task
         WHERE i.id = ?1 AND t.state = 'waiting'",
        params![row],
    )
}

/// Messages of waiting tasks that may hold a right to answer.
fn rights_waiting(tx: &mut dyn Tx) -> Result<Vec<(i64, String)>> {
    tx.all(
        "SELECT i.id, i.inbound FROM task t CROSS JOIN inbox i ON i.task = t.id
         WHERE t.state = 'waiting' AND i.disposition = 'task' AND i.inbound LIKE '%reply_window%'
           AND NOT EXISTS (SELECT 1 FROM hold WHERE task = t.id)
         ORDER BY i.id LIMIT ?1",
        params![MAX_WAITING],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )
}

/// Where the answer stands: of a task that another has absorbed it is the other's.
fn answer(
    tx: &mut dyn Tx,
    conversation: i64,
    account: &str,
    key: &str,
) -> Result<Option<HeldAnswer>> {
    let found: Option<(i64, i64, Option<String>)> = tx.optional(
        "SELECT t.id, h.button, t.why FROM hold h JOIN task t ON t.id = h.task
         WHERE h.key = ?1 AND h.account = ?2 AND t.conversation = ?3",
        params![key, account, conversation],
        |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
    )?;
    let Some((own, button, why)) = found else { return Ok(None) };
    let absorbed = why.as_deref().and_then(|why| why.strip_prefix(ABSORBED)?.parse().ok());
    let task = absorbed.unwrap_or(own);
    let state: Option<String> = tx.first("SELECT state FROM task WHERE id = ?1", params![task])?;
    let Some(state) = state else { return Ok(None) };
    if matches!(state.as_str(), "waiting" | "running" | "parked") {
        return Ok(Some(HeldAnswer::Working(TaskId(task))));
    }
    let rows = held_answers::held_of(tx, task)?;
    if !rows.is_empty() {
        let said = rows.iter().map(|raw| Ok((OutboundId(raw.0), read_body(raw)?)));
        return said.collect::<Result<_>>().map(|said| Some(HeldAnswer::Ready(said)));
    }
    let gone = last_words(tx, task, button)?;
    let went = |standing: &DeliveryState| {
        matches!(
            standing,
            DeliveryState::Open
                | DeliveryState::Delivered { .. }
                | DeliveryState::Partly { .. }
                | DeliveryState::Unclear
        )
    };
    Ok(Some(if gone.iter().any(went) { HeldAnswer::Gone } else { HeldAnswer::Lost }))
}

/// Where everything stands that a task said after its button.
fn last_words(tx: &mut dyn Tx, task: i64, button: i64) -> Result<Vec<DeliveryState>> {
    let rows: Vec<i64> = tx.column(
        "SELECT id FROM outbound WHERE task = ?1 AND id > ?2 AND call IS NULL ORDER BY id",
        params![task, button],
    )?;
    rows.into_iter().map(|row| standing::standing(tx, row)).collect()
}
