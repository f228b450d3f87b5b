//! What is wrong with `webhooks`: with the section itself, and with what it names of others.

use crate::problem::Wrong;
use crate::settings::Settings;
use crate::unprompted::Targets;
use selkie_domain::tool::Class;
use selkie_hooks::{Fault, Hook};

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
    let mut wrong: Vec<Wrong> = own
        .map(|Fault { path, message }| {
            let rest: Vec<&str> = path.iter().map(String::as_str).collect();
            (at(&rest), message)
        })
        .collect();
    if section.hooks.is_empty() {
        return wrong;
    }
    let nobody = targets.nobody();
    if targets.owners.is_empty() {
        wrong.extend(nobody.as_ref().map(|why| (at(&["hooks"]), format!("are {why}"))));
    }
    for (name, Hook { to, tools, .. }) in &section.hooks {
        let unheard = nobody.as_ref().filter(|_| to.is_none() && !targets.owners.is_empty());
        wrong.extend(unheard.map(|why| (at(&["hooks", name]), format!("is {why}"))));
        let to = to.as_deref().and_then(|to| targets.fault(to));
        wrong.extend(to.map(|message| (at(&["hooks", name, "to"]), message)));
        for (index, tool) in tools.iter().enumerate() {
            let message = tool_fault(tool, judge);
            let keys = ["hooks", name, "tools", &index.to_string()];
            wrong.extend(message.map(|message| (at(&keys), message)));
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

fn at(rest: &[&str]) -> Vec<String> {
    std::iter::once(&"webhooks").chain(rest).map(|key| (*key).to_owned()).collect()
}
