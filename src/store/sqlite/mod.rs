//! The engine over SQLite: one process, one writing thread, two readers.

mod backup;
mod check;
mod engine;
mod examine;
mod fault;
mod gauge;
mod lock;
mod place;
mod readers;
mod schema;
mod snapshot;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
#[cfg(test)]
mod tests;
mod tx;
mod wal;
mod writer;

pub use engine::Sqlite;
pub use examine::{FileReport, bytes_of, examine};
pub use lock::{StoreLock, holder};
pub use snapshot::{NewFile, copy, has_its_tables, is_inert, newest_version, read, read_beside};
