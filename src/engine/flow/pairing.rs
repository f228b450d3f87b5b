//! Who was paired: what is stored of them, as the command line and each start ask for it.

use chrono::{DateTime, Utc};
use selkie_channel_core::PersonId;

use super::Flow;
use selkie_domain::facts::Trust;
use selkie_domain::pairing::{LASTS, new_code};
use crate::intake::pairing::approve;
use selkie_store::{Approved, PairedPerson, PairingRequest, StoreError};

/// A code that is open now.
pub struct OpenCode {
    /// The code.
    pub code: String,
    /// Until when it can be used.
    pub until: DateTime<Utc>,
}

impl Flow {
    /// Takes those who were paired for what they are, behind those of the config.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn know_paired(&self) -> Result<(), StoreError> {
        for PairedPerson { person, trust } in self.paired().await? {
            match trust {
                Trust::Owner => {
                    self.owners().add(&person);
                }
                _ => self.outbox.accounts.let_in(&person),
            }
        }
        Ok(())
    }

    /// Lets a stranger in by their code.
    ///
    /// # Errors
    /// When it could not be stored.
    pub async fn approve_pairing(&self, code: &str) -> Result<Approved, StoreError> {
        approve(&self.outbox, code).await
    }

    /// Lists the owners whom the config names.
    pub fn named_owners(&self) -> Vec<PersonId> {
        self.named_owners.now().to_vec()
    }

    /// Lists who asks to be let in.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn pairing_requests(&self) -> Result<Vec<PairingRequest>, StoreError> {
        self.outbox.storage.ledger.pairing_requests().await
    }

    /// Opens a code, in the place of the one before.
    ///
    /// # Errors
    /// When it could not be stored.
    pub async fn open_pairing(&self) -> Result<OpenCode, StoreError> {
        let runtime = &self.outbox.runtime;
        let (code, until) = (new_code(&*runtime.chance), runtime.now() + LASTS);
        self.outbox.storage.ledger.open_pairing(&code, until).await?;
        Ok(OpenCode { code, until })
    }

    /// Lists who was paired.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn paired(&self) -> Result<Vec<PairedPerson>, StoreError> {
        self.outbox.storage.ledger.paired().await
    }

    /// Takes a pairing back from now on. `false` when they were not paired.
    ///
    /// # Errors
    /// When it could not be stored.
    pub async fn unpair(&self, person: &PersonId) -> Result<bool, StoreError> {
        let gone = self.outbox.storage.ledger.unpair(person).await?;
        if gone {
            self.outbox.accounts.shut_out(person);
        }
        if gone && !self.named_owners.now().contains(person) {
            self.owners().remove(person);
        }
        Ok(gone)
    }
}
