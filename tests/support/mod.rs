//! What the journeys stand on.

pub mod browser;
pub mod contract;
pub mod daemon;
pub mod demo;
pub mod disk;
pub mod families;
pub mod http;
pub mod joined;
pub mod killing;
pub mod line;
pub mod once;
pub mod proxy;
pub mod rows;
pub mod secrecy;
pub mod seen;
pub mod stage;
pub mod stages;
pub mod terminal;
pub mod world;
