//! Asks again what is worth asking again: with growing, jittered pauses, never past the request's deadline,
//! and hardly at all where somebody else can be asked. Knows until when its provider wants to be left alone.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, TimeDelta, Utc};
use selkie_channel_core::locked;
use tokio::time::{Instant, sleep, timeout};

use crate::profile::too_late;
use crate::{AskError, Card, Model, ModelError, OnText, Reason, Reply, Request};
use selkie_domain::chance::Chance;
use selkie_domain::clock::SharedClock;
use selkie_domain::usage::Usage;

/// The first try counts.
const TRIES: u32 = 5;
/// The first pause at most; the next are twice as long each.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const MAX_PAUSE: Duration = Duration::from_secs(16);
/// A provider that asks to wait longer is not waited for: people are told instead.
const MAX_WISH: Duration = Duration::from_secs(120);
/// How long one that failed is passed over when it does not say itself.
const DEAD_FOR: Duration = Duration::from_secs(60);
/// No rest is longer: the clock may have been set back.
const MAX_REST: TimeDelta = TimeDelta::minutes(10);
/// An answer that was spent on thinking gets so much more room, once …
const MORE_ROOM: u32 = 4;
/// … but never more tokens than this.
const MAX_ROOM: u32 = 65_536;

/// A profile that is asked up to five times.
pub(super) struct Retry {
    inner: Arc<dyn Model>,
    chance: Arc<dyn Chance>,
    clock: SharedClock,
    rest: Mutex<Option<Rest>>,
}

/// The profile had better be left alone.
#[derive(Clone, Copy, Debug)]
struct Rest {
    until: DateTime<Utc>,
    /// The provider said so; else it is our guess, and only holds where there is another.
    wished: bool,
}

/// One asking, from its first try to its last.
struct Attempt {
    request: Request,
    end: Instant,
    tried: u32,
    /// How many of these tries brought an answer that is of no use.
    useless: u32,
    spent: Usage,
    /// The answer had no room; it is asked once more with more.
    no_room: Option<ModelError>,
}

/// What comes after a failed try.
enum Onward {
    Again(Duration),
    Fail(ModelError),
}

impl Retry {
    /// Wraps `inner`.
    pub fn new(inner: Arc<dyn Model>, chance: Arc<dyn Chance>, clock: SharedClock) -> Self {
        Self { inner, chance, clock, rest: Mutex::new(None) }
    }

    /// Between half and all of 1, 2, 4, 8 … 16 s, but at least what the provider asks for.
    fn pause(&self, tried: u32, asked: Option<Duration>) -> Duration {
        let longest = (FIRST_PAUSE * 2u32.pow(tried.min(5) - 1)).min(MAX_PAUSE);
        longest.mul_f64(0.5 + self.chance.unit() / 2.0).max(asked.unwrap_or_default())
    }

    fn rest(&self) -> Option<Rest> {
        let rest = *locked(&self.rest);
        let now = self.clock.now();
        rest.filter(|rest| rest.until > now && rest.until - now <= MAX_REST)
    }

    fn set_rest(&self, rest: Option<Rest>) {
        *locked(&self.rest) = rest;
    }

    /// Notes what a failure says about the next minutes.
    fn note(&self, error: &ModelError) {
        let wish = match error {
            ModelError::Transient { retry_after, .. } => *retry_after,
            ModelError::Unusable { .. } => None,
            // These say nothing about other requests.
            ModelError::Rejected { .. }
            | ModelError::TooLong { .. }
            | ModelError::Withheld { .. }
            | ModelError::NoRoom { .. } => return,
        };
        let wait = TimeDelta::from_std(wish.unwrap_or(DEAD_FOR)).unwrap_or(MAX_REST);
        let until = self.clock.now() + wait.min(MAX_REST);
        self.set_rest(Some(Rest { until, wished: wish.is_some() }));
    }

    /// Keeps what an earlier request was told: a provider that wants to be left alone is.
    async fn keep_rest(&self, asking: &Attempt) -> Result<(), ModelError> {
        let Some(Rest { until, .. }) = self.rest().filter(|rest| rest.wished) else {
            return Ok(());
        };
        let wait = (until - self.clock.now()).to_std().unwrap_or_default();
        if wait > asking.patience() {
            let why = format!("the provider asks to wait {} s more", wait.as_secs());
            return Err(ModelError::Transient {
                why,
                reason: Reason::Busy,
                retry_after: Some(wait),
            });
        }
        sleep(wait).await;
        Ok(())
    }

