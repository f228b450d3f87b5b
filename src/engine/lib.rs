//! From a message that came to what was sent: intake, work, delivery, and the flow that joins them.

pub mod clocks;
pub mod delivery;
pub mod flow;
pub mod intake;
pub mod terminal;
pub mod work;
