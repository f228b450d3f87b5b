//! The daemon's own ids: row numbers with a type.

use serde::{Deserialize, Serialize};

macro_rules! row_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(
            /// The row number.
            pub i64,
        );

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

row_id! {
    /// A row of the inbox.
    InboxId
}
row_id! {
    /// A task.
    TaskId
}
row_id! {
    /// Something the bot says.
    OutboundId
}
row_id! {
    /// One platform call.
    PartId
}
row_id! {
    /// A schedule.
    ScheduleId
}

/// One run of the process: leases and claims die with it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Instance(
    /// A UUIDv7, made at start.
    pub String,
);
