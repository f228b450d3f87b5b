//! `/pair CODE`: makes an owner of whoever has the machine's code, and lets a stranger in by theirs when an owner writes it.

use selkie_channel_core::{Audience, Inbound};

use super::Commands;
use crate::intake::given::{By, GivenCommand};
use crate::intake::guesses::{self, Guess};
use crate::intake::messages::pairing as messages;
use crate::intake::pairing::approve;
use selkie_domain::facts::Trust;
use selkie_domain::pairing;
use selkie_store::{PairingOutcome, StoreError};

impl Commands {
    /// What they read; nothing where nobody listens to them, or they have guessed too often.
    pub(super) async fn pair(
        &self,
        given: &GivenCommand<'_>,
        trust: Option<Trust>,
    ) -> Result<Option<String>, StoreError> {
        let By::Message(inbound) = given.by else { return Ok(Some(messages::at_terminal())) };
        if given.audience != Audience::Direct {
            return Ok(trust.map(|_| messages::IN_PRIVATE.to_owned()));
        }
        if !self.context.accounts.is_person(inbound) {
            return Ok(trust.map(|_| messages::NO_PERSON.to_owned()));
        }
        if trust == Some(Trust::Owner) {
            return self.by_owner(given).await.map(Some);
        }
        if guesses::are_too_many(&self.context, inbound).await {
            return Ok(self.guessed(inbound, messages::TOO_MANY.to_owned()).await);
        }
        let Some(code) = pairing::read(&given.command.args) else {
            return Ok(self.guessed(inbound, messages::USAGE.to_owned()).await);
        };
        if !self.context.storage.ledger.pair(given.person, &code).await? {
            return Ok(self.guessed(inbound, messages::OPENS_NOTHING.to_owned()).await);
        }
        self.welcome(inbound).await;
        Ok(Some(messages::paired(given.person)))
    }

    /// Their own code, carried out again after a crash, says the same; any other one is a stranger's.
    async fn by_owner(&self, given: &GivenCommand<'_>) -> Result<String, StoreError> {
        let Some(code) = pairing::read(&given.command.args) else {
            return Ok(messages::USAGE.to_owned());
        };
        let ledger = &self.context.storage.ledger;
        if ledger.has_paired(given.person, &code).await? {
            return Ok(messages::paired(given.person));
        }
        Ok(match approve(&self.context, &self.outbox, &code).await? {
            PairingOutcome::Done { person, name } => messages::let_in(&name, &person),
            PairingOutcome::Wrong { left } => messages::nobody_asks(left),
            PairingOutcome::NoneOpen => messages::IS_OWNER_ALREADY.to_owned(),
        })
    }

    async fn guessed(&self, inbound: &Inbound, says: String) -> Option<String> {
        match guesses::wrong(&self.context, inbound).await {
            Guess::Answered | Guess::LastWord => Some(says),
            Guess::Silent => None,
        }
    }

    /// The rows say it already; from now on everybody who asks hears it.
    async fn welcome(&self, inbound: &Inbound) {
        let (owners, person) = (&self.rules.rights.owners, &inbound.speaker.id);
        let name = match inbound.speaker.name.trim() {
            "" => "Somebody",
            name => name,
        };
        if !owners.is_empty() {
            let text = messages::somebody(name, person);
            self.outbox.tell_owner(&format!("paired:{person}:{}", inbound.key), &text).await;
        }
        owners.add(person);
        tracing::info!(%person, "paired: an owner from now on");
    }
}