    /// Decides what comes after a failed try.
    fn after(&self, error: ModelError, asking: &mut Attempt) -> Onward {
        match (&error, asking.no_room.take()) {
            (ModelError::NoRoom { may_raise: true, .. }, None) => {
                let room = asking.request.max_output;
                let more = room.saturating_mul(MORE_ROOM).min(MAX_ROOM);
                if more <= room {
                    return Onward::Fail(error);
                }
                asking.request.max_output = more;
                asking.no_room = Some(error);
                return Onward::Again(Duration::ZERO);
            }
            // More room is more than the model can give: what it said first is the answer.
            (ModelError::Rejected { .. } | ModelError::TooLong { .. }, Some(first)) => {
                return Onward::Fail(first);
            }
            (_, first) => asking.no_room = first,
        }
        let ModelError::Transient { retry_after, reason, .. } = &error else {
            return Onward::Fail(error);
        };
        let pause = self.pause(asking.tried, *retry_after);
        // Who has nothing to say twice will not find words the third time. What cannot be read was paid for all the
        // same. A try that never came so far says nothing about that.
        let is_useless = matches!(reason, Reason::Empty | Reason::Garbled | Reason::TooMuch);
        asking.useless += u32::from(is_useless);
        let tries = if asking.request.has_next { 2 } else { TRIES };
        match asking.tried < tries && asking.useless < 2 && pause <= asking.patience() {
            true => Onward::Again(pause),
            false => Onward::Fail(error),
        }
    }
}

impl Attempt {
    fn new(request: &Request) -> Self {
        let end = Instant::now() + request.deadline;
        let request = request.clone();
        Self { request, end, tried: 0, useless: 0, spent: Usage::default(), no_room: None }
    }

    /// How long it waits at most before the next try: hardly at all where somebody else can be asked.
    fn patience(&self) -> Duration {
        let most = if self.request.has_next { FIRST_PAUSE } else { MAX_WISH };
        let left = self.end.saturating_duration_since(Instant::now());
        most.min(left.saturating_sub(Duration::from_millis(1)))
    }

    fn failed(&self, error: ModelError) -> AskError {
        AskError { error, usage: self.spent }
    }
}

#[async_trait]
impl Model for Retry {
    async fn ask(&self, request: &Request, heard: &OnText<'_>) -> Result<Reply, AskError> {
        let mut asking = Attempt::new(request);
        if let Err(error) = self.keep_rest(&asking).await {
            return Err(asking.failed(error));
        }
        loop {
            asking.tried += 1;
            let left = asking.end.saturating_duration_since(Instant::now());
            asking.request.deadline = left;
            let asked = timeout(left, self.inner.ask(&asking.request, heard)).await;
            let AskError { error, usage } = match asked.unwrap_or_else(|_| Err(too_late(left))) {
                Ok(mut reply) => {
                    self.set_rest(None);
                    reply.usage.add(asking.spent);
                    return Ok(reply);
                }
                Err(failed) => failed,
            };
            asking.spent.add(usage);
            let why = error.to_string();
            let pause = match self.after(error, &mut asking) {
                Onward::Again(pause) => pause,
                Onward::Fail(error) => {
                    self.note(&error);
                    return Err(asking.failed(error));
                }
            };
            let model = self.inner.card().name;
            let tried = asking.tried;
            tracing::warn!(model, tried, pause_ms = pause.as_millis(), "asking again: {why}");
            sleep(pause).await;
        }
    }

    fn card(&self) -> Card {
        self.inner.card()
    }

    fn rests_until(&self) -> Option<DateTime<Utc>> {
        self.rest().map(|rest| rest.until)
    }

