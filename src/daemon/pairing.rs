//! What the command line asks of pairing, carried out in the daemon or, where none runs, in the command itself.

use chrono::{DateTime, Utc};
use selkie_channel_core::PersonId;
use serde::{Deserialize, Serialize};

use crate::daemon::answered::{Answered, NotDone};
use crate::daemon::flow::Flow;
use crate::daemon::flow::OpenCode;

/// What is asked.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "snake_case")]
pub enum AskedOfPairing {
    /// A code, in the place of the one before.
    Open,
    /// Who was paired.
    List,
    /// Somebody is no owner any more.
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
    /// Who was paired.
    pub paired: Vec<PersonId>,
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
        AskedOfPairing::Open => {
            let OpenCode { code, until } = flow.open_pairing().await?;
            Ok(ToldOfPairing { code: Some((code, until)), ..ToldOfPairing::default() })
        }
        AskedOfPairing::List => {
            Ok(ToldOfPairing { paired: flow.paired().await?, ..ToldOfPairing::default() })
        }
        AskedOfPairing::Remove { person } => {
            match flow.unpair(&PersonId::new(person.trim())).await? {
                true => Ok(ToldOfPairing::default()),
                false => Err(NotDone::Refused(format!(
                    "{person:?} was not paired: selkie pair list shows who was; owners of the config go by its line \
                     `owners`"
                ))),
            }
        }
    }
}
