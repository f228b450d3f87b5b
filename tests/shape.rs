//! The shaping function: the golden table and the four invariants.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Barrier};

use async_trait::async_trait;
use chrono::DateTime;
use proptest::prelude::*;
use schemars::JsonSchema;
use selkie::domain::approval::Exposure;
use selkie::domain::choice::{Choice, Pick};
use selkie::domain::facts::{Facts, Mode, Trigger, Trust, Where};
use selkie::domain::foreign::Foreign;
use selkie::domain::ids::TaskId;
use selkie::domain::narrowing::Narrowing;
use selkie::domain::own_agent::OwnAgent;
use selkie::domain::parent::Parent;
use selkie::domain::taint::Taint;
use selkie::domain::tool::{Class, Recovery, ToolSpec};
use selkie::shape::roots::{Reach, Workspace};
use selkie::shape::rules::RULES;
use selkie::shape::{ChannelTools, Shape, Shaper, fit};
use selkie::tools::base::PublicChannel;
use selkie::tools::registry::{Base, NameLookup, ToolEntry};
use selkie::tools::scope::Scope;
use selkie::tools::skills::SkillNames;
use selkie::tools::{Handler, Output, Settings, Tool, ToolError, base};
use selkie_channel_core::{
    Audience, Features, MessageRef, ParameterNames, SpeakingEffect, SpeakingTool,
};
use serde_json::{Value, json};

/// A tool of the catalogue that is not built yet: the table speaks of it already.
struct Planned(ToolSpec);

impl Planned {
    fn tool(name: &'static str, class: Class) -> Arc<Tool> {
        let parameters = json!({"type": "object", "properties": {}});
        Tool::new(Self(ToolSpec {
            description: format!("{name}."),
            group: "planned",
            ..ToolSpec::new(name, class, Recovery::Unknown, parameters)
        }))
    }
}

#[async_trait]
impl Handler for Planned {
    fn spec(&self) -> ToolSpec {
        self.0.clone()
    }

    async fn call(&self, _: &Scope, _: Value) -> Result<Output, ToolError> {
        Ok(Output::ok(""))
    }
}

/// A name that no tool has yet.
const PLANNED: &[(&str, Class)] = &[("navigate", Class::Note)];
/// What lets others work.
const NAMED: &[(&str, Class)] = &[("acp_spawn", Class::Exec), ("spawn", Class::Agent)];

/// The tools as they are.
fn real() -> Shaper {
    let base = base::build(&Settings::default(), &base::ToolDeps::default()).unwrap();
    let shaper =
        Shaper::for_channels(Arc::new(base), runtime(), &channels(), &Settings::default()).unwrap();
    shaper.with_speech(true)
}

