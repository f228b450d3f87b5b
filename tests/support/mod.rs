//! What the journeys stand on.

pub mod browser;
pub mod daemon;
pub mod seen;
pub mod world;