    fn inner(&self) -> Option<&dyn Model> {
        Some(&*self.inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::scripted::{Scripted, no_room, rejected, request, transient, unusable};
    use selkie_domain::chance::FixedChance;
    use selkie_domain::clock::ManualClock;

    fn around(script: &Arc<Scripted>) -> (Retry, Arc<ManualClock>) {
        let clock = Arc::new(ManualClock::at(DateTime::UNIX_EPOCH));
        let (inner, chance) = (Arc::clone(script), Arc::new(FixedChance(0.999_999)));
        (Retry::new(inner, chance, clock.clone()), clock)
    }

    async fn run(script: Scripted, request: Request) -> (Result<Reply, AskError>, usize, Duration) {
        let script = Arc::new(script);
        let begun = Instant::now();
        let got = around(&script).0.ask(&request, &|_| {}).await;
        (got, script.asked(), begun.elapsed())
    }

    fn hurried(deadline: u64) -> Request {
        Request { has_next: true, ..request(deadline) }
    }

    fn wish(seconds: u64) -> ModelError {
        transient("busy", Some(Duration::from_secs(seconds)))
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
            let (got, times, _) = run(Scripted::failing(errors), request(600)).await;
            assert_eq!((times, got.is_ok()), (asked, good), "{label}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn an_empty_answer_is_asked_once_more() {
        let empty = ModelError::Transient {
            why: "nothing".to_owned(),
            reason: Reason::Empty,
            retry_after: None,
        };
        let (got, asked, _) = run(Scripted::failing(vec![empty; 9]), request(600)).await;
        assert_eq!((got.is_err(), asked), (true, 2));
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_that_breaks_after_another_failure_is_asked_once_more_too() {
        let garbled = || ModelError::Transient {
            why: "broken".to_owned(),
            reason: Reason::Garbled,
            retry_after: None,
        };
        for (errors, good) in [
            (vec![transient("x", None), garbled()], true),
            (vec![garbled(), transient("x", None)], true),
            (vec![garbled(), transient("x", None), garbled()], false),
        ] {
            let tries = errors.len() + usize::from(good);
            let (got, asked, _) = run(Scripted::failing(errors), request(600)).await;
            assert_eq!((got.is_ok(), asked), (good, tries));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn pauses_double_and_the_providers_wish_counts() {
        let (_, _, took) =
            run(Scripted::failing(vec![transient("x", None); 5]), request(600)).await;
        assert_eq!(took.as_secs_f64().round(), 1.0 + 2.0 + 4.0 + 8.0);
        let (got, _, took) = run(Scripted::failing(vec![wish(30)]), request(600)).await;
        assert!(got.is_ok());
        assert_eq!(took.as_secs_f64().round(), 30.0);
    }

    #[tokio::test(start_paused = true)]
    async fn a_wait_past_the_deadline_or_past_patience_is_not_begun_and_a_hanging_model_is_left() {
        for (seconds, deadline) in [(30, 20), (121, 600)] {
            let (got, asked, took) =
                run(Scripted::failing(vec![wish(seconds)]), request(deadline)).await;
            assert_eq!((got.map_err(|e| e.to_string()), asked), (Err("busy".to_owned()), 1));
            assert_eq!(took, Duration::ZERO);
        }
        let (got, asked, took) = run(Scripted::hanging(), request(20)).await;
        assert_eq!(got.map_err(|e| e.to_string()), Err("no answer within 20s".to_owned()));
        assert_eq!((asked, took.as_secs()), (1, 20));
    }

    #[tokio::test(start_paused = true)]
    async fn where_somebody_else_can_be_asked_there_is_one_quick_try_more() {
        let (got, asked, took) =
            run(Scripted::failing(vec![transient("x", None); 5]), hurried(600)).await;
        assert!(got.is_err());
        assert_eq!((asked, took.as_secs_f64().round()), (2, 1.0));
        let (_, asked, took) = run(Scripted::failing(vec![wish(30)]), hurried(600)).await;
        assert_eq!((asked, took), (1, Duration::ZERO));
    }

    #[tokio::test(start_paused = true)]
    async fn what_a_provider_asks_of_one_request_holds_for_all() {
        let script = Arc::new(Scripted::failing(vec![wish(30)]));
        let (retry, clock) = around(&script);
        assert!(retry.ask(&hurried(60), &|_| {}).await.is_err());
        // The next is not even sent, as long as there is somebody else …
        assert!(retry.ask(&hurried(60), &|_| {}).await.is_err());
        assert_eq!(script.asked(), 1);
        // … and waits where there is nobody.
        let begun = Instant::now();
        assert!(retry.ask(&request(60), &|_| {}).await.is_ok());
        assert_eq!((script.asked(), begun.elapsed().as_secs()), (2, 30));
        assert_eq!(retry.rests_until(), None, "it has answered");
        // A clock that was set back lets nobody rest for days.
        retry.note(&wish(30));
        clock.advance(TimeDelta::days(-3));
        assert_eq!(retry.rests_until(), None);
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_without_room_is_asked_once_more_with_more_room() {
        let script = Scripted::failing(vec![no_room(), no_room(), no_room()]).spending(100);
        let script = Arc::new(script);
        let failed = around(&script).0.ask(&request(60), &|_| {}).await.expect_err("no room");
        assert_eq!(script.rooms(), [256, 1024]);
        assert_eq!((failed.error.reason(), failed.usage.output), (Reason::NoRoom, 200));
        // A provider that cannot give more has said first what is wrong.
        let script = Arc::new(Scripted::failing(vec![no_room(), rejected("max_tokens")]));
        let failed = around(&script).0.ask(&request(60), &|_| {}).await.expect_err("no room");
        assert_eq!(failed.error.reason(), Reason::NoRoom);
    }

    #[tokio::test(start_paused = true)]
    async fn what_failed_tries_cost_is_counted() {
        let script = Scripted::failing(vec![transient("x", None); 2]).spending(10);
        let (got, ..) = run(script, request(60)).await;
        assert_eq!(got.expect("an answer").usage.output, 20);
    }
}
