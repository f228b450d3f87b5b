//! What a task has read in another conversation stands in its transcript, too, and goes with what was said there.

use selkie_channel_core::ConversationId;

use super::conversations::find;
use super::rewriting::rewrite;
use crate::error::Result;
use crate::tx::Tx;
use crate::value::params;
use selkie_domain::transcript::{Answer, Item};

/// So many tasks are looked at in one step of forgetting …
const TASKS: i64 = 5;
/// … and where one message is taken back, the newest.
const NEWEST: i64 = 100;
/// A message is found by so many bytes of its beginning: an answer that is cut may end within it.
const BEGINNING: usize = 40;
/// Stands where such words stood.
const GONE: &str = "(forgotten or taken back where it was said)";

/// Notes that a task is about to read there.
pub fn note(tx: &mut dyn Tx, task: i64, other: &ConversationId) -> Result<()> {
    let Some(conversation) = find(tx, other)? else { return Ok(()) };
    tx.execute_later(
        "INSERT INTO copied (conversation, task) SELECT ?1, id FROM task WHERE id = ?2
         ON CONFLICT (conversation, task) DO NOTHING",
        params![conversation, task],
    )
}

/// Takes everything of a conversation out of some tasks, up to one, that nobody runs; returns how many those were.
pub fn forget(tx: &mut dyn Tx, conversation: i64, upto: i64) -> Result<u64> {
    let tasks: Vec<i64> = tx.column(
        "SELECT k.task FROM copied k JOIN task t ON t.id = k.task
         WHERE k.conversation = ?1 AND k.task <= ?2 AND t.state <> 'running' ORDER BY k.task LIMIT ?3",
        params![conversation, upto, TASKS],
    )?;
    for task in &tasks {
        take_out(tx, conversation, *task, |_| true)?;
        let sql = "DELETE FROM copied WHERE conversation = ?1 AND task = ?2";
        tx.execute_later(sql, params![conversation, *task])?;
    }
    Ok(tasks.len() as u64)
}

/// Whether a task that may hold some is running still.
pub fn is_left(tx: &mut dyn Tx, conversation: i64, upto: i64) -> Result<bool> {
    let sql = "SELECT 1 FROM copied WHERE conversation = ?1 AND task <= ?2 LIMIT 1";
    tx.exists(sql, params![conversation, upto])
}

/// Takes out what holds a message that its writer takes back.
pub fn take_back(tx: &mut dyn Tx, conversation: i64, text: &str) -> Result<()> {
    let beginning = &text[..text.floor_char_boundary(BEGINNING)];
    if beginning.is_empty() {
        return Ok(());
    }
    let sql = "SELECT task FROM copied WHERE conversation = ?1 ORDER BY task DESC LIMIT ?2";
    for task in tx.column::<i64>(sql, params![conversation, NEWEST])? {
        take_out(tx, conversation, task, |answer| answer.text.contains(beginning))?;
    }
    Ok(())
}

fn take_out(
    tx: &mut dyn Tx,
    conversation: i64,
    task: i64,
    holds: impl Fn(&Answer) -> bool,
) -> Result<()> {
    let keys: Vec<(String, String)> = tx.all(
        "SELECT account, key FROM conversation WHERE id = ?1
         UNION ALL SELECT account, old FROM conversation_alias WHERE conversation = ?1",
        params![conversation],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    let is_here = |of: &ConversationId| {
        keys.iter().any(|(account, key)| of.account().as_str() == account && of.key() == key)
    };
    rewrite(tx, task, |item| {
        let Item::Answered { answers } = item else { return false };
        let goes = |answer: &&mut Answer| answer.of.as_ref().is_some_and(is_here) && holds(answer);
        let going: Vec<&mut Answer> = answers.iter_mut().filter(goes).collect();
        let is_any = !going.is_empty();
        for answer in going {
            *answer = Answer { taint: answer.taint, ..Answer::words(&answer.call, GONE) };
        }
        is_any
    })
}
