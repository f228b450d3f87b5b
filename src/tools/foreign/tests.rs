//! Programs as tools, from the call that a model writes to what it reads of them.

use std::sync::Arc;
use std::time::Duration;

use selkie_channel_core::Redactor;
use serde_json::{Value, json};
use tokio::time::timeout;

use super::command_tool::command_tools;
use super::settings::{CommandSettings, Commands};
use crate::dispatch::dispatch;
use crate::registry::{Base, Overlay, Registry};
use crate::shell::{Processes, SpokenPrograms};
use crate::testkit::Folders;
use selkie_domain::span::Span;
use selkie_domain::taint::Taint;
use selkie_domain::transcript::{Answer, Call};

/// An end to waiting, not a timing.
const TIMEOUT: Duration = Duration::from_secs(120);

struct Desk {
    folders: Folders,
    settings: CommandSettings,
    processes: Arc<Processes>,
}

impl Desk {
    fn new(script: &str) -> Self {
        let folders = Folders::new();
        folders.put("weather.sh", script);
        let settings = json!({
            "about": "Says what the weather is like.",
            "parameters": {
                "city": { "type": "string" },
                "days": { "type": "integer", "default": 1 },
                "cmd": { "type": "string", "default": "echo" },
            },
            "command": "sh",
            "args": [folders.at("weather.sh")],
            "injected_env_vars": ["WEATHER_KEY"],
        });
        let settings = serde_json::from_value(settings).unwrap();
        Self { folders, settings, processes: Arc::default() }
    }

    async fn call(&self, arguments: Value) -> Answer {
        let env = [("PATH", "/usr/bin:/bin"), ("WEATHER_KEY", "w-1"), ("OTHER_KEY", "o-1")];
        let env = env.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        let processes = Arc::clone(&self.processes);
        let spoken = SpokenPrograms { processes, env: Arc::new(env), sandbox: Arc::default() };
        let commands = Commands::from([("weather".to_owned(), self.settings.clone())]);
        let base = Arc::new(Base::build(command_tools(&commands, &spoken)).unwrap());
        let registry = Registry::view(base, Vec::new(), Overlay::default());
        let call = Call { id: "c1.0".to_owned(), name: "weather".to_owned(), arguments };
        let (scope, redactor) = (self.folders.scope(), Redactor::default());
        let done = dispatch(&registry, &call, &scope, &redactor);
        timeout(TIMEOUT, done).await.expect("it ends").unwrap().answer
    }
}

#[tokio::test]
async fn a_program_reads_its_arguments_and_answers_with_what_it_prints() {
    let desk = Desk::new("read -r line; echo \"$line\"; echo \"$WEATHER_KEY$OTHER_KEY\"; pwd");
    let answer = desk.call(json!({ "city": "Bergen" })).await;
    let work = desk.folders.at("work").to_string_lossy().into_owned();
    let said = format!("{{\"city\":\"Bergen\",\"days\":1,\"cmd\":\"echo\"}}\nw-1\n{work}\n");
    assert_eq!((answer.text, answer.is_error), (said, false));
    assert_eq!(answer.taint, Taint::Raw, "whatever a parameter is called");
}

#[tokio::test]
async fn a_call_that_does_not_fit_starts_nothing() {
    let desk = Desk::new("touch started");
    for (arguments, said) in [
        (json!({}), "city is required"),
        (json!({ "city": 7 }), "city must be a string"),
        (json!({ "city": "Bergen", "days": "2" }), "days must be a whole number"),
        (json!({ "city": "Bergen", "town": "x" }), "unknown parameter town"),
        (json!(["Bergen"]), "the arguments must be one JSON object"),
    ] {
        let answer = desk.call(arguments).await;
        assert!(answer.is_error && answer.text.contains(said), "{}", answer.text);
    }
    assert!(!desk.folders.at("work/started").exists());
}

#[tokio::test]
async fn what_goes_wrong_is_told_with_what_was_printed() {
    let failing = Desk::new("echo half; echo 'no such city' >&2; exit 3");
    let answer = failing.call(json!({ "city": "x" })).await;
    assert_eq!(answer.text, "half\nno such city\nweather ended with exit code 3");
    assert!(answer.is_error);
    let silent = Desk::new("exit 0").call(json!({ "city": "x" })).await;
    assert_eq!((silent.text.as_str(), silent.is_error), ("(no output)", false));
    // It prints more than anybody reads, and it reads nothing.
    let flooding = Desk::new("head -c 5000000 /dev/zero | tr '\\0' x");
    let flooding = flooding.call(json!({ "city": "x" })).await;
    assert!(!flooding.is_error && flooding.text.len() < 100_000, "{}", flooding.text.len());
}

#[tokio::test]
async fn one_that_does_not_end_is_ended_with_all_that_it_started() {
    let mut desk = Desk::new("sleep 300 & echo $! > child; echo begun; wait");
    desk.settings.timeout = Span::seconds(1);
    let answer = desk.call(json!({ "city": "x" })).await;
    assert_eq!(answer.text, "weather was ended: it was not done within 1 second");
    let child = desk.folders.get("work/child");
    let runs = || {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", child.trim()));
        stat.is_ok_and(|stat| !stat.contains(") Z "))
    };
    let ends = async {
        while runs() {
            tokio::task::yield_now().await;
        }
    };
    timeout(TIMEOUT, ends).await.expect("it ends, too");
}
