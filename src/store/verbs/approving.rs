//! Approval sought with a park, given once, used up by the write that starts the call, taken back.

use chrono::{DateTime, Utc};
use selkie_channel_core::AccountId;

use super::asking::wake;
use super::rows::{json, millis, time};
use super::{lanes, locks, outbox};
use crate::approval::{ApprovalRequest, Decision, DecisionResult};
use crate::delivery::QueuedOutbound;
use crate::error::Result;
use crate::tx::Tx;
use crate::value::params;
use selkie_domain::approval::{
    ApprovalState, LAPSES_AFTER, MAX_OPEN, MAX_OPEN_OF_ALL, MAX_RECENT, MAX_RECENT_OF_ALL,
    MUTED_FOR, MuteOf, Verdict, WITHIN, code,
};
use selkie_domain::question::Person;

/// Why an approval that nobody could be asked for is refused.
const NOBODY: &str = "nobody who could approve it can be reached in private";

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
        let (hash, expires_at) = (request.hash.clone(), millis(expires_at));
        let asked = asked.collect::<Result<_>>()?;
        let request = json(&request)?;
        Ok(Self { key, request, hash, requester, asked, unasked, expires_at })
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

/// Counts requests to which nobody has said yes: `withdrawn` with a name was approved, and came to nothing.
macro_rules! unwanted {
    ($where:literal) => {
        concat!(
            $where,
            "(a.state IN ('open', 'denied', 'expired') OR (a.state = 'withdrawn' AND a.decided_by = ''))"
        )
    };
}

/// Why no more is asked for somebody, if so.
fn too_many(tx: &mut dyn Tx, requester: &str, now: DateTime<Utc>) -> Result<Option<String>> {
    let open: u32 = tx.only(
        "SELECT COUNT(*) FROM approval WHERE requester = ?1 AND state = 'open'",
        params![requester],
    )?;
    let recent: u32 = tx.only(
        unwanted!(
            "SELECT COUNT(*) FROM approval a WHERE a.requester = ?1 AND a.created_at > ?2 AND "
        ),
        params![requester, millis(now - WITHIN)],
    )?;
    Ok(if open >= MAX_OPEN {
        Some(format!("{MAX_OPEN} requests for the same person are waiting already"))
    } else {
        let many = || {
            format!(
                "nobody has approved {MAX_RECENT} requests for the same person within an hour: more can be asked for later"
            )
        };
        (recent >= MAX_RECENT).then(many)
    })
}

/// One of those who are asked, by whom, and for which task.
struct Reader<'a> {
    owner: &'a str,
    requester: &'a str,
    task: i64,
}

/// Why one owner is not asked for others, if so. What they ask for themselves wears nobody else out, and nobody else keeps
/// them from it.
fn not_for(tx: &mut dyn Tx, reader: &Reader<'_>, now: DateTime<Utc>) -> Result<Option<String>> {
    let Reader { owner, requester, .. } = *reader;
    if owner == requester {
        return Ok(None);
    }
    match muted(tx, reader, now)? {
        Some(why) => Ok(Some(why)),
        None => too_many_for(tx, owner, now),
    }
}

/// Says whom an owner has muted: a mute counts for everybody who was asked with its request, as its denial does.
fn muted(tx: &mut dyn Tx, reader: &Reader<'_>, now: DateTime<Utc>) -> Result<Option<String>> {
    let of: Option<String> = tx.first(
        "SELECT m.muted FROM approval m JOIN approval_asked s ON s.approval = m.id
         WHERE m.muted_until > ?1 AND s.person = ?2
           AND ((m.muted = 'person' AND m.requester = ?3)
                OR (m.muted = 'group' AND EXISTS (
                    SELECT 1 FROM task t JOIN conversation c ON c.id = t.conversation
                        JOIN task u ON u.id = m.task JOIN conversation d ON d.id = u.conversation
                    WHERE t.id = ?4 AND c.account = d.account AND c.place = d.place)))
         LIMIT 1",
        params![millis(now), reader.owner, reader.requester, reader.task],
    )?;
    let whose = match of.as_deref().and_then(MuteOf::parse) {
        None => return Ok(None),
        Some(MuteOf::Person) => "for this person",
        Some(MuteOf::Group) => "from here",
    };
    Ok(Some(format!("the owner takes no requests {whose} for now")))
}

