//! Summaries of conversations that rest: which are due, which is being made, and which cover what was taken back.

use async_trait::async_trait;
use selkie_channel_core::ConversationId;

use super::conversations;
use super::history::Newest;
use super::rows::{conversation, millis, time};
use crate::error::Result;
use crate::sql::{Plan, SqlLedger};
use crate::summary::{Day, SoughtTalk, Summaries, SummaryGap, SummaryMark, Talk};
use crate::tx::Tx;
use crate::value::params;

/// So many tasks are read for one summary, the newest.
const TASKS: i64 = 64;
/// So many conversations are listed whose summary is to go.
const STALE: i64 = 200;

#[async_trait]
impl Summaries for SqlLedger {
    async fn unsummarized(&self, sought: SoughtTalk) -> Result<Vec<SummaryGap>> {
        self.read(move |tx| unsummarized(tx, sought)).await
    }

    async fn begin_summary(&self, of: SummaryMark, day: Day) -> Result<bool> {
        self.write(Plan::RELAXED.after(&of.conversation), move |tx| begin(tx, of, day)).await
    }

    async fn talk_to_summarize(&self, of: SummaryMark) -> Result<Talk> {
        self.read(move |tx| talk(tx, of)).await
    }

    async fn may_summarize(&self, of: SummaryMark) -> Result<bool> {
        // What was written last counts: readers may see what was before.
        self.write(Plan::RELAXED.after(&of.conversation), move |tx| {
            tx.exists(
                "SELECT 1 FROM summary WHERE conversation = ?1 AND epoch = ?2 AND making = ?3",
                params![of.conversation, of.epoch, of.upto],
            )
        })
        .await
    }

    async fn end_summary(&self, of: SummaryMark) -> Result<bool> {
        let changed = self.write(Plan::DURABLE.after(&of.conversation), move |tx| {
            tx.execute(
                "UPDATE summary SET upto = making, making = NULL
                 WHERE conversation = ?1 AND epoch = ?2 AND making = ?3",
                params![of.conversation, of.epoch, of.upto],
            )
        });
        Ok(changed.await? > 0)
    }

    async fn stale_summaries(&self) -> Result<Vec<ConversationId>> {
        self.read(|tx| {
            tx.all(
                "SELECT c.account, c.key FROM summary s CROSS JOIN conversation c ON c.id = s.conversation
                 WHERE s.stale = 1 ORDER BY c.id LIMIT ?1",
                params![STALE],
                |row| conversation(row, 0),
            )
        })
        .await
    }

    async fn drop_summary(&self, conversation: &ConversationId) -> Result<()> {
        let conversation = conversation.clone();
        self.write(Plan::DURABLE, move |tx| match conversations::find(tx, &conversation)? {
            Some(row) => tx.execute_later(
                "UPDATE summary SET stale = 0 WHERE conversation = ?1",
                params![row],
            ),
            None => Ok(()),
        })
        .await
    }
}

/// A message of this task was taken back: a summary that covers it is to go, and one that is being made is not written.
pub fn taken_back(tx: &mut dyn Tx, conversation: i64, task: i64) -> Result<()> {
    tx.execute_later(
        "UPDATE summary SET stale = 1, making = NULL WHERE conversation = ?1 AND EXISTS (
             SELECT 1 FROM task t WHERE t.id = ?2 AND t.finish IS NOT NULL AND (t.epoch < summary.epoch
                 OR (t.epoch = summary.epoch AND (t.finish <= summary.upto OR t.finish <= summary.making))))",
        params![conversation, task],
    )
}

/// Everything there is forgotten.
pub fn forget(tx: &mut dyn Tx, conversation: i64) -> Result<()> {
    tx.execute_later("DELETE FROM summary WHERE conversation = ?1", params![conversation])
}

fn unsummarized(tx: &mut dyn Tx, sought: SoughtTalk) -> Result<Vec<SummaryGap>> {
    tx.all(
        "SELECT c.id, c.account, c.key, c.epoch, COALESCE(s.upto, 0), t.finish, t.ended_at,
             EXISTS (SELECT 1 FROM task w WHERE w.conversation = c.id AND w.state = 'waiting')
                 OR EXISTS (SELECT 1 FROM task r WHERE r.conversation = c.id AND r.state = 'running')
         FROM conversation c
         CROSS JOIN task t ON t.conversation = c.id AND t.epoch = c.epoch AND t.finish IS NOT NULL
             AND t.finish = (SELECT MAX(e.finish) FROM task e
                 WHERE e.conversation = c.id AND e.epoch = c.epoch AND e.finish IS NOT NULL)
         LEFT JOIN summary s ON s.conversation = c.id AND s.epoch = c.epoch
         WHERE c.parent IS NULL AND c.last_at > ?1 AND t.ended_at IS NOT NULL AND t.finish - COALESCE(s.upto, 0) >= ?2
             AND COALESCE(s.stale, 0) = 0
         ORDER BY t.ended_at, c.id LIMIT ?3",
        params![millis(sought.since), sought.least, sought.most],
        |row| {
            Ok(SummaryGap {
                conversation: conversation(row, 1)?,
                mark: SummaryMark {
                    conversation: row.get(0)?,
                    epoch: row.get(3)?,
                    behind: row.get(4)?,
                    upto: row.get(5)?,
                },
                ended_at: time(row.get(6)?),
                is_busy: row.get(7)?,
            })
        },
    )
}

fn begin(tx: &mut dyn Tx, of: SummaryMark, day: Day) -> Result<bool> {
    let made: Option<i64> =
        tx.only("SELECT SUM(made) FROM summary WHERE day = ?1", params![day.number])?;
    if made.unwrap_or_default() >= day.most {
        return Ok(false);
    }
    let changed = tx.execute(
        "INSERT INTO summary (conversation, epoch, upto, making, stale, day, made)
         SELECT id, epoch, CAST(?3 AS BIGINT), CAST(?4 AS BIGINT), 0, CAST(?5 AS BIGINT), 1 FROM conversation
         WHERE id = ?1 AND epoch = ?2
         ON CONFLICT (conversation) DO UPDATE SET
             upto = CASE WHEN summary.epoch = excluded.epoch THEN summary.upto ELSE 0 END,
             epoch = excluded.epoch, making = excluded.making, day = excluded.day,
             made = CASE WHEN summary.day = excluded.day THEN summary.made + 1 ELSE 1 END
         WHERE summary.stale = 0",
        params![of.conversation, of.epoch, of.behind, of.upto, day.number],
    )?;
    Ok(changed > 0)
}

fn talk(tx: &mut dyn Tx, of: SummaryMark) -> Result<Talk> {
    let mut newest = Newest::default();
    tx.query(
        "SELECT t.finish, t.id, t.facts, i.seq, i.v, i.item, 0 FROM
             (SELECT finish, id, facts FROM task
              WHERE conversation = ?1 AND epoch = ?2 AND finish IS NOT NULL AND finish > ?3 AND finish <= ?4
              ORDER BY finish DESC LIMIT ?5) t
         LEFT JOIN transcript i ON i.task = t.id",
        params![of.conversation, of.epoch, of.behind, of.upto, TASKS],
        &mut |row| newest.take(row),
    )?;
    let raw = newest.put_in_order();
    Ok(Talk { tasks: raw.read(), asked_by: raw.asked_by })
}
