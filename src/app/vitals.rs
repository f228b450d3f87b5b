//! Whether the daemon lives: its loops turn, whatever the platforms and the database do. What is found is told to the
//! service manager, which ends a daemon that stands still and starts it again.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::app::App;
use crate::service_manager::ServiceManager;
use selkie_domain::count::counted;
use selkie_engine::delivery::{ChannelState, ListenState};
use selkie_engine::flow::Flow;
use selkie_store::Ledger;
use selkie_store::read::Counts;

/// So much later than it said a loop may turn: a machine may be slow.
const TIMEOUT: Duration = Duration::from_secs(300);
/// How often it is looked where no watchdog asks more often.
const LOOK: Duration = Duration::from_secs(30);

/// Never more often.
const SHORTEST: Duration = Duration::from_millis(100);

/// Tells the service manager that the process lives, where no loop has begun that could stand still.
pub async fn feed(manager: &ServiceManager) -> Infallible {
    loop {
        manager.alive();
        tokio::time::sleep(every(manager)).await;
    }
}

/// How often the service manager is told.
fn every(manager: &ServiceManager) -> Duration {
    manager.watchdog().map_or(LOOK, |within| (within / 3).clamp(SHORTEST, LOOK))
}

/// What is looked at.
pub struct Vitals {
    ledger: Arc<dyn Ledger>,
    flow: Arc<Flow>,
    /// The rows stand in a file of ours: the one who writes it waits for nobody.
    owns_its_file: bool,
}

impl Vitals {
    /// Looks at an app.
    pub fn of(app: &App) -> Self {
        Self {
            ledger: Arc::clone(&app.ledger),
            flow: Arc::clone(&app.flow),
            owns_its_file: app.plan.settings.store.url.is_none(),
        }
    }

    /// Looks until `stop`, and tells the service manager. This turns on the runtime that everything runs on: one that stands
    /// still tells nothing.
    pub async fn watch(self: Arc<Self>, manager: Arc<ServiceManager>, stop: CancellationToken) {
        let every = every(&manager);
        let mut said = String::new();
        loop {
            let still = self.still();
            match still.as_slice() {
                [] => manager.alive(),
                names => tracing::error!(
                    ?names,
                    "these loops have stalled: the watchdog gets no sign of life"
                ),
            }
            let status = manager.noted(self.status(&still).await);
            if status != said {
                manager.status(&status);
                said = status;
            }
            if stop.run_until_cancelled(tokio::time::sleep(every)).await.is_none() {
                return;
            }
        }
    }

    /// Names what should have turned long ago.
    pub fn still(&self) -> Vec<String> {
        let mut still = self.flow.late(TIMEOUT);
        if self.owns_its_file && self.ledger.lag() > TIMEOUT {
            still.push("store".to_owned());
        }
        still
    }

    async fn status(&self, still: &[String]) -> String {
        if !still.is_empty() {
            return format!("stalled: {}", still.join(", "));
        }
        // A database that is away keeps a look waiting, and the watchdog waits for nobody.
        let counts = tokio::time::timeout(Duration::from_secs(1), self.ledger.counts()).await;
        let counts = counts.ok().and_then(Result::ok);
        status(&self.flow.channels(), counts.as_ref())
    }
}

/// How the daemon stands, in one line.
fn status(channels: &[ChannelState], counts: Option<&Counts>) -> String {
    let mut parts: Vec<String> = channels.iter().filter_map(channel).collect();
    parts.push(match counts {
        Some(counts) => format!(
            "{} running, {} waiting",
            counted(counts.running, ["task", "tasks"]),
            counts.waiting
        ),
        None => "the store does not answer".to_owned(),
    });
    parts.join("; ")
}

/// A channel that only speaks has nothing to tell. What a platform refuses with may name things of people's.
fn channel(channel: &ChannelState) -> Option<String> {
    let how = match (&channel.hearing, channel.heard_ago) {
        (ListenState::Off, _) => return None,
        (ListenState::Refused { .. }, _) => "is refused",
        (ListenState::Listening, None) => "waits for its first answer",
        (ListenState::Listening, Some(ago)) if ago > TIMEOUT => "does not answer",
        (ListenState::Listening, Some(_)) => "listens",
    };
    Some(format!("{} {how}", channel.name))
}

#[cfg(test)]
mod tests {
    use selkie_channel_core::AccountId;

    use super::*;

    #[test]
    fn the_status_is_one_line_without_reasons() {
        let channel = |name, hearing, heard_ago| ChannelState {
            name,
            account: AccountId::new("a:1"),
            hearing,
            heard_ago,
        };
        let refused = ListenState::Refused { reason: "401: Grace's token".to_owned() };
        let channels = [
            channel("bird", ListenState::Listening, Some(Duration::from_secs(2))),
            channel("fish", ListenState::Listening, Some(Duration::from_secs(301))),
            channel("mail", ListenState::Listening, None),
            channel("post", ListenState::Off, None),
            channel("star", refused, None),
        ];
        let counts = Counts { running: 1, waiting: 2, ..Counts::default() };
        assert_eq!(
            status(&channels, Some(&counts)),
            "bird listens; fish does not answer; mail waits for its first answer; star is refused; 1 task running, 2 waiting"
        );
        assert_eq!(status(&[], None), "the store does not answer");
    }
}
