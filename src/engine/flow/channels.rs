//! How the channels stand.

use std::time::Duration;

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
        let at = after(self.context.runtime.now(), Span(within));
        self.context.accounts.all().map(|account| account.held_until(at) as u64).sum()
    }

    /// Names the channels whose receivers should have turned so long ago.
    pub fn late(&self, by: Duration) -> Vec<String> {
        let late = self.context.accounts.all().filter(|account| account.is_late(by));
        let mut names: Vec<String> =
            late.map(|account| account.channel.account.to_string()).collect();
        names.sort();
        names
    }

    /// Says what answers conversations where nobody chooses another model.
    pub fn answers(&self) -> String {
        let models = self.live.models.now();
        let route = Wish { by: Decider::Route, choice: models.main.choice() };
        Pick::among(&[route]).told(&models.main.told(), "main")
    }

    /// Tells how the channels stand.
    pub fn channels(&self) -> Vec<ChannelState> {
        self.context.accounts.states(self.context.runtime.now())
    }
}
