//! Before channels are made anew: whether their platforms take the credentials, so that one that works makes way for none
//! that cannot.

use std::time::Duration;

use futures_util::future::join_all;
use selkie_channel_core::{AccountId, Channel, CredentialCheck};
use tokio::time::timeout;

/// How long a platform may take to answer; one that does not is no reason to wait.
const TIMEOUT: Duration = Duration::from_secs(10);

/// A channel whose platform refuses its credential.
pub struct Refusal {
    /// The channel's name.
    pub name: &'static str,
    /// Which bot was refused.
    pub account: AccountId,
    /// What was refused and what to do.
    pub why: String,
}

/// Asks the platforms of these channels side by side who refuses the credential for sure.
pub async fn refusals(channels: Vec<&Channel>) -> Vec<Refusal> {
    join_all(channels.into_iter().map(refusal)).await.into_iter().flatten().collect()
}

async fn refusal(channel: &Channel) -> Option<Refusal> {
    match timeout(TIMEOUT, channel.sender.check_credential()).await {
        Ok(CredentialCheck::Refused(why)) => {
            Some(Refusal { name: channel.name, account: channel.account.clone(), why })
        }
        // Who cannot be asked now is asked again by what receives, for as long as it takes.
        Ok(CredentialCheck::Taken | CredentialCheck::Unknown) | Err(_) => None,
    }
}
