//! When a schedule fires: what people write, the zone it is meant in, and the instants that come of it.
//!
//! [`Expression`](expression::Expression) is what is written, [`Plan`](plan::Plan) what is put on top of it
//! (an end, a count, active hours, jitter), [`missed`](missed::missed) what becomes of times that passed while
//! nobody was there to fire. The rules for days whose clock is changed stand in [`local`]. All this is pure: time,
//! zone and the host's settings are arguments. Two files are not: [`book`] keeps schedules in the ledger for
//! people and tools, and [`alarm`] waits for a time of day.

pub mod alarm;
pub mod book;
pub mod bounds;
pub mod brought;
pub mod budget;
pub mod count;
pub mod cron;
pub mod day;
pub mod expression;
pub mod fixed;
pub mod forecast;
pub mod foreign_words;
pub mod hours;
pub mod jump;
pub mod line;
pub mod local;
pub mod missed;
pub mod movable;
pub mod outlook;
pub mod plan;
pub mod post_view;
pub mod recurrence;
pub mod sleeper;
pub mod travel;
pub mod turn;
pub mod view;
pub mod words;
pub mod zone;
pub mod zones;

#[cfg(test)]
mod fuzz;
#[cfg(test)]
mod model;
