//! Which skills there are when the registry is built.

use selkie_config::paths::Folders;
use selkie_config::settings::Settings as Config;
use selkie_skills::{Settings, Shelf};
use selkie_tools::skills::SkillNames;

/// Names them. What is wrong with the list of what was reviewed is told where skills are used.
pub fn skill_names(settings: &Settings, folders: &Folders) -> SkillNames {
    if !settings.enabled {
        return SkillNames { is_off: true, ..SkillNames::default() };
    }
    let shelf = Shelf::new(folders.state.clone(), settings.folders.clone());
    let catalogue = shelf.usable();
    let reviewed: Vec<String> = catalogue.reviewed().map(|skill| skill.name.clone()).collect();
    let has_others = reviewed.len() < catalogue.skills.len();
    SkillNames { reviewed, has_others, is_off: false }
}

/// Returns which there are for tasks: none where the tool that loads them is switched off.
pub fn skill_settings(settings: &Config) -> Settings {
    let is_loaded = settings.tools.load_skill.enabled;
    let Settings { enabled, folders } = settings.skills.clone();
    Settings { enabled: enabled && is_loaded, folders }
}
