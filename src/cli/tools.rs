//! `selkie tools list|show|call|why|docs`.

mod docs;
mod everywhere;
mod show;

use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;
use tokio_util::task::TaskTracker;

use everywhere::{Everywhere, whole};
use show::{no_tool, show};

use super::args::{Setting, Tools};
use super::live::Live;
use super::outcome::{Failure, Outcome};
use super::request::{mismatched, to_ask_silently};
use super::{print, setting};
use selkie_app::Binary;
use selkie_app::app::App;
use selkie_app::build::{AppConfig, ConfigChoice, plan};
use selkie_app::client::RunningDaemon;
use selkie_app::lifecycle;
use selkie_app::manual_tool_call::{self, ByHand, CallReport};
use selkie_app::request::{Request, Response};
use selkie_domain::tool::ToolSpec;
use selkie_engine::delivery::runtime::Stop;
use selkie_shape::{Explanation, fit};
use selkie_tools::registry::NameLookup;

/// Lists, explains or calls.
pub fn tools(binary: &Binary, chosen: &ConfigChoice, what: Tools) -> Outcome {
    match what {
        Tools::List { setting, json } if setting.is_named() => {
            list_in(binary, chosen, &setting, json)
        }
        Tools::List { json, .. } => list_all(binary, chosen, json),
        Tools::Show { name } => show(binary, chosen, &name),
        Tools::Why { name, setting, json } => why(binary, chosen, &name, &setting, json),
        Tools::Docs => Ok(print::out(&docs::page(&whole(binary, chosen)?))?),
        Tools::Call { setting, workspace, json, preview, calls } => {
            let facts = setting::facts(&binary.kits, &setting)?;
            let calls = pairs(&calls)?;
            let workspace = folder(binary, workspace)?;
            let terminal = std::io::stdin().is_terminal();
            let by_hand = ByHand { facts, workspace, calls, terminal, preview };
            let plan = to_ask_silently(binary, chosen)?;
            // With mistakes another one's tools are called: it knows them itself.
            if plan.mistakes.is_none() {
                known(&plan, &by_hand)?;
            }
            call(plan, by_hand, json)
        }
    }
}

fn list_in(binary: &Binary, chosen: &ConfigChoice, setting: &Setting, json: bool) -> Outcome {
    // A wrong word of the command line is told before anything is built.
    let facts = setting::facts_of(&binary.kits, setting)?;
    let plan = plan(binary, chosen)?;
    let facts = setting::with_agent(facts, setting, &plan)?;
    let explained = plan.shaper.shape(&facts).explain();
    if json {
        return Ok(print::json(&explained)?);
    }
    let Explanation { setting, there, hidden } = explained;
    let mut rows = Vec::new();
    for line in there {
        rows.push(vec![line.name, line.class, line.group, line.summary]);
    }
    let width = print::width();
    let setting = print::hanging(&setting, width);
    let mut text = format!("{setting}\n\n{}", print::summaries(&rows, width));
    if !hidden.is_empty() {
        let row = |h: selkie_shape::HiddenLine| vec![h.name, h.class, h.reasons.join("; ")];
        let rows: Vec<Vec<String>> = hidden.into_iter().map(row).collect();
        text.push_str(&format!("\nnot here\n\n{}", print::table(&rows, width)));
    }
    Ok(print::out(&text)?)
}

/// The same for programs.
#[derive(Serialize)]
struct ToolJson<'a> {
    name: &'a str,
    group: &'a str,
    /// The class: policy, plan mode and approvals go by it.
    risk: &'a str,
    runtime: bool,
    description: &'a str,
    settings: &'a [String],
    aliases: Vec<&'a str>,
    parameter_aliases: BTreeMap<&'a str, &'a str>,
    sources: &'a [&'a str],
    schema: &'a Value,
}

fn list_all(binary: &Binary, chosen: &ConfigChoice, json: bool) -> Outcome {
    let all = whole(binary, chosen)?;
    if json {
        return Ok(print::json(&all.iter().map(listed).collect::<Vec<_>>())?);
    }
    let settings = setting::names(&binary.kits).len();
    let row = |t: &Everywhere| -> Vec<String> {
        let ToolSpec { name, class, description, .. } = &*t.spec;
        let summary = description.lines().next().unwrap_or_default();
        let places = places(&t.settings, settings);
        [name, class.name(), &places, summary].map(str::to_owned).into()
    };
    let channels: Vec<&str> = binary.kits.iter().map(|kit| kit.name).collect();
    let heading = |t: &Everywhere| match channels.iter().find(|name| **name == t.spec.group) {
        Some(channel) => channel,
        None if t.runtime => "Extra",
        None => "Core",
    };
    let mut text = String::new();
    for part in ["Core", "Extra"].into_iter().chain(channels.iter().copied()) {
        let rows: Vec<Vec<String>> = all.iter().filter(|t| heading(t) == part).map(row).collect();
        if !rows.is_empty() {
            text.push_str(&format!("{part}\n\n{}\n", print::summaries(&rows, print::width())));
        }
    }
    let more = "`selkie tools show NAME` shows one in full; `selkie tools list --in SETTING`\nlists what a task there has.\n";
    Ok(print::out(&format!("{text}{more}"))?)
}

/// In how many settings a tool is, by name where it is one.
fn places(settings: &[String], all: usize) -> String {
    match settings.len() {
        some if some == all => "everywhere".to_owned(),
        1 => settings.concat(),
        some => format!("{some} of {all} settings"),
    }
}

fn listed(tool: &Everywhere) -> ToolJson<'_> {
    let ToolSpec { name, description, parameters, class, group, sources, also, .. } = &*tool.spec;
    ToolJson {
        name,
        group,
        risk: class.name(),
        runtime: tool.runtime,
        description,
        settings: &tool.settings,
        aliases: also.names.iter().map(|other| other.called).collect(),
        parameter_aliases: also.parameters.iter().map(|other| (other.called, other.ours)).collect(),
        sources,
        schema: parameters,
    }
}