/// What stands at the head of every overlay.
fn runtime() -> Vec<ToolEntry> {
    let data = selkie_x::kit().posting.expect("it posts");
    let posting = vec![PublicChannel { name: "x", data, configured: true }];
    let acp = json!({ "agents": { "robin": { "command": "robin" } } });
    let acp = Arc::new(serde_json::from_value(acp).unwrap());
    let skills = SkillNames { reviewed: vec!["pdf".to_owned()], ..SkillNames::default() };
    let means = base::ToolDeps { posting, has_images: true, acp, skills, ..Default::default() };
    base::runtime(&Settings::default(), &means)
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema matters")]
struct Args {
    path: String,
}

const fn speaking(name: &'static str, effect: SpeakingEffect) -> SpeakingTool {
    SpeakingTool {
        name,
        description: "Speaks.",
        effect,
        parameters: || schemars::schema_for!(Args),
        names: ParameterNames { conversation: None, message: None },
        vocabulary: "",
        max_bytes: 1,
        too_big: "",
    }
}

static TELEGRAM: [SpeakingTool; 5] = [
    speaking("message_react", SpeakingEffect::React),
    speaking("telegram_send_file", SpeakingEffect::SendFile),
    speaking("telegram_send_photo", SpeakingEffect::SendPhoto),
    speaking("telegram_send_voice", SpeakingEffect::SendVoice),
    speaking("say_aloud", SpeakingEffect::SayAloud),
];
static SLACK: [SpeakingTool; 3] = [
    speaking("message_react", SpeakingEffect::React),
    speaking("slack_send_file", SpeakingEffect::SendFile),
    speaking("say_aloud", SpeakingEffect::SayAloud),
];

fn channels() -> [ChannelTools; 2] {
    [
        ChannelTools { channel: "telegram", tools: &TELEGRAM },
        ChannelTools { channel: "slack", tools: &SLACK },
    ]
}

fn shaper() -> Shaper {
    let mut settings = Settings::default();
    settings.powershell.enabled = true;
    settings.agents.enabled = true;
    let real = base::build(&settings, &base::ToolDeps::default()).unwrap();
    let stands = real.specs().into_iter().map(|s| Planned::tool(s.name, s.class));
    let planned = PLANNED.iter().map(|(name, class)| Planned::tool(name, *class));
    let base = Base::build(stands.chain(planned)).unwrap();
    let shaper =
        Shaper::for_channels(Arc::new(base), runtime(), &channels(), &Settings::default()).unwrap();
    shaper.with_speech(true)
}

fn features(channel: &str, kind: &str, audience: Audience) -> Features {
    let tools: &[SpeakingTool] = match channel {
        "telegram" => &TELEGRAM,
        "slack" => &SLACK,
        _ => &[],
    };
    let speaking = tools.iter().map(|t| t.name.to_owned()).collect();
    Features {
        channel: channel.into(),
        kind: kind.into(),
        audience,
        speaking,
        style: String::new(),
    }
}

fn places() -> Vec<Where> {
    vec![
        Where::CommandLine { terminal: true },
        Where::CommandLine { terminal: false },
        Where::Channel(features("telegram", "private", Audience::Direct)),
        Where::Channel(features("telegram", "group", Audience::Group)),
        Where::Channel(features("slack", "dm", Audience::Direct)),
        Where::Channel(features("slack", "channel", Audience::Group)),
        Where::Channel(features("line", "user", Audience::Direct)),
        Where::Channel(features("line", "group", Audience::Group)),
    ]
}

const TRUSTS: [Trust; 3] = [Trust::Owner, Trust::Allowed, Trust::Stranger];
const TRIGGERS: [Trigger; 5] =
    [Trigger::Asked, Trigger::Scheduled, Trigger::Heartbeat, Trigger::Relayed, Trigger::Webhook];
const MODES: [Mode; 2] = [Mode::Normal, Mode::Plan];

fn facts(place: Where, trust: Trust, trigger: Trigger, mode: Mode) -> Facts {
    let asked = trigger == Trigger::Asked && matches!(place, Where::Channel(_));
    Facts {
        v: Facts::VERSION,
        place,
        speaker: None,
        trust,
        taint: Taint::Clean,
        trigger,
        mode,
        message: asked.then(|| MessageRef::new("1")),
        opened: vec![],
        passed: None,
        summoned: Vec::new(),
        narrowed: Vec::new(),
        parent: None,
        reports: 0,
        pick: Pick::default(),
        at: DateTime::UNIX_EPOCH,
    }
}

fn settings() -> impl Iterator<Item = Facts> {
    let places = places().into_iter();
    places.flat_map(|place| {
        TRUSTS.into_iter().flat_map(move |trust| {
            let place = place.clone();
            TRIGGERS.into_iter().flat_map(move |trigger| {
                let place = place.clone();
                MODES.into_iter().map(move |mode| facts(place.clone(), trust, trigger, mode))
            })
        })
    })
}

/// The task of an agent, in every setting that a person asks in.
fn children() -> impl Iterator<Item = Facts> {
    settings().filter(|facts| facts.trigger == Trigger::Asked).map(child_of)
}

/// What an agent's task is shaped by that a task of these facts has begun.
fn child_of(facts: Facts) -> Facts {
    let parent = Parent {
        task: TaskId(1),
        key: String::new(),
        name: "ada".to_owned(),
        until: facts.at,
        schema: None,
    };
    Facts { parent: Some(Box::new(parent)), ..facts }
}

/// An owner's task with words of others in it, with and without tools that the owner names.
fn owners_words() -> impl Iterator<Item = Facts> {
    let places = places().into_iter().filter(|place| place.name().starts_with("telegram:"));
    places.flat_map(|place| {
        MODES.into_iter().flat_map(move |mode| {
            let facts = facts(place.clone(), Trust::Owner, Trigger::Asked, mode);
            let foreign = Facts { taint: Taint::Raw, ..facts };
            let summoned = vec!["bash".to_owned(), "contacts_send".to_owned()];
            [foreign.clone(), Facts { summoned, ..foreign }]
        })
    })
}

/// What another service has called, without tools of its hook and with some: always the words of strangers.
fn hooks() -> impl Iterator<Item = Facts> {
    let places = places().into_iter().filter(|place| place.name().starts_with("telegram:"));
    places.flat_map(|place| {
        let facts = facts(place, Trust::Allowed, Trigger::Webhook, Mode::Normal);
        let called = Facts { taint: Taint::Raw, ..facts };
        let opened = ["bash", "contacts_send", "memory_search", "read_file", "url_fetch"];
        [called.clone(), Facts { opened: opened.map(str::to_owned).to_vec(), ..called }]
    })
}

/// The settings of an agent that reads, and asks the network.
fn agents() -> impl Iterator<Item = Facts> {
    let asked = settings().filter(|facts| facts.trigger == Trigger::Asked);
    asked.filter(|facts| facts.mode == Mode::Normal && facts.trust != Trust::Stranger).map(
        |facts| {
            let tools = ["read", "network", "think"].map(str::to_owned).to_vec();
            let agent = OwnAgent {
                name: "researcher".to_owned(),
                tools: Some(tools),
                ..OwnAgent::default()
            };
            let pick = Pick::named(Choice { agent: Some(agent.name.clone()), ..Choice::default() });
            let narrowed = agent.narrowing().into_iter().collect();
            Facts { narrowed, pick, summoned: vec!["bash".to_owned()], ..facts }
        },
    )
}

fn names(shape: &Shape) -> Vec<&'static str> {
    shape.registry.block().specs().iter().map(|s| s.name).collect()
}

fn bytes(shape: &Shape) -> Arc<serde_json::value::RawValue> {
    let write = |specs: &[Arc<ToolSpec>]| {
        specs.iter().map(|s| json!({"name": s.name, "parameters": s.parameters})).collect()
    };
    shape.registry.block().serialized("test", write).unwrap()
}

