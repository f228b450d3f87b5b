//! The shaping function: (base registry, facts) → what one task may do, and why. The only place where any
//! task's tool set is decided.

mod channel_tool;
mod commands;
mod explain;
pub mod fit;
mod foreign;
mod narrowed;
pub mod roots;
pub mod rules;
mod setting;
mod views;
mod when;

use std::borrow::Cow;
use std::sync::Arc;

use selkie_channel_core::SpeakingTool;

use crate::channel_tool::ChannelTool;
use crate::commands::{confinement, eased, is_eased};
use crate::rules::{COMMANDS, Effect, RULES, UNHEEDED, rows};
use crate::setting::{in_words, setting};
use crate::views::{Key, Views, Way};
use selkie_domain::approval::{Approvers, nobody};
use selkie_domain::facts::Facts;
use selkie_domain::tool::{Class, ToolSpec};
use selkie_guard::policy::{self, Policy};
use selkie_sandbox::Confinement;
use selkie_tools::Settings;
use selkie_tools::refusals::twice;
use selkie_tools::registry::{AskRules, Base, Hide, Overlay, Registry, Selection, ToolEntry};
use selkie_tools::web::ProfileFetch;

pub use explain::{Explanation, HiddenLine, ToolLine};

/// The base and everything precomputed from it; built once.
pub struct Shaper {
    base: Arc<Base>,
    rules: Vec<Arc<Selection>>,
    foreign: Vec<&'static str>,
    runtime: Vec<ToolEntry>,
    speaking: Vec<ChannelTool>,
    policy: Policy,
    /// How its rows are named, in their order.
    rows: Vec<String>,
    views: Views,
    sandbox: selkie_sandbox::Policy,
    has_speech: bool,
    fetch: Option<ProfileFetch>,
}

/// A channel's speaking tools, from its kit.
#[derive(Clone, Copy)]
pub struct ChannelTools {
    /// The channel's name; empty when any channel that lists the tools may use them.
    pub channel: &'static str,
    /// Its tools, in the order the model sees them.
    pub tools: &'static [SpeakingTool],
}

/// What one task may do, and why.
#[derive(Clone)]
pub struct Shape {
    /// What it may call.
    pub registry: Registry,
    /// The setting in words: `telegram:group · allowed · asked · normal`.
    pub setting: String,
    /// What the owner's own words name; rules that yield to them spare it.
    pub summoned: Vec<String>,
    /// Which files its tools see.
    pub roots: &'static roots::Row,
    /// How its commands run.
    pub confinement: Confinement,
}

