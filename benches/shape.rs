//! What shaping costs: a base of 50 tools and one of 5,000 must cost the same, at most 2 µs a task.

use std::sync::Arc;

use async_trait::async_trait;
use chrono::DateTime;
use divan::{Bencher, black_box};
use schemars::JsonSchema;
use selkie::domain::choice::Pick;
use selkie::domain::facts::{Facts, Mode, Trigger, Trust, Where};
use selkie::domain::taint::Taint;
use selkie::domain::tool::{Class, Recovery, ToolSpec};
use selkie::shape::{ChannelTools, Shaper};
use selkie::tools::registry::{Base, NameLookup};
use selkie::tools::scope::Scope;
use selkie::tools::{Handler, Output, Settings, Tool, ToolError};
use selkie_channel_core::{
    Audience, Features, MessageRef, ParameterNames, SpeakingEffect, SpeakingTool,
};
use serde_json::{Value, json};

fn main() {
    println!("one shape per task; the hidden third of the base is hidden by class");
    divan::main();
}

const BASES: [usize; 2] = [50, 5_000];

struct Stand(ToolSpec);

#[async_trait]
impl Handler for Stand {
    fn spec(&self) -> ToolSpec {
        self.0.clone()
    }

    async fn call(&self, _: &Scope, _: Value) -> Result<Output, ToolError> {
        Ok(Output::ok(""))
    }
}

/// Every third tool runs programs: what groups, plan mode and allowed people do not have.
fn stand(number: usize) -> Arc<Tool> {
    let class = [Class::Exec, Class::Read, Class::Note][number % 3];
    let name = Box::leak(format!("tool_{number:04}").into_boxed_str());
    let parameters = json!({"type": "object", "properties": {"path": {"type": "string"}}});
    Tool::new(Stand(ToolSpec {
        description: "Does something.".to_owned(),
        group: "bench",
        ..ToolSpec::new(name, class, Recovery::CallAgain, parameters)
    }))
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

static SPEAKING: [SpeakingTool; 4] = [
    speaking("message_react", SpeakingEffect::React),
    speaking("bird_send_file", SpeakingEffect::SendFile),
    speaking("bird_send_photo", SpeakingEffect::SendPhoto),
    speaking("bird_send_voice", SpeakingEffect::SendVoice),
];

fn shaper(tools: usize) -> Shaper {
    let base = Base::build((0..tools).map(stand)).expect("no name stands twice");
    let channels = [ChannelTools { channel: "bird", tools: &SPEAKING }];
    Shaper::for_channels(Arc::new(base), Vec::new(), &channels, &Settings::default())
        .expect("no name twice")
}

fn facts(place: Where, trust: Trust, mode: Mode) -> Facts {
    Facts {
        v: Facts::VERSION,
        place,
        speaker: None,
        trust,
        taint: Taint::Clean,
        trigger: Trigger::Asked,
        mode,
        message: Some(MessageRef::new("4711")),
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

fn bird(kind: &str, audience: Audience) -> Where {
    let speaking = SPEAKING.iter().map(|t| t.name.to_owned()).collect();
    let (channel, kind) = ("bird".to_owned(), kind.to_owned());
    Where::Channel(Features { channel, kind, audience, speaking, style: String::new() })
}

fn bench(bencher: Bencher<'_, '_>, tools: usize, facts: &Facts) {
    let shaper = shaper(tools);
    bencher.bench_local(|| shaper.shape(black_box(facts)));
}

#[divan::bench(args = BASES)]
fn command_line(bencher: Bencher<'_, '_>, tools: usize) {
    bench(
        bencher,
        tools,
        &facts(Where::CommandLine { terminal: true }, Trust::Owner, Mode::Normal),
    );
}

#[divan::bench(args = BASES)]
fn private(bencher: Bencher<'_, '_>, tools: usize) {
    bench(bencher, tools, &facts(bird("private", Audience::Direct), Trust::Owner, Mode::Normal));
}

#[divan::bench(args = BASES)]
fn group_hides_a_third(bencher: Bencher<'_, '_>, tools: usize) {
    bench(bencher, tools, &facts(bird("group", Audience::Group), Trust::Allowed, Mode::Normal));
}

#[divan::bench(args = BASES)]
fn group_opened_by_config(bencher: Bencher<'_, '_>, tools: usize) {
    let mut facts = facts(bird("group", Audience::Group), Trust::Owner, Mode::Plan);
    facts.opened = vec!["exec".to_owned(), "tool_0003".to_owned()];
    bench(bencher, tools, &facts);
}

/// A stranger in a group under plan mode: every kind of rule at once.
#[divan::bench(args = BASES)]
fn stranger_in_plan_mode(bencher: Bencher<'_, '_>, tools: usize) {
    bench(bencher, tools, &facts(bird("group", Audience::Group), Trust::Stranger, Mode::Plan));
}

/// What the first task of a setting pays once for all others; this grows with the base.
#[divan::bench(args = BASES)]
fn first_of_its_setting(bencher: Bencher<'_, '_>, tools: usize) {
    let facts = facts(bird("group", Audience::Group), Trust::Allowed, Mode::Normal);
    bencher.with_inputs(|| shaper(tools)).bench_local_values(|s| s.shape(black_box(&facts)));
}

/// Looking a name up for a call.
#[divan::bench(args = BASES)]
fn find(bencher: Bencher<'_, '_>, tools: usize) {
    let facts = facts(bird("group", Audience::Group), Trust::Allowed, Mode::Normal);
    let shape = shaper(tools).shape(&facts);
    let find = || matches!(shape.registry.find(black_box("tool_0001")), NameLookup::Tool(_));
    bencher.bench_local(find);
}
