//! Approval sought with a park, given once, used up by the write that starts the call, taken back.

use chrono::{DateTime, Utc};
use selkie_channel_core::AccountId;

use super::approval_limits::{Reader, not_for, too_many};
use super::asking::wake;
use super::outbox;
use super::rows::{json, millis, time};
use crate::approval::ApprovalRequest;
use crate::delivery::QueuedOutbound;
use crate::error::Result;
use crate::tx::Tx;
use crate::value::params;
use selkie_domain::approval::code;
use selkie_domain::question::Person;

/// Why an approval that nobody could be asked for is refused.
const NOBODY: &str = "nobody who could approve it can be reached in private";

/// Why what a call has asked is taken back when its process is gone with the daemon.
pub const RESTARTED: &str = "selkie was stopped while it waited";

/// An approval that is sought, written as text before it reaches the writer.
#[derive(Debug)]
pub struct ApprovalText {
    key: String,
    request: String,
    hash: String,
    requester: Option<Person>,
    asked: Vec<AskedApprover>,
    unasked: Option<String>,
    expires_at: i64,
}

/// One of those who are asked.
#[derive(Debug)]
struct AskedApprover {
    person: Person,
    account: AccountId,
    draft: outbox::DraftText,
}

impl ApprovalText {
    /// Writes its texts.
    pub fn new(sought: ApprovalRequest) -> Result<Self> {
        let ApprovalRequest { key, request, requester, asked, unasked, expires_at } = sought;
        let asked = asked.into_iter().map(|(person, draft)| {
            let account = draft.outbound.conversation.account().clone();
            Ok(AskedApprover { person, account, draft: outbox::DraftText::new(draft)? })
        });
        let hash = request.hash.clone();
        let expires_at = millis(expires_at);
        let asked = asked.collect::<Result<_>>()?;
        let request = json(&request)?;
        Ok(Self { key, request, hash, requester, asked, unasked, expires_at })
    }

    /// Returns what names it.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// Returns about how many bytes it will take.
    pub fn bytes(&self) -> usize {
        self.request.len() + self.drafts().map(outbox::DraftText::bytes).sum::<usize>()
    }

    /// Returns what asks for it.
    pub fn drafts(&self) -> impl Iterator<Item = &outbox::DraftText> {
        self.asked.iter().map(|asking| &asking.draft)
    }
}

/// Seeks approval: the row, and what asks for it. Where nobody is asked the task goes on at once and is told why.
pub fn seek(
    tx: &mut dyn Tx,
    task: i64,
    sought: &ApprovalText,
    now: DateTime<Utc>,
) -> Result<Vec<QueuedOutbound>> {
    let requester = sought.requester.as_ref();
    let who = requester.map(|person| person.id.as_str()).unwrap_or_default();
    let name = requester.map(|person| person.name.as_str()).unwrap_or_default();
    let mut refused = too_many(tx, who, now)?;
    let row = tx.insert(
        "INSERT INTO approval (key, code, task, requester, requester_name, request, hash, state, expires_at,
             created_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 'open', ?8, ?9)",
        params![
            &sought.key,
            code(&sought.key),
            task,
            who,
            name,
            &sought.request,
            &sought.hash,
            sought.expires_at,
            millis(now)
        ],
    )?;
    let Some(row) = row else { return Ok(Vec::new()) };
    let mut queued = Vec::new();
    if refused.is_none() {
        for asking in &sought.asked {
            let owner = asking.person.id.as_str();
            match not_for(tx, &Reader { owner, requester: who, task }, now)? {
                Some(why) => refused = Some(why),
                None => queued.push(ask(tx, task, row, asking, now)?),
            }
        }
    }
    let why = refused.as_deref().or(sought.unasked.as_deref()).unwrap_or(NOBODY);
    settle_unasked(tx, row, why, now)?;
    Ok(queued)
}

fn ask(
    tx: &mut dyn Tx,
    task: i64,
    approval: i64,
    asking: &AskedApprover,
    now: DateTime<Utc>,
) -> Result<QueuedOutbound> {
    let said = outbox::say(tx, &asking.draft, outbox::SaidFor::Task(task), now)?;
    tx.execute_later(
        "INSERT INTO approval_asked (approval, account, person, person_name, conversation, outbound, refused)
         SELECT CAST(?1 AS BIGINT), CAST(?2 AS TEXT), CAST(?3 AS TEXT), CAST(?4 AS TEXT), conversation, id,
             CAST(?6 AS BIGINT)
         FROM outbound WHERE id = ?5",
        params![
            approval,
            asking.account.as_str(),
            asking.person.id.as_str(),
            &asking.person.name,
            said.outbound.0,
            said.parts.is_empty()
        ],
    )?;
    Ok(said)
}

