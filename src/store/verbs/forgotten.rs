//! What somebody was called whose private chats are forgotten: what is kept names them by id alone.

use selkie_channel_core::PersonId;

use super::{locks, texts};
use crate::error::Result;
use crate::met::PrivateChat;
use crate::tx::Tx;
use crate::value::params;

/// Takes the names away.
pub fn names(tx: &mut dyn Tx, people: &[PersonId], chats: &[PrivateChat]) -> Result<()> {
    locks::named(tx, chats.iter().map(|chat| &chat.conversation))?;
    for chat in chats {
        // A private chat is called like its person.
        tx.execute_later(
            "UPDATE conversation SET title = '' WHERE account = ?1 AND place = ?2 AND title <> ''",
            params![chat.place.account().as_str(), chat.place.key()],
        )?;
    }
    for person in people.iter().chain(chats.iter().map(|chat| &chat.person)) {
        let person = person.as_str();
        tx.execute_later("DELETE FROM met WHERE person = ?1", params![person])?;
        tx.execute_later("DELETE FROM pairing_request WHERE person = ?1", params![person])?;
        of_schedules(tx, person)?;
    }
    Ok(())
}

/// Schedules stay, and whose they are by id.
fn of_schedules(tx: &mut dyn Tx, person: &str) -> Result<()> {
    let made: Vec<(i64, String)> = tx.all(
        "SELECT id, schedule FROM schedule WHERE person = ?1 ORDER BY id",
        params![person],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    for (id, schedule) in made {
        let Some(without) = texts::without_makers_name(&schedule) else {
            tracing::error!(
                schedule = id,
                "a schedule cannot be read: its maker's name stays in it"
            );
            continue;
        };
        // Whoever changed it meanwhile keeps their change.
        tx.execute_later(
            "UPDATE schedule SET schedule = ?3 WHERE id = ?1 AND schedule = ?2",
            params![id, &schedule, &without],
        )?;
    }
    Ok(())
}
