//! `selkie tools show`: one tool as a model gets it.

use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

use crate::outcome::{Failure, Outcome};
use crate::{print, setting};
use selkie_app::Binary;
use selkie_app::build::{ConfigChoice, plan};
use selkie_domain::spelling::nearest;
use selkie_domain::tool::ToolSpec;

/// Prints a tool as a model gets it, and where no task has it, why.
pub(super) fn show(binary: &Binary, chosen: &ConfigChoice, name: &str) -> Outcome {
    let plan = plan(binary, chosen)?;
    let mut names = Vec::new();
    let mut absent = None;
    let mut found: Vec<Arc<ToolSpec>> = Vec::new();
    for setting in setting::names(&binary.kits) {
        let shape = plan.shaper.shape(&setting::facts(&binary.kits, &setting)?);
        let specs = shape.registry.block().specs();
        let ours = shape.registry.our_name(name);
        let known = |spec: &ToolSpec| found.iter().any(|other| other.parameters == spec.parameters);
        if let Some(spec) = specs.iter().find(|spec| spec.name == ours && !known(spec)) {
            found.push(Arc::clone(spec));
        }
        if absent.is_none() {
            absent = shape.registry.hidden().into_iter().find(|(spec, _)| spec.name == ours);
        }
        names.extend(specs.iter().map(|s| s.name));
    }
    let mut shown = found.iter().map(|spec| ToolView::of(spec));
    if let Some(first) = shown.next() {
        return Ok(print::json(&ToolView { elsewhere: shown.collect(), ..first })?);
    }
    match &absent {
        Some((spec, hidden)) => Ok(print::json(&ToolView { hidden, ..ToolView::of(spec) })?),
        None => Err(no_tool(name, names)),
    }
}

/// Says that no setting has a tool of this name.
pub(super) fn no_tool<'a>(name: &str, names: impl IntoIterator<Item = &'a str>) -> Failure {
    let near = nearest(name, names).map(|near| format!(": did you mean {near}?"));
    let near = near.unwrap_or_default();
    let server = name.split_once("__").map(|(server, _)| {
        format!(
            "; an MCP server's are there once you have agreed to them: selkie mcp trust {server}"
        )
    });
    let server = server.unwrap_or_default();
    Failure::Usage(format!("there is no tool {name}{near} (see `selkie tools list`){server}"))
}

/// A tool as the model sees it.
#[derive(Serialize)]
struct ToolView<'a> {
    name: &'a str,
    description: &'a str,
    class: &'a str,
    group: &'a str,
    sources: &'a [&'a str],
    parameters: &'a Value,
    /// Why no task has it, where none has.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    hidden: &'a [String],
    /// The same name with other parameters, on other channels.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    elsewhere: Vec<ToolView<'a>>,
}

impl<'a> ToolView<'a> {
    fn of(spec: &'a ToolSpec) -> Self {
        let ToolSpec { name, description, parameters, class, group, sources, .. } = spec;
        let class = class.name();
        let elsewhere = Vec::new();
        Self { name, description, class, group, sources, parameters, hidden: &[], elsewhere }
    }
}
