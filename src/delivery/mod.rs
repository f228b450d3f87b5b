//! What is said, until its receipt: the outbox, the delivery worker of each account, deferred replies, status messages.

pub mod account;
pub(crate) mod accounts;
pub(crate) mod again;
pub(crate) mod approval_at_terminal;
pub(crate) mod approvals;
pub(crate) mod attempt;
pub(crate) mod chain;
pub(crate) mod deferred;
pub(crate) mod departure;
pub(crate) mod late;
pub(crate) mod messages;
pub(crate) mod moments;
pub(crate) mod month;
mod outage;
pub(crate) mod outbox;
pub(crate) mod outcome;
pub(crate) mod outgoing;
pub(crate) mod post_files;
pub(crate) mod posts;
pub(crate) mod presence;
pub(crate) mod progress;
pub(crate) mod questions;
pub(crate) mod queue;
pub(crate) mod rate_limiter;
pub(crate) mod reminders;
pub(crate) mod reply;
pub(crate) mod runtime;
pub(crate) mod say;
pub mod settings;
pub(crate) mod storage;
pub(crate) mod waiters;
pub(crate) mod worker;

pub use account::{ChannelState, Hearing};
pub use runtime::Stop;
pub use say::Told;
