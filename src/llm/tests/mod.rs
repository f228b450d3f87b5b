//! Tests of the models over a real local server, and what they share.

mod adapters;
mod answer_pictures;
mod doors;
mod efforts;
mod own_form;
mod pieces;
mod prefix;
mod responses;
pub(super) mod scripted;
pub(super) mod server;
mod shown;
mod window;
