//! The first call of an answer that is being written, when its answer was lost: the platform is asked where the message
//! stands, so that the answer takes it over, or it is taken away.

use std::time::Duration;

use selkie_channel_core::{Body, Lookup, MessageRef, Part};
use tokio::time::timeout;

use crate::delivery::attempt::looked_up;
use crate::delivery::status_calls::StatusCalls;

/// How often one is looked for at most.
const LOOKS: u32 = 8;
/// The whole answer waits no longer for a look.
const BRIEF: Duration = Duration::from_secs(3);

/// A call of which nobody knows what became.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Doubt {
    part: Part,
    looks: u32,
}

/// What a look has shown.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum LookupResult {
    /// The message stands here.
    At(MessageRef),
    /// Not yet: what was sent may still arrive.
    NotYet(Doubt),
    /// Nobody will ever tell.
    Never,
}

impl Doubt {
    pub(super) fn of(part: Part) -> Self {
        Self { part, looks: 0 }
    }

    /// Asks the platform.
    pub(super) async fn look(self, calls: &StatusCalls<'_>) -> LookupResult {
        let known = looked_up(&*calls.account.channel.sender, &self.part).await;
        let looks = self.looks + 1;
        match known {
            Lookup::Sent(receipt) => receipt.message.map_or(LookupResult::Never, LookupResult::At),
            // Not to be there proves nothing so soon: the call may still be carried out.
            Lookup::NotSent | Lookup::Later { .. } if looks < LOOKS => {
                LookupResult::NotYet(Self { looks, ..self })
            }
            _ => LookupResult::Never,
        }
    }

    /// Asks the platform, for the answer that is whole.
    pub(super) async fn last_look(self, calls: &StatusCalls<'_>) -> LookupResult {
        let open = Self { looks: 0, ..self.clone() };
        timeout(BRIEF, self.look(calls)).await.unwrap_or(LookupResult::NotYet(open))
    }

    /// Takes the message away after the answer was said as another one, when it is found after all.
    pub(super) async fn take_away(self, calls: &StatusCalls<'_>) -> Option<()> {
        let rest = calls.outbox.settings.now().outbox.unclear_after.0;
        let mut doubt = Self { looks: LOOKS - 2, ..self };
        loop {
            calls.wait(rest).await?;
            match doubt.look(calls).await {
                LookupResult::At(message) => {
                    return calls.settle(&Body::Withdrawal { message }).await;
                }
                LookupResult::NotYet(still) => doubt = still,
                LookupResult::Never => return Some(()),
            }
        }
    }
}