/// Prints a shape: the tools, then the hidden ones by their reasons.
fn printed(facts: &Facts, shape: &Shape) -> String {
    let mut note = match &facts.place {
        Where::CommandLine { terminal: false } => " (in a pipe)".to_owned(),
        _ => String::new(),
    };
    for name in &facts.summoned {
        note.push_str(&format!(" · ${name}"));
    }
    if facts.trigger == Trigger::Webhook && !facts.opened.is_empty() {
        note.push_str(&format!(" · tools {}", facts.opened.join(" ")));
    }
    let mut reasons: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for line in shape.explain().hidden {
        reasons.entry(line.reasons.join("; ")).or_default().push(line.name);
    }
    let mut asks: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for line in shape.explain().there.into_iter().filter(|line| !line.asks.is_empty()) {
        asks.entry(line.asks.join("; ")).or_default().push(line.name);
    }
    let Reach { workspace, state, skills, elsewhere } = shape.roots.opens;
    let workspace = match workspace {
        Workspace::No => "",
        Workspace::Set => ", a workspace that an owner has set",
        Workspace::Any => ", workspace",
    };
    let state = if state { ", the owner's files of the state folder" } else { "" };
    let skills = if skills { ", reads skills" } else { "" };
    let elsewhere = if elsewhere { ", reads elsewhere" } else { "" };
    let files = format!("own folder{workspace}{state}{skills}{elsewhere}");
    let mut text = format!("# {}{note}\nfiles: {files}\n", shape.setting);
    text.push_str(&format!("there: {}\n", names(shape).join(" ")));
    for (why, names) in asks {
        text.push_str(&format!("  asks {}: {why}\n", names.join(" ")));
    }
    for (why, names) in reasons {
        text.push_str(&format!("  not {}: {why}\n", names.join(" ")));
    }
    text
}

/// `tests/golden/shape.txt` is who sees what, for review. `UPDATE_GOLDEN=1 cargo test --test shape`
/// writes it anew.
#[test]
fn the_golden_table_stands() {
    let shaper = shaper();
    let people = settings().filter(|facts| facts.trigger != Trigger::Webhook);
    let all = people.chain(children()).chain(owners_words()).chain(agents()).chain(hooks());
    let all: Vec<String> = all.map(|f| printed(&f, &shaper.shape(&f))).collect();
    let now = all.join("\n");
    let golden = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/shape.txt");
    if option_env!("UPDATE_GOLDEN").is_some() {
        std::fs::write(golden, &now).unwrap();
    }
    let then = std::fs::read_to_string(golden).unwrap();
    let first = then.lines().zip(now.lines()).find(|(a, b)| a != b);
    assert!(then == now, "who sees what has changed, first here: {first:?}");
}

/// `tests/golden/fit-WINDOW.txt` is what a model with that window reads of the tools in an owner's private chat.
#[test]
fn the_golden_fits_stand() {
    let shaper = real();
    let place = features("telegram", "private", Audience::Direct);
    let facts = facts(Where::Channel(place), Trust::Owner, Trigger::Asked, Mode::Normal);
    let block = Arc::clone(shaper.shape(&facts).registry.block());
    for window in [4_096u64, 8_192, 16_384, 32_768] {
        let listing = fit::fit(&block, window);
        let size = |spec: &Arc<ToolSpec>| {
            format!("{} {}: {}\n", spec.size() / 3, spec.name, spec.description)
        };
        let told: String = listing.block.specs().iter().map(size).collect();
        let how = if listing.is_short { "told in a sentence each" } else { "told whole" };
        let total = listing.block.size() / 3;
        let now = format!(
            "# a window of {window} tokens: {total} of tools, {how}\nleft: {}\n{told}",
            listing.left.join(" ")
        );
        let golden = format!("{}/tests/golden/fit-{window}.txt", env!("CARGO_MANIFEST_DIR"));
        if option_env!("UPDATE_GOLDEN").is_some() {
            std::fs::write(&golden, &now).unwrap();
        }
        assert!(
            std::fs::read_to_string(&golden).unwrap_or_default() == now,
            "{golden} differs: {now}"
        );
        assert!(total as u64 <= window / 4, "{window}: {total}");
        assert!(Arc::ptr_eq(&fit::fit(&block, window).block, &listing.block), "made once");
    }
}

/// Every tool has its place in the table of leaving, and what leaves can be called.
#[test]
fn what_leaves_a_window_is_named_and_callable() {
    let catalogue = include_str!("../src/tools/catalogue.txt");
    let missing: Vec<&str> = catalogue
        .lines()
        .filter(|name| !name.starts_with("twitter_") && !fit::LEAVING.contains(name))
        .collect();
    assert!(missing.is_empty(), "say in shape/fit.rs when these leave: {missing:?}");
    let shaper = real();
    let facts =
        facts(Where::CommandLine { terminal: true }, Trust::Owner, Trigger::Asked, Mode::Normal);
    let registry = shaper.shape(&facts).registry;
    let listing = fit::fit(registry.block(), 4_096);
    assert!(listing.left.contains(&"notebook_edit"), "{:?}", listing.left);
    for name in
        ["message", "bash", "cron", "todo_update", "memory_write", "memory_search", "read_file"]
    {
        assert!(listing.block.specs().iter().any(|spec| spec.name == name), "{name}");
    }
    for name in &listing.left {
        assert!(matches!(registry.find(name), NameLookup::Tool(_)), "{name}");
    }
    let said = fit::reason(registry.block(), 4_096, "m via local", "notebook_edit").unwrap();
    assert!(said.contains("m via local has 4,096 tokens"), "{said}");
    assert!(fit::reason(registry.block(), 4_096, "m", "bash").unwrap().contains("one sentence"));
    assert_eq!(fit::reason(registry.block(), 128_000, "m", "bash"), None);
}

/// What asks a person, and what only an answer ends.
const ASKING: [&str; 3] = ["ask_user", "plan_enter", "plan_exit"];

/// The bot's own record that plan mode, strangers and what another conversation began do not have: what it starts speaks
/// later.
fn hides_as(name: &str, class: Class) -> Class {
    if name == "cron" { Class::Message } else { class }
}

