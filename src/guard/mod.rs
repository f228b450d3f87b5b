//! Rules without I/O: what a command may say, which addresses may be reached.

pub mod command;
pub mod deny;