fn why(
    binary: &Binary,
    chosen: &ConfigChoice,
    name: &str,
    setting: &Setting,
    json: bool,
) -> Outcome {
    let facts = setting::facts_of(&binary.kits, setting)?;
    let plan = plan(binary, chosen)?;
    let facts = setting::with_agent(facts, setting, &plan)?;
    let shape = plan.shaper.shape(&facts);
    if let NameLookup::Unknown(near) = shape.registry.find(shape.registry.our_name(name)) {
        return Err(no_tool(name, near.iter().map(String::as_str)));
    }
    let mut reasons = shape.why(name);
    let name = shape.registry.our_name(name);
    let card = plan.model.card();
    reasons.extend(fit::reason(shape.registry.block(), card.context, &card.name, name));
    let here = shape.registry.block().specs().iter().any(|s| s.name == name);
    if json {
        let setting = &shape.setting;
        return Ok(print::json(
            &serde_json::json!({ "tool": name, "setting": setting, "here": here, "why": reasons }),
        )?);
    }
    let verdict = if here { "is available here" } else { "is not available here" };
    let mut text = format!("{name} {verdict} ({})\n", shape.setting);
    for reason in reasons {
        text.push_str(&format!("  {reason}\n"));
    }
    Ok(print::prose(&text)?)
}

/// Whether there is every tool that is called: a wrong word is told before anything is done.
fn known(plan: &AppConfig, by_hand: &ByHand) -> Result<(), Failure> {
    let shape = plan.shaper.shape(&by_hand.facts);
    for (name, _) in &by_hand.calls {
        if let NameLookup::Unknown(near) = shape.registry.find(shape.registry.our_name(name)) {
            return Err(no_tool(name, near.iter().map(String::as_str)));
        }
    }
    Ok(())
}

/// Whether one of the calls lets agents work.
fn lets_agents_work(plan: &AppConfig, by_hand: &ByHand) -> bool {
    let shape = plan.shaper.shape(&by_hand.facts);
    by_hand.calls.iter().any(|(name, _)| match shape.registry.find(shape.registry.our_name(name)) {
        NameLookup::Tool(tool) => tool.spec().groups,
        NameLookup::Hidden(_) | NameLookup::Unknown(_) => false,
    })
}

/// Makes the calls with the workers at work that agents need.
async fn with_agents(
    app: &App,
    by_hand: &ByHand,
    live: &Arc<Live>,
) -> anyhow::Result<Vec<CallReport>> {
    let mut signals = lifecycle::Signals::listen()?;
    let tracker = TaskTracker::new();
    let stop = Stop::default();
    app.flow.start_at_terminal(&tracker, stop.clone()).await?;
    let answers = tokio::select! {
        answers = manual_tool_call::call(app, by_hand, Arc::clone(live) as _) => answers,
        _ = signals.next() => Vec::new(),
    };
    live.clear();
    lifecycle::stop(app, &tracker, &stop, &mut signals).await;
    Ok(answers)
}

fn call(plan: AppConfig, by_hand: ByHand, json: bool) -> Outcome {
    let answers: Vec<CallReport> = lifecycle::runtime()?.block_on(async {
        if let Some(daemon) = RunningDaemon::find(&plan.tls, &plan.folders.state).await? {
            return match daemon.answer(&Request::Call(Box::new(by_hand))).await? {
                Response::Called(answers) => Ok(answers),
                _ => mismatched(),
            };
        }
        let works = lets_agents_work(&plan, &by_hand);
        let app = plan.open()?;
        let live = Arc::new(Live::new(app.plan.redactor.clone()));
        if works {
            return Ok(with_agents(&app, &by_hand, &live).await?);
        }
        let answers = manual_tool_call::call(&app, &by_hand, Arc::clone(&live) as _).await;
        live.clear();
        app.plan.processes.end().await;
        app.ledger.close().await;
        Ok(answers)
    })?;
    if json {
        print::json(&answers)?;
    } else {
        for answer in &answers {
            print::out(&format!("{}\n", answer.text.trim_end()))?;
        }
    }
    let failed = answers.iter().filter(|a| a.is_error).map(|a| a.tool.as_str()).collect::<Vec<_>>();
    match (failed.len(), answers.len()) {
        (0, _) => Ok(()),
        // The one answer says what is wrong.
        (_, 1) => Err(Failure::Told),
        _ => Err(Failure::Failed(anyhow::anyhow!("{} failed", failed.join(", ")))),
    }
}

fn pairs(words: &[String]) -> Result<Vec<(String, Value)>, Failure> {
    if !words.len().is_multiple_of(2) {
        let last = words.last().map_or("", String::as_str);
        return Err(Failure::Usage(format!("{last} needs its arguments as JSON, such as '{{}}'")));
    }
    let mut calls = Vec::new();
    for pair in words.chunks_exact(2) {
        let arguments = serde_json::from_str(&pair[1]).map_err(|e| {
            let hint =
                if std::io::stdin().is_terminal() { " (quote it for your shell)" } else { "" };
            Failure::Usage(format!("the arguments of {} are not JSON: {e}{hint}", pair[0]))
        })?;
        calls.push((pair[0].clone(), arguments));
    }
    Ok(calls)
}

fn folder(binary: &Binary, named: Option<PathBuf>) -> Result<PathBuf, Failure> {
    let folder = binary.here.join(named.unwrap_or_default());
    folder.canonicalize().map_err(|e| {
        Failure::Usage(format!("--workspace {} cannot be opened: {e}", folder.display()))
    })
}
