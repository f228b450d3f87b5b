//! The loop guard: notices a call that is made again and again and teaches nothing new.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use serde::{Deserialize, Serialize};

use selkie_domain::transcript::{Answer, Call};

/// What was called with which result, as counts. Part of the run's header.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoopGuard {
    /// Call (name and arguments) → its last answer and how often that came in a row.
    seen: BTreeMap<u64, (u64, u32)>,
    /// The model was told once; the next repetition ends the task.
    warned: bool,
}

/// What the guard says of a call that is about to be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Make it.
    Fresh,
    /// Do not make it; it gave the same answer so many times. Next step without tools.
    Repeated(u32),
    /// The model was told and did it again: end the task.
    Circling,
}

impl LoopGuard {
    /// Judges a call before it is made. `limit` 0 lifts the guard.
    pub fn judge(&self, call: &Call, limit: u32) -> Verdict {
        let times = self.seen.get(&key(call)).map_or(0, |(_, times)| *times);
        if limit == 0 || times + 1 < limit {
            return Verdict::Fresh;
        }
        if self.warned { Verdict::Circling } else { Verdict::Repeated(times) }
    }

    /// Notes what a call that was made has answered. A new answer is news: the count begins again.
    pub fn note(&mut self, call: &Call, answer: &Answer) {
        let result = hash(&(&answer.text, answer.is_error));
        let entry = self.seen.entry(key(call)).or_insert((result, 0));
        if entry.0 != result {
            *entry = (result, 0);
        }
        entry.1 += 1;
    }

    /// Notes that the model was told.
    pub fn warn(&mut self) {
        self.warned = true;
    }
}

fn key(call: &Call) -> u64 {
    hash(&(&call.name, Canonical(&call.arguments)))
}

/// Arguments whose keys are sorted as they are hashed: a model that reorders them repeats itself all the
/// same. Nothing is written out: the work is what the arguments hold, however they nest.
struct Canonical<'a>(&'a serde_json::Value);

impl Hash for Canonical<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        use serde_json::Value;
        std::mem::discriminant(self.0).hash(state);
        match self.0 {
            Value::Object(map) => {
                let sorted: BTreeMap<_, _> = map.iter().map(|(k, v)| (k, Canonical(v))).collect();
                sorted.hash(state);
            }
            Value::Array(items) => {
                items.len().hash(state);
                items.iter().for_each(|item| Canonical(item).hash(state));
            }
            other => other.hash(state),
        }
    }
}

/// `DefaultHasher::new` has fixed keys: the same within one build, which is all a running task needs;
/// after an upgrade the counts simply begin again.
fn hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn call(arguments: serde_json::Value) -> Call {
        Call { id: "c1.0".into(), name: "read_file".into(), arguments }
    }

    fn answer(text: &str) -> Answer {
        Answer::words("c1.0", text)
    }

    #[test]
    fn the_third_identical_call_is_not_made_and_the_one_after_the_warning_ends_it() {
        let mut guard = LoopGuard::default();
        let once = call(json!({"path": "a", "limit": 1}));
        let reordered = call(json!({"limit": 1, "path": "a"}));
        guard.note(&once, &answer("x"));
        assert_eq!(guard.judge(&once, 3), Verdict::Fresh);
        guard.note(&reordered, &answer("x"));
        assert_eq!(guard.judge(&once, 3), Verdict::Repeated(2));
        assert_eq!(guard.judge(&call(json!({"path": "b"})), 3), Verdict::Fresh);
        guard.warn();
        assert_eq!(guard.judge(&reordered, 3), Verdict::Circling);
        assert_eq!(guard.judge(&reordered, 0), Verdict::Fresh);
    }

    /// Written out with quotes in quotes, forty levels were a terabyte.
    #[test]
    fn arguments_that_nest_cost_no_more_than_they_hold() {
        let deep = (0..100).fold(json!("\""), |inner, _| json!([inner, {"k": "\""}]));
        let mut guard = LoopGuard::default();
        guard.note(&call(deep.clone()), &answer("x"));
        guard.note(&call(deep.clone()), &answer("x"));
        assert_eq!(guard.judge(&call(deep), 3), Verdict::Repeated(2));
        assert_eq!(guard.judge(&call(json!([[], []])), 3), Verdict::Fresh);
    }

    #[test]
    fn news_begins_the_count_again() {
        let mut guard = LoopGuard::default();
        let poll = call(json!({"id": 1}));
        for n in 0..10 {
            guard.note(&poll, &answer(&format!("line {n}")));
        }
        assert_eq!(guard.judge(&poll, 3), Verdict::Fresh);
    }
}
