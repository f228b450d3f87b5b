//! What comes with the program beside its code: packages and pages. They name files, commands and messages, and each
//! of those is there.

mod alerts;
mod book;
mod commands;
mod messages;
mod packages;