/// Hidden is exactly what the table says, written here a second time and without the code's help.
fn expected(facts: &Facts, name: &str, class: Class) -> bool {
    let group = facts.audience() == Audience::Group;
    let opened = facts.opened.iter().any(|word| word == name || word == class.name());
    let as_is = class;
    let class = hides_as(name, class);
    let trust = match facts.trust {
        Trust::Owner => true,
        Trust::Allowed => class != Class::Exec,
        Trust::Stranger => matches!(class, Class::Note | Class::Reply),
    };
    let summoned = facts.trust == Trust::Owner && facts.summoned.iter().any(|word| word == name);
    let summoned = summoned && !facts.taint.is_any();
    let place = !group || opened || summoned || !matches!(as_is, Class::Message | Class::Exec);
    let plan = facts.mode == Mode::Normal
        || !matches!(class, Class::Write | Class::Exec | Class::Message | Class::Public);
    let persona = name != "persona_write" || (!group && facts.trust == Trust::Owner);
    let persona = persona && (name != "persona_write" || facts.trigger == Trigger::Asked);
    let trigger = match facts.trigger {
        Trigger::Asked => true,
        Trigger::Scheduled | Trigger::Heartbeat => !ASKING.contains(&name),
        Trigger::Relayed => class != Class::Message && !ASKING.contains(&name),
        Trigger::Webhook => !ASKING.contains(&name) && (opened || answers(name, as_is)),
    };
    let pipe = facts.place == Where::CommandLine { terminal: false };
    let alone = pipe && (ASKING.contains(&name) || asks(facts, name, as_is));
    let agents = [
        "spawn",
        "acp_spawn",
        "ask_user",
        "plan_create",
        "plan_enter",
        "plan_exit",
        "persona_write",
    ];
    let agent = facts.parent.is_none() || !agents.contains(&name);
    trust && place && plan && persona && trigger && agent && !alone
}

/// What a task of a webhook has without being given it.
fn answers(name: &str, class: Class) -> bool {
    class == Class::Reply || name == "think"
}

/// What asks before it is called, written here a second time.
fn asks(facts: &Facts, name: &str, class: Class) -> bool {
    let sends = class == Class::Message && (facts.trust == Trust::Allowed || facts.taint.is_any());
    let outward = class == Class::Public || sends;
    let opened = facts.opened.iter().any(|word| word == name || word == class.name());
    let in_group = facts.audience() == Audience::Group && !opened;
    let summoned = facts.trust == Trust::Owner && facts.summoned.iter().any(|word| word == name);
    let by_name = in_group
        && summoned
        && !facts.taint.is_any()
        && matches!(class, Class::Message | Class::Exec);
    let tainted = facts.taint.is_any() && class == Class::Exec;
    let called = facts.trigger == Trigger::Webhook && matches!(class, Class::Exec | Class::Message);
    outward || tainted || by_name || called
}

fn any_facts() -> impl Strategy<Value = Facts> {
    let words = || {
        let classes = Class::ALL.map(|c| c.name().to_owned());
        let names = NAMED.iter().map(|(n, _)| (*n).to_owned());
        prop::sample::select(classes.into_iter().chain(names).collect::<Vec<_>>())
    };
    (
        prop::sample::select(settings().collect::<Vec<_>>()),
        prop::collection::vec(words(), 0..3),
        prop::collection::vec(words(), 0..3),
        any::<(bool, bool, i64)>(),
    )
        .prop_map(|(mut facts, opened, summoned, (message, tainted, at))| {
            (facts.opened, facts.summoned) = (opened, summoned);
            facts.message = message.then(|| MessageRef::new(at.to_string()));
            facts.taint = if tainted { Taint::Derived } else { Taint::Clean };
            facts.at = DateTime::from_timestamp(at % 4_000_000_000, 0).unwrap();
            facts
        })
}

