//! Keeps an account's receiver open as long as the daemon lives: a platform that refuses is asked again.

use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use selkie_channel_core::{AccountId, AllowList, ListenEnd, Receiver};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::delivery::account::{Account, ListenState};
use crate::delivery::context::Context;
use crate::delivery::outbox::Outbox;
use crate::delivery::runtime::Runtime;
use crate::intake::messages;
use crate::intake::receive::{AccountInbox, Intake};
use selkie_domain::builtin;
use selkie_domain::command_line;
use selkie_domain::owners::Owners;

/// So many refusals in a row of a channel that has never worked, and it is the config that is wrong.
const SURE: u32 = 3;

/// How long it takes until a platform that refused is asked again.
#[derive(Clone, Copy, Debug)]
pub struct Pauses {
    /// A channel that has never worked: somebody may be waiting for what it says.
    pub at_start: Duration,
    /// After the first refusal, doubled with each.
    pub first: Duration,
    /// Never longer.
    pub longest: Duration,
}

impl Default for Pauses {
    fn default() -> Self {
        Self {
            at_start: Duration::from_secs(3),
            first: Duration::from_secs(60),
            longest: Duration::from_secs(300),
        }
    }
}

impl Pauses {
    fn after(self, refusals: u32, has_worked: bool) -> Duration {
        if !has_worked && refusals < SURE {
            return self.at_start;
        }
        let doubled = self.first.saturating_mul(1 << refusals.saturating_sub(1).min(16));
        doubled.min(self.longest)
    }
}

/// What keeps the receivers open.
pub struct Receivers {
    pub(crate) context: Context,
    pub(crate) outbox: Arc<Outbox>,
    pub(crate) intake: Arc<Intake>,
    /// Who may be told elsewhere that a channel does not hear.
    pub owners: Owners,
    /// How long a platform that refuses is left alone.
    pub pauses: Pauses,
    /// Why no channel will ever work, when that is so.
    pub hopeless: watch::Sender<Option<String>>,
}

/// Listens until the daemon ends, or the config gives the account to another. Nothing else ends it: not a refused
/// credential, not a defect.
pub async fn listen(all: Arc<Receivers>, account: Arc<Account>) {
    let (stop, end) =
        (all.context.runtime.stop.receivers.child_token(), account.receiving.end.clone());
    let mut listening = pin!(listen_until(stop.clone(), all, account));
    tokio::select! {
        () = &mut listening => return,
        () = end.cancelled() => stop.cancel(),
    }
    listening.await;
}

async fn listen_until(stop: CancellationToken, all: Arc<Receivers>, account: Arc<Account>) {
    let Some(receiver) = account.channel.receiver.clone() else { return };
    if account.with_allowed(AllowList::is_everyone) {
        let name = account.channel.name;
        tracing::warn!(
            channel = name,
            "listens to EVERYONE: anybody who finds this bot can use it"
        );
    }
    account.set_hearing(ListenState::Listening);
    offer(&all.context.runtime, &stop, &account);
    let inbox = AccountInbox { intake: Arc::clone(&all.intake), account: Arc::clone(&account) };
    let mut listener = Listener { all, account, stop: stop.clone(), refusals: 0, told: None };
    while let Some(reason) = listener.once(&*receiver, &inbox).await {
        let pause = listener.refused(reason).await;
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            () = stop.cancelled() => break,
        }
    }
    listener.account.set_hearing(ListenState::Off);
}

/// Tells the platform the commands, beside everything else.
fn offer(runtime: &Runtime, stop: &CancellationToken, account: &Account) {
    let Some(receiver) = account.channel.receiver.clone() else { return };
    let (stop, channel) = (stop.clone(), account.channel.name);
    runtime.tracker.spawn(async move {
        let commands = builtin::offered();
        tokio::select! {
            told = receiver.offer(&commands) => {
                if let Err(why) = told {
                    tracing::warn!(channel, why, "the platform does not list the commands");
                }
            }
            () = stop.cancelled() => {}
        }
    });
}

struct Listener {
    all: Arc<Receivers>,
    account: Arc<Account>,
    stop: CancellationToken,
    /// In a row.
    refusals: u32,
    /// Why it does not hear, as far as that was told.
    told: Option<String>,
}

