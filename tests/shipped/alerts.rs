//! The alert rules: each says how much it matters, and which section of the book says what to do.

use std::fs;
use std::path::Path;

use serde_json::Value;

const ALERTS: &str = include_str!("../../src/packaging/alerts.yml");

#[test]
fn every_alert_says_how_much_it_matters_and_where_its_runbook_is() {
    let rules: Value = serde_saphyr::from_str(ALERTS).expect("YAML");
    let groups = rules["groups"].as_array().expect("groups");
    let rules: Vec<_> = groups.iter().flat_map(|g| g["rules"].as_array().expect("rules")).collect();
    assert!(rules.len() > 5);
    for rule in rules {
        let name = rule["alert"].as_str().expect("a name");
        let severity = rule["labels"]["severity"].as_str();
        assert!(matches!(severity, Some("critical" | "warning")), "{name}: {severity:?}");
        let runbook = rule["annotations"]["runbook"].as_str().expect("a runbook");
        let (page, section) = runbook.split_once('#').expect("a section");
        assert_eq!(section, name.to_lowercase(), "{name}");
        let page = Path::new(env!("CARGO_MANIFEST_DIR")).join(page);
        let page = fs::read_to_string(&page).expect("a page of the book");
        let mut after = page.lines().skip_while(|line| *line != format!("### {name}")).skip(2);
        let todo = after.next().unwrap_or_default();
        assert!(todo.len() > 60, "{name}: its section says what to do, not {todo:?}");
    }
}
