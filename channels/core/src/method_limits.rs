//! How long which limits of a platform last, where they are of methods: what is limited is not asked before its time, and
//! holds nothing else back.

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::locked;

/// Limits remembered before the ones that are over are forgotten.
const MANY: usize = 1000;
/// No limit is believed for longer.
const MAX_TIME: Duration = Duration::from_secs(3600);
/// Platforms count calls by the minute: what is limited in several places is limited in all for no longer.
const WINDOW: Duration = Duration::from_secs(60);

/// The limits that hold now, by method and place; no place stands for all.
#[derive(Default)]
pub struct Brakes(Mutex<HashMap<(String, String), Instant>>);

/// What is limited.
#[derive(Clone, Copy, Debug)]
pub struct MethodLimit<'a> {
    /// The method.
    pub method: &'a str,
    /// Where it is called; `None` where it is nobody's in particular.
    pub place: Option<&'a str>,
    /// The platform counts each place for itself, whatever becomes of others.
    pub by_place: bool,
}

impl Brakes {
    /// Whether a call may be made.
    ///
    /// # Errors
    /// How long not.
    pub fn leave(&self, call: MethodLimit<'_>) -> Result<(), Duration> {
        let held = locked(&self.0);
        let now = Instant::now();
        let rest = |place: &str| {
            let until = held.get(&(call.method.to_owned(), place.to_owned()));
            until.map_or(Duration::ZERO, |until| until.saturating_duration_since(now))
        };
        let rest = rest("").max(call.place.map_or(Duration::ZERO, rest));
        if rest.is_zero() { Ok(()) } else { Err(rest) }
    }

    /// Whether nothing is held back.
    pub fn are_off(&self) -> bool {
        let now = Instant::now();
        !locked(&self.0).values().any(|until| *until > now)
    }

    /// Waits until a call may be made: waiting is no try.
    ///
    /// # Errors
    /// How long it may not be made, when that is longer than `most`.
    pub async fn wait(&self, call: MethodLimit<'_>, most: Duration) -> Result<(), Duration> {
        let end = Instant::now() + most;
        while let Err(rest) = self.leave(call) {
            if Instant::now() + rest > end {
                return Err(rest);
            }
            sleep(rest).await;
        }
        Ok(())
    }

    /// Holds calls of this kind back. What is limited in one place may be so by what was said there: others go on, until
    /// a second one is limited, too.
    pub fn hold(&self, call: MethodLimit<'_>, wait: Duration) {
        let now = Instant::now();
        let mut held = locked(&self.0);
        if held.len() >= MANY {
            held.retain(|_, until| *until > now);
        }
        let MethodLimit { method, place, by_place } = call;
        let elsewhere = |((known, other), until): (&(String, String), &Instant)| {
            *until > now && known == method && !other.is_empty() && Some(other.as_str()) != place
        };
        let wait = wait.min(MAX_TIME);
        if place.is_some() && !by_place && held.iter().any(elsewhere) {
            held.insert((method.to_owned(), String::new()), now + wait.min(WINDOW));
        }
        held.insert((method.to_owned(), place.unwrap_or_default().to_owned()), now + wait);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(600);

    fn call<'a>(method: &'a str, place: &'a str) -> MethodLimit<'a> {
        let place = Some(place).filter(|place| !place.is_empty());
        MethodLimit { method, place, by_place: false }
    }

    #[tokio::test(start_paused = true)]
    async fn a_limit_holds_its_own_method_alone_and_ends() {
        let brakes = Brakes::default();
        brakes.hold(call("users.info", ""), Duration::from_secs(70));
        assert_eq!(brakes.leave(call("users.info", "")), Err(Duration::from_secs(70)));
        assert!(brakes.leave(call("users.info", "C1")).is_err(), "it is nobody's in particular");
        assert_eq!(brakes.leave(call("chat.update", "")), Ok(()));
        tokio::time::advance(Duration::from_secs(70)).await;
        assert_eq!(brakes.leave(call("users.info", "")), Ok(()));
        brakes.hold(call("users.info", ""), Duration::from_secs(1_000_000));
        assert_eq!(brakes.leave(call("users.info", "")), Err(MAX_TIME));
    }

    #[tokio::test(start_paused = true)]
    async fn one_place_stops_no_other_and_two_stop_all_for_a_minute() {
        let brakes = Brakes::default();
        brakes.hold(call("grow", "C1"), LONG);
        brakes.hold(call("grow", "C1"), LONG);
        assert_eq!(brakes.leave(call("grow", "C1")), Err(LONG));
        assert_eq!(brakes.leave(call("grow", "C2")), Ok(()));
        brakes.hold(call("grow", "C2"), LONG);
        assert_eq!(brakes.leave(call("grow", "C3")), Err(WINDOW), "it is the method's");
        tokio::time::advance(WINDOW).await;
        assert_eq!(brakes.leave(call("grow", "C3")), Ok(()));
        assert_eq!(brakes.leave(call("grow", "C1")), Err(LONG - WINDOW));
    }

    #[tokio::test(start_paused = true)]
    async fn what_waits_goes_when_it_may_and_waits_for_no_longer_than_it_has() {
        let (brakes, began) = (Brakes::default(), Instant::now());
        assert!(brakes.are_off());
        brakes.hold(call("reply", ""), Duration::from_secs(5));
        assert!(!brakes.are_off());
        let rest = Duration::from_secs(5);
        assert_eq!(brakes.wait(call("reply", ""), Duration::from_secs(4)).await, Err(rest));
        assert_eq!(began.elapsed(), Duration::ZERO, "it is told at once");
        assert_eq!(brakes.wait(call("reply", ""), rest).await, Ok(()));
        assert!(began.elapsed() >= rest && brakes.are_off());
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_counted_by_place_stops_no_other_place() {
        let brakes = Brakes::default();
        let post = |place| MethodLimit { by_place: true, ..call("post", place) };
        brakes.hold(post("C1"), LONG);
        brakes.hold(post("C2"), LONG);
        assert_eq!(brakes.leave(post("C3")), Ok(()));
    }
}