proptest! {
    /// Correctness: the set is a function of setting and policy alone.
    #[test]
    fn the_set_is_what_setting_and_policy_say(facts in any_facts()) {
        let shape = shaper().shape(&facts);
        let there: BTreeSet<&str> = names(&shape).into_iter().collect();
        for spec in shape.registry.base().specs() {
            let wanted = expected(&facts, spec.name, spec.class);
            prop_assert_eq!(there.contains(spec.name), wanted, "{} in {}", spec.name, shape.setting);
            match shape.registry.find(spec.name) {
                NameLookup::Tool(tool) => {
                    prop_assert!(wanted && tool.spec().name == spec.name);
                    let asked = shape.registry.exposure(spec.name).is_some_and(|most| most.asks());
                    let wanted = asks(&facts, spec.name, spec.class);
                    prop_assert_eq!(asked, wanted, "{} in {}", spec.name, shape.setting);
                }
                NameLookup::Hidden(reasons) => prop_assert!(!wanted && !reasons.is_empty()),
                NameLookup::Unknown(_) => prop_assert!(false, "the base knows {}", spec.name),
            }
        }
        for tool in TELEGRAM.iter().chain(&SLACK) {
            let here = match &facts.place {
                Where::CommandLine { .. } => false,
                Where::Channel(features) => features.speaking.iter().any(|n| n == tool.name),
            };
            // Recordings are paid for.
            let is_paid = tool.name == "say_aloud";
            let here = here && !(is_paid && facts.trust == Trust::Stranger);
            let here = here && !(is_paid && facts.trigger == Trigger::Webhook);
            prop_assert_eq!(there.contains(tool.name), here, "{} in {}", tool.name, shape.setting);
            prop_assert!(!shape.why(tool.name).is_empty());
        }
        let again = shaper().shape(&Facts { at: DateTime::UNIX_EPOCH, ..facts });
        prop_assert_eq!(names(&again), names(&shape));
    }

    /// Determinism: same setting, same tools, same order, same bytes, and the very same block.
    #[test]
    fn the_same_setting_gives_the_same_block(facts in any_facts()) {
        let (one, other) = (shaper(), shaper());
        let first = one.shape(&facts);
        let again = one.shape(&facts.clone());
        prop_assert!(Arc::ptr_eq(first.registry.block(), again.registry.block()));
        prop_assert!(Arc::ptr_eq(&bytes(&first), &bytes(&again)));
        let (mine, theirs) = (bytes(&first), bytes(&other.shape(&facts)));
        prop_assert_eq!(mine.get(), theirs.get());
        prop_assert_eq!(first.explain(), other.shape(&facts).explain());
    }

    /// Every reason is kept: a hidden tool names as many rules as hide it.
    #[test]
    fn every_reason_is_kept(facts in any_facts()) {
        let shape = shaper().shape(&Facts { opened: vec![], summoned: vec![], ..facts.clone() });
        let mut bash = shape.why("bash");
        // How commands run is no rule.
        bash.retain(|line| !line.starts_with("commands run"));
        let rules = usize::from(facts.audience() == Audience::Group)
            + usize::from(facts.trust != Trust::Owner)
            + usize::from(facts.trigger == Trigger::Webhook)
            + usize::from(facts.mode == Mode::Plan);
        let nobody_to_ask = matches!(facts.place, Where::CommandLine { terminal: false });
        let rules = rules + usize::from(facts.taint.is_any() && nobody_to_ask);
        let rules = rules + usize::from(facts.trigger == Trigger::Webhook && nobody_to_ask);
        if rules == 0 && facts.taint.is_any() {
            // Nothing hides it, but it asks: why, and whom.
            prop_assert!(bash.len() == 2 && bash[0].starts_with("asks first"), "{:?}", bash);
            return Ok(());
        }
        let yields = rules == 1 && facts.audience() == Audience::Group;
        let hint = usize::from(yields && bash[1].contains("who writes $bash"));
        prop_assert_eq!(hint == 1, yields, "{:?}", bash);
        prop_assert_eq!(bash.len(), rules.max(1) + hint, "{:?}", bash);
        prop_assert_eq!(bash[0] == "no rule hides it", rules == 0);
    }
}

/// Lists of tools that leave something: names, classes, other harnesses' names, and names that no tool has.
fn any_narrowings() -> impl Strategy<Value = Vec<Narrowing>> {
    let base = base::build(&Settings::default(), &base::ToolDeps::default()).unwrap();
    let classes = Class::ALL.map(|class| class.name().to_owned()).into_iter();
    let names = base.specs().into_iter().map(|spec| spec.name.to_owned());
    let others = ["spawn", "message_react", "say_aloud", "file_read", "telegram_react", "bsh"];
    let words: Vec<String> = classes.chain(names).chain(others.map(str::to_owned)).collect();
    let tools = prop::collection::vec(prop::sample::select(words), 0..12);
    let one = tools.prop_map(|tools| Narrowing { by: "the agent researcher".to_owned(), tools });
    prop::collection::vec(one, 1..4)
}

/// How much a task gets of a tool.
fn rank(exposure: Option<&Exposure>) -> u8 {
    match exposure {
        None | Some(Exposure::Hidden(_)) => 0,
        Some(Exposure::Ask { .. }) => 1,
        Some(Exposure::Free) => 2,
    }
}

proptest! {
    /// A narrowing takes away and never gives: what is named by all of them stays as it was, the rest is not there,
    /// whatever else opens it.
    #[test]
    fn a_narrowing_only_takes_away(facts in any_facts(), narrowed in any_narrowings()) {
        let shaper = shaper();
        let whole = shaper.shape(&facts).registry;
        let facts = Facts { narrowed, ..facts };
        let shape = shaper.shape(&facts);
        let (left, has) = (&shape.registry, |name: &str| names(&shape).contains(&name));
        let runtime = runtime().into_iter().map(|entry| Arc::clone(entry.tool.spec()));
        let speaking = whole.block().specs().iter().cloned();
        for spec in whole.base().specs().into_iter().chain(runtime).chain(speaking) {
            let names_it = |narrowing: &Narrowing| {
                let says = |word: &String| {
                    Class::parse(word) == Some(spec.class)
                        || shaper.tool_word(word) == Some(spec.name)
                };
                narrowing.tools.iter().any(says)
            };
            let stays = facts.narrowed.iter().all(names_it);
            let before = whole.exposure(spec.name);
            let now = left.exposure(spec.name);
            if stays {
                prop_assert_eq!(rank(now.as_ref()), rank(before.as_ref()), "{}", spec.name);
            } else {
                prop_assert_eq!(rank(now.as_ref()), 0, "{}", spec.name);
                prop_assert!(!has(spec.name));
            }
            for class in Class::ALL {
                let before = whole.exposure_as(&spec, class);
                let now = left.exposure_as(&spec, class);
                prop_assert!(rank(Some(&now)) <= rank(Some(&before)), "{} as {class:?}", spec.name);
            }
        }
    }
}

proptest! {
    /// An agent gets no more than the task that has begun it, whatever the setting, and with fewer tools no more again.
    #[test]
    fn an_agent_gets_no_more_than_its_task(facts in any_facts(), narrowed in any_narrowings()) {
        let shaper = shaper();
        let parent = shaper.shape(&facts);
        let agent = shaper.shape(&Facts { narrowed, ..child_of(facts) });
        let of_agent = agent.registry.block().specs().iter().cloned();
        for spec in parent.registry.base().specs().into_iter().chain(of_agent) {
            for class in Class::ALL {
                let most = parent.registry.exposure_as(&spec, class);
                let own = agent.registry.exposure_as(&spec, class);
                prop_assert!(rank(Some(&own)) <= rank(Some(&most)), "{} as {class:?}", spec.name);
            }
        }
        prop_assert_eq!(agent.confinement, parent.confinement);
        prop_assert_eq!(agent.roots.id, parent.roots.id);
        for name in ["spawn", "acp_spawn", "ask_user", "plan_create", "plan_enter", "plan_exit"] {
            prop_assert_eq!(rank(agent.registry.exposure(name).as_ref()), 0, "{}", name);
        }
    }
}