/// An open approval that nobody can read any more is refused, and its task goes on.
fn settle_unasked(tx: &mut dyn Tx, approval: i64, why: &str, now: DateTime<Utc>) -> Result<()> {
    let task: Option<i64> = tx.first(
        "UPDATE approval SET state = 'not_asked', why = ?2, settled_at = ?3
         WHERE id = ?1 AND state = 'open'
           AND NOT EXISTS (SELECT 1 FROM approval_asked WHERE approval = ?1 AND refused = 0)
         RETURNING task",
        params![approval, why, millis(now)],
    )?;
    match task {
        Some(task) => wake(tx, task).map(|_| ()),
        None => Ok(()),
    }
}

/// The platform will not take what asks one of them.
pub fn not_asked(tx: &mut dyn Tx, outbound: i64, why: &str, now: i64) -> Result<()> {
    let approval: Option<i64> = tx.first(
        "UPDATE approval_asked SET refused = 1 WHERE outbound = ?1 RETURNING approval",
        params![outbound],
    )?;
    match approval {
        Some(approval) => settle_unasked(tx, approval, &format!("{NOBODY}: {why}"), time(now)),
        None => Ok(()),
    }
}

/// Uses up the approval of a call in the write that marks it started; whether there was any.
pub fn consume(
    tx: &mut dyn Tx,
    task: i64,
    key: &str,
    hash: &str,
    now: DateTime<Utc>,
) -> Result<bool> {
    let taken = tx.execute(
        "UPDATE approval SET state = 'consumed'
         WHERE key = ?1 AND task = ?2 AND hash = ?3 AND state = 'approved' AND lapses_at > ?4",
        params![key, task, hash, millis(now)],
    )?;
    if taken == 0 {
        tx.execute_later(
            "UPDATE approval SET state = 'lapsed' WHERE key = ?1 AND state = 'approved' AND lapses_at <= ?2",
            params![key, millis(now)],
        )?;
    }
    Ok(taken > 0)
}

/// The call that somebody has allowed is not made after all, or has failed, and why.
pub fn forgo(tx: &mut dyn Tx, task: i64, key: &str, why: &str, now: DateTime<Utc>) -> Result<()> {
    tx.execute_later(
        "UPDATE approval SET why = ?3,
             settled_at = CASE state WHEN 'approved' THEN ?4 ELSE settled_at END,
             state = CASE state WHEN 'approved' THEN 'withdrawn' ELSE state END
         WHERE key = ?1 AND task = ?2 AND state IN ('approved', 'consumed')",
        params![key, task, why, millis(now)],
    )
}

/// A task wakes by itself: nobody has decided.
pub fn expire(tx: &mut dyn Tx, task: i64, now: DateTime<Utc>) -> Result<()> {
    tx.execute_later(
        "UPDATE approval SET state = 'expired', settled_at = ?2 WHERE task = ?1 AND state = 'open'",
        params![task, millis(now)],
    )
}

/// What a task was or is to be allowed is taken back, and why.
pub fn withdraw_for(tx: &mut dyn Tx, task: i64, why: &str, now: i64) -> Result<()> {
    tx.execute_later(
        "UPDATE approval SET state = 'withdrawn', why = ?3, settled_at = ?2
         WHERE task = ?1 AND state IN ('open', 'approved')",
        params![task, now, why],
    )
}

/// A task has ended: what it was or is to be allowed is taken back.
pub fn withdraw_of(tx: &mut dyn Tx, task: i64, now: i64) -> Result<()> {
    withdraw_for(tx, task, "its task has ended", now)
}

/// A claim ends with its process, and its task does not: a request that is open was made in the middle of a call, for
/// nobody runs a task that is parked on one.
pub fn interrupt(tx: &mut dyn Tx, task: i64, now: DateTime<Utc>) -> Result<()> {
    tx.execute_later(
        "UPDATE approval SET state = 'withdrawn', why = ?2, settled_at = ?3 WHERE task = ?1 AND state = 'open'",
        params![task, RESTARTED, millis(now)],
    )
}

/// Plan mode begins in a conversation: nothing is allowed there any more, and its parked tasks go on.
pub fn withdraw_in(tx: &mut dyn Tx, conversation: i64, now: DateTime<Utc>) -> Result<()> {
    let tasks: Vec<i64> = tx.column(
        "UPDATE approval SET state = 'withdrawn', why = 'plan mode has begun', settled_at = ?2
         WHERE id IN (SELECT id FROM approval INDEXED BY approval_usable
                      WHERE state IN ('open', 'approved'))
           AND (SELECT conversation FROM task WHERE id = approval.task) = ?1
         RETURNING task",
        params![conversation, millis(now)],
    )?;
    tasks.into_iter().try_for_each(|task| wake(tx, task).map(|_| ()))
}
