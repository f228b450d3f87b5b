//! Faults on demand: which call goes wrong, and how.

use std::sync::Mutex;

use selkie_channel_core::locked;
use serde::{Deserialize, Serialize};

/// One planned fault. It meets calls of `method` (and `chat`), after `skip` of them, `times` times.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Fault {
    /// The method in any case, or `*` for every one.
    pub method: String,
    /// Only calls for this chat.
    #[serde(default)]
    pub chat: Option<i64>,
    /// How many matching calls go well first.
    #[serde(default)]
    pub skip: u32,
    /// How many calls go wrong.
    #[serde(default = "once")]
    pub times: u32,
    /// How.
    #[serde(flatten)]
    pub kind: FaultKind,
}

fn once() -> u32 {
    1
}

impl Fault {
    /// The next call of `method` goes wrong, once.
    pub fn next(method: &str, kind: FaultKind) -> Self {
        Self { method: method.to_owned(), chat: None, skip: 0, times: 1, kind }
    }

    /// Only for this chat.
    pub fn in_chat(self, chat: i64) -> Self {
        Self { chat: Some(chat), ..self }
    }

    /// After `skip` calls that go well.
    pub fn after(self, skip: u32) -> Self {
        Self { skip, ..self }
    }

    /// This many times.
    pub fn times(self, times: u32) -> Self {
        Self { times, ..self }
    }
}

/// How a call goes wrong.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum FaultKind {
    /// 429 with this many seconds; no effect.
    TooMany {
        /// Seconds.
        retry_after: u64,
    },
    /// 409, as for the older of two pollers; no effect.
    Conflict,
    /// 401; no effect.
    Unauthorized,
    /// Any refusal in the API's shape; no effect.
    Refuse {
        /// The status and `error_code`.
        code: u16,
        /// The `description`.
        description: String,
    },
    /// A gateway's HTML page with this status; no effect.
    Html {
        /// The status, 5xx.
        status: u16,
    },
    /// The socket closes without an answer, and nothing happened.
    CutBefore,
    /// It happened, and the socket closes without an answer.
    CutAfter,
    /// The call waits first, then goes well.
    Delay {
        /// Milliseconds.
        ms: u64,
    },
    /// `getUpdates`: every update of the batch twice.
    Duplicate,
    /// `getUpdates`: the batch acknowledged last comes again.
    Redeliver,
    /// It happened; the JSON of the answer stops in the middle.
    Truncate,
    /// It happened; the answer is 200 with something that is no JSON.
    Garbage,
    /// It happened; the answer is a bare yes that names nothing.
    Bare,
}

/// The planned faults.
#[derive(Default)]
pub(crate) struct Faults(Mutex<Vec<Fault>>);

impl Faults {
    /// Plans one.
    pub(crate) fn add(&self, fault: Fault) {
        self.lock().push(fault);
    }

    /// Forgets all.
    pub(crate) fn clear(&self) {
        self.lock().clear();
    }

    /// What this call meets: the first plan that fits counts it.
    pub(crate) fn meet(&self, method: &str, chat: Option<i64>) -> Option<FaultKind> {
        let mut plans = self.lock();
        let fits = |plan: &Fault| {
            (plan.method == "*" || plan.method.eq_ignore_ascii_case(method))
                && (plan.chat.is_none() || plan.chat == chat)
        };
        let at = plans.iter().position(fits)?;
        let plan = &mut plans[at];
        if plan.skip > 0 {
            plan.skip -= 1;
            return None;
        }
        let kind = plan.kind.clone();
        plan.times = plan.times.saturating_sub(1);
        if plan.times == 0 {
            plans.remove(at);
        }
        Some(kind)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Fault>> {
        locked(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_meets_the_nth_call_of_its_method_and_chat() {
        let faults = Faults::default();
        faults.add(Fault::next("sendMessage", FaultKind::CutAfter).in_chat(7).after(1).times(2));
        let met: Vec<_> = [("getMe", None), ("SendMessage", Some(7)), ("sendmessage", Some(8))]
            .iter()
            .map(|(method, chat)| faults.meet(method, *chat))
            .collect();
        assert_eq!(met, [None, None, None]);
        let met: Vec<_> = (0..3).map(|_| faults.meet("sendMessage", Some(7))).collect();
        assert_eq!(met, [Some(FaultKind::CutAfter), Some(FaultKind::CutAfter), None]);
    }

    #[test]
    fn a_fault_is_read_from_json() {
        let text = r#"{"method":"sendMessage","kind":"too_many","retry_after":3}"#;
        let fault: Fault = serde_json::from_str(text).unwrap();
        assert_eq!((fault.times, fault.kind), (1, FaultKind::TooMany { retry_after: 3 }));
    }
}
