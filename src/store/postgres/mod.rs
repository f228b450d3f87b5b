//! The engine over PostgreSQL: a few threads with a connection each.

mod address;
mod engine;
mod examine;
mod inspect;
mod lane;
mod metrics;
mod owner;
mod schema;
mod session;
mod shared;
mod snapshot;
mod statement;
#[cfg(test)]
mod tests;
mod tls;
mod transaction;
mod trouble;
mod value;

pub use address::{Address, is_url};
pub use engine::{Postgres, Traffic};
pub use examine::{DatabaseReport, examine};
pub use schema::NEWEST;
pub use snapshot::in_one_snapshot;
pub use statement::{ReturnKind, spelled};
