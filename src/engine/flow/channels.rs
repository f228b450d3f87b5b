//! How the channels stand.

use std::time::Duration;

use selkie_channel_core::AccountId;

use super::Flow;
use crate::delivery::account::ChannelState;
use crate::delivery::moments::after;
use selkie_domain::choice::{Decider, Pick, Wish};
use selkie_domain::span::Span;

impl Flow {
    /// Waits until every channel is refused for sure and none has ever worked, and says why.
    pub async fn hopeless(&self) -> String {
        let mut hopeless = self.listening.hopeless.subscribe();
        match hopeless.wait_for(Option::is_some).await {
            Ok(why) => why.clone().unwrap_or_default(),
            // The sender lives as long as `self`.
            Err(_) => std::future::pending().await,
        }
    }

    /// Counts the parts that wait and that their platforms, or our own pauses, let nobody send within this time. Known
    /// only while the daemon ends.
    pub fn held_back(&self, within: Duration) -> u64 {
        let at = after(self.outbox.runtime.now(), Span(within));
        self.outbox.accounts.all().map(|account| account.held_until(at) as u64).sum()
    }

    /// Names the channels whose receivers should have turned so long ago.
    pub fn late(&self, by: Duration) -> Vec<String> {
        let late = self.outbox.accounts.all().filter(|account| account.is_late(by));
        let mut names: Vec<String> =
            late.map(|account| account.channel.account.to_string()).collect();
        names.sort();
        names
    }

    /// Lists the limits that are reached just now, each with whose it is.
    pub fn limits_reached(&self) -> Vec<String> {
        self.limits.reached(self.outbox.runtime.now())
    }

    /// Says why nothing can be written to the store, where that is so.
    pub fn store_trouble(&self) -> Option<String> {
        self.outbox
            .storage
            .why()
            .map(|why| format!("it cannot be written to, what needs it waits: {why}"))
    }

    /// Says what answers conversations where nobody chooses another model.
    pub fn answers(&self) -> String {
        let models = self.live.models.now();
        let route = Wish { by: Decider::Route, choice: models.main.choice() };
        Pick::among(&[route]).told(&models.main.told(), "main")
    }

    /// Says why what is remembered is found by its words alone, where it should not be.
    pub fn memory_trouble(&self) -> Option<String> {
        self.memory.vectors().and_then(|vectors| vectors.trouble())
    }

    /// Tells an owner of trouble in private, once for ever under `key`, through no account of these; `true` when that is
    /// stored, now or before, or there is nobody to tell.
    pub async fn alert(&self, key: &str, text: &str, silent: &[AccountId]) -> bool {
        self.outbox.alert(key, text, silent).await
    }

    /// Tells how the channels stand.
    pub fn channels(&self) -> Vec<ChannelState> {
        self.outbox.accounts.states(self.outbox.runtime.now())
    }
}
