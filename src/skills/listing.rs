//! What a model is told of the skills that there are, before it needs one.

use selkie_domain::tokens;

use crate::skill::Skill;

/// Skills that a search names.
const MAX_FOUND: usize = 10;

/// Lists skills in a hundredth of a window: a line each, else their names, else how many there are.
pub(crate) fn listing(skills: &[&Skill], window: u64) -> String {
    let most = window / 100;
    let lines: Vec<String> = skills.iter().map(|skill| line(skill)).collect();
    let lines = lines.join("\n");
    if tokens::of_text(&lines) <= most {
        return lines;
    }
    let names: Vec<&str> = skills.iter().map(|skill| skill.name.as_str()).collect();
    let names = names.join(", ");
    match tokens::of_text(&names) <= most {
        true => {
            format!("{names}\n(load_skill with a word instead of a name tells what they are for)")
        }
        false => format!("{} skills: load_skill with a word finds those that fit", skills.len()),
    }
}

pub(crate) fn line(skill: &Skill) -> String {
    format!("- {}: {}", skill.name, skill.description)
}

/// Finds the skills whose name or description has all of these words.
pub(crate) fn search<'a>(skills: impl Iterator<Item = &'a Skill>, words: &str) -> Vec<&'a Skill> {
    let words: Vec<String> = words.split_whitespace().map(str::to_lowercase).collect();
    let fits = |skill: &&Skill| {
        let text = format!("{} {}", skill.name, skill.description).to_lowercase();
        !words.is_empty() && words.iter().all(|word| text.contains(word))
    };
    skills.filter(fits).take(MAX_FOUND).collect()
}
