//! What the command line asks of pairing: a code, who was paired, and their owner's word on it.

use chrono::{DateTime, Utc};
use selkie_channel_core::PersonId;
use serde::{Deserialize, Serialize};

use crate::answered::NotDone;
use selkie_domain::pairing::{self, LASTS, new_code};
use selkie_engine::flow::Flow;
use selkie_store::{PairedPerson, PairingOutcome, PairingRequest, StoreError};

/// A code that is open now.
#[derive(Debug, Serialize, Deserialize)]
pub struct OpenCode {
    /// The code.
    pub code: String,
    /// Until when it can be used.
    pub until: DateTime<Utc>,
}

/// Who owns the bot, and who may speak with it by pairing.
#[derive(Debug, Serialize, Deserialize)]
pub struct Pairings {
    /// Whom the config names.
    pub owners: Vec<PersonId>,
    /// Who was paired.
    pub paired: Vec<PairedPerson>,
    /// Who asks to be let in: ids and names, without the codes.
    pub asking: Vec<WaitingStranger>,
}

/// Somebody who asks to be let in.
#[derive(Debug, Serialize, Deserialize)]
pub struct WaitingStranger {
    /// Who.
    pub person: PersonId,
    /// As their platform calls them.
    pub name: String,
    /// Until when.
    pub until: DateTime<Utc>,
}

/// Opens a code for whoever sends it on a channel.
///
/// # Errors
/// When there is no channel, or it could not be stored.
pub async fn open(flow: &Flow) -> Result<OpenCode, NotDone> {
    if flow.platforms().is_empty() {
        return Err(NotDone::refused(
            "no channel is configured, so nobody could send a code to the bot: run selkie init first",
        ));
    }
    Ok(open_code(flow).await?)
}

/// Opens a code, in the place of the one before.
///
/// # Errors
/// When it could not be stored.
pub async fn open_code(flow: &Flow) -> Result<OpenCode, StoreError> {
    let code = new_code(flow.chance());
    let until = flow.now() + LASTS;
    flow.ledger().open_pairing(&code, until).await?;
    Ok(OpenCode { code, until })
}

/// Lists who was paired, and who asks to be.
///
/// # Errors
/// When the store cannot be read.
pub async fn list(flow: &Flow) -> Result<Pairings, StoreError> {
    let ledger = flow.ledger();
    let of = |PairingRequest { person, name, until, .. }| WaitingStranger { person, name, until };
    Ok(Pairings {
        owners: flow.named_owners.now().to_vec(),
        paired: ledger.paired().await?,
        asking: ledger.pairing_requests().await?.into_iter().map(of).collect(),
    })
}

/// Lets a stranger in by their code, and says who it is.
///
/// # Errors
/// When nobody asks with this code.
pub async fn let_in(flow: &Flow, code: &str) -> Result<String, NotDone> {
    let Some(code) = pairing::read(code) else {
        return Err(NotDone::Mistyped(format!(
            "{code:?} is not a pairing code: it takes the eight characters that the bot gave the stranger"
        )));
    };
    match flow.approve_pairing(&code).await? {
        PairingOutcome::Done { person, name } => Ok(format!("{name} ({person}) is let in.")),
        PairingOutcome::Wrong { left } => Err(NotDone::Refused(format!(
            "nobody who is waiting to be let in has the code {code:?}: {left} of 3 tries are left"
        ))),
        PairingOutcome::NoneOpen => Err(NotDone::refused(
            "nobody is waiting to be let in; with pairing: ask in the config, strangers can ask",
        )),
    }
}

/// Takes the pairing of somebody back, and says so.
///
/// # Errors
/// When they were not paired.
pub async fn remove(flow: &Flow, person: &str) -> Result<String, NotDone> {
    match unpair(flow, &PersonId::new(person.trim())).await? {
        true => {
            Ok(format!("{person} is no longer paired. An owner named in the config stays one."))
        }
        false => Err(NotDone::Refused(format!(
            "{person:?} was not paired: selkie pair list shows who was; to remove an owner whom the config names, edit \
             `owners` there"
        ))),
    }
}

/// Takes a pairing back from now on. `false` when they were not paired.
///
/// # Errors
/// When it could not be stored.
pub async fn unpair(flow: &Flow, person: &PersonId) -> Result<bool, StoreError> {
    let gone = flow.ledger().unpair(person).await?;
    if gone {
        flow.shut_out(person);
        if !flow.named_owners.now().contains(person) {
            flow.timetable.owners.remove(person);
        }
    }
    Ok(gone)
}
