//! What is wrong with `tools.commands`, and with the places that it names.

use std::collections::BTreeSet;

use selkie_channel_core::ChannelKit;
use serde_json::Value;

use crate::named::{id, is_name};
use crate::place_settings::chat_of;
use crate::problem::{Wrong, one_of};
use crate::source::path;
use selkie_domain::span::Span;
use selkie_domain::tool::Class;
use selkie_tools::foreign::{Commands, foreign_class};
use selkie_tools::shell::is_variable;

const SECOND: Span = Span::seconds(1);
const HOUR: Span = Span::seconds(3600);

/// Lists what is wrong; `taken` are the names of selkie's own tools, and what other harnesses call them.
pub fn problems(
    commands: &Commands,
    kits: &[ChannelKit],
    taken: impl FnOnce() -> BTreeSet<&'static str>,
) -> Vec<Wrong> {
    if commands.is_empty() {
        return Vec::new();
    }
    let mut wrong = Vec::new();
    let taken = taken();
    for (name, command) in commands {
        let mut add = |keys: &[&str], message: Option<String>| {
            let keys: Vec<&str> =
                ["tools", "commands", name.as_str()].iter().chain(keys).copied().collect();
            wrong.extend(message.map(|message| (path(&keys), message)));
        };
        add(&[], name_fault(name, &taken));
        let about = "is missing: say what the program does, for the model";
        add(&["about"], command.about.trim().is_empty().then(|| about.to_owned()));
        let missing = command.command.trim().is_empty().then(|| {
            "is missing: it takes a program, by a name in PATH or a whole path".to_owned()
        });
        add(&["command"], missing);
        add(&["class"], class_fault(&command.class, &[]));
        let late = !(SECOND..=HOUR).contains(&command.timeout);
        add(&["timeout"], late.then(|| format!("takes 1s to 1h, not {}", command.timeout)));
        for variable in command.injected_env_vars.iter().filter(|name| !is_variable(name)) {
            let message = format!("takes names of variables (WEATHER_KEY), not {variable:?}");
            add(&["injected_env_vars"], Some(message));
        }
        for (index, place) in command.places.iter().enumerate() {
            let fault = id(chat_of(place, kits), kits, "a conversation", |kit| kit.places);
            add(&["places", &index.to_string()], fault);
        }
        for (parameter, schema) in &command.parameters {
            add(&["parameters", parameter], parameter_fault(parameter, schema));
        }
    }
    wrong
}

fn name_fault(name: &str, taken: &BTreeSet<&'static str>) -> Option<String> {
    let fault = match name {
        _ if !is_name(name, 40, "_") => {
            "is no name for a tool: it takes 1 to 40 of a-z, 0-9 and _, and begins with a letter"
        }
        _ if name.contains("__") => {
            "is no name for a tool: two _ in a row stand in names of servers' tools"
        }
        _ if taken.contains(name) => "is what a tool of selkie's own is called: take another name",
        _ => return None,
    };
    Some(fault.to_owned())
}

/// Says what is wrong with the class of a tool that is not selkie's own; `others` are taken, too.
pub(crate) fn class_fault(class: &str, others: &[&str]) -> Option<String> {
    let names = Class::ALL.iter().map(|class| class.name()).filter(|n| foreign_class(n).is_some());
    let names: Vec<String> = names.chain(others.iter().copied()).map(str::to_owned).collect();
    let is_taken = foreign_class(class).is_some() || others.contains(&class);
    (!is_taken).then(|| format!("takes {}, not {class:?}", one_of(&names)))
}

fn parameter_fault(name: &str, schema: &Value) -> Option<String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if name.is_empty() || name.len() > 64 || !name.chars().all(is_plain) {
        return Some("is no name for a parameter: it takes letters, digits, _ and -".to_owned());
    }
    let has_type = schema.get("type").is_some() || schema.get("enum").is_some();
    (!has_type).then(|| {
        "takes a JSON Schema, such as {type: string, description: \"The city's name\"}".to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mistake_says_what_is_taken() {
        let commands = serde_json::json!({
            "read_file": { "about": "x", "command": "x" },
            "a__b": { "about": "x", "command": "x" },
            "Weather": { "about": "x", "command": "x", "class": "reply", "timeout": "2h" },
            "w": { "parameters": { "a b": {}, "city": "a string" }, "places": ["here"] },
            "ok": { "about": "x", "command": "x", "class": "network", "parameters": { "a": { "type": "string" } } },
        });
        let commands: Commands = serde_json::from_value(commands).unwrap();
        let said = problems(&commands, &[], || BTreeSet::from(["read_file"]));
        let said = said.iter().map(|(path, message)| format!("{}: {message}", path.join(".")));
        insta::assert_snapshot!(said.collect::<Vec<_>>().join("\n"), @r#"
        tools.commands.Weather: is no name for a tool: it takes 1 to 40 of a-z, 0-9 and _, and begins with a letter
        tools.commands.Weather.class: takes read, write, exec, network, message or public, not "reply"
        tools.commands.Weather.timeout: takes 1s to 1h, not 2h
        tools.commands.a__b: is no name for a tool: two _ in a row stand in names of servers' tools
        tools.commands.read_file: is what a tool of selkie's own is called: take another name
        tools.commands.w.about: is missing: say what the program does, for the model
        tools.commands.w.command: is missing: it takes a program, by a name in PATH or a whole path
        tools.commands.w.parameters.a b: is no name for a parameter: it takes letters, digits, _ and -
        tools.commands.w.parameters.city: takes a JSON Schema, such as {type: string, description: "The city's name"}
        "#);
    }
}
