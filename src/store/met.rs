//! Who spoke in which place: derived from the messages that are stored, beside everything else.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use selkie_channel_core::{AccountId, ConversationId, PersonId, PlaceId};
use serde::{Deserialize, Serialize};

use crate::error::Result;

/// Somebody who spoke in a place, as they were last seen there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeenPerson {
    /// Where.
    pub place: PlaceId,
    /// Who.
    pub person: PersonId,
    /// The name that the platform shows; empty when it tells none.
    pub name: String,
    /// Their `@name` without the `@`; empty when they have none.
    pub username: String,
    /// A program.
    pub is_bot: bool,
    /// Nobody else reads along there.
    pub is_direct: bool,
    /// When they last spoke there.
    pub at: DateTime<Utc>,
}

/// Somebody who was met, and what of it stands in the file of contacts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewlyMet {
    /// Who, where.
    pub met: SeenPerson,
    /// The `@name` that was brought there last; empty for none, or nothing yet.
    pub brought: String,
    /// What they were called when they were brought there last; `None` when that is not known.
    pub brought_name: Option<String>,
    /// Nothing of them in this place was brought there yet.
    pub is_new: bool,
}

/// A conversation in which somebody spoke with the bot alone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PrivateChat {
    /// Its id.
    pub conversation: ConversationId,
    /// Its place.
    pub place: PlaceId,
    /// Who spoke there.
    pub person: PersonId,
    /// How many messages of theirs and others' are stored.
    pub messages: u64,
    /// How many tasks.
    pub tasks: u64,
}

/// Messages that were looked through.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LookResult {
    /// Who spoke in them, each once in each place, in no order.
    pub met: Vec<SeenPerson>,
    /// The last row that was looked at; nothing when there was none.
    pub last: Option<i64>,
    /// The last row behind which nothing older comes any more.
    pub settled: Option<i64>,
}

/// Whom the bot has met.
#[async_trait]
pub trait Acquaintances: Send + Sync {
    /// Looks through a page of the messages behind a row, or behind the last one that was noted; what was stored after
    /// `settled` may have others before it that are not seen yet.
    async fn look_for_met(&self, after: Option<i64>, settled: DateTime<Utc>) -> Result<LookResult>;

    /// Notes who was met, and up to which row everything is looked through. Relaxed: what is lost is looked through again.
    async fn note_met(&self, met: Vec<SeenPerson>, upto: Option<i64>) -> Result<()>;

    /// Lists who spoke in a place, the latest first, so many at most.
    async fn met_in(&self, place: &PlaceId, most: usize) -> Result<Vec<SeenPerson>>;

    /// Lists who spoke anywhere, once for each place, the latest first, so many at most.
    async fn met_lately(&self, most: usize) -> Result<Vec<SeenPerson>>;

    /// Lists the others who spoke in the groups of an account in which somebody spoke, the latest first, so many at most.
    async fn met_beside(
        &self,
        account: &AccountId,
        person: &PersonId,
        most: usize,
    ) -> Result<Vec<SeenPerson>>;

    /// Lists the conversations in which somebody spoke with the bot alone, by any of these ids, whether it listened to
    /// them or not. Relaxed: a conversation that a stranger's line has not made is made here.
    async fn private_chats(&self, people: &[PersonId]) -> Result<Vec<PrivateChat>>;

    /// Forgets what somebody is called, once these chats of theirs are forgotten: as whom they were met, in groups, too (they are
    /// met anew when they speak again), the chats' titles, their request to be let in, and whose their schedules are but for
    /// the id. Durable.
    async fn forget_names(&self, people: &[PersonId], chats: &[PrivateChat]) -> Result<()>;

    /// Lists who was met newly, under another name, or again after a day, and was not brought into the file of contacts.
    async fn newly_met(&self, most: usize) -> Result<Vec<NewlyMet>>;

    /// Notes that they were brought there. Relaxed: bringing them twice changes nothing.
    async fn note_brought(&self, met: Vec<SeenPerson>) -> Result<()>;
}
