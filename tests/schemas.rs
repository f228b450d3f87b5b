//! The tools' schemas as each provider gets them, kept as golden files: what a change does to a provider is
//! seen in the diff.

use std::path::Path;

use selkie::llm::schema::{Form, parameters};
use selkie::tools::{Settings, base};
use serde_json::{Map, Value};

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
