//! What people read of skills.

use std::fmt::Write as _;

use super::shown::words;
use selkie_channel_core::shorten;
use selkie_guard::visible::code;
use selkie_skills::{Skill, SkillsHere};

/// So many are listed.
const MAX: usize = 40;
const ABOUT: usize = 160;

/// Lists those that there are; an owner alone hears of those that nobody has reviewed.
pub fn skills(here: &SkillsHere, is_owner: bool) -> String {
    let SkillsHere { is_on, catalogue, loaded } = here;
    if !is_on {
        return "Skills are off: `skills.enabled` is false in my config.".to_owned();
    }
    let reviewed: Vec<&Skill> = catalogue.reviewed().collect();
    let mut text = String::new();
    for skill in reviewed.iter().take(MAX) {
        let mark = if loaded.contains(&skill.name) { " (in force here)" } else { "" };
        _ = writeln!(
            text,
            "- {}{mark}: {}",
            code(&skill.name),
            shorten(&words(&skill.description), ABOUT)
        );
    }
    let more = reviewed.len().saturating_sub(MAX);
    if more > 0 {
        _ = writeln!(text, "and {more} more");
    }
    if text.is_empty() {
        text.push_str("There are no skills here yet.\n");
    }
    let open = catalogue.skills.iter().filter(|skill| !skill.is_reviewed);
    let open: Vec<String> = open.take(MAX).map(|skill| code(&skill.name)).collect();
    if is_owner && !open.is_empty() {
        _ = writeln!(
            text,
            "Not reviewed yet, so I read these only when you name one: {}. `selkie skills review NAME` on my machine shows \
             you what is in it.",
            open.join(", ")
        );
    }
    text.trim_end().to_owned()
}
