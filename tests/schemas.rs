//! The tools' schemas as each provider gets them, kept as golden files: what a change does to a provider is
//! seen in the diff.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use selkie::domain::tool::ToolSpec;
use selkie::llm::schema::{Form, parameters};
use selkie::tools::{Settings, base, speak};
use selkie_channel_core::SpeakingEffect;
use serde_json::{Map, Value, json};

#[test]
fn every_provider_gets_the_schemas_of_its_golden_file() {
    for (file, form) in [("schemas-full.json", Form::Full), ("schemas-plain.json", Form::Plain)] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(file);
        let written = serde_json::to_string_pretty(&all(form)).unwrap() + "\n";
        if option_env!("UPDATE_GOLDEN").is_some() {
            std::fs::write(&path, &written).unwrap();
        }
        let golden = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            golden == written,
            "{file} differs: run `UPDATE_GOLDEN=1 cargo test --test schemas` and look at the diff"
        );
    }
}

/// The plain form holds what every server takes and nothing else.
#[test]
fn the_plain_form_has_no_keyword_that_a_server_is_known_to_refuse() {
    let keywords = [
        "type",
        "description",
        "properties",
        "required",
        "items",
        "enum",
        "minimum",
        "maximum",
        "minItems",
        "maxItems",
    ];
    for (name, schema) in all(Form::Plain) {
        let mut open = vec![&schema];
        while let Some(schema) = open.pop() {
            let map = schema.as_object().unwrap();
            let odd: Vec<_> = map.keys().filter(|k| !keywords.contains(&k.as_str())).collect();
            assert!(odd.is_empty(), "{name}: {odd:?}");
            open.extend(map.get("items"));
            open.extend(
                map.get("properties").into_iter().flat_map(|p| p.as_object().unwrap().values()),
            );
        }
    }
}

fn all(form: Form) -> Map<String, Value> {
    let (settings, means) = (Settings::default(), base::ToolDeps::default());
    let of_base = base::build(&settings, &means).unwrap().specs();
    let runtime = base::runtime(&settings, &means);
    let on_top = runtime.iter().map(|r| r.tool.spec().clone());
    of_base
        .into_iter()
        .chain(on_top)
        .map(|spec| (spec.name.to_owned(), parameters(&spec.parameters, form)))
        .collect()
}

/// Names that stand in the catalogue today; a later tool has [`LATER`] tokens.
const TODAY: &str = include_str!("../src/tools/catalogue.txt");
/// Tokens of all tools together, and of each that comes later.
const ALL: usize = 5_200;
const LATER: usize = 120;

/// Every request carries the list: about four bytes of English JSON are a token. The program's own measure is on the
/// safe side for every script and tokenizer: three.
#[test]
fn all_tools_together_are_no_more_than_a_small_window_bears() {
    let sent: BTreeMap<String, usize> =
        whole().iter().map(|spec| (spec.name.to_owned(), sent(spec))).collect();
    let all: usize = sent.values().sum();
    let (largest, most) = sent.iter().max_by_key(|(_, size)| **size).unwrap();
    println!(
        "{} tools: {all} bytes, {} tokens; the largest: {largest}, {} tokens",
        sent.len(),
        all / 4,
        most / 4
    );
    assert!(all / 4 <= ALL, "{} tokens: {sent:?}", all / 4);
    // What config has to switch on is measured by itself.
    let later = later().iter().map(|spec| (spec.name.to_owned(), self::sent(spec))).collect();
    for (name, size) in [sent, later].iter().flatten() {
        let is_new =
            !TODAY.lines().chain(CHANNELS).any(|known| known == name) || name == "image_generate";
        assert!(
            !is_new || size / 4 <= LATER,
            "{name} takes {} tokens, {LATER} are the most",
            size / 4
        );
    }
}

/// Speaking tools of today.
const CHANNELS: [&str; 4] =
    ["message_react", "telegram_send_file", "telegram_send_photo", "telegram_send_voice"];

/// The measure is what a request holds.
#[test]
fn a_tool_is_measured_as_it_is_sent() {
    for spec in whole() {
        let (sent, said) = (sent(&spec), spec.size());
        assert!(said >= sent && said <= sent + 250, "{}: {said} for {sent}", spec.name);
    }
}

/// Bytes of a tool in a chat completions request.
fn sent(spec: &ToolSpec) -> usize {
    let parameters = parameters(&spec.parameters, Form::Full);
    let function =
        json!({ "name": spec.name, "description": spec.description, "parameters": parameters });
    json!({ "type": "function", "function": function }).to_string().len()
}

/// What an owner's private chat has, as long as nothing is switched on.
fn whole() -> Vec<Arc<ToolSpec>> {
    let (settings, means) = (Settings::default(), base::ToolDeps::default());
    let speaking = selkie_telegram::kit().speaking.iter();
    let speaking = speaking.filter(|data| data.effect != SpeakingEffect::SayAloud);
    let speaking = speaking.map(|data| speak::tool(data, "telegram", &settings));
    let mut all = base::build(&settings, &means).unwrap().specs();
    all.retain(|spec| spec.name != "powershell" && !AGENTS.contains(&spec.name));
    let runtime = base::runtime(&settings, &means);
    let runtime = runtime.iter().filter(|r| r.why_not().is_none());
    all.extend(runtime.map(|r| r.tool.spec().clone()));
    all.extend(speaking.map(|tool| Arc::clone(tool.spec())));
    all
}

/// What an owner's private chat has where `speech` and `images` are set and agents are switched on.
fn later() -> Vec<Arc<ToolSpec>> {
    let (settings, means) = (Settings::default(), base::ToolDeps::default());
    let speaking = selkie_telegram::kit().speaking.iter();
    let speaking = speaking.filter(|data| data.effect == SpeakingEffect::SayAloud);
    let speaking = speaking.map(|data| speak::tool(data, "telegram", &settings).spec().clone());
    let runtime = base::runtime(&settings, &means);
    let runtime = runtime.iter().filter(|r| r.why_not().is_some());
    let mut of_base = base::build(&settings, &means).unwrap().specs();
    of_base.retain(|spec| AGENTS.contains(&spec.name));
    speaking.chain(runtime.map(|r| r.tool.spec().clone())).chain(of_base).collect()
}

/// What `tools.agents.enabled` switches on.
const AGENTS: [&str; 4] = ["list_agents", "message_agent", "peek_agent", "stop_agent"];
