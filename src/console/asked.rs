//! What every question to the read API brings: how many rows it wants, and which conversation it is about.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::rejection::QueryRejection;
use axum::extract::{FromRequestParts, Path, Query, State};
use axum::http::request::Parts;
use selkie_channel_core::ConversationId;
use serde::Deserialize;

use super::Console;
use super::answer::Fault;

/// Rows in a list, when nobody says how many.
const ROWS: usize = 50;
/// Rows in a list at most.
const MAX_ROWS: usize = 500;
/// The header that says how many rows there are of which a list shows some.
pub(super) const TOTAL: &str = "x-total-count";
/// A store that says nothing for so long is as one that is away: a commit whose answer was lost is waited for until the
/// database is back.
pub(super) const TIMEOUT: Duration = Duration::from_secs(3);
/// How many conversations are looked through for a key.
const CONVERSATIONS_SEARCHED: usize = 10_000;

/// What each handler is given.
pub(super) type ConsoleState = State<Arc<Console>>;
/// What a path names. What stands there may be no text: that is a fault like others.
pub(super) struct Of(pub(super) String);

impl<S: Send + Sync> FromRequestParts<S> for Of {
    type Rejection = Fault;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Fault> {
        let path = Path::from_request_parts(parts, state).await;
        let unread = |_| Fault::unreadable("what the path names is not text: encode it as UTF-8");
        path.map(|Path(named)| Self(named)).map_err(unread)
    }
}

/// How many rows are wanted.
pub(super) type Rows = Result<Query<Limit>, QueryRejection>;

/// The query of a list.
#[derive(Deserialize)]
pub(super) struct Limit {
    limit: Option<usize>,
}

/// Returns how many rows a list shows.
///
/// # Errors
/// When it is no number.
pub(super) fn limit(rows: Rows) -> Result<usize, Fault> {
    let Query(Limit { limit }) = rows
        .map_err(|_| Fault::unreadable(format!("limit must be a number from 1 to {MAX_ROWS}")))?;
    Ok(limit.unwrap_or(ROWS).clamp(1, MAX_ROWS))
}

/// Finds the conversation that a key names. Keys are the channels' own: they are compared, never read. Two bots may share
/// one, then the full form with the account tells them apart.
///
/// # Errors
/// When none has it, or several have.
pub(super) async fn find(console: &Console, written: &str) -> Result<ConversationId, Fault> {
    let rows = console.ledger.conversations(CONVERSATIONS_SEARCHED).await?;
    let mut named =
        rows.into_iter().map(|r| r.id).filter(|id| id.key() == written || id.full() == written);
    let Some(found) = named.next() else {
        return Err(Fault::missing(format!(
            "there is no conversation {written:?}: see /v1/conversations"
        )));
    };
    let Some(other) = named.next() else { return Ok(found) };
    Err(Fault::unreadable(format!(
        "{written:?} names several conversations: write {:?} or {:?}",
        found.full(),
        other.full()
    )))
}