/// The same tools, however they are written, make the same view.
#[test]
fn a_narrowing_is_told_and_shared() {
    let shaper = real();
    let asked = facts(places().remove(3), Trust::Owner, Trigger::Asked, Mode::Normal);
    let narrow = |tools: &[&str]| Facts {
        narrowed: vec![Narrowing {
            by: "the agent researcher".to_owned(),
            tools: tools.iter().map(|tool| (*tool).to_owned()).collect(),
        }],
        summoned: vec!["bash".to_owned()],
        ..asked.clone()
    };
    let shape = shaper.shape(&narrow(&["file_read", "bsh", "web_fetch"]));
    assert_eq!(names(&shape), ["read_file", "web_fetch"]);
    assert_eq!(
        shape.why("bash").join("; "),
        "hidden by the agent researcher: only read_file, web_fetch may be used; commands run without a sandbox: this \
         machine has neither landlock nor seccomp"
    );
    assert_eq!(
        shape.why("todo_read"),
        ["hidden by the agent researcher: only read_file, web_fetch may be used"]
    );
    let same = shaper.shape(&narrow(&["web_fetch", "read_file"]));
    assert!(Arc::ptr_eq(shape.registry.block(), same.registry.block()));
    let other = shaper.shape(&narrow(&[]));
    assert!(names(&other).is_empty());
    assert_eq!(other.why("glob"), ["hidden by the agent researcher: no tool may be used"]);
    assert!(names(&shaper.shape(&asked)).len() > 2, "another task has what it had");
}

/// Isolation: thousands of interleaved tasks, each of its own setting, and none sees another's.
#[test]
fn no_task_sees_the_tools_of_another() {
    const THREADS: usize = 8;
    let shaper = shaper();
    let all: Vec<Facts> = settings().collect();
    let start = Barrier::new(THREADS);
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (shaper, all, start) = (&shaper, &all, &start);
            scope.spawn(move || {
                start.wait();
                for round in 0..2_000 {
                    let facts = &all[(round * 7 + thread * 13) % all.len()];
                    let shape = shaper.shape(facts);
                    std::thread::yield_now();
                    let group = facts.audience() == Audience::Group;
                    let own = !group && facts.trigger != Trigger::Webhook;
                    assert_eq!(shape.roots.opens.state, own && facts.trust == Trust::Owner);
                    for (name, class) in NAMED {
                        let found = matches!(shape.registry.find(name), NameLookup::Tool(_));
                        assert_eq!(
                            found,
                            expected(facts, name, *class),
                            "{name} {}",
                            shape.setting
                        );
                    }
                    for tool in &TELEGRAM {
                        let here = shape.setting.starts_with("telegram:")
                            || (["message_react", "say_aloud"].contains(&tool.name)
                                && shape.setting.starts_with("slack:"));
                        let is_unpaid =
                            facts.trust == Trust::Stranger || facts.trigger == Trigger::Webhook;
                        let here = here && !(tool.name == "say_aloud" && is_unpaid);
                        let found = matches!(shape.registry.find(tool.name), NameLookup::Tool(_));
                        assert_eq!(found, here, "{} {}", tool.name, shape.setting);
                    }
                }
            });
        }
    });
}

/// Minimality: shaping writes nothing to the base, copies nothing of it, and shares what it made.
#[test]
fn the_base_is_never_written_nor_copied() {
    let tools: Vec<Arc<Tool>> =
        PLANNED.iter().map(|(name, class)| Planned::tool(name, *class)).collect();
    let base = Arc::new(Base::build(tools.clone()).unwrap());
    let shaper =
        Shaper::for_channels(Arc::clone(&base), runtime(), &channels(), &Settings::default())
            .unwrap();
    let before = base.specs();
    let shapes: Vec<(Facts, Shape)> = settings().map(|f| (f.clone(), shaper.shape(&f))).collect();
    assert!(base.specs().iter().zip(&before).all(|(now, then)| Arc::ptr_eq(now, then)));
    for (facts, shape) in &shapes {
        assert!(Arc::ptr_eq(shape.registry.base(), &base));
        let again = shaper.shape(facts);
        assert!(Arc::ptr_eq(shape.registry.block(), again.registry.block()));
        for tool in &tools {
            if let NameLookup::Tool(found) = shape.registry.find(tool.spec().name) {
                assert!(Arc::ptr_eq(&found, tool), "a task calls the base's own tool");
            }
        }
    }
    // Tasks of one setting that differ in what shape does not look at share everything.
    let (facts, shape) = &shapes[0];
    let other = Facts { at: DateTime::from_timestamp(9, 0).unwrap(), ..facts.clone() };
    assert!(Arc::ptr_eq(shape.registry.block(), shaper.shape(&other).registry.block()));
}

/// What an owner runs in a group may be what somebody else has left there.
#[test]
fn commands_have_the_network_for_owners_where_nobody_else_writes() {
    let shaper = shaper();
    for place in places() {
        for trust in TRUSTS {
            let is_group = matches!(&place, Where::Channel(at) if at.audience == Audience::Group);
            let shape = shaper.shape(&facts(place.clone(), trust, Trigger::Asked, Mode::Normal));
            let wanted = trust == Trust::Owner && !is_group;
            assert_eq!(shape.confinement.network, wanted, "{place:?} {trust:?}");
        }
    }
}

