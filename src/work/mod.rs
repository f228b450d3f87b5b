//! Tasks at work: who claims them, what they read, what they may use, how they end.

pub(crate) mod answer;
pub(crate) mod attachments;
pub(crate) mod backfill;
pub(crate) mod finish;
pub(crate) mod hide;
pub(crate) mod janitor;
pub(crate) mod limits;
pub(crate) mod messages;
pub(crate) mod onward;
pub(crate) mod park;
pub(crate) mod persona;
pub(crate) mod provenance;
pub(crate) mod received;
pub(crate) mod records;
pub(crate) mod remains;
pub(crate) mod rights;
pub(crate) mod runner;
pub(crate) mod scope;
pub(crate) mod seek;
pub mod settings;
pub(crate) mod steer;
pub(crate) mod stop_tokens;
pub(crate) mod sweep;
pub(crate) mod task_waiters;
pub(crate) mod worker;
pub mod workspace;
