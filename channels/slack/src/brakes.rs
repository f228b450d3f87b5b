//! How long which of Slack's limits lasts: a method that is limited is not asked before its time.

use selkie_channel_core::locked;
use std::collections::HashMap;
use std::sync::Mutex;
use std::time::Duration;

use tokio::time::Instant;

/// Limits remembered before the ones that are over are forgotten.
const MANY: usize = 1000;
/// No limit is believed for longer.
const LONGEST: Duration = Duration::from_secs(3600);

/// The limits that hold now, by what they are for.
#[derive(Default)]
pub struct Brakes(Mutex<HashMap<String, Instant>>);

impl Brakes {
    /// Whether a call may be made.
    ///
    /// # Errors
    /// How long not.
    pub fn leave(&self, scope: &str) -> Result<(), Duration> {
        let held = locked(&self.0);
        let rest = held.get(scope).map(|until| until.saturating_duration_since(Instant::now()));
        rest.filter(|rest| !rest.is_zero()).map_or(Ok(()), Err)
    }

    /// Holds calls of this kind back.
    pub fn hold(&self, scope: String, wait: Duration) {
        let now = Instant::now();
        let mut held = locked(&self.0);
        if held.len() >= MANY {
            held.retain(|_, until| *until > now);
        }
        held.insert(scope, now + wait.min(LONGEST));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_holds_its_own_kind_alone_and_ends() {
        let brakes = Brakes::default();
        brakes.hold("users.info".to_owned(), Duration::from_secs(70));
        let rest = brakes.leave("users.info").unwrap_err();
        assert!(rest > Duration::ZERO && rest <= Duration::from_secs(70), "{rest:?}");
        assert_eq!(brakes.leave("chat.update"), Ok(()));
        brakes.hold("users.info".to_owned(), Duration::ZERO);
        assert_eq!(brakes.leave("users.info"), Ok(()));
    }
}