/// What the owner's own words name is given to that task, and why says so.
#[test]
fn an_owner_gives_a_tool_by_its_name() {
    let shaper = shaper();
    let group = || places().remove(3);
    let asked = |trust| facts(group(), trust, Trigger::Asked, Mode::Normal);
    let why = |facts: &Facts| shaper.shape(facts).why("bash").join("; ");
    assert!(
        why(&asked(Trust::Owner))
            .contains("an owner who writes $bash is asked whether that one task may use it, unless it holds other people's words")
    );
    let named = |trust| Facts { summoned: vec!["bash".to_owned()], ..asked(trust) };
    let given = why(&named(Trust::Owner));
    assert!(given.starts_with("asks first: the owner wrote its name; otherwise hidden in groups"));
    assert!(
        why(&named(Trust::Allowed)).starts_with("hidden in groups"),
        "nobody else's words count"
    );
    let otherwise = Facts { summoned: vec!["exec".to_owned()], ..asked(Trust::Owner) };
    assert_eq!(real().shape(&otherwise).why("bash").join("; "), given, "as others call it");
    let tainted = Facts { taint: Taint::Raw, ..named(Trust::Owner) };
    let (says, gives) = (why(&tainted), shaper.shape(&tainted).summoned);
    assert!(says.starts_with("hidden in groups") && gives.is_empty(), "{says}");
    assert!(
        says.contains("naming it with $ does not open it while the task holds other people's"),
        "{says}"
    );
    let plan = Facts { mode: Mode::Plan, ..named(Trust::Owner) };
    assert!(why(&plan).starts_with("hidden in plan mode"), "nor in plan mode");
}

/// 16.2 #1: a name that stands twice was silently overwritten.
#[test]
fn a_name_that_stands_twice_is_refused() {
    let twice = || vec![Planned::tool("bash", Class::Exec), Planned::tool("bash", Class::Read)];
    assert_eq!(
        Base::build(twice()).err().unwrap(),
        "two tools are called bash: a name stands for one tool"
    );
    let taken = vec![Planned::tool("slack_send_file", Class::Read)];
    let base = Arc::new(Base::build(taken).unwrap());
    assert!(Shaper::for_channels(base, runtime(), &channels(), &Settings::default()).is_err());
    let empty = || Arc::new(Base::build(Vec::<ToolEntry>::new()).unwrap());
    assert!(Shaper::new(empty(), &[&TELEGRAM[0], &SLACK[0]]).is_err());
    assert!(Shaper::new(empty(), &[&TELEGRAM[0], &SLACK[1]]).is_ok());
}

/// 16.2 #2: the plan tool saw an early list with names twice. There is one list, final and sorted.
#[test]
fn every_list_is_final_and_has_no_name_twice() {
    let shaper = shaper();
    for facts in settings() {
        let shape = shaper.shape(&facts);
        let there = names(&shape);
        let unique: BTreeSet<_> = there.iter().collect();
        assert_eq!(unique.len(), there.len(), "{}", shape.setting);
        let of_base = there.iter().filter(|n| !shape.registry.is_runtime(n)).count();
        assert!(there[..of_base].is_sorted(), "{}", shape.setting);
        let explained = shape.explain();
        let all = explained.there.len() + explained.hidden.len();
        assert_eq!(
            all,
            shape.registry.base().specs().len() + 6 + runtime().len(),
            "{}: every tool is there or explained",
            shape.setting
        );
    }
}

/// 16.2 #4: groups lost one tool by its name; here whole classes go, and a place may open them.
#[test]
fn a_group_is_closed_by_class_and_opened_by_config() {
    let shaper = shaper();
    let group = places().remove(3);
    let mut facts = facts(group, Trust::Owner, Trigger::Asked, Mode::Normal);
    assert!(!names(&shaper.shape(&facts)).contains(&"bash"));
    assert!(!names(&shaper.shape(&facts)).contains(&"contacts_send"));
    facts.opened = vec!["exec".into(), "contacts_send".into()];
    let open = names(&shaper.shape(&facts));
    assert!(open.contains(&"contacts_send"));
    assert!(open.contains(&"bash"), "a class that config names is open");
    let tainted = Facts { taint: Taint::Raw, ..facts.clone() };
    let asked = shaper.shape(&tainted).registry.exposure("bash").is_some_and(|most| most.asks());
    assert!(asked, "but not freely to what others wrote");
    let allowed = Facts { trust: Trust::Allowed, ..facts.clone() };
    assert!(!names(&shaper.shape(&allowed)).contains(&"bash"), "and not to less trust");
    facts.mode = Mode::Plan;
    assert_eq!(
        shaper.shape(&facts).why("contacts_send"),
        ["hidden in plan mode: nothing changes until a person approves the plan"],
        "a place's config lifts its own rule and no other"
    );
}

