//! Channels that a reload of the config adds, takes away or makes anew, one by one; the others go on without noticing.
//!
//! What receives ends first, and then another begins. What is on its way to the platform lands before another sender
//! begins, which finds the rest in the ledger: nothing is sent twice, nothing stays.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use selkie_channel_core::{AccountId, Channel};
use serde::{Deserialize, Serialize};
use tokio::time::timeout;

use crate::delivery::account::Account;
use crate::delivery::queue::PartQueue;
use crate::delivery::worker::DeliveryWorker;
use crate::flow::Flow;
use crate::intake::listen::listen;
use selkie_domain::command_line;
use selkie_domain::facts::Trust;

/// A receiver that takes longer to end is left behind.
const RECEIVER_ENDS: Duration = Duration::from_secs(10);
/// How long what a channel that goes has still to say may take.
const LAST_WORDS: Duration = Duration::from_secs(5);
/// How often it is looked whether that is said.
const LOOK: Duration = Duration::from_millis(50);
/// A store that does not answer is asked again after this.
const AGAIN: Duration = Duration::from_secs(1);

/// What became of a channel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChannelChange {
    /// Its name.
    pub name: String,
    /// Which bot.
    pub account: String,
    /// What became of it.
    pub became: ChannelOutcome,
    /// Tasks of it that run still: it goes as soon as they have ended.
    #[serde(default)]
    pub running: usize,
    /// Why its platform refuses it.
    #[serde(default)]
    pub refused: Option<String>,
    /// Its platform has not answered yet.
    #[serde(default)]
    pub unanswered: bool,
}

/// What becomes of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChannelOutcome {
    /// It is new.
    Added,
    /// It goes on by its new section.
    Remade,
    /// It is gone.
    Removed,
    /// It goes on as before: its platform refuses what the config says now.
    Kept,
    /// It is not there: its platform refuses what the config says.
    LeftOut,
}

impl ChannelChange {
    /// Nothing became of a channel: its platform refuses what the config says of it.
    pub fn refused(name: &str, before: Option<&AccountId>, now: &AccountId, why: String) -> Self {
        Self {
            name: name.to_owned(),
            account: before.unwrap_or(now).to_string(),
            became: if before.is_some() { ChannelOutcome::Kept } else { ChannelOutcome::LeftOut },
            running: 0,
            refused: Some(why),
            unanswered: false,
        }
    }
}

impl Flow {
    /// Brings the channels to these: one of which the section has `changed` is made anew, the others go on.
    pub async fn rewire(
        self: &Arc<Self>,
        channels: Vec<Channel>,
        changed: &BTreeSet<String>,
    ) -> Vec<ChannelChange> {
        let _one = self.changing.lock().await;
        let stays: BTreeSet<AccountId> = channels.iter().map(|c| c.account.clone()).collect();
        let mut changes = Vec::new();
        for account in self.context.accounts.all() {
            let is_platform = account.channel.name != command_line::NAME;
            if is_platform && !account.is_leaving() && !stays.contains(&account.channel.account) {
                changes.push(change(&account, ChannelOutcome::Removed));
                self.remove(account).await;
            }
        }
        for channel in channels {
            let before = self.context.accounts.get(&channel.account);
            let goes_on = |before: &Arc<Account>| {
                !before.is_leaving() && !changed.contains(before.channel.name)
            };
            if before.as_ref().is_some_and(goes_on) {
                continue;
            }
            let became = before.as_ref().map_or(ChannelOutcome::Added, |_| ChannelOutcome::Remade);
            let account = self.put_in_place_of(before, channel).await;
            changes.push(change(&account, became));
        }
        changes
    }

    /// Begins to receive for an account.
    pub(super) fn start_receiving(&self, account: Arc<Account>) {
        let tracker = account.receiving.tracker.clone();
        let listening = listen(Arc::clone(&self.listening), account);
        self.context.runtime.tracker.spawn(tracker.track_future(listening));
    }

    /// Begins to send for an account.
    pub(super) fn start_sending(&self, worker: DeliveryWorker) {
        let tracker = worker.account().sending.tracker.clone();
        self.context.runtime.tracker.spawn(tracker.track_future(worker.run()));
    }

