//! What a schema cannot say: values that contradict each other or the rest of the house.

use std::cell::OnceCell;
use std::sync::Arc;

use selkie_channel_core::ChannelKit;

use crate::named::id;
use crate::problem::{Wrong, one_of};
use crate::settings::Settings;
use crate::source::path;
use crate::unprompted::{self, Targets};
use crate::{
    acp, auth_profiles, bounds, commands, database, fixed, mcp, own_agents, place_settings, reach,
    rows, sandboxed, skills, webhooks,
};
use selkie_domain::crash::CrashPoint;
use selkie_domain::spelling::nearest;
use selkie_domain::tool::{Class, ToolSpec};
use selkie_tools as tools;
use selkie_tools::base::{self, ToolDeps};
use selkie_tools::web::SearchProvider;

/// Lists all contradictions; `has_section` tells of a channel's name.
pub fn contradictions(
    settings: &Settings,
    kits: &[ChannelKit],
    has_section: &dyn Fn(&str) -> bool,
) -> Vec<Wrong> {
    let mut wrong = Vec::new();
    for (index, owner) in settings.owners.iter().enumerate() {
        wrong.extend(
            id(owner, kits, "a person", |kit| kit.people)
                .map(|message| (path(&["owners", &index.to_string()]), message)),
        );
    }
    let known = OnceCell::new();
    // What servers offer only their pinned lists tell.
    let is_of_a_server = |word: &str| {
        word.split_once("__").is_some_and(|(server, _)| settings.mcp.servers.contains_key(server))
    };
    let is_foreign =
        |word: &str| settings.tools.commands.contains_key(word) || is_of_a_server(word);
    let judge = |word: &str| {
        if is_foreign(word) {
            None
        } else {
            tool_or_class(word, known.get_or_init(|| tool_names(kits)))
        }
    };
    let judge_any = |word: &str| judge(word).filter(|_| !other_names().contains(&word));
    wrong.extend(place_settings::problems(settings, kits, &judge));
    wrong.extend(own_agents::problems(settings, &judge_any));
    wrong.extend(rows::problems(&settings.approvals.policy, kits, &judge));
    let targets = Targets { kits, owners: &settings.owners, has_section };
    wrong.extend(fixed::problems(settings, &targets));
    wrong.extend(webhooks::problems(settings, &targets, &judge_any));
    wrong.extend(unprompted::heartbeat(&settings.heartbeat, &targets));
    wrong.extend(tools(settings));
    let taken = || tool_names(kits).into_iter().chain(other_names()).collect();
    wrong.extend(commands::problems(&settings.tools.commands, kits, taken));
    wrong.extend(bounds::problems(settings));
    wrong.extend(sandboxed::problems(settings, kits));
    wrong.extend(acp::problems(&settings.acp));
    wrong.extend(mcp::problems(&settings.mcp, kits));
    wrong.extend(auth_profiles::problems(settings, kits));
    wrong.extend(skills::problems(&settings.skills));
    wrong.extend(reach::problems(settings));
    wrong.extend(database::problem(settings));
    wrong.extend(crash(settings));
    wrong
}

/// Says what is wrong with a word that is to name a tool or a class.
fn tool_or_class(word: &str, known: &[&'static str]) -> Option<String> {
    let classes: Vec<&str> = Class::ALL.iter().map(|class| class.name()).collect();
    if classes.contains(&word) || known.contains(&word) {
        return None;
    }
    let near = nearest(word, known.iter().copied().chain(classes.iter().copied()));
    let hint = near.map(|near| format!(" (did you mean {near}?)")).unwrap_or_default();
    let classes = one_of(&classes.iter().map(|class| (*class).to_owned()).collect::<Vec<_>>());
    Some(format!("takes names of tools and classes ({classes}), not {word:?}{hint}"))
}

fn tool_names(kits: &[ChannelKit]) -> Vec<&'static str> {
    let ours = specs().into_iter().map(|spec| spec.name);
    ours.chain(kits.iter().flat_map(|kit| kit.speaking.iter().map(|tool| tool.name))).collect()
}

/// What other harnesses call our tools.
fn other_names() -> Vec<&'static str> {
    specs().iter().flat_map(|spec| spec.also.names.iter().map(|other| other.called)).collect()
}

fn specs() -> Vec<Arc<ToolSpec>> {
    let settings = tools::Settings::default();
    let means = ToolDeps::default();
    let base = base::build(&settings, &means).map(|base| base.specs()).unwrap_or_default();
    let runtime = base::runtime(&settings, &means);
    base.into_iter().chain(runtime.iter().map(|r| Arc::clone(r.tool.spec()))).collect()
}

/// Reads `debug.crash_at`: the point and at which pass (1 = the first).
pub fn crash_at(text: &str) -> Option<(CrashPoint, u32)> {
    let (name, nth) = text.split_once(':').unwrap_or((text, "1"));
    Some((CrashPoint::parse(name)?, nth.parse().ok().filter(|n| *n > 0)?))
}

fn tools(settings: &Settings) -> Vec<Wrong> {
    let tools = &settings.tools;
    let mut wrong = Vec::new();
    let shells = [
        ("bash", tools.bash.timeout, tools.bash.max_timeout),
        ("powershell", tools.powershell.timeout, tools.powershell.max_timeout),
    ];
    for (name, timeout, most) in shells.into_iter().filter(|(_, timeout, most)| timeout > most) {
        let message =
            format!("takes at most tools.{name}.max_timeout, which is {most}, not {timeout}");
        wrong.push((path(&["tools", name, "timeout"]), message));
    }
    if tools.web_search.provider == SearchProvider::Brave && tools.web_search.key().is_none() {
        let message = "is brave, and tools.web_search.brave.api_key is missing: set it, or choose auto or duckduckgo";
        wrong.push((path(&["tools", "web_search", "provider"]), message.to_owned()));
    }
    wrong
}

fn crash(settings: &Settings) -> Option<Wrong> {
    let text = settings.debug.crash_at.as_ref()?;
    if crash_at(text).is_some() {
        return None;
    }
    let names: Vec<&str> = CrashPoint::ALL.iter().map(|p| p.name()).collect();
    let near = nearest(text, names.iter().copied());
    let hint = near.map(|n| format!("did you mean {n}? ")).unwrap_or_default();
    let message = format!(
        "takes <point> or <point>:<nth>, not {text:?} ({hint}points: {})",
        names.join(", ")
    );
    Some((path(&["debug", "crash_at"]), message))
}
