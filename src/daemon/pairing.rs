//! What the command line asks of pairing, carried out in the daemon or, where none runs, in the command itself.

use chrono::{DateTime, Utc};
use selkie_channel_core::PersonId;
use serde::{Deserialize, Serialize};

use crate::daemon::answered::{Answered, NotDone};
use crate::engine::flow::{Flow, OpenCode};
use crate::domain::pairing;
use crate::store::{Approved, PairedPerson, PairingRequest};

/// What is asked.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "snake_case")]
pub enum AskedOfPairing {
    /// A code, in the place of the one before.
    Open,
    /// Who was paired, and who asks to be.
    List,
    /// A stranger is let in.
    Approve {
        /// By their code.
        code: String,
    },
    /// Somebody is no longer what pairing made them.
    Remove {
        /// Their id.
        person: String,
    },
}

/// The answer.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ToldOfPairing {
    /// The code that is open now, and until when.
    pub code: Option<(String, DateTime<Utc>)>,
    /// Whom the config names.
    pub owners: Vec<PersonId>,
    /// Who was paired.
    pub paired: Vec<PairedPerson>,
    /// Who asks to be let in: ids and names, without the codes.
    pub asking: Vec<Asking>,
    /// What came of it, for people.
    pub said: String,
}

/// Somebody who asks to be let in.
#[derive(Debug, Serialize, Deserialize)]
pub struct Asking {
    /// Who.
    pub person: PersonId,
    /// As their platform calls them.
    pub name: String,
    /// Until when.
    pub until: DateTime<Utc>,
}

/// Carries out what is asked.
///
/// # Errors
/// When the store does not answer.
pub async fn carry_out_pairing(
    flow: &Flow,
    asked: AskedOfPairing,
) -> anyhow::Result<Answered<ToldOfPairing>> {
    Answered::of(found(flow, asked).await)
}

async fn found(flow: &Flow, asked: AskedOfPairing) -> Result<ToldOfPairing, NotDone> {
    match asked {
        AskedOfPairing::Open if flow.platforms().is_empty() => Err(NotDone::Refused(
            "no channel is configured, so nobody could send a code to the bot: run selkie init first"
                .to_owned(),
        )),
        AskedOfPairing::Open => {
            let OpenCode { code, until } = flow.open_pairing().await?;
            Ok(ToldOfPairing { code: Some((code, until)), ..ToldOfPairing::default() })
        }
        AskedOfPairing::List => {
            let of = |PairingRequest { person, name, until, .. }| Asking { person, name, until };
            let asking = flow.pairing_requests().await?.into_iter().map(of).collect();
            let paired = flow.paired().await?;
            let owners = flow.named_owners();
            Ok(ToldOfPairing { owners, paired, asking, ..ToldOfPairing::default() })
        }
        AskedOfPairing::Approve { code } => approve(flow, &code).await,
        AskedOfPairing::Remove { person } => {
            match flow.unpair(&PersonId::new(person.trim())).await? {
                true => Ok(ToldOfPairing::default()),
                false => Err(NotDone::Refused(format!(
                    "{person:?} was not paired: selkie pair list shows who was; to remove an owner \
                     whom the config names, edit `owners` there"
                ))),
            }
        }
    }
}

async fn approve(flow: &Flow, code: &str) -> Result<ToldOfPairing, NotDone> {
    let Some(code) = pairing::read(code) else {
        return Err(NotDone::Mistyped(format!(
            "{code:?} is not a pairing code: it takes the eight characters that the bot gave the stranger"
        )));
    };
    match flow.approve_pairing(&code).await? {
        Approved::Done { person, name } => {
            let said = format!("{name} ({person}) is let in.");
            Ok(ToldOfPairing { said, ..ToldOfPairing::default() })
        }
        Approved::Wrong { left } => Err(NotDone::Refused(format!(
            "nobody who is waiting to be let in has the code {code:?}: {left} of 3 tries are left"
        ))),
        Approved::NoneOpen => Err(NotDone::Refused(
            "nobody is waiting to be let in; with pairing: ask in the config, strangers can ask"
                .to_owned(),
        )),
    }
}
