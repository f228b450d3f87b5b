//! Where a task comes from.

use std::borrow::Cow;

use chrono::{DateTime, SecondsFormat, Utc};
use selkie_channel_core::AccountId;

use crate::ids::{ScheduleId, TaskId};

/// What a task comes from. The same cause makes one task, however often it is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cause {
    /// A platform's message.
    Message {
        /// The account that brought it.
        account: AccountId,
        /// Its key, unique within the account alone.
        key: String,
    },
    /// Words that somebody typed at the command line.
    CommandLine {
        /// Names this one time.
        id: String,
    },
    /// Words that a task of another conversation has sent.
    Conversation {
        /// That task.
        task: TaskId,
        /// Names what it sent.
        call: String,
    },
    /// A task that wants an agent to do something.
    Child {
        /// That task.
        parent: TaskId,
        /// Names what it wants: the call's id, and the agent's name where the call names several.
        call: String,
    },
    /// An agent that nobody has waited for has ended.
    Report {
        /// Its task.
        child: TaskId,
    },
    /// A schedule that came due.
    Occurrence {
        /// The schedule.
        schedule: ScheduleId,
        /// The time that came.
        at: DateTime<Utc>,
    },
    /// Another service has called a hook of the config.
    Webhook {
        /// The hook's name.
        hook: String,
        /// Tells the call from all others of the hook.
        delivery: String,
    },
}

impl Cause {
    /// Returns the key that a task of it is stored under; empty beside a new message of that key, which the inbox
    /// holds and keeps unique.
    pub fn key(&self, beside: Option<&str>) -> Cow<'static, str> {
        match self {
            Self::Message { key, .. } if beside == Some(key) => Cow::Borrowed(""),
            Self::Message { account, key } => Cow::Owned(format!("{account}|{key}")),
            Self::CommandLine { id } => Cow::Owned(format!("ask:{id}")),
            Self::Conversation { task, call } => Cow::Owned(format!("from:{task}:{call}")),
            Self::Child { parent, call } => Cow::Owned(format!("child:{parent}:{call}")),
            Self::Report { child } => Cow::Owned(format!("report:{child}")),
            Self::Occurrence { schedule, at } => {
                let at = at.to_rfc3339_opts(SecondsFormat::AutoSi, true);
                Cow::Owned(format!("schedule:{schedule}@{at}"))
            }
            Self::Webhook { hook, delivery } => Cow::Owned(format!("webhook:{hook}:{delivery}")),
        }
    }

    /// Reads which call a child comes from, out of the key that it is stored under.
    pub fn call_in(key: &str) -> Option<&str> {
        let (_, call) = key.strip_prefix("child:")?.split_once(':')?;
        Some(call)
    }

    /// Returns what the keys begin with of all that comes from the same hook; nothing for what comes from none.
    pub fn kind(&self) -> Option<String> {
        match self {
            Self::Webhook { hook, .. } => Some(format!("webhook:{hook}:")),
            _ => None,
        }
    }

    /// Reads which hook a task comes from, out of the key that it is stored under.
    pub fn hook_in(key: &str) -> Option<&str> {
        let (hook, _) = key.strip_prefix("webhook:")?.split_once(':')?;
        Some(hook)
    }

    /// Reads which schedule a task comes from, out of the key that it is stored under.
    pub fn schedule_in(key: &str) -> Option<ScheduleId> {
        let (id, _) = key.strip_prefix("schedule:")?.split_once('@')?;
        id.parse().ok().map(ScheduleId)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_stored_once() {
        let message = Cause::Message { account: AccountId::new("tg:8"), key: "tg:8:1".to_owned() };
        assert_eq!(message.key(Some("tg:8:1")), "", "it stands in the inbox");
        assert_eq!(message.key(Some("tg:8:2")), "tg:8|tg:8:1");
        assert_eq!(message.key(None), "tg:8|tg:8:1");
        let typed = Cause::CommandLine { id: "7".to_owned() };
        assert_eq!((typed.key(None), typed.key(Some("7"))), ("ask:7".into(), "ask:7".into()));
        let sent = Cause::Conversation { task: TaskId(7), call: "c2.0".to_owned() };
        assert_eq!(sent.key(None), "from:7:c2.0");
        let at = DateTime::from_timestamp(1_800_000_000, 0).unwrap();
        let came = Cause::Occurrence { schedule: ScheduleId(3), at };
        assert_eq!(came.key(None), "schedule:3@2027-01-15T08:00:00Z");
        assert_eq!(Cause::schedule_in(&came.key(None)), Some(ScheduleId(3)));
        let child = Cause::Child { parent: TaskId(7), call: "c2.0/ada".to_owned() };
        assert_eq!(child.key(None), "child:7:c2.0/ada");
        assert_eq!(Cause::call_in(&child.key(None)), Some("c2.0/ada"));
        assert_eq!(Cause::Report { child: TaskId(9) }.key(None), "report:9");
        let called = Cause::Webhook { hook: "git".to_owned(), delivery: "7:2".to_owned() };
        assert_eq!(called.key(None), "webhook:git:7:2");
        assert_eq!(Cause::hook_in(&called.key(None)), Some("git"));
        assert_eq!((called.kind().as_deref(), came.kind()), (Some("webhook:git:"), None));
        assert_eq!(Cause::hook_in("tg:8|webhook:git:7"), None);
        for other in ["", "ask:7", "from:7:c2.0", "tg:8|schedule:3@x", "schedule:x@y"] {
            assert_eq!(Cause::schedule_in(other), None, "{other}");
        }
    }
}
