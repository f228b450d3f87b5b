//! What the journeys stand on.

pub mod browser;
pub mod daemon;
pub mod demo;
pub mod http;
pub mod killing;
pub mod line;
pub mod once;
pub mod rows;
pub mod seen;
pub mod world;
