//! The page of all tools in markdown: `selkie tools docs`, kept as `src/docs/tools.md`.

use serde_json::Value;

use super::everywhere::Everywhere;
use selkie_domain::schema::describe;
use selkie_domain::tool::ToolSpec;

const HEAD: &str = "# Tools

Printed by `selkie tools docs`; a test keeps this page equal to it. How a call goes: `dispatch.md`. Who sees
what: `shape.md`. Other names are accepted when a tool is called and never listed to a model; so is a reaction by the name of its
channel, `<channel>_react` for `message_react`. The column
`from` names the documents that define the product (S0, S1, …), where one of them describes the tool.
";

/// Writes the page: one table for each group.
pub(super) fn page(all: &[Everywhere]) -> String {
    let mut groups: Vec<&str> = Vec::new();
    for group in all.iter().map(|t| t.spec.group).filter(|g| !g.is_empty()) {
        if !groups.contains(&group) {
            groups.push(group);
        }
    }
    let mut text = HEAD.to_owned();
    for group in groups {
        text.push_str(&format!(
            "\n## {group}\n\n| tool | class | parameters (* required) | what it does | also called | from |\n|---|---|---|---|---|---|\n"
        ));
        for tool in all.iter().filter(|t| t.spec.group == group) {
            text.push_str(&row(tool));
        }
    }
    text
}

fn row(tool: &Everywhere) -> String {
    let spec = &tool.spec;
    let also: Vec<String> = spec.also.names.iter().map(|n| format!("`{}`", n.called)).collect();
    let cells = [
        format!("`{}`", spec.name),
        spec.class.name().to_owned(),
        parameters(spec),
        spec.description.clone(),
        also.join(", "),
        spec.sources.join(", "),
    ];
    let cells = cells.map(|cell| cell.replace('|', "\\|").replace('\n', " "));
    format!("| {} |\n", cells.join(" | "))
}

fn parameters(spec: &ToolSpec) -> String {
    let schema = &spec.parameters;
    let required = schema.get("required").and_then(Value::as_array);
    let needed = |name: &str| required.is_some_and(|all| all.iter().any(|r| r == name));
    let properties = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
    let one = |(name, property): (&String, &Value)| {
        let star = if needed(name) { "*" } else { "" };
        let also = spec.also.parameters.iter().filter(|other| other.ours == name);
        let other: Vec<&str> = also.map(|other| other.called).collect();
        let other = if other.is_empty() {
            String::new()
        } else {
            format!(", also `{}`", other.join("`, `"))
        };
        format!("`{name}`{star} ({}{other})", takes(schema, property))
    };
    properties.map(one).collect::<Vec<_>>().join("<br>")
}

fn takes(root: &Value, property: &Value) -> String {
    let limits = [("minimum", "≥"), ("maximum", "≤")];
    let limits =
        limits.iter().filter_map(|(key, sign)| Some(format!(" {sign} {}", property.get(key)?)));
    match property.get("enum").and_then(Value::as_array) {
        Some(list) => list.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", "),
        None => describe(root, property) + &limits.collect::<String>(),
    }
}
