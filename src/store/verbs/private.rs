//! Where a person last spoke with the bot in private.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use selkie_channel_core::{AccountId, Audience, ConversationId, Inbound, PersonId};

use super::conversations;
use super::rows::json;
use super::unanswered::says_something;
use crate::error::Result;
use crate::tx::Tx;
use crate::value::params;

/// So many of the newest messages are looked through.
const LOOKED_THROUGH: i64 = 20_000;

/// Returns the newest open conversation with one of these accounts in which somebody spoke alone with the bot.
pub fn last(
    tx: &mut dyn Tx,
    person: &PersonId,
    accounts: &[AccountId],
) -> Result<Option<ConversationId>> {
    let begins = begins(person)?;
    let mut found = None;
    tx.query(
        "SELECT i.inbound, c.account, c.key FROM inbox i JOIN conversation c ON c.id = i.conversation
         WHERE i.id > (SELECT COALESCE(MAX(id), 0) FROM inbox) - ?1 AND i.inbound LIKE ?2 AND c.closed IS NULL
         ORDER BY i.id DESC",
        params![LOOKED_THROUGH, &begins],
        &mut |row| {
            let account = AccountId::new(row.get::<&str>(1)?);
            let heard: Option<Inbound> = serde_json::from_str(row.get(0)?).ok();
            let theirs = heard.is_some_and(|heard| is_alone(&heard, person));
            if !theirs || !accounts.contains(&account) {
                return Ok(ControlFlow::Continue(()));
            }
            found = Some(ConversationId::new(account, row.get::<&str>(2)?));
            Ok(ControlFlow::Break(()))
        },
    )?;
    Ok(found)
}

/// Returns every conversation in which something is stored that somebody wrote to the bot alone, each with how many
/// messages of theirs say themselves that they belong there: what nobody answered stands in no conversation, which is
/// made then.
pub fn all(tx: &mut dyn Tx, person: &PersonId) -> Result<BTreeMap<i64, u64>> {
    let mut found = BTreeMap::new();
    let mut stray: Vec<Inbound> = Vec::new();
    tx.query(
        "SELECT i.conversation, i.inbound FROM inbox i WHERE i.inbound LIKE ?1",
        params![&begins(person)?],
        &mut |row| {
            let heard: Option<Inbound> = serde_json::from_str(row.get(1)?).ok();
            let theirs = heard.filter(|heard| is_alone(heard, person) && says_something(heard));
            match (theirs, row.get(0)?) {
                (Some(_), Some(conversation)) => drop(found.entry(conversation).or_insert(0)),
                (Some(heard), None) => stray.push(heard),
                (None, _) => {}
            }
            Ok(ControlFlow::Continue(()))
        },
    )?;
    for heard in &stray {
        let conversation = match conversations::find(tx, &heard.conversation)? {
            Some(conversation) => conversation,
            None => conversations::hear(tx, None, heard)?,
        };
        *found.entry(conversation).or_insert(0) += 1;
    }
    Ok(found)
}

/// How a message begins that is theirs, as the program writes it: inside of a text its quotes would be escaped. What an
/// id could mean to LIKE is looked at by [`is_alone`].
fn begins(person: &PersonId) -> Result<String> {
    Ok(format!("%\"speaker\":{{\"id\":{}%", json(person)?))
}

fn is_alone(heard: &Inbound, person: &PersonId) -> bool {
    heard.speaker.id == *person && heard.audience == Audience::Direct
}
