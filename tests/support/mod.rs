//! What the journeys share.

pub mod browser;
