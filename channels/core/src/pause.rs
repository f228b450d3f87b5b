//! How long to wait after a failure: longer each time, never in step with another daemon.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

/// The first wait and the longest.
#[derive(Clone, Copy, Debug)]
pub struct Pauses {
    /// After the first failure.
    pub first: Duration,
    /// Never longer than this.
    pub most: Duration,
}

impl Pauses {
    /// For a server that is usually there.
    pub const USUAL: Self =
        Self { first: Duration::from_millis(250), most: Duration::from_secs(30) };

    /// Bounds a wait that a platform asks of whoever listens: nobody is to be deaf for a day because of one answer.
    pub fn asked(wait: Duration) -> Duration {
        wait.min(Duration::from_secs(60))
    }

    /// Returns the wait after the `fails`-th failure in a row: doubled each time, half of it by chance.
    ///
    /// The chance is the standard library's per-process hash seed. It is not an argument: it decides
    /// nothing but a length of waiting, and two pollers of one token must not share it.
    pub fn after(&self, fails: u32) -> Duration {
        let doubled = self.first.saturating_mul(1 << fails.saturating_sub(1).min(16));
        let whole = doubled.min(self.most);
        let share = RandomState::new().hash_one(fails) % 512;
        whole / 2 + whole * u32::try_from(share).unwrap_or_default() / 1024
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_that_is_asked_for_is_bounded() {
        let of = |seconds| Pauses::asked(Duration::from_secs(seconds)).as_secs();
        assert_eq!([0, 7, 60, 100_000].map(of), [0, 7, 60, 60]);
    }

    #[test]
    fn waits_grow_and_end() {
        let pauses = Pauses::USUAL;
        for fails in [0, 1, 2, 8, 40, u32::MAX] {
            let whole = pauses.first * (1 << fails.saturating_sub(1).min(16));
            let whole = whole.min(pauses.most);
            assert!((whole / 2..=whole).contains(&pauses.after(fails)), "{fails}");
        }
    }
}