impl Shaper {
    /// Prepares the rules over a base and speaking tools that belong to no channel in particular.
    ///
    /// # Errors
    /// A name that stands twice.
    pub fn new(base: Arc<Base>, speaking: &[&'static SpeakingTool]) -> Result<Self, String> {
        let settings = Settings::default();
        let speaking = speaking.iter().map(|data| ChannelTool::new("", data, &settings)).collect();
        Self::prepare(base, Vec::new(), speaking)
    }

    /// Prepares the rules over a base, the runtime tools of all settings and the channels' speaking
    /// tools. Two channels may call a tool by one name (`message_react`): a place gets its own channel's.
    ///
    /// # Errors
    /// A name that stands twice in one channel, or in two of base, runtime tools and channels.
    pub fn for_channels(
        base: Arc<Base>,
        runtime: Vec<ToolEntry>,
        channels: &[ChannelTools],
        settings: &Settings,
    ) -> Result<Self, String> {
        let of = |c: &ChannelTools| {
            let channel = c.channel;
            c.tools.iter().map(move |data| ChannelTool::new(channel, data, settings))
        };
        Self::prepare(base, runtime, channels.iter().flat_map(of).collect())
    }

    fn prepare(
        base: Arc<Base>,
        runtime: Vec<ToolEntry>,
        speaking: Vec<ChannelTool>,
    ) -> Result<Self, String> {
        let on_top: Vec<&str> = runtime.iter().map(|r| r.tool.spec().name).collect();
        for (at, name) in on_top.iter().enumerate() {
            let spoken = speaking.iter().any(|s| s.data.name == *name);
            if base.contains(name) || on_top[..at].contains(name) || spoken {
                return Err(twice(name));
            }
        }
        for (at, one) in speaking.iter().enumerate() {
            let name = one.data.name;
            let again =
                |other: &ChannelTool| other.data.name == name && other.channel == one.channel;
            if base.contains(name) || speaking[..at].iter().any(again) {
                return Err(twice(name));
            }
        }
        let (policy, views) = (Policy::default(), Views::default());
        let rows = Vec::new();
        let sandbox = selkie_sandbox::Policy::default();
        let rules = rules::over(&base);
        let foreign = foreign::names(&base);
        let has_speech = false;
        let fetch = None;
        Ok(Self {
            rules,
            foreign,
            base,
            runtime,
            speaking,
            policy,
            rows,
            views,
            sandbox,
            has_speech,
            fetch,
        })
    }

    /// Keeps to what the owner's config allows, asks for and denies.
    #[must_use]
    pub fn with_policy(self, rows: Vec<policy::Row>) -> Self {
        let named = rows.iter().enumerate().map(|(at, row)| named_row(at, row)).collect();
        Self { policy: Policy::new(rows), rows: named, ..self }
    }

    /// Runs commands as the config's `sandbox` says.
    #[must_use]
    pub fn with_sandbox(self, sandbox: selkie_sandbox::Policy) -> Self {
        Self { sandbox, ..self }
    }

    /// Lets words be said aloud, where something is configured that does it.
    #[must_use]
    pub fn with_speech(self, has_speech: bool) -> Self {
        Self { has_speech, ..self }
    }

    /// Gives tasks `url_fetch` with the credentials that they may use.
    #[must_use]
    pub fn with_fetch(self, fetch: ProfileFetch) -> Self {
        Self { fetch: Some(fetch), ..self }
    }

    /// Shapes the base for one task. Pure; ≤ 2 µs whatever the size of the base.
    pub fn shape(&self, facts: &Facts) -> Shape {
        let mask = rules::at_work(facts);
        let any = |holds: fn(&rules::Rule) -> bool| rows(mask).any(|(_, rule)| holds(rule));
        let opens = any(|rule| rule.opens || (rule.eases && rule.effect == Effect::Hide));
        let way = Way { opens, yields: any(|rule| rule.yields) };
        let summoned = self.ours(&facts.summoned);
        let key = Key::of(facts, mask, way);
        let key = if key.summoned.is_empty() { key } else { Key { summoned: &summoned, ..key } };
        let narrowed = self.known_narrowings(&facts.narrowed);
        let key = Key { narrowed: &narrowed, ..key };
        let place = facts.place.name();
        let words = in_words(facts, &place);
        let confinement = confinement(&self.sandbox, facts, &words);
        let profiles = self.fetch.as_ref().map_or(0, |fetch| fetch.usable(facts));
        let key = Key { policy: self.policy.at_work(&words), confinement, profiles, ..key };
        let registry = self.views.get(&key, || self.view(&key));
        Shape {
            registry,
            setting: setting(facts),
            summoned: key.heeded().to_vec(),
            roots: roots::row(facts),
            confinement,
        }
    }

    /// Our names of tools that the owner may call as other harnesses do.
    fn ours<'n>(&self, summoned: &'n [String]) -> Cow<'n, [String]> {
        let is_ours = |name: &String| self.base.our_name(name) == name.as_str();
        if summoned.iter().all(is_ours) {
            return Cow::Borrowed(summoned);
        }
        Cow::Owned(summoned.iter().map(|name| self.base.our_name(name).to_owned()).collect())
    }

    fn view(&self, key: &Key<'_>) -> Registry {
        let overlay = self.overlay(key);
        let said = self.said(key, &overlay);
        let mut hides = self.by_row(&said.denied, |rows| {
            format!("hidden: approvals.policy denies it here, {rows}")
        });
        let (mut asks, mut unheeded) = (Vec::new(), Vec::new());
        for (at, rule) in rows(key.mask) {
            let what = Arc::clone(&self.rules[at]);
            let except = self.spared(rule, key, &said).map(Arc::new);
            asks.extend(self.only_asks(rule, key, &said));
            let made = Hide { reason: rule.reason.into(), what, except };
            match rule.effect {
                Effect::Hide => {
                    unheeded.extend(self.unheeded(rule, key, &made));
                    hides.push(made);
                }
                Effect::Ask => asks.push(made),
            }
        }
        hides.extend(unheeded);
        hides.extend(key.narrowed.iter().map(|narrowing| self.narrow(narrowing)));
        if key.confinement.is_missing() {
            let reason = format!("hidden: {}", key.confinement.describe());
            hides.push(self.named(&reason, &COMMANDS.map(str::to_owned)));
        }
        asks.extend(
            self.by_row(&said.asked, |rows| format!("asks first: approvals.policy, {rows}")),
        );
        let of = match key.features {
            Some(_) => Approvers::Owners,
            None if rules::nobody_to_ask(key.mask) => Approvers::Nobody,
            None => Approvers::Terminal,
        };
        if of == Approvers::Nobody {
            let hide = |ask: Hide| Hide { reason: nobody(&ask.reason).into(), ..ask };
            hides.extend(asks.drain(..).map(hide));
        }
        let asks = AskRules { rules: asks, of, freed: said.allowed };
        Registry::view_asking(Arc::clone(&self.base), hides, asks, overlay)
    }

    /// What the policy says of every tool of a setting.
    fn said(&self, key: &Key<'_>, overlay: &Overlay) -> PolicyWords {
        let mut said = PolicyWords::default();
        if key.policy == 0 {
            return said;
        }
        let on_top = overlay.there.iter().map(|tool| Arc::clone(tool.spec()));
        for spec in self.base.specs().into_iter().chain(on_top) {
            let of = |mask| self.policy.of(mask, spec.name, spec.class.name());
            let Some(rule) = of(key.policy) else { continue };
            let says = |at: &usize| key.policy & (1 << at) != 0 && of(1 << at) == Some(rule);
            let rows = (0..self.rows.len()).filter(says).collect();
            let name = spec.name.to_owned();
            match rule {
                policy::Rule::Deny => said.denied.push(ByRows { name, rows }),
                policy::Rule::Ask => said.asked.push(ByRows { name, rows }),
                policy::Rule::Allow => said.allowed.push(name),
            }
        }
        said
    }

    /// Speaks of tools by the rows that say something of them: one reason for each set of rows.
    fn by_row(&self, said: &[ByRows], reason: impl Fn(&str) -> String) -> Vec<Hide> {
        let mut sets: Vec<&[usize]> = said.iter().map(|of| &*of.rows).collect();
        sets.sort_unstable();
        sets.dedup();
        let hide = |rows: &[usize]| {
            let of = said.iter().filter(|of| of.rows == rows);
            let names: Vec<String> = of.map(|of| of.name.clone()).collect();
            let rows: Vec<&str> =
                rows.iter().filter_map(|at| self.rows.get(*at)).map(String::as_str).collect();
            self.named(&reason(&rows.join(" and ")), &names)
        };
        sets.into_iter().map(hide).collect()
    }

    fn named(&self, reason: &str, names: &[String]) -> Hide {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let what = Arc::new(Selection::over(&self.base, &[], &names));
        Hide { reason: reason.into(), what, except: None }
    }

    /// What a rule spares: what `places.<id>.allow` opens (classes and tools), what the owner's words name
    /// and what the policy makes less (tools).
    fn spared(&self, rule: &rules::Rule, key: &Key<'_>, said: &PolicyWords) -> Option<Selection> {
        let opened = if rule.opens { key.opened } else { &[] };
        let eased = eased(rule, key);
        let summoned = if rule.yields { key.heeded() } else { &[] };
        let asked =
            if rule.bends && rule.effect == Effect::Hide { said.asked.as_slice() } else { &[] };
        let asked = asked.iter().map(|of| &of.name);
        let allowed = if rule.bends { said.allowed.as_slice() } else { &[] };
        // A place is named for a tool, never for a class of them.
        let by_class = if rule.foreign.is_none() { opened } else { &[] };
        let classes: Vec<Class> = by_class.iter().filter_map(|word| Class::parse(word)).collect();
        let ways = if rule.gives_way { self.foreign.as_slice() } else { &[] };
        let names = opened.iter().chain(summoned).chain(asked).chain(allowed);
        let names = names.map(String::as_str).chain(eased).chain(ways.iter().copied());
        let names: Vec<&str> = names.collect();
        (!names.is_empty()).then(|| Selection::over(&self.base, &classes, &names))
    }

    /// What a rule would hide and now only asks for: what the owner's words name, and what the policy opens.
    fn only_asks(&self, rule: &rules::Rule, key: &Key<'_>, said: &PolicyWords) -> Vec<Hide> {
        if rule.effect == Effect::Ask {
            return Vec::new();
        }
        let at = RULES.iter().position(|other| other.id == rule.id);
        let hidden = |name: &&String| at.is_some_and(|at| self.covers(&self.rules[at], name));
        let class_of = |name: &str| self.base.spec(name).map(|spec| spec.class.name());
        let opened = |name: &&String| {
            let class = class_of(name);
            let says = |word: &String| word == *name || Some(word.as_str()) == class;
            rule.opens && key.opened.iter().any(says)
        };
        let named = |names: &[String]| -> Vec<String> {
            names.iter().filter(hidden).filter(|name| !opened(name)).cloned().collect()
        };
        let mut asks = Vec::new();
        if rule.yields {
            let reason = format!("asks first: the owner wrote its name; otherwise {}", rule.reason);
            asks.push(self.named(&reason, &named(key.heeded())));
        }
        if rule.bends {
            let reason =
                format!("asks first: approvals.policy opens it; otherwise {}", rule.reason);
            let names: Vec<String> = named(&said.allowed)
                .into_iter()
                .filter(|name| !is_eased(rule, key, name))
                .collect();
            asks.push(self.named(&reason, &names));
        }
        asks
    }

    /// Says why a name that the owner wrote gives nothing now.
    fn unheeded(&self, rule: &rules::Rule, key: &Key<'_>, made: &Hide) -> Option<Hide> {
        let is_spared =
            |name: &str| made.except.as_ref().is_some_and(|except| self.covers(except, name));
        let is_hidden = |name: &&String| self.covers(&made.what, name) && !is_spared(name);
        let names: Vec<String> = key.summoned.iter().filter(is_hidden).cloned().collect();
        let says = key.unheeded && rule.yields && !names.is_empty();
        says.then(|| self.named(UNHEEDED, &names))
    }

    /// Whether a selection speaks of a tool of this name, in the base or on top of it.
    fn covers(&self, what: &Selection, name: &str) -> bool {
        let on_top = self.runtime.iter().map(|runtime| runtime.tool.spec());
        let spec =
            self.base.spec(name).or_else(|| on_top.into_iter().find(|spec| spec.name == name));
        spec.is_some_and(|spec: &Arc<ToolSpec>| what.covers(spec))
    }

    fn overlay(&self, key: &Key<'_>) -> Overlay {
        let fetch = self.fetch.as_ref().and_then(|fetch| fetch.tool(key.profiles));
        let mut overlay = Overlay { instead: fetch.into_iter().collect(), ..Overlay::default() };
        for registered in &self.runtime {
            let tool = Arc::clone(&registered.tool);
            match registered.why_not() {
                None => overlay.there.push(tool),
                Some(why) => overlay.absent.push((tool, why)),
            }
        }
        for speaking in &self.speaking {
            match speaking.why_not(key, self.has_speech) {
                None => overlay.there.push(Arc::clone(&speaking.tool)),
                Some(why) => overlay.absent.push((Arc::clone(&speaking.tool), why)),
            }
        }
        overlay
    }
}

/// What the policy says of a setting's tools, by name.
#[derive(Default)]
struct PolicyWords {
    denied: Vec<ByRows>,
    asked: Vec<ByRows>,
    allowed: Vec<String>,
}

/// A tool, and which rows say so of it.
struct ByRows {
    name: String,
    rows: Vec<usize>,
}

/// Names a row of the policy: which of them, and where it holds.
fn named_row(at: usize, row: &policy::Row) -> String {
    let words = [("place", &row.place), ("trust", &row.trust), ("trigger", &row.trigger)];
    let said = words.iter().filter_map(|(key, word)| Some(format!("{key}: {}", word.as_deref()?)));
    let said: Vec<String> = said.collect();
    let said = if said.is_empty() { "everywhere".to_owned() } else { said.join(", ") };
    format!("row {} ({said})", at + 1)
}