/// What is not selkie's own: who uses it, where, and what asks. Its class goes by the same rules as any tool's.
#[test]
fn a_foreign_tool_is_there_for_whom_and_where_the_config_says() {
    let tool = |name: &'static str, class: Class, is_for_allowed: bool, is_placed: bool| {
        let foreign = Foreign { server: None, is_for_allowed, is_placed, identity: "1".to_owned() };
        let parameters = json!({"type": "object", "properties": {}});
        let spec = ToolSpec::new(name, class, Recovery::Unknown, parameters);
        Tool::new(Planned(ToolSpec { foreign: Some(foreign), ..spec }))
    };
    let tools = [
        tool("mine", Class::Exec, false, false),
        tool("ours", Class::Exec, true, false),
        tool("ours_there", Class::Exec, true, true),
        tool("look", Class::Read, true, false),
    ];
    let shaper = Shaper::new(Arc::new(Base::build(tools).unwrap()), &[]).unwrap();
    let private = places().remove(2);
    let group = places().remove(3);
    let asked = |place: &Where, trust| facts(place.clone(), trust, Trigger::Asked, Mode::Normal);
    let opened = vec!["ours_there".to_owned()];
    let by_class = vec!["exec".to_owned()];
    let tainted = Taint::Raw;
    let cases = [
        ("terminal, owner", asked(&places()[0], Trust::Owner)),
        ("private, owner", asked(&private, Trust::Owner)),
        ("private, allowed", asked(&private, Trust::Allowed)),
        ("private, stranger", asked(&private, Trust::Stranger)),
        ("group, owner", asked(&group, Trust::Owner)),
        ("group, allowed", asked(&group, Trust::Allowed)),
        ("group that the config names, allowed", Facts { opened, ..asked(&group, Trust::Allowed) }),
        ("group that opens the class", Facts { opened: by_class, ..asked(&group, Trust::Owner) }),
        ("others' words, owner", Facts { taint: tainted, ..asked(&private, Trust::Owner) }),
        ("agent, owner", child_of(asked(&private, Trust::Owner))),
    ];
    let said = cases.iter().map(|(case, facts)| {
        let shape = shaper.shape(facts);
        let most = |name: &str| match shape.registry.exposure(name) {
            Some(Exposure::Free) => format!("{name} free"),
            Some(Exposure::Ask { reasons, .. }) => format!("{name} asks({})", reasons.len()),
            _ => format!("{name} -"),
        };
        let names = ["mine", "ours", "ours_there", "look"];
        format!("{case}: {}", names.map(most).join(", "))
    });
    insta::assert_snapshot!(said.collect::<Vec<_>>().join("\n"), @r"
    terminal, owner: mine free, ours free, ours_there free, look free
    private, owner: mine free, ours free, ours_there -, look free
    private, allowed: mine -, ours free, ours_there -, look free
    private, stranger: mine -, ours -, ours_there -, look -
    group, owner: mine -, ours -, ours_there -, look free
    group, allowed: mine -, ours -, ours_there -, look free
    group that the config names, allowed: mine -, ours -, ours_there free, look free
    group that opens the class: mine free, ours free, ours_there -, look free
    others' words, owner: mine asks(1), ours asks(1), ours_there -, look asks(1)
    agent, owner: mine free, ours free, ours_there -, look free
    ");
}

#[test]
fn why_says_it_in_words() {
    let shaper = shaper();
    let cli = shaper.shape(&facts(places().remove(0), Trust::Owner, Trigger::Asked, Mode::Normal));
    let private =
        shaper.shape(&facts(places().remove(2), Trust::Owner, Trigger::Asked, Mode::Normal));
    let said: Vec<String> = [
        (&cli, "telegram_send_voice"),
        (&cli, "message_react"),
        (&cli, "bash"),
        (&cli, "bsh"),
        (&private, "telegram_send_voice"),
        (&private, "slack_send_file"),
        (&private, "xyzzyxyzzyxyzzy"),
    ]
    .iter()
    .map(|(shape, name)| format!("{name}: {}", shape.why(name).join(" | ")))
    .collect();
    insta::assert_snapshot!(said.join("\n"), @r"
    telegram_send_voice: a tool of telegram conversations; this is cli
    message_react: a tool of telegram conversations; this is cli | a tool of slack conversations; this is cli
    bash: no rule hides it | commands run without a sandbox: this machine has neither landlock nor seccomp
    bsh: there is no tool bsh: did you mean bash?
    telegram_send_voice: tasks in telegram:private have it
    slack_send_file: a tool of slack conversations; this is telegram:private
    xyzzyxyzzyxyzzy: there is no tool xyzzyxyzzyxyzzy
    ");
}

/// Switched off by config: known, explained, not listed; a speaking tool as well.
#[test]
fn what_config_switches_off_is_hidden_and_says_so() {
    let off: Settings = serde_json::from_value(json!({
        "write_file": {"enabled": false}, "send": {"enabled": false}
    }))
    .unwrap();
    let base = Arc::new(base::build(&off, &base::ToolDeps::default()).unwrap());
    let shaper = Shaper::for_channels(base, runtime(), &channels(), &off).unwrap();
    let shape =
        shaper.shape(&facts(places().remove(2), Trust::Owner, Trigger::Asked, Mode::Normal));
    assert_eq!(shape.why("write_file"), ["write_file tool is disabled"]);
    assert_eq!(shape.why("telegram_send_file"), ["telegram_send_file tool is disabled"]);
    assert!(names(&shape).contains(&"message_react"));
    assert!(!names(&shape).contains(&"write_file"));
}

#[test]
fn every_rule_hides_or_asks() {
    let shaper = shaper();
    // Those of tools that are not ours have a story of their own.
    for rule in RULES.iter().filter(|rule| rule.foreign.is_none()) {
        let mut facts = settings().chain(children()).chain(owners_words()).chain(hooks());
        let hides = facts.any(|facts| {
            let all = shaper.shape(&facts).explain();
            let hidden = all.hidden.iter().flat_map(|line| &line.reasons);
            let asked = all.there.iter().flat_map(|line| &line.asks);
            hidden.chain(asked).any(|reason| reason == rule.reason)
        });
        assert!(hides, "{}", rule.id);
    }
}
