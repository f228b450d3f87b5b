//! What becomes of channels that a reload made anew: their platforms answer them, or refuse them.

use std::time::Duration;

use selkie_channel_core::{AccountId, Channel};
use tokio::time::{Instant, timeout_at};

use crate::flow::{ChannelChange, ChannelOutcome, Flow};
use selkie_domain::command_line;

impl Flow {
    /// Lists the channels of platforms as they stand.
    pub fn platforms(&self) -> Vec<Channel> {
        let accounts = self.context.accounts.all();
        let platforms = accounts
            .filter(|account| account.channel.name != command_line::NAME && !account.is_leaving());
        let mut all: Vec<Channel> = platforms.map(|account| account.channel.clone()).collect();
        all.sort_by(|a, b| a.account.cmp(&b.account));
        all
    }

    /// Waits until each channel that is new or was made anew is answered or refused by its platform, and notes what came of
    /// it; not longer than this, and not beyond the daemon's end.
    pub async fn prove(&self, changes: &mut [ChannelChange], within: Duration) {
        let until = Instant::now() + within;
        let began = |it: &&mut ChannelChange| {
            matches!(it.became, ChannelOutcome::Added | ChannelOutcome::Remade)
        };
        for change in changes.iter_mut().filter(began) {
            let account = self.context.accounts.get(&AccountId::new(change.account.as_str()));
            let Some(account) = account.filter(|it| it.channel.receiver.is_some()) else {
                continue;
            };
            let stop = &self.context.runtime.stop.receivers;
            let answered = stop.run_until_cancelled(timeout_at(until, account.first_answer()));
            match answered.await {
                Some(Ok(refused)) => change.refused = refused,
                Some(Err(_)) => change.unanswered = true,
                None => return,
            }
        }
    }
}
