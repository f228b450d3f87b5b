//! Other harnesses' words for our tools and parameters: taken when a tool is called, never listed.

use serde_json::{Map, Value};

use crate::domain::transcript::Call;

/// Another name of a tool.
struct Alias {
    called: &'static str,
    name: &'static str,
    /// Arguments that the other name means, where the model gives none of its own.
    fixed: &'static [(&'static str, Fixed)],
}

#[derive(Clone, Copy)]
enum Fixed {
    Yes,
    Word(&'static str),
}

const fn plain(called: &'static str, name: &'static str) -> Alias {
    Alias { called, name, fixed: &[] }
}

/// Every other name. Two names never stand for each other, so that one look is enough.
const NAMES: &[Alias] = &[
    plain("file_read", "read_file"),
    plain("read", "read_file"),
    plain("file_write", "write_file"),
    plain("write", "write_file"),
    plain("file_edit", "edit_file"),
    plain("edit", "edit_file"),
    plain("patch_apply", "apply_patch"),
    Alias { called: "ls", name: "list_files", fixed: &[("details", Fixed::Yes)] },
    plain("exec", "bash"),
    Alias {
        called: "read_process_output",
        name: "process",
        fixed: &[("action", Fixed::Word("poll"))],
    },
    Alias { called: "stop_process", name: "process", fixed: &[("action", Fixed::Word("stop"))] },
    plain("ask_user_question", "ask_user"),
    plain("exit_plan_mode", "plan_exit"),
    plain("spawn_agent", "spawn"),
    plain("task", "spawn"),
    plain("sessions_spawn", "spawn"),
    plain("subagents", "list_agents"),
    plain("agents_list", "list_agents"),
];

/// Other names of parameters: tool, the other name, ours.
const PARAMETERS: &[(&str, &str, &str)] = &[
    ("edit_file", "old_text", "old_string"),
    ("edit_file", "new_text", "new_string"),
    ("bash", "command", "cmd"),
    ("bash", "workdir", "cwd"),
    ("bash", "timeout", "timeout_seconds"),
    ("bash", "background", "run_in_background"),
    ("process", "timeout", "wait_seconds"),
    ("web_search", "query", "q"),
    ("web_search", "count", "max_results"),
];

/// Parameters that other harnesses' tools have and ours may not: tool, parameter, why it is refused.
const ABSENT: &[(&str, &str, &str)] = &[(
    "url_fetch",
    "auth_profile",
    "auth_profile is not available here: selkie has no auth profiles. Leave it out, and fetch only what needs no \
     credentials",
)];

/// Puts an emoji on a message, whatever the channel.
const REACT: &str = "message_react";
/// How the names of tools end that send a file into a conversation.
const SENDS: [&str; 3] = ["_send_file", "_send_photo", "_send_voice"];
/// Their conversation, where it is a number.
const CHAT: &str = "chat_id";

/// Returns a call in our words. `knows` says which names are tools here: those keep their names. Both
/// spellings of one parameter with different values stay, for [`clash`] to tell.
pub fn canonical(mut call: Call, knows: impl Fn(&str) -> bool) -> Call {
    if is_reaction(&call.name) && !knows(&call.name) {
        call.name = REACT.to_owned();
    }
    if let Some(alias) = NAMES.iter().find(|a| a.called == call.name).filter(|a| !knows(a.called)) {
        call.name = alias.name.to_owned();
        if let Value::Object(args) = &mut call.arguments {
            for (key, fixed) in alias.fixed {
                args.entry(*key).or_insert_with(|| fixed.value());
            }
        }
    }
    let Value::Object(args) = &mut call.arguments else { return call };
    if call.name == "patch" && args.contains_key("patch") && !args.contains_key("operation") {
        call.name = "apply_patch".to_owned();
    }
    for (other, ours) in spellings(&call.name) {
        rename(args, other, ours);
    }
    if call.name == REACT || SENDS.iter().any(|end| call.name.ends_with(end)) {
        bare_id(args);
    }
    call
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
pub fn clash(call: &Call) -> Option<String> {
    let args = call.arguments.as_object()?;
    let mut both = spellings(&call.name)
        .filter(|(other, ours)| args.contains_key(*other) && args.contains_key(*ours));
    let (other, ours) = both.next()?;
    Some(format!(
        "{ours} and {other} are the same parameter with different values: give only {ours}"
    ))
}

/// Says why a parameter is refused that only other harnesses' tools have; `None` when the tool has it.
pub fn absent(call: &Call, parameters: &Value) -> Option<&'static str> {
    let given = |name: &str| call.arguments.get(name).is_some_and(|v| !v.is_null());
    let has = |name: &str| parameters["properties"].get(name).is_some();
    let found =
        ABSENT.iter().find(|(tool, name, _)| *tool == call.name && given(name) && !has(name));
    found.map(|(.., why)| *why)
}

/// Returns our name of a tool, whatever it is called; a name that is a tool here stays.
pub fn our_name(called: &str, knows: impl Fn(&str) -> bool) -> &str {
    if knows(called) {
        return called;
    }
    if is_reaction(called) {
        return REACT;
    }
    NAMES.iter().find(|a| a.called == called).map_or(called, |a| a.name)
}

/// Lists the other names of a tool.
pub fn names(name: &str) -> Vec<&'static str> {
    NAMES.iter().filter(|a| a.name == name).map(|a| a.called).collect()
}

