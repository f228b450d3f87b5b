//! A shape for people: what is there, what is not, and why.

use serde::Serialize;

use crate::{Shape, rules};
use selkie_domain::approval::{Approvers, Exposure};
use selkie_domain::tool::{Class, ToolSpec};
use selkie_tools::refusals::{disabled, unknown};
use selkie_tools::registry::NameLookup;

/// A shape for people: what is there, what is not, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Explanation {
    /// `telegram:group · allowed · asked · normal`.
    pub setting: String,
    /// Listed tools: name, class, group, and whether it is a runtime tool of this shape.
    pub there: Vec<ToolLine>,
    /// Hidden tools with every reason.
    pub hidden: Vec<HiddenLine>,
}

/// A listed tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ToolLine {
    /// Its name.
    pub name: String,
    /// Its class.
    pub class: String,
    /// Its group.
    pub group: String,
    /// Injected for this shape, not of the base.
    pub runtime: bool,
    /// The first line of its description.
    pub summary: String,
    /// Every rule that asks before it is called, in words; empty when it is free.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub asks: Vec<String>,
}

/// A hidden tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HiddenLine {
    /// Its name.
    pub name: String,
    /// Its class.
    pub class: String,
    /// Every rule that hides it, in words.
    pub reasons: Vec<String>,
}

/// Says that a word is a class's name as well.
fn class_too(word: &str) -> String {
    match Class::parse(word) {
        Some(class) => format!(
            ", and the class {} of tools that approvals.policy and groups name",
            class.name()
        ),
        None => String::new(),
    }
}

impl Shape {
    /// Explains the whole shape.
    pub fn explain(&self) -> Explanation {
        let there = self.registry.block().specs().iter().map(|s| self.line(s)).collect();
        let hidden = self.registry.hidden().into_iter().map(|(spec, reasons)| HiddenLine {
            name: spec.name.to_owned(),
            class: spec.class.name().to_owned(),
            reasons,
        });
        Explanation { setting: self.setting.clone(), there, hidden: hidden.collect() }
    }

    /// Says why a tool is there or not: one line per rule, never empty.
    pub fn why(&self, called: &str) -> Vec<String> {
        let name = self.registry.our_name(called);
        let mut reasons = self.reasons(name);
        reasons.extend(self.files(name));
        reasons.extend(self.held(name));
        reasons.extend(self.credentials(name));
        if name != called {
            reasons.insert(0, format!("{called} is another name of {name}{}", class_too(called)));
        }
        reasons
    }

    /// Whether a tool is there; nothing of a name that no tool has.
    pub fn has(&self, called: &str) -> Option<bool> {
        match self.registry.find(self.registry.our_name(called)) {
            NameLookup::Tool(_) => Some(true),
            NameLookup::Hidden(_) => Some(false),
            NameLookup::Unknown(_) => None,
        }
    }

    fn reasons(&self, name: &str) -> Vec<String> {
        match self.registry.find(name) {
            // Nothing that a place's config says opens what is switched off.
            NameLookup::Hidden(reasons) if reasons.contains(&disabled(name)) => {
                vec![disabled(name)]
            }
            NameLookup::Hidden(reasons) => {
                let mut lines = reasons;
                if lines.iter().all(|reason| rules::yields(reason)) {
                    lines.push(format!(
                        "an owner who writes ${name} is asked whether that one task may use it, unless it holds other \
                         people's words"
                    ));
                }
                lines
            }
            NameLookup::Tool(_) if !self.asking(name).is_empty() => {
                let mut lines = self.asking(name);
                lines.push(match self.registry.approvers() {
                    Approvers::Owners => "an owner is asked in private before each call".to_owned(),
                    Approvers::Terminal | Approvers::Nobody => {
                        "you are asked before each call".to_owned()
                    }
                });
                lines
            }
            NameLookup::Tool(_) if self.registry.is_runtime(name) => {
                vec![format!("tasks in {} have it", self.place())]
            }
            NameLookup::Tool(_) => vec!["no rule hides it".to_owned()],
            NameLookup::Unknown(near) => vec![unknown(name, &near)],
        }
    }

    fn asking(&self, name: &str) -> Vec<String> {
        match self.registry.exposure(name) {
            Some(Exposure::Ask { reasons, .. }) => reasons,
            _ => Vec::new(),
        }
    }

    /// Which files a tool that is there sees.
    fn files(&self, name: &str) -> Option<String> {
        let NameLookup::Tool(tool) = self.registry.find(name) else { return None };
        let opens = match tool.spec().class {
            _ if tool.spec().group != "files" => return None,
            Class::Write => self.roots.writes,
            _ => self.roots.reads,
        };
        Some(format!("{name} in {}: {opens}", self.place()))
    }

    /// How a tool that runs commands does so, or would if it were there.
    fn held(&self, name: &str) -> Option<String> {
        rules::COMMANDS.contains(&name).then(|| self.confinement.describe())
    }

    /// Which credentials the requests of a tool may carry.
    fn credentials(&self, name: &str) -> Option<String> {
        let NameLookup::Tool(tool) = self.registry.find(name) else { return None };
        let listed =
            tool.spec().parameters["properties"]["auth_profile"]["enum"].as_array()?.clone();
        let ids: Vec<&str> = listed.iter().filter_map(|id| id.as_str()).collect();
        Some(format!("auth profiles here: {}", ids.join(", ")))
    }

    fn line(&self, spec: &ToolSpec) -> ToolLine {
        ToolLine {
            name: spec.name.to_owned(),
            class: spec.class.name().to_owned(),
            group: spec.group.to_owned(),
            runtime: self.registry.is_runtime(spec.name),
            summary: spec.description.lines().next().unwrap_or_default().to_owned(),
            asks: self.asking(spec.name),
        }
    }

    fn place(&self) -> &str {
        self.setting.split(" · ").next().unwrap_or(&self.setting)
    }
}