    async fn put_in_place_of(
        self: &Arc<Self>,
        before: Option<Arc<Account>>,
        channel: Channel,
    ) -> Arc<Account> {
        let account = Arc::new(match &before {
            Some(before) => {
                stop_receiving(before).await;
                Account::in_place_of(before, channel)
            }
            None => Account::new(channel),
        });
        self.let_in(&account).await;
        let outbox = &self.outbox;
        self.context.accounts.put(Arc::clone(&account));
        let queue = outbox.open_queue(account.channel.account.clone());
        let speaks = Arc::clone(self).speak(before, Arc::clone(&account), queue);
        self.context.runtime.tracker.spawn(account.sending.tracker.track_future(speaks));
        self.start_receiving(Arc::clone(&account));
        // What has waited for it in the ledger is looked for now.
        self.workers.ready(Vec::new(), Some(self.context.runtime.now()));
        account
    }

    /// Sends as soon as what is on its way by the one before has landed.
    async fn speak(
        self: Arc<Self>,
        before: Option<Arc<Account>>,
        account: Arc<Account>,
        queue: PartQueue,
    ) {
        if let Some(before) = before {
            before.sending.ended().await;
        }
        let outbox = &self.outbox;
        let (end, stop) = (account.sending.end.clone(), self.context.runtime.stop.work.clone());
        let mut worker = DeliveryWorker::new(Arc::clone(outbox), account, queue);
        while !end.is_cancelled() && !stop.is_cancelled() {
            match worker.load().await {
                Ok(()) => break,
                Err(error) => self.context.storage.trouble(&error),
            }
            tokio::select! {
                () = tokio::time::sleep(AGAIN) => {}
                () = end.cancelled() => {}
                () = stop.cancelled() => {}
            }
        }
        worker.anew();
        worker.run().await;
    }

    /// Gives an account what its people were let in by beside the config, and the places that have moved.
    async fn let_in(&self, account: &Arc<Account>) {
        let outbox = &self.outbox;
        let paired =
            self.context.storage.insist(|ledger| ledger.paired()).await.unwrap_or_default();
        for one in paired.iter().filter(|one| one.trust != Trust::Owner) {
            account.let_in(&one.person);
        }
        let moved =
            self.context.storage.insist(|ledger| ledger.moved_places()).await.unwrap_or_default();
        for (old, new) in moved.iter().filter(|(old, _)| *old.account() == account.channel.account)
        {
            outbox.follow(account, old, new).await;
        }
    }

    /// Hears nothing more of a channel, begins nothing more for it, and lets it go when what runs has ended.
    async fn remove(self: &Arc<Self>, account: Arc<Account>) {
        account.leave();
        stop_receiving(&account).await;
        self.context.runtime.tracker.spawn(Arc::clone(self).let_go_of(account));
    }

    async fn let_go_of(self: Arc<Self>, account: Arc<Account>) {
        let said = async {
            account.rests().await;
            let says = async {
                // In this order: what leaves the way waits by then.
                while self.outbox.has_underway(&account.channel.account)
                    || account.waiting.load(Ordering::SeqCst) > 0
                {
                    tokio::time::sleep(LOOK).await;
                }
            };
            timeout(LAST_WORDS, says).await.ok();
        };
        let stop = &self.context.runtime.stop.work;
        if stop.run_until_cancelled(said).await.is_none() {
            return;
        }
        let _one = self.changing.lock().await;
        if self.context.accounts.let_go(&account) {
            self.outbox.close_queue(&account.channel.account);
            account.sending.ended().await;
            let (channel, id) = (account.channel.name, &account.channel.account);
            tracing::info!(channel, account = %id, "this channel was removed: messages that wait for it stay in the \
                store");
        }
    }
}

fn change(account: &Account, became: ChannelOutcome) -> ChannelChange {
    let running = if became == ChannelOutcome::Removed { account.workers() } else { 0 };
    let (name, account) = (account.channel.name.to_owned(), account.channel.account.to_string());
    ChannelChange { name, account, became, running, refused: None, unanswered: false }
}

async fn stop_receiving(account: &Account) {
    if timeout(RECEIVER_ENDS, account.receiving.ended()).await.is_err() {
        let channel = account.channel.name;
        tracing::warn!(channel, "what receives does not end: leaving it behind");
    }
}
