//! How long a task's clock has stood: while people are asked in the middle of a call, nobody's time runs.

use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

/// The times for which the clock of a task's calls stands.
#[derive(Debug, Default)]
pub struct Halts(watch::Sender<HaltState>);

#[derive(Clone, Copy, Debug, Default)]
struct HaltState {
    /// So many ask.
    open: u32,
    /// Since when anybody does.
    since: Option<Instant>,
    /// How long it stood before.
    before: Duration,
}

/// The clock stands. Dropped, it goes on.
pub struct Halt<'a>(&'a Halts);

impl Halts {
    /// Stops the clock.
    pub fn begin(&self) -> Halt<'_> {
        self.0.send_modify(|state| {
            state.open += 1;
            state.since = state.since.or_else(|| Some(Instant::now()));
        });
        Halt(self)
    }

    /// Returns for how long it has stood.
    pub fn total(&self) -> Duration {
        self.0.borrow().total()
    }

    /// Returns the same, and begins to count anew. Nothing may ask just now.
    pub fn take(&self) -> Duration {
        self.0.send_replace(HaltState::default()).total()
    }

    /// Waits until `deadline`, later by as long as the clock stands after it had stood for `before`.
    pub async fn until(&self, deadline: Instant, before: Duration) {
        let mut changes = self.0.subscribe();
        loop {
            let state = *changes.borrow_and_update();
            let at = deadline + state.before.saturating_sub(before);
            tokio::select! {
                () = sleep_until(at), if state.since.is_none() => return,
                changed = changes.changed() => if changed.is_err() { return },
            }
        }
    }
}

impl HaltState {
    fn total(&self) -> Duration {
        self.before + self.since.map(|since| since.elapsed()).unwrap_or_default()
    }
}

impl Drop for Halt<'_> {
    fn drop(&mut self) {
        self.0.0.send_modify(|state| {
            state.open = state.open.saturating_sub(1);
            if state.open == 0 {
                state.before = state.total();
                state.since = None;
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn nobodys_time_runs_while_somebody_is_asked() {
        let (halts, began) = (Halts::default(), Instant::now());
        let minute = Duration::from_secs(60);
        let asks = async {
            tokio::time::sleep(minute / 2).await;
            let first = halts.begin();
            tokio::time::sleep(minute).await;
            let second = halts.begin();
            drop(first);
            tokio::time::sleep(minute).await;
            drop(second);
        };
        tokio::join!(halts.until(began + minute, Duration::ZERO), asks);
        assert_eq!(
            began.elapsed(),
            minute * 3,
            "two minutes in which somebody was asked, at once or not"
        );
        assert_eq!(halts.total(), minute * 2);
        let now = Instant::now();
        halts.until(now + minute, halts.total()).await;
        assert_eq!(now.elapsed(), minute, "what stood before is another call's");
        assert_eq!((halts.take(), halts.total()), (minute * 2, Duration::ZERO));
    }
}