impl Listener {
    /// Listens to the end of it and says why it ended; `None` when the daemon wanted it.
    async fn once(&mut self, receiver: &dyn Receiver, inbox: &AccountInbox) -> Option<String> {
        let stop = self.stop.clone();
        let listening = AssertUnwindSafe(receiver.listen(inbox, stop.clone())).catch_unwind();
        let mut listening = pin!(listening);
        let account = Arc::clone(&self.account);
        let ended = loop {
            tokio::select! {
                ended = &mut listening => break ended,
                () = account.heard_again() => self.back().await,
            }
        };
        match ended {
            _ if stop.is_cancelled() => None,
            Ok(ListenEnd::Refused(reason)) => Some(reason),
            Ok(ListenEnd::Stopped) => Some("it stopped listening by itself: a defect".to_owned()),
            // The panic hook has told where.
            Err(_) => Some("a defect ended it".to_owned()),
        }
    }

    /// Tells that the channel does not hear, once for each reason, and returns when to try again.
    async fn refused(&mut self, reason: String) -> Duration {
        if !self.account.is_refused() {
            // It worked in between.
            self.refusals = 0;
        }
        self.refusals = self.refusals.saturating_add(1);
        let (name, id) = (self.account.channel.name, &self.account.channel.account);
        let pause = self.all.pauses.after(self.refusals, self.account.has_worked());
        self.account.set_hearing(ListenState::Refused { reason: reason.clone() });
        if self.told.as_ref() != Some(&reason) {
            tracing::error!(channel = name, account = %id, reason, "this channel cannot listen: trying again");
            let text = messages::deaf(name, &reason);
            self.all.tell_elsewhere(id, "deaf", &text).await;
            self.told = Some(reason);
        }
        tracing::debug!(channel = name, account = %id, refusals = self.refusals, ?pause, "trying again later");
        if self.refusals >= SURE && !self.account.has_worked() {
            self.account.lose_hope();
            self.all.look_for_hope();
        }
        pause
    }

    /// A platform that refused answers again.
    async fn back(&mut self) {
        self.refusals = 0;
        let (name, id) = (self.account.channel.name, &self.account.channel.account);
        if self.told.take().is_some() {
            tracing::info!(channel = name, account = %id, "this channel listens again");
            self.all.tell_elsewhere(id, "hears", &messages::hears_again(name)).await;
        }
    }
}

impl Receivers {
    /// Tells the first owner who can be reached by another channel.
    async fn tell_elsewhere(&self, not: &AccountId, what: &str, text: &str) {
        let outbox = &self.outbox;
        let mut others: Vec<_> =
            self.context.accounts.all().filter(|a| a.channel.account != *not).collect();
        others.sort_by(|a, b| a.channel.account.cmp(&b.channel.account));
        let hearing = others.into_iter().filter(|a| !a.is_refused());
        let private = self.owners.iter().find_map(|owner| {
            hearing.clone().find_map(|account| account.channel.address.parse(owner.as_str()))
        });
        let text = self.context.runtime.redactor.clean(text);
        let Some(draft) = private.and_then(|c| outbox.draft(&c, &text, None, None)) else {
            tracing::debug!(account = %not, "no other channel reaches an owner");
            return;
        };
        // Each time is told: they are minutes apart.
        let at = self.context.runtime.clock.now().timestamp_millis();
        outbox.say_once(&format!("{what}:{not}:{at}"), draft).await;
    }

    /// Gives the daemon up when every channel is refused for sure and none has ever worked.
    fn look_for_hope(&self) {
        if self.context.accounts.has_worked_before() {
            return;
        }
        let platforms =
            self.context.accounts.all().filter(|a| a.channel.name != command_line::NAME);
        let mut reasons: Vec<String> = Vec::new();
        for account in platforms {
            let Some(reason) = account.hopeless() else { return };
            reasons.push(format!("{}: {reason}", account.channel.name));
        }
        reasons.sort();
        self.hopeless.send_replace(Some(reasons.join("; ")));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_from_one_minute_to_five() {
        let pauses = Pauses::default();
        let of = |worked| (1..7).map(|n| pauses.after(n, worked).as_secs()).collect::<Vec<_>>();
        assert_eq!(of(true), [60, 120, 240, 300, 300, 300]);
        assert_eq!(of(false), [3, 3, 240, 300, 300, 300]);
    }
}
