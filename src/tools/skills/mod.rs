//! Skills: what an owner keeps for kinds of work.

mod load_skill;
mod port;

pub(super) use load_skill::LoadSkill;
pub use load_skill::SkillNames;
pub use port::{LoadedSkill, SkillReader, Skills};
