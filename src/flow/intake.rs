//! What ears hear becomes rows; what the rows ask for is begun.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use selkie_channel_core::{
    AccountId, ConversationId, Cursor, Inbound, Inbox, InboxBroken, PlaceId,
};

use crate::domain::crash::CrashPoint;
use crate::domain::happening::Happening;
use crate::flow::account::Account;
use crate::flow::commands::Commands;
use crate::flow::desk::Desk;
use crate::flow::policy;
use crate::flow::words;
use crate::flow::worker::{Permits, Workers};
use crate::store::{Accepted, Arrival, Disposition, Fuse, StoreError};

/// Hints remembered in memory before the ledger is asked again.
const MANY_HINTS: usize = 10_000;

/// The inbox of all accounts.
pub(super) struct Intake {
    pub(super) desk: Arc<Desk>,
    pub(super) workers: Arc<Workers>,
    pub(super) commands: Arc<Commands>,
    pub(super) hinted: Mutex<HashSet<String>>,
}

/// A stored batch: what it asks for is not begun yet.
pub(super) struct Stored {
    pub(super) accepted: Accepted,
    permits: Permits,
}

impl Intake {
    /// Stores a batch and claims what may run at once.
    pub(super) async fn store(
        &self,
        batch: Vec<Arrival>,
        cursor: Option<Cursor>,
    ) -> Result<Stored, StoreError> {
        let desk = &self.desk;
        desk.crash.hit(CrashPoint::BeforeAccept);
        let tasks = batch.iter().filter(|a| matches!(a.disposition, Disposition::Task(_))).count();
        let permits = self.workers.reserve(tasks);
        let now = desk.clock.now();
        let fuse = Fuse { permits: permits.len(), boot: desk.boot.clone(), now };
        match desk.ledger.accept(batch, cursor, fuse).await {
            Ok(accepted) => {
                desk.crash.hit(CrashPoint::AfterAccept);
                desk.stored();
                Ok(Stored { accepted, permits })
            }
            Err(error) => {
                desk.trouble(&error);
                Err(error)
            }
        }
    }

    /// Begins what a stored batch asks for.
    pub(super) fn begin(&self, stored: Stored) {
        let Accepted { claimed, ready, commands, wake_at, .. } = stored.accepted;
        self.workers.begin(claimed, stored.permits);
        self.workers.ready(ready, wake_at);
        if !commands.is_empty() {
            let executor = Arc::clone(&self.commands);
            self.desk.tracker.spawn(async move { executor.carry_out(commands).await });
        }
    }

    async fn take(
        &self,
        account: &Account,
        batch: Vec<Inbound>,
        cursor: Option<Cursor>,
    ) -> Result<(), StoreError> {
        let arrivals = self.desk.policy(account, |p| {
            let arrival =
                |inbound: Inbound| Arrival { disposition: policy::dispose(&inbound, p), inbound };
            batch.into_iter().map(arrival).collect::<Vec<_>>()
        });
        let heard: Vec<ConversationId> =
            arrivals.iter().map(|a| a.inbound.conversation.clone()).collect();
        let knocks: Vec<Inbound> =
            arrivals.iter().filter(|a| self.is_first_knock(a)).map(|a| a.inbound.clone()).collect();
        let moves: Vec<(PlaceId, PlaceId)> = arrivals.iter().filter_map(moved).collect();
        let stored = self.store(arrivals, cursor).await?;
        self.tell_heard(heard, &stored.accepted);
        self.begin(stored);
        for (old, new) in moves {
            self.follow(account, &old, &new).await;
        }
        for knock in knocks {
            self.hint(account, &knock).await;
        }
        Ok(())
    }

    fn tell_heard(&self, heard: Vec<ConversationId>, accepted: &Accepted) {
        // Rows that were there before leave no trace in `fresh`: then it is not known whose is whose.
        if accepted.known > 0 || heard.len() != accepted.fresh.len() {
            return;
        }
        for (conversation, inbox) in heard.into_iter().zip(&accepted.fresh) {
            self.desk.happenings.tell(|| Happening::Heard { conversation, inbox: *inbox });
        }
    }

    fn is_first_knock(&self, arrival: &Arrival) -> bool {
        if !policy::knocks(&arrival.inbound, &arrival.disposition) {
            return false;
        }
        let mut hinted = self.hinted.lock().unwrap_or_else(PoisonError::into_inner);
        if hinted.len() >= MANY_HINTS {
            hinted.clear();
        }
        hinted.insert(arrival.inbound.place.full())
    }

    /// Says how to be let in, once for ever in each place.
    async fn hint(&self, account: &Account, inbound: &Inbound) {
        tracing::info!(speaker = %inbound.speaker.id, place = %inbound.place, "not on the allow list");
        let text = words::not_allowed(inbound, account.channel.name);
        let window = self.desk.window([inbound]);
        if let Some(draft) = self.desk.draft(&inbound.conversation, &text, None, window) {
            self.desk.say_once(&format!("hint:{}", inbound.place.full()), draft).await;
        }
    }

    async fn follow(&self, account: &Account, old: &PlaceId, new: &PlaceId) {
        account.alias(old, new);
        let text = words::moved(account.channel.name, old.key(), new.key());
        self.desk.notice(&format!("moved:{}", old.full()), &text).await;
    }
}

fn moved(arrival: &Arrival) -> Option<(PlaceId, PlaceId)> {
    match &arrival.disposition {
        Disposition::Moved(to) => Some((arrival.inbound.place.clone(), to.clone())),
        _ => None,
    }
}

/// The inbox as one account's ears see it.
pub(super) struct AccountInbox {
    pub(super) intake: Arc<Intake>,
    pub(super) account: Arc<Account>,
}

#[async_trait]
impl Inbox for AccountInbox {
    async fn accept(&self, batch: Vec<Inbound>, cursor: Option<Cursor>) -> Result<(), InboxBroken> {
        self.account.heard(self.intake.desk.clock.now());
        self.intake.take(&self.account, batch, cursor).await.map_err(broken)
    }

    async fn cursor(&self, account: &AccountId) -> Result<Option<(Cursor, Duration)>, InboxBroken> {
        let desk = &self.intake.desk;
        let known = desk.ledger.cursor(account).await.map_err(broken)?;
        let now = desk.clock.now();
        Ok(known.map(|(cursor, at)| (cursor, (now - at).to_std().unwrap_or_default())))
    }

    async fn notice(&self, account: &AccountId, key: &str, text: &str) {
        self.intake.desk.notice(&format!("{account}:{key}"), text).await;
    }

    fn heard(&self, _account: &AccountId) {
        self.account.heard(self.intake.desk.clock.now());
    }
}

fn broken(error: StoreError) -> InboxBroken {
    InboxBroken(error.to_string())
}
