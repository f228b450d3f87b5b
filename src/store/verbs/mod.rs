//! The ledger's verbs: their SQL, written once over the narrow transaction.

mod absorbing;
mod accept;
mod answered;
mod answers;
mod approval;
mod approvals;
mod approving;
mod around;
mod asking;
mod claimed;
mod claiming;
mod closing;
mod command;
mod conversations;
pub(super) mod copying;
mod delivery;
mod ending;
mod event;
mod facts;
mod fence;
mod fetched;
mod firing;
mod gate;
mod glance;
mod held;
mod history;
mod holds;
mod intake;
mod janitor;
mod keys;
mod lanes;
mod last;
mod late;
mod lean;
mod ledger;
mod locks;
mod marks;
mod month;
mod moved;
mod notes;
mod outbox;
mod places;
mod post;
mod posts;
mod question;
mod questions;
mod quoted;
mod read;
mod requests;
mod rows;
mod run;
mod said;
mod schedule;
mod schedules;
mod settle;
mod shown;
mod spending;
mod standing;
mod status;
mod stop;
mod tasks;
mod texts;
mod trace;
mod unreadable;
mod unsend;
mod usage;
mod words;
mod work;

/// Statements whose plans an engine's tests look at.
#[cfg(test)]
pub(crate) mod statements {
    pub(crate) use super::claiming::OLDEST;
    pub(crate) use super::lanes::READY;
    pub(crate) use super::read::COUNTS;
    pub(crate) use super::schedules::{DUE, NEXT};
}
