//! Other harnesses' words for tools and parameters, as each tool's spec lists them: taken when a tool is called, never
//! listed.

use serde_json::{Map, Value};

use selkie_domain::tool::{ImpliedValue, OtherParameter, ToolSpec, named_in};
use selkie_domain::transcript::Call;

/// Puts an emoji on a message, whatever the channel.
const REACT: &str = "message_react";
/// How the names of tools end that send a file into a conversation.
const SENDS: [&str; 3] = ["_send_file", "_send_photo", "_send_voice"];
/// Their conversation, where it is a number.
const CHAT: &str = "chat_id";

/// Returns a call in our words. `specs` are the tools that are known here: those keep their names. Both
/// spellings of one parameter with different values stay, for [`clash`] to tell.
pub fn canonical(mut call: Call, specs: &[&ToolSpec]) -> Call {
    if !knows(specs, &call.name) {
        let others = specs.iter().flat_map(|spec| spec.also.names).map(|other| other.called);
        let own = named_in(&call.name, specs.iter().map(|spec| spec.name));
        if let Some(name) = own.or_else(|| named_in(&call.name, others)) {
            name.clone_into(&mut call.name);
        }
        if !knows(specs, &call.name) {
            rename_call(&mut call, specs);
        }
    }
    let Value::Object(args) = &mut call.arguments else { return call };
    if call.name == "patch" && args.contains_key("patch") && !args.contains_key("operation") {
        call.name = "apply_patch".to_owned();
    }
    let spec = specs.iter().find(|spec| spec.name == call.name);
    for spelling in spec.map_or(&[][..], |spec| spec.also.parameters) {
        rename(args, spelling);
    }
    if call.name == REACT || SENDS.iter().any(|end| call.name.ends_with(end)) {
        bare_id(args);
    }
    call
}

fn rename_call(call: &mut Call, specs: &[&ToolSpec]) {
    if is_reaction(&call.name) {
        call.name = REACT.to_owned();
        return;
    }
    let mut names =
        specs.iter().flat_map(|spec| spec.also.names.iter().map(move |other| (spec, other)));
    let Some((spec, other)) = names.find(|(_, other)| other.called == call.name) else { return };
    call.name = spec.name.to_owned();
    let spellings = spec.also.parameters.iter();
    if let (Some(implied), Value::Object(args)) = (&other.implies, &mut call.arguments)
        && !spellings
            .filter(|other| other.ours == implied.parameter)
            .any(|other| args.contains_key(other.called))
    {
        args.entry(implied.parameter).or_insert_with(|| match implied.value {
            ImpliedValue::Flag(flag) => Value::Bool(flag),
            ImpliedValue::Word(word) => word.into(),
        });
    }
}

fn knows(specs: &[&ToolSpec], name: &str) -> bool {
    specs.iter().any(|spec| spec.name == name)
}

/// A channel's own name of the reaction: `<channel>_react`.
fn is_reaction(called: &str) -> bool {
    called != REACT && called.strip_suffix("_react").is_some_and(|channel| !channel.is_empty())
}

/// A conversation's id in our own spelling (`tg:-100123`), where the platform's number is taken.
fn bare_id(args: &mut Map<String, Value>) {
    let Some(Value::String(text)) = args.get(CHAT) else { return };
    let Some((prefix, number)) = text.trim().split_once(':') else { return };
    if prefix.bytes().all(|b| b.is_ascii_lowercase()) && number.parse::<i64>().is_ok() {
        let number = number.to_owned();
        args.insert(CHAT.to_owned(), number.into());
    }
}

/// Says that two spellings of one parameter have different values; `None` when none do.
pub fn clash(call: &Call, spec: &ToolSpec) -> Option<String> {
    let args = call.arguments.as_object()?;
    let OtherParameter { called, ours } = spec
        .also
        .parameters
        .iter()
        .find(|other| args.contains_key(other.called) && args.contains_key(other.ours))?;
    Some(format!(
        "{ours} and {called} are the same parameter with different values: give only {ours}"
    ))
}

