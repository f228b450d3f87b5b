//! Asks again what is worth asking again: transient errors only, with growing, jittered pauses, never
//! past the request's deadline.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use tokio::time::{Instant, sleep, timeout};

use crate::domain::chance::Chance;
use crate::llm::profile::too_late;
use crate::llm::{Card, Heard, Model, ModelError, Reply, Request};

/// The first try counts.
const TRIES: u32 = 5;
/// The first pause at most; the next are twice as long each.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(16);

/// A model that is asked up to five times.
pub(super) struct Retry {
    inner: Arc<dyn Model>,
    chance: Arc<dyn Chance>,
}

impl Retry {
    /// Wraps `inner`.
    pub fn new(inner: Arc<dyn Model>, chance: Arc<dyn Chance>) -> Self {
        Self { inner, chance }
    }

    /// Between half and all of 1, 2, 4, 8 … 16 s, but at least what the provider asks for.
    fn pause(&self, tried: u32, asked: Option<Duration>) -> Duration {
        let longest = (FIRST_PAUSE * 2u32.pow(tried.min(5) - 1)).min(LONGEST_PAUSE);
        longest.mul_f64(0.5 + self.chance.unit() / 2.0).max(asked.unwrap_or_default())
    }
}

#[async_trait]
impl Model for Retry {
    async fn ask(&self, request: &Request, heard: &Heard<'_>) -> Result<Reply, ModelError> {
        let end = Instant::now() + request.deadline;
        let mut request = request.clone();
        for tried in 1.. {
            request.deadline = end.saturating_duration_since(Instant::now());
            let asked = timeout(request.deadline, self.inner.ask(&request, heard)).await;
            let error = match asked.unwrap_or_else(|_| Err(too_late(request.deadline))) {
                Ok(reply) => return Ok(reply),
                Err(error) => error,
            };
            let ModelError::Transient { why, retry_after } = &error else { return Err(error) };
            let pause = self.pause(tried, *retry_after);
            if tried == TRIES || Instant::now() + pause >= end {
                return Err(error);
            }
            let name = self.inner.card().name;
            tracing::warn!(
                model = name,
                tried,
                pause_ms = pause.as_millis(),
                "asking again: {why}"
            );
            sleep(pause).await;
        }
        Err(too_late(request.deadline))
    }

    fn card(&self) -> Card {
        self.inner.card()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::chance::Fixed;
    use crate::llm::tests::scripted::{Scripted, rejected, request, transient, unusable};

    async fn run(script: Scripted, deadline: u64) -> (Result<Reply, ModelError>, usize, Duration) {
        let script = Arc::new(script);
        let retry = Retry::new(script.clone(), Arc::new(Fixed(0.999_999)));
        let begun = Instant::now();
        let got = retry.ask(&request(deadline), &|_| {}).await;
        (got, script.asked(), begun.elapsed())
    }

    #[tokio::test(start_paused = true)]
    async fn only_transient_errors_are_asked_again() {
        let cases = [
            (vec![transient("x", None), transient("y", None)], 3, true),
            (vec![rejected("x")], 1, false),
            (vec![unusable("x")], 1, false),
            (vec![transient("x", None); 9], 5, false),
        ];
        for (errors, asked, good) in cases {
            let label = format!("{errors:?}");
            let (got, times, _) = run(Scripted::failing(errors), 600).await;
            assert_eq!((times, got.is_ok()), (asked, good), "{label}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn pauses_double_and_the_providers_wish_counts() {
        let (_, _, took) = run(Scripted::failing(vec![transient("x", None); 5]), 600).await;
        assert_eq!(took.as_secs_f64().round(), 1.0 + 2.0 + 4.0 + 8.0);
        let wish = Some(Duration::from_secs(30));
        let (got, _, took) = run(Scripted::failing(vec![transient("x", wish)]), 600).await;
        assert!(got.is_ok());
        assert_eq!(took.as_secs_f64().round(), 30.0);
    }

    #[tokio::test(start_paused = true)]
    async fn a_wait_past_the_deadline_is_not_begun_and_a_hanging_model_is_left() {
        let wish = Some(Duration::from_secs(30));
        let (got, asked, took) = run(Scripted::failing(vec![transient("busy", wish)]), 20).await;
        assert_eq!((got.map_err(|e| e.to_string()), asked), (Err("busy".to_owned()), 1));
        assert_eq!(took, Duration::ZERO);
        let (got, asked, took) = run(Scripted::hanging(), 20).await;
        assert_eq!(got.map_err(|e| e.to_string()), Err("no answer within 20s".to_owned()));
        assert_eq!((asked, took.as_secs()), (1, 20));
    }
}