fn too_many_for(tx: &mut dyn Tx, owner: &str, now: DateTime<Utc>) -> Result<Option<String>> {
    let open: u32 = tx.only(
        "SELECT COUNT(*) FROM approval a WHERE a.state = 'open' AND a.requester <> ?1
           AND EXISTS (SELECT 1 FROM approval_asked s WHERE s.approval = a.id AND s.person = ?1)",
        params![owner],
    )?;
    let recent: u32 = tx.only(
        unwanted!(
            "SELECT COUNT(DISTINCT a.id) FROM approval_asked s JOIN approval a ON a.id = s.approval
             WHERE s.person = ?1 AND a.requester <> ?1 AND a.created_at > ?2 AND "
        ),
        params![owner, millis(now - WITHIN)],
    )?;
    Ok(if open >= MAX_OPEN_OF_ALL {
        Some(format!(
            "{MAX_OPEN_OF_ALL} requests are waiting for the owner already: more can be asked for later"
        ))
    } else {
        let many = || {
            format!(
                "the owner was asked {MAX_RECENT_OF_ALL} times within an hour without approving: more can be asked for later"
            )
        };
        (recent >= MAX_RECENT_OF_ALL).then(many)
    })
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

/// Decides; `None` when the row that says so was carried out before.
pub fn decide(
    tx: &mut dyn Tx,
    decision: &Decision,
    now: DateTime<Utc>,
) -> Result<Option<DecisionResult>> {
    let Decision { row, key, verdict, by, name } = decision;
    let key = key.as_deref().unwrap_or_default();
    let task: Option<i64> = tx.first("SELECT task FROM approval WHERE key = ?1", params![key])?;
    if let Some(task) = task {
        locks::of_task(tx, task, [])?;
    }
    let mut at = millis(now);
    if let Some(row) = row {
        let stored: Option<i64> = tx.first(
            "UPDATE inbox SET done_at = ?2
             WHERE id = ?1 AND disposition IN ('tap', 'answer') AND done_at IS NULL RETURNING stored_at",
            params![row.0, at],
        )?;
        let Some(stored) = stored else { return Ok(None) };
        // A clock that was set back makes nothing younger than it is.
        at = at.max(stored);
    }
    let (state, lapses_at) = match verdict {
        Verdict::Approve => (ApprovalState::Approved, Some(at + LAPSES_AFTER.num_milliseconds())),
        Verdict::Deny | Verdict::Mute | Verdict::MuteGroup => (ApprovalState::Denied, None),
        Verdict::Unmute => {
            let done = unmute(tx, key)?;
            return Ok(Some(DecisionResult { done, ready: None }));
        }
    };
    let account = by.as_ref().map(|(account, _)| account.as_str());
    let person = by.as_ref().map(|(_, person)| person.as_str());
    let task: Option<i64> = tx.first(
        "UPDATE approval SET state = ?2, lapses_at = ?3, decided_by = ?4, settled_at = ?5
         WHERE key = ?1 AND state = 'open' AND expires_at > ?5
           AND (CAST(?6 AS TEXT) IS NULL OR EXISTS (SELECT 1 FROM approval_asked a
                WHERE a.approval = approval.id AND a.account = ?6 AND a.person = ?7
                  AND a.refused = 0 AND NOT EXISTS (SELECT 1 FROM part p
                      WHERE p.id BETWEEN a.outbound * 4096 AND a.outbound * 4096 + 4095
                        AND p.state NOT IN ('sent', 'repeated')
                        AND EXISTS (SELECT 1 FROM part l
                            WHERE l.id BETWEEN p.id + 1 AND a.outbound * 4096 + 4095))))
         RETURNING task",
        params![key, state.name(), lapses_at, name, at, account, person],
    )?;
    let Some(task) = task else { return Ok(Some(DecisionResult::default())) };
    if let Some(of) = verdict.mutes() {
        // What nobody in particular has asked for is the group's.
        tx.execute_later(
            "UPDATE approval SET muted = CASE WHEN requester = '' THEN 'group' ELSE CAST(?2 AS TEXT) END,
                 muted_until = ?3 WHERE key = ?1",
            params![key, of.name(), at + MUTED_FOR.num_milliseconds()],
        )?;
    }
    if let Some(row) = row {
        tx.execute_later("UPDATE inbox SET task = ?2 WHERE id = ?1", params![row.0, task])?;
    }
    let ready = match wake(tx, task)? {
        Some(lane) => lanes::ready_name(tx, lane, now)?,
        None => None,
    };
    Ok(Some(DecisionResult { done: true, ready }))
}

/// Lifts what was muted with a request; whether there was anything.
fn unmute(tx: &mut dyn Tx, key: &str) -> Result<bool> {
    let lifted = tx.execute(
        "UPDATE approval SET muted_until = NULL WHERE key = ?1 AND muted_until IS NOT NULL",
        params![key],
    )?;
    Ok(lifted > 0)
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
