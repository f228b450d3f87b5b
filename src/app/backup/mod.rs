//! Backups: one file that holds a whole life, made beside a running daemon, and put back elsewhere.
//!
//! An archive (tar, gzip) of the rows as one database file, whatever database they come from, and of the state folder's
//! files. See decision 0051.

mod belonging;
mod contents;
mod digest;
mod files;
mod make;
mod names;
mod pack;
mod place;
mod restore;
mod resume;
mod scheduled;
#[cfg(test)]
mod tests;
mod unpack;
mod unreplaced;

pub use make::{BackupReport, BackupRequest, engine, make};
pub use place::begun;
pub use restore::{RestoreReport, restore};
pub use resume::{ResumeReport, resume};
pub use scheduled::{BackupSchedule, BackupStatus};
