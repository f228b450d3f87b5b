//! The shaping function: (base registry, facts) → what one task may do, and why. The only place where any
//! task's tool set is decided.

mod explain;
pub mod roots;
pub mod rules;
mod views;

use std::sync::Arc;

use selkie_channel_core::SpeakingTool;

use crate::domain::facts::{Facts, Mode, Occasion};
use crate::domain::tool::Class;
use crate::shape::rules::RULES;
use crate::shape::views::{Key, Views};
use crate::tools::registry::{Base, Hide, Overlay, Registry, Selection, disabled, twice};
use crate::tools::{Settings, Tool, speak};

pub use explain::{Explained, HiddenLine, ToolLine};

/// The base and everything precomputed from it; built once.
pub struct Shaper {
    base: Arc<Base>,
    rules: Vec<Arc<Selection>>,
    runtime: Vec<Runtime>,
    speaking: Vec<Speaking>,
    views: Views,
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
}

impl Shaper {
    /// Prepares the rules over a base and speaking tools that belong to no channel in particular.
    ///
    /// # Errors
    /// A name that stands twice.
    pub fn new(base: Arc<Base>, speaking: &[&'static SpeakingTool]) -> Result<Self, String> {
        let settings = Settings::default();
        let speaking = speaking.iter().map(|data| Speaking::new("", data, &settings)).collect();
        Self::prepare(base, Vec::new(), speaking)
    }

    /// Prepares the rules over a base, the runtime tools of all settings and the channels' speaking
    /// tools. Two channels may call a tool by one name (`message_react`): a place gets its own channel's.
    ///
    /// # Errors
    /// A name that stands twice in one channel, or in two of base, runtime tools and channels.
    pub fn for_channels(
        base: Arc<Base>,
        runtime: Vec<Arc<dyn Tool>>,
        channels: &[ChannelTools],
        settings: &Settings,
    ) -> Result<Self, String> {
        let off = settings.disabled();
        let runtime = runtime
            .into_iter()
            .map(|tool| Runtime { enabled: !off.contains(tool.spec().name), tool });
        let of = |c: &ChannelTools| {
            let channel = c.channel;
            c.tools.iter().map(move |data| Speaking::new(channel, data, settings))
        };
        Self::prepare(base, runtime.collect(), channels.iter().flat_map(of).collect())
    }

    fn prepare(
        base: Arc<Base>,
        runtime: Vec<Runtime>,
        speaking: Vec<Speaking>,
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
            let again = |other: &Speaking| other.data.name == name && other.channel == one.channel;
            if base.contains(name) || speaking[..at].iter().any(again) {
                return Err(twice(name));
            }
        }
        Ok(Self { rules: rules::over(&base), base, runtime, speaking, views: Views::default() })
    }

    /// Shapes the base for one task. Pure; ≤ 2 µs whatever the size of the base.
    pub fn shape(&self, facts: &Facts) -> Shape {
        let mask = rules::at_work(facts);
        let any = |holds: fn(&rules::Rule) -> bool| at_work(mask).any(|(_, rule)| holds(rule));
        let key = Key::of(facts, mask, (any(|rule| rule.opens), any(|rule| rule.yields)));
        let registry = self.views.get(&key, || self.view(&key));
        Shape {
            registry,
            setting: setting(facts),
            summoned: key.summoned.to_vec(),
            roots: roots::row(facts),
        }
    }

    fn view(&self, key: &Key<'_>) -> Registry {
        let hides = at_work(key.mask).map(|(at, rule)| Hide {
            reason: rule.reason.into(),
            what: Arc::clone(&self.rules[at]),
            except: self.spared(rule, key).map(Arc::new),
        });
        Registry::view(Arc::clone(&self.base), hides.collect(), self.overlay(key))
    }

    /// What a rule spares: what `groups.<id>.allow` opens (classes and tools), and what the owner's words
    /// name (tools).
    fn spared(&self, rule: &rules::Rule, key: &Key<'_>) -> Option<Selection> {
        let opened = if rule.opens { key.opened } else { &[] };
        let summoned = if rule.yields { key.summoned } else { &[] };
        if opened.is_empty() && summoned.is_empty() {
            return None;
        }
        let classes: Vec<Class> = opened.iter().filter_map(|word| Class::parse(word)).collect();
        let names: Vec<&str> = opened.iter().chain(summoned).map(String::as_str).collect();
        Some(Selection::over(&self.base, &classes, &names))
    }

    fn overlay(&self, key: &Key<'_>) -> Overlay {
        let mut overlay = Overlay::default();
        for Runtime { tool, enabled } in &self.runtime {
            if *enabled {
                overlay.there.push(Arc::clone(tool));
            } else {
                overlay.absent.push((Arc::clone(tool), disabled(tool.spec().name)));
            }
        }
        for speaking in &self.speaking {
            match speaking.why_not(key) {
                None => overlay.there.push(Arc::clone(&speaking.tool)),
                Some(why) => overlay.absent.push((Arc::clone(&speaking.tool), why)),
            }
        }
        overlay
    }
}

/// A runtime tool of every setting, made once; rules may hide it.
struct Runtime {
    tool: Arc<dyn Tool>,
    enabled: bool,
}

/// A runtime tool of a channel, made once.
struct Speaking {
    channel: &'static str,
    data: &'static SpeakingTool,
    tool: Arc<dyn Tool>,
    enabled: bool,
}

impl Speaking {
    fn new(channel: &'static str, data: &'static SpeakingTool, settings: &Settings) -> Self {
        let group = if channel.is_empty() { "channels" } else { channel };
        let tool = speak::tool(data, group, settings);
        Self { channel, data, tool, enabled: speak::is_enabled(data, settings) }
    }

    /// Why a setting does not have it; `None` when it does.
    fn why_not(&self, key: &Key<'_>) -> Option<String> {
        if !self.enabled {
            return Some(disabled(self.data.name));
        }
        let here = key.features.filter(|f| self.channel.is_empty() || f.channel == self.channel);
        let listed = here.is_some_and(|f| f.speaking.iter().any(|name| name == self.data.name));
        (!listed).then(|| {
            let place =
                key.features.map_or("cli".to_owned(), |f| format!("{}:{}", f.channel, f.kind));
            let whose = if self.channel.is_empty() { "some" } else { self.channel };
            format!("a tool of {whose} conversations; this is {place}")
        })
    }
}

fn at_work(mask: u16) -> impl Iterator<Item = (usize, &'static rules::Rule)> {
    RULES.iter().enumerate().filter(move |(at, _)| mask & (1 << at) != 0)
}

fn setting(facts: &Facts) -> String {
    let occasion = match facts.occasion {
        Occasion::Asked => "asked",
        Occasion::Scheduled => "scheduled",
        Occasion::Heartbeat => "heartbeat",
        Occasion::Child => "child",
    };
    let mode = match facts.mode {
        Mode::Normal => "normal",
        Mode::Plan => "plan",
    };
    let others = if facts.taint.is_any() { " · other people's words" } else { "" };
    format!("{} · {} · {occasion} · {mode}{others}", facts.place.name(), facts.trust.name())
}
