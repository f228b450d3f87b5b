//! Nouns without I/O. Everything here can be made, compared and stored without a clock or a socket.

pub mod approval;
pub mod builtin;
pub mod cause;
pub mod chance;
pub mod clock;
pub mod command_line;
pub mod count;
pub mod crash;
pub mod document;
pub mod facts;
pub mod gate;
pub mod happening;
pub mod ids;
pub mod plan;
pub mod question;
pub mod schedule;
pub mod schema;
pub mod screen;
pub mod span;
pub mod spelling;
pub mod taint;
pub mod task;
pub mod tool;
pub mod transcript;
pub mod usage;
pub mod words;