/// Says why a parameter is refused that only other harnesses' tools have; `None` when the tool has it.
pub fn absent(call: &Call, spec: &ToolSpec) -> Option<&'static str> {
    let given = |name: &str| call.arguments.get(name).is_some_and(|v| !v.is_null());
    let has = |name: &str| spec.parameters["properties"].get(name).is_some();
    let found = spec.also.absent.iter().find(|other| given(other.called) && !has(other.called));
    found.map(|other| other.why)
}

/// Returns our name of a tool, whatever it is called; a name that is a tool here stays.
pub fn our_name<'a>(called: &'a str, specs: &[&ToolSpec]) -> &'a str {
    if knows(specs, called) {
        return called;
    }
    if is_reaction(called) {
        return REACT;
    }
    let meant = |spec: &&&ToolSpec| spec.also.names.iter().any(|other| other.called == called);
    specs.iter().find(meant).map_or(called, |spec| spec.name)
}

fn rename(args: &mut Map<String, Value>, spelling: &OtherParameter) {
    let OtherParameter { called, ours } = spelling;
    match (args.get(*called), args.get(*ours)) {
        // Nothing said is nothing said twice.
        (Some(Value::Null), _) => drop(args.shift_remove(*called)),
        (Some(_), None | Some(Value::Null)) => {
            if let Some(value) = args.shift_remove(*called) {
                args.insert((*ours).to_owned(), value);
            }
        }
        (Some(a), Some(b)) if a == b => drop(args.shift_remove(*called)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::Settings;
    use crate::base::{ToolDeps, build};
    use selkie_domain::tool::Also;

    fn base() -> Vec<Arc<ToolSpec>> {
        build(&Settings::default(), &ToolDeps::default()).unwrap().specs()
    }

    /// Whether other harnesses have a tool of this name, in our spelling; ours may not be there.
    fn is_known(name: &str) -> bool {
        include_str!("catalogue.txt").lines().any(|line| line == name)
    }

    #[test]
    fn ids_and_names_of_reactions_are_taken_as_channels_write_them() {
        let call = |name: &str, chat: Value| says(name, json!({ "chat_id": chat, "emoji": "x" }));
        let wanted = r#"message_react {"chat_id":"-100123","emoji":"x"}"#;
        assert_eq!(call("message_react", json!("tg:-100123")), wanted);
        assert_eq!(call("bird_react", json!("-100123")), wanted);
        assert_eq!(our_name("bird_react", &[]), "message_react");
        let own = ToolSpec { name: "bird_react", ..(*base()[0]).clone() };
        assert_eq!(our_name("bird_react", &[&own]), "bird_react");
        // What writes the id down keeps its spelling.
        let other = call("todo_update", json!("tg:-100123"));
        assert!(other.contains("tg:-100123"), "{other}");
    }

    fn says(name: &str, arguments: Value) -> String {
        let call = Call { id: "c1.0".into(), name: name.into(), arguments };
        let base = base();
        // Its own name goes before another tool's other one.
        let own = ToolSpec { name: "read", also: Also::default(), ..(*base[0]).clone() };
        let specs: Vec<&ToolSpec> = base.iter().map(|spec| &**spec).chain([&own]).collect();
        let call = canonical(call, &specs);
        let spec = specs.iter().find(|spec| spec.name == call.name);
        let clash = spec.and_then(|spec| clash(&call, spec));
        clash.unwrap_or_else(|| format!("{} {}", call.name, call.arguments))
    }

    #[test]
    fn a_models_own_marks_around_a_name_are_nobodys() {
        for written in [
            "functions.todo_read",
            "default_api:todo_read",
            "tool.todo_read",
            "functions.todo_read:0",
            "todo_read<|channel|>commentary",
        ] {
            assert_eq!(says(written, json!({})), "todo_read {}", "{written}");
        }
        assert_eq!(says("functions.ls", json!({"path": "a"})), says("ls", json!({"path": "a"})));
        for unclear in ["bash.todo_read", "functions.frob", "todo_readx"] {
            assert_eq!(says(unclear, json!({})), format!("{unclear} {{}}"));
        }
    }

    #[test]
    fn other_words_become_ours() {
        let said = [
            says("file_read", json!({"path": "a"})),
            says("ls", json!({"path": "a"})),
            says("edit", json!({"path": "a", "old_text": "b", "new_text": "c"})),
            says("edit", json!({"old_text": "b", "old_string": "b"})),
            says("edit", json!({"old_text": "b", "old_string": "c"})),
            says("exec", json!({"command": "ls", "timeout": 60, "background": true})),
            says("stop_process", json!({"process_id": "1"})),
            says("patch", json!({"patch": "…"})),
            says("patch", json!({"patch": "…", "operation": "create"})),
            says("write", json!("no object")),
            says("read", json!({"a": 1})),
        ];
        insta::assert_snapshot!(said.join("\n"), @r#"
        read_file {"path":"a"}
        list_files {"path":"a","details":true}
        edit_file {"path":"a","old_string":"b","new_string":"c"}
        edit_file {"old_string":"b"}
        old_string and old_text are the same parameter with different values: give only old_string
        bash {"cmd":"ls","timeout_seconds":60,"run_in_background":true}
        process {"process_id":"1","action":"stop"}
        apply_patch {"patch":"…"}
        patch {"patch":"…","operation":"create"}
        write_file "no object"
        read {"a":1}
        "#);
    }

    #[test]
    fn a_name_stands_for_one_tool_of_the_catalogue() {
        let base = base();
        let names: Vec<_> = base.iter().flat_map(|s| s.also.names).map(|n| n.called).collect();
        for (at, name) in names.iter().enumerate() {
            assert!(!is_known(name), "{name} is a tool");
            assert!(!names[..at].contains(name), "{name} stands for two tools");
        }
    }

    #[test]
    fn every_other_name_leads_to_a_parameter() {
        for spec in base() {
            for OtherParameter { called, ours } in spec.also.parameters {
                assert!(spec.parameters["properties"][ours].is_object(), "{}: {ours}", spec.name);
                assert!(spec.parameters["properties"][called].is_null(), "{}: {called}", spec.name);
            }
        }
    }

    #[test]
    fn a_parameter_that_only_others_have_is_refused() {
        let base = base();
        let fetch = base.iter().find(|spec| spec.name == "url_fetch").unwrap();
        let call = |arguments| Call { id: String::new(), name: "url_fetch".into(), arguments };
        let with = call(json!({"url": "x", "auth_profile": "jira"}));
        assert!(absent(&with, fetch).unwrap().starts_with("auth_profile is not available here"));
        let parameters = json!({"properties": {"auth_profile": {}}});
        let later = ToolSpec { parameters, ..(**fetch).clone() };
        assert_eq!(absent(&with, &later), None);
        assert_eq!(absent(&call(json!({"url": "x", "auth_profile": null})), fetch), None);
    }

    proptest! {
        /// Our words are left alone: what is canonical once is canonical for good.
        #[test]
        fn twice_is_once(
            name in prop::sample::select(base().iter().flat_map(|s| s.also.names).map(|n| n.called).chain(["patch", "bash", "x"]).collect::<Vec<_>>()),
            keys in prop::collection::vec(prop::sample::select(vec!["patch", "operation", "old_text", "old_string", "command", "cmd"]), 0..4),
            values in prop::collection::vec(prop_oneof![Just(json!(null)), Just(json!(1)), Just(json!(2))], 4)
        ) {
            let arguments = keys.iter().zip(values).map(|(k, v)| ((*k).to_owned(), v)).collect();
            let call = Call { id: String::new(), name: name.into(), arguments };
            let base = base();
            let specs: Vec<&ToolSpec> = base.iter().map(|spec| &**spec).collect();
            let once = canonical(call, &specs);
            prop_assert_eq!(canonical(once.clone(), &specs), once);
        }
    }
}
