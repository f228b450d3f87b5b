//! When a sign of life is shown in a thread: now and then, and not where Slack refuses it.

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::Duration;

use tokio::time::Instant;

use selkie_channel_core::http::Fault;
use selkie_channel_core::locked;

use crate::refusal;

/// Slack forgets a sign after two minutes.
const AGAIN: Duration = Duration::from_secs(90);
/// An app that may show none is not tried again for so long.
const REFUSED: Duration = Duration::from_secs(3600);
/// When Slack or the line failed.
const FAILED: Duration = Duration::from_secs(30);
/// Threads remembered before all are forgotten.
const MANY: usize = 1000;

/// When which sign was shown last.
#[derive(Default)]
pub struct Signs(Mutex<SignCache>);

#[derive(Default)]
struct SignCache {
    shown: HashMap<String, Instant>,
    held_until: Option<Instant>,
}

impl Signs {
    /// Whether one is due in a thread; it counts as shown then.
    pub fn may_show(&self, channel: &str, thread: &str) -> bool {
        let now = Instant::now();
        let mut known = locked(&self.0);
        let key = format!("{channel} {thread}");
        let fresh = known.shown.get(&key).is_some_and(|at| now.duration_since(*at) < AGAIN);
        if fresh || known.held_until.is_some_and(|until| now < until) {
            return false;
        }
        if known.shown.len() >= MANY {
            known.shown.clear();
        }
        known.shown.insert(key, now);
        true
    }

    /// Shows none for a while.
    pub fn refused(&self, fault: &Fault) {
        let rest = match fault {
            Fault::Refused(refusal) => match (refusal::limit(fault), refusal.code.as_str()) {
                (Some(limit), _) => limit.max(FAILED),
                // Of this thread alone.
                (None, "channel_not_found" | "invalid_thread_ts" | "not_in_channel") => return,
                (None, _) => REFUSED,
            },
            Fault::NotSent(_) | Fault::Unclear(_) => FAILED,
        };
        let mut known = locked(&self.0);
        known.held_until = Some(Instant::now() + rest);
    }

    /// A thread that was answered shows no sign any more: the next one is due at once.
    pub fn answered(&self, channel: &str, thread: Option<&str>) {
        let Some(thread) = thread else { return };
        let mut known = locked(&self.0);
        known.shown.remove(&format!("{channel} {thread}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use selkie_channel_core::http::Refusal;

    #[test]
    fn a_sign_is_shown_now_and_then_and_not_where_it_is_refused() {
        let signs = Signs::default();
        assert!(signs.may_show("C2", "1.000001"));
        assert!(!signs.may_show("C2", "1.000001"), "it still stands there");
        assert!(signs.may_show("C2", "1.000002"));
        signs.answered("C2", Some("1.000001"));
        assert!(signs.may_show("C2", "1.000001"), "an answer has taken it away");
        let code = "missing_scope".to_owned();
        signs.refused(&Fault::Refused(Refusal { code, ..Refusal::default() }));
        assert!(!signs.may_show("C2", "1.000003"));
    }
}
