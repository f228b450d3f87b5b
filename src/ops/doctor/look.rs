//! A look at one thing: all are made side by side, and none takes longer than ten seconds.

use std::time::Duration;

use chrono::TimeDelta;
use futures_util::future::{BoxFuture, join_all};
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::finding::Finding;

/// How long a look may take.
pub const LIMIT: Duration = Duration::from_secs(10);

/// A look at one thing.
pub struct Look {
    what: &'static str,
    name: String,
    look: BoxFuture<'static, LookResult>,
}

/// What a look came to.
#[derive(Default)]
pub struct LookResult {
    /// What was found.
    pub findings: Vec<Finding>,
    /// How far another clock is ahead of ours, where one was seen.
    pub ahead: Option<TimeDelta>,
}

impl From<Vec<Finding>> for LookResult {
    fn from(findings: Vec<Finding>) -> Self {
        Self { findings, ahead: None }
    }
}

impl Look {
    /// Looks by asking somebody.
    pub fn new(
        what: &'static str,
        name: impl Into<String>,
        look: impl Future<Output = LookResult> + Send + 'static,
    ) -> Self {
        Self { what, name: name.into(), look: Box::pin(look) }
    }

    /// Looks at this machine, on a thread of its own: a disk may not answer.
    pub fn here(what: &'static str, look: impl FnOnce() -> Vec<Finding> + Send + 'static) -> Self {
        let ended = async move {
            let looked = spawn_blocking(look).await;
            looked.unwrap_or_else(|_| {
                let advice =
                    "run selkie doctor again; if that does not help, this is a bug in selkie";
                vec![Finding::error(what, "the check failed unexpectedly", advice)]
            })
        };
        Self::new(what, "", async move { ended.await.into() })
    }
}

/// Makes all of them, side by side.
pub async fn all(looks: Vec<Look>) -> Vec<LookResult> {
    join_all(looks.into_iter().map(within)).await
}

async fn within(look: Look) -> LookResult {
    let Look { what, name, look } = look;
    timeout(LIMIT, look).await.unwrap_or_else(|_| {
        let message = format!("no answer within {} s", LIMIT.as_secs());
        let advice = "check the connection (network, proxy, disk), and run selkie doctor again";
        vec![Finding::error(what, message, advice).of(name)].into()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::finding::Level;

    #[tokio::test(start_paused = true)]
    async fn who_does_not_answer_is_waited_for_so_long_and_keeps_nobody_else_waiting() {
        let never = || Look::new("model", "slow", std::future::pending());
        let here = Look::here("disk", || vec![Finding::fine("disk", "there is room")]);
        let began = tokio::time::Instant::now();
        let looked = all(vec![never(), here, never()]).await;
        assert_eq!(began.elapsed().as_secs(), LIMIT.as_secs());
        let levels: Vec<Level> = looked.iter().flat_map(|l| &l.findings).map(|f| f.level).collect();
        assert_eq!(levels, [Level::Error, Level::Fine, Level::Error]);
        assert_eq!(looked[0].findings[0].name, "slow");
    }
}
