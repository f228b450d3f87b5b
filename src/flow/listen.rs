//! Keeps an account's ears open as long as the daemon lives: a platform that refuses is asked again.

use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use selkie_channel_core::{AccountId, AllowList, Ears, ListenEnd};

use crate::flow::account::{Account, Hearing};
use crate::flow::desk::Desk;
use crate::flow::intake::{AccountInbox, Intake};
use crate::flow::{commands, terminal, words};

/// So many refusals in a row of a channel that has never worked, and it is the config that is wrong.
const SURE: u32 = 3;

/// How long it takes until a platform that refused is asked again.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pauses {
    /// A channel that has never worked: somebody may be waiting for what it says.
    pub(super) at_start: Duration,
    /// After the first refusal, doubled with each.
    pub(super) first: Duration,
    /// Never longer.
    pub(super) longest: Duration,
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

/// Listens until the daemon ends. Nothing else ends it: not a refused credential, not a defect.
pub(super) async fn listen(intake: Arc<Intake>, account: Arc<Account>) {
    let Some(ears) = account.channel.ears.clone() else { return };
    if account.with_allowed(AllowList::is_everyone) {
        let name = account.channel.name;
        tracing::warn!(
            channel = name,
            "listens to EVERYONE: anybody who finds this bot can use it"
        );
    }
    account.set_hearing(Hearing::Listening);
    offer(&intake.desk, Arc::clone(&ears), account.channel.name);
    let inbox = AccountInbox { intake: Arc::clone(&intake), account: Arc::clone(&account) };
    let mut listener =
        Listener { desk: Arc::clone(&intake.desk), account, refusals: 0, told: None };
    let stop = listener.desk.stop.receivers.clone();
    while let Some(reason) = listener.once(&*ears, &inbox).await {
        let pause = listener.refused(reason).await;
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            () = stop.cancelled() => break,
        }
    }
    listener.account.set_hearing(Hearing::Off);
}

/// Tells the platform the commands, beside everything else.
fn offer(desk: &Desk, ears: Arc<dyn Ears>, channel: &'static str) {
    let stop = desk.stop.receivers.clone();
    desk.tracker.spawn(async move {
        let commands = commands::offered();
        tokio::select! {
            told = ears.offer(&commands) => {
                if let Err(why) = told {
                    tracing::warn!(channel, why, "the platform does not list the commands");
                }
            }
            () = stop.cancelled() => {}
        }
    });
}

struct Listener {
    desk: Arc<Desk>,
    account: Arc<Account>,
    /// In a row.
    refusals: u32,
    /// Why it does not hear, as far as that was told.
    told: Option<String>,
}

impl Listener {
    /// Listens to the end of it and says why it ended; `None` when the daemon wanted it.
    async fn once(&mut self, ears: &dyn Ears, inbox: &AccountInbox) -> Option<String> {
        let stop = self.desk.stop.receivers.clone();
        let listening = AssertUnwindSafe(ears.listen(inbox, stop.clone())).catch_unwind();
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
        let pause = self.desk.pauses.after(self.refusals, self.account.has_worked());
        self.account.set_hearing(Hearing::Refused { reason: reason.clone() });
        if self.told.as_ref() != Some(&reason) {
            tracing::error!(channel = name, account = %id, reason, "this channel cannot listen: trying again");
            let text = words::deaf(name, &reason);
            tell_elsewhere(&self.desk, id, "deaf", &text).await;
            self.told = Some(reason);
        }
        tracing::debug!(channel = name, account = %id, refusals = self.refusals, ?pause, "trying again later");
        if self.refusals >= SURE && !self.account.has_worked() {
            self.account.lose_hope();
            self.desk.look_for_hope();
        }
        pause
    }

    /// A platform that refused answers again.
    async fn back(&mut self) {
        self.refusals = 0;
        let (name, id) = (self.account.channel.name, &self.account.channel.account);
        if self.told.take().is_some() {
            tracing::info!(channel = name, account = %id, "this channel listens again");
            tell_elsewhere(&self.desk, id, "hears", &words::hears_again(name)).await;
        }
    }
}

/// Tells the first owner who can be reached by another channel.
async fn tell_elsewhere(desk: &Arc<Desk>, not: &AccountId, what: &str, text: &str) {
    let mut others: Vec<_> = desk.accounts.values().filter(|a| a.channel.account != *not).collect();
    others.sort_by(|a, b| a.channel.account.cmp(&b.channel.account));
    let hearing = others.into_iter().filter(|a| !a.is_refused());
    let private = desk.owners.iter().find_map(|owner| {
        hearing.clone().find_map(|account| account.channel.address.parse(owner.as_str()))
    });
    let text = desk.redactor.clean(text);
    let Some(draft) = private.and_then(|c| desk.draft(&c, &text, None, None)) else {
        tracing::debug!(account = %not, "no owner can be told by another channel");
        return;
    };
    // Each time is told: they are minutes apart.
    let at = desk.clock.now().timestamp_millis();
    desk.say_once(&format!("{what}:{not}:{at}"), draft).await;
}

impl Desk {
    /// Gives the daemon up when every channel is refused for sure and none has ever worked.
    fn look_for_hope(&self) {
        let platforms = self.accounts.values().filter(|a| a.channel.name != terminal::NAME);
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
