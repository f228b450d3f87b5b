//! Skills: folders with a `SKILL.md` that says how a kind of work is done, by the open specification (agentskills.io). A
//! skill's words count as its owner's from the moment that the owner has reviewed them, for these very bytes.

mod archive;
mod book;
mod catalogue;
mod check;
mod error;
mod front;
#[cfg(test)]
mod fuzz;
mod lines;
mod listing;
mod lock;
mod name;
mod package;
mod report;
mod settings;
mod shelf;
mod skill;
#[cfg(test)]
mod tests;
mod tree;

pub use archive::{read, unpack};
pub use book::{SkillBook, SkillsHere};
pub use catalogue::{Catalogue, UnusableSkill};
pub use check::{Finding, check};
pub use error::SkillError;
pub use package::{Package, open};
pub use report::report;
pub use settings::Settings;
pub use shelf::Shelf;
pub use skill::Skill;
pub use tree::{MAX_BYTES, Tree};
