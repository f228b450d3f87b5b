//! Tests of the models over a real local server, and what they share.

mod adapters;
mod offline;
mod own_form;
mod pieces;
pub(super) mod scripted;
pub(super) mod server;
mod shown;
