//! The zones that people and places have set, over the one of the config.

use std::collections::HashMap;
use std::sync::Arc;

use selkie_channel_core::{PersonId, PlaceId};
use tokio::sync::{RwLock, watch};

use super::zone::Zone;
use selkie_store::{Ledger, StoreError, TaskClaim, Whose};

/// Knows who has set which zone; read from the store once, and again when something was set.
pub struct Zones {
    ledger: Arc<dyn Ledger>,
    usual: Zone,
    known: RwLock<Option<HashMap<Whose, Zone>>>,
    changes: watch::Sender<()>,
}

/// A zone, and who has set it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlaceZone {
    /// The zone.
    pub zone: Zone,
    /// Who.
    pub by: SetBy,
}

/// Who has set a zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetBy {
    /// The place, for everybody in it.
    Place,
    /// The person, for themselves.
    Person,
    /// The config or the machine.
    Nobody,
}

impl Zones {
    /// Knows nobody's yet; `usual` is the one of who has set none.
    pub fn new(ledger: Arc<dyn Ledger>, usual: Zone) -> Self {
        Self { ledger, usual, known: RwLock::default(), changes: watch::Sender::default() }
    }

    /// Returns the zone in which a person means times in a place.
    ///
    /// # Errors
    /// When the store does not answer.
    pub async fn of(
        &self,
        place: &PlaceId,
        person: Option<&PersonId>,
    ) -> Result<PlaceZone, StoreError> {
        let place = Whose::Place(place.clone());
        let person = person.map(|person| Whose::Person(person.clone()));
        loop {
            if let Some(known) = &*self.known.read().await {
                let of =
                    |whose: &Whose, by| known.get(whose).map(|zone| PlaceZone { zone: *zone, by });
                let own = || person.as_ref().and_then(|person| of(person, SetBy::Person));
                let usual = PlaceZone { zone: self.usual, by: SetBy::Nobody };
                return Ok(of(&place, SetBy::Place).or_else(own).unwrap_or(usual));
            }
            self.read().await?;
        }
    }

    /// Returns the zone by whose clocks the lines of a task are told; the usual one where the store does not answer.
    pub async fn of_task(&self, claimed: &TaskClaim) -> Zone {
        let found = self.of(&claimed.place, claimed.facts.speaker.as_ref()).await;
        found.map_or(self.usual, |found| found.zone)
    }

    /// Returns the zone of who has set none.
    pub fn usual(&self) -> Zone {
        self.usual
    }

    /// Something was set, or a place has moved: what is known is read anew.
    pub async fn forget(&self) {
        *self.known.write().await = None;
        self.changes.send_replace(());
    }

    /// Tells whenever something was set, or a place has moved.
    pub fn changes(&self) -> watch::Receiver<()> {
        self.changes.subscribe()
    }

    async fn read(&self) -> Result<(), StoreError> {
        // Held over the reading: what is set meanwhile is forgotten behind it.
        let mut known = self.known.write().await;
        let set = self.ledger.zones().await?;
        // A name that these rules do not have any more is nobody's.
        let read = |set: selkie_store::ZoneOf| Some((set.whose, Zone::named(&set.zone).ok()?));
        *known = Some(set.into_iter().filter_map(read).collect());
        Ok(())
    }
}