/// Lists the other names of a tool's parameters: the other name, ours.
pub fn spellings(name: &str) -> impl Iterator<Item = (&'static str, &'static str)> {
    PARAMETERS
        .iter()
        .filter(move |(tool, ..)| *tool == name)
        .map(|(_, other, ours)| (*other, *ours))
}

fn rename(args: &mut Map<String, Value>, other: &str, ours: &str) {
    match (args.get(other), args.get(ours)) {
        // Nothing said is nothing said twice.
        (Some(Value::Null), _) => drop(args.shift_remove(other)),
        (Some(_), None | Some(Value::Null)) => {
            if let Some(value) = args.shift_remove(other) {
                args.insert(ours.to_owned(), value);
            }
        }
        (Some(a), Some(b)) if a == b => drop(args.shift_remove(other)),
        _ => {}
    }
}

impl Fixed {
    fn value(self) -> Value {
        match self {
            Self::Yes => Value::Bool(true),
            Self::Word(word) => word.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

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
        assert_eq!(our_name("bird_react", |_| false), "message_react");
        assert_eq!(our_name("bird_react", |_| true), "bird_react");
        // What writes the id down keeps its spelling.
        let other = call("todo_update", json!("tg:-100123"));
        assert!(other.contains("tg:-100123"), "{other}");
    }

    fn says(name: &str, arguments: Value) -> String {
        let call = Call { id: "c1.0".into(), name: name.into(), arguments };
        let call = canonical(call, |name| name == "task");
        clash(&call).unwrap_or_else(|| format!("{} {}", call.name, call.arguments))
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
            says("read", json!("no object")),
            says("task", json!({"a": 1})),
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
        read_file "no object"
        task {"a":1}
        "#);
    }

    #[test]
    fn a_name_stands_for_one_tool_of_the_catalogue() {
        for alias in NAMES {
            assert!(!is_known(alias.called), "{} is a tool", alias.called);
            assert!(is_known(alias.name), "{} is no tool", alias.name);
            assert_eq!(NAMES.iter().filter(|a| a.called == alias.called).count(), 1);
        }
        assert!(PARAMETERS.iter().all(|(tool, ..)| is_known(tool)));
        assert!(ABSENT.iter().all(|(tool, ..)| is_known(tool)));
    }

    #[test]
    fn a_parameter_that_only_others_have_is_refused() {
        let call = |arguments| Call { id: String::new(), name: "url_fetch".into(), arguments };
        let with = call(json!({"url": "x", "auth_profile": "jira"}));
        let today = json!({"properties": {"url": {}}});
        assert!(absent(&with, &today).unwrap().starts_with("auth_profile is not available here"));
        assert_eq!(absent(&with, &json!({"properties": {"auth_profile": {}}})), None);
        assert_eq!(absent(&call(json!({"url": "x", "auth_profile": null})), &today), None);
        assert_eq!(our_name("exec", |_| false), "bash");
        assert_eq!(our_name("task", |name| name == "task"), "task");
    }

    proptest! {
        /// Our words are left alone: what is canonical once is canonical for good.
        #[test]
        fn twice_is_once(
            name in prop::sample::select(NAMES.iter().map(|a| a.called).chain(["patch", "bash", "x"]).collect::<Vec<_>>()),
            keys in prop::collection::vec(prop::sample::select(vec!["patch", "operation", "old_text", "old_string", "command", "cmd"]), 0..4),
            values in prop::collection::vec(prop_oneof![Just(json!(null)), Just(json!(1)), Just(json!(2))], 4)
        ) {
            let arguments = keys.iter().zip(values).map(|(k, v)| ((*k).to_owned(), v)).collect();
            let call = Call { id: String::new(), name: name.into(), arguments };
            let once = canonical(call, |_| false);
            prop_assert_eq!(canonical(once.clone(), |_| false), once);
        }
    }
}
