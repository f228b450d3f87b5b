//! What is wrong with `webhooks`: with the section itself, and with what it names of others.

use crate::problem::Wrong;
use crate::settings::Settings;
use crate::source::path;
use crate::unprompted::Targets;
use selkie_domain::tool::Class;
use selkie_hooks::Hook;

/// Tools that ask whoever waits, and of a webhook nobody does.
const ASKING: [&str; 4] = ["ask_user", "plan_enter", "plan_exit", "persona_write"];

/// Lists what is wrong; `judge` says it of a word that is to name a tool.
pub fn problems(
    settings: &Settings,
    targets: &Targets<'_>,
    judge: &dyn Fn(&str) -> Option<String>,
) -> Vec<Wrong> {
    let section = &settings.webhooks;
    let own = section.faults().into_iter();
    let mut wrong: Vec<Wrong> =
        own.map(|fault| ([path(&["webhooks"]), fault.path].concat(), fault.message)).collect();
    if section.hooks.is_empty() {
        return wrong;
    }
    let nobody = targets.nobody();
    if targets.owners.is_empty() {
        wrong.extend(
            nobody.as_ref().map(|why| (path(&["webhooks", "hooks"]), format!("are {why}"))),
        );
    }
    for (name, Hook { to, tools, .. }) in &section.hooks {
        let unheard = nobody.as_ref().filter(|_| to.is_none() && !targets.owners.is_empty());
        wrong.extend(unheard.map(|why| (path(&["webhooks", "hooks", name]), format!("is {why}"))));
        let to = to.as_deref().and_then(|to| targets.fault(to));
        wrong.extend(to.map(|message| (path(&["webhooks", "hooks", name, "to"]), message)));
        for (index, tool) in tools.iter().enumerate() {
            let message = tool_fault(tool, judge);
            let keys = ["webhooks", "hooks", name, "tools", &index.to_string()];
            wrong.extend(message.map(|message| (path(&keys), message)));
        }
    }
    wrong
}

/// Says why a hook cannot open what is so called.
fn tool_fault(name: &str, judge: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    if Class::parse(name).is_some() {
        return Some(format!(
            "takes names of tools, and {name} is a whole class: name each tool that a stranger's words may use"
        ));
    }
    if ASKING.contains(&name) {
        return Some(format!("takes tools that need nobody, and {name} asks whoever waits"));
    }
    judge(name)
}
