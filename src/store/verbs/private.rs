//! Where a person last spoke with the bot in private.

use std::ops::ControlFlow;

use selkie_channel_core::{AccountId, Audience, ConversationId, Inbound, PersonId};

use super::rows::json;
use crate::store::error::Result;
use crate::store::tx::Tx;
use crate::store::value::params;

/// So many of the newest messages are looked through.
const LOOKED_THROUGH: i64 = 20_000;

/// Returns the newest open conversation with one of these accounts in which somebody spoke alone with the bot.
pub fn last(
    tx: &mut dyn Tx,
    person: &PersonId,
    accounts: &[AccountId],
) -> Result<Option<ConversationId>> {
    // How a message begins that is theirs, as the program writes it: inside of a text its quotes would be escaped. What
    // an id could mean to LIKE is looked at below.
    let begins = format!("%\"speaker\":{{\"id\":{}%", json(person)?);
    let mut found = None;
    tx.query(
        "SELECT i.inbound, c.account, c.key FROM inbox i JOIN conversation c ON c.id = i.conversation
         WHERE i.id > (SELECT COALESCE(MAX(id), 0) FROM inbox) - ?1 AND i.inbound LIKE ?2 AND c.closed IS NULL
         ORDER BY i.id DESC",
        params![LOOKED_THROUGH, &begins],
        &mut |row| {
            let account = AccountId::new(row.get::<&str>(1)?);
            let heard: Option<Inbound> = serde_json::from_str(row.get(0)?).ok();
            let theirs = heard.is_some_and(|heard| {
                heard.speaker.id == *person && heard.audience == Audience::Direct
            });
            if !theirs || !accounts.contains(&account) {
                return Ok(ControlFlow::Continue(()));
            }
            found = Some(ConversationId::new(account, row.get::<&str>(2)?));
            Ok(ControlFlow::Break(()))
        },
    )?;
    Ok(found)
}
