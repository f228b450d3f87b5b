//! Speaking tools of a made-up channel: here and nowhere else, its own files and no others.

use std::os::unix::fs::symlink;

use schemars::JsonSchema;
use selkie_channel_core::{Body, MessageRef, ParameterNames, Redactor};
use serde::Deserialize;
use serde_json::{Value, json};

use super::*;
use crate::args::accept;
use crate::dispatch::dispatch;
use crate::ports::SayOutcome;
use crate::registry::{Overlay, Registry};
use crate::scope::Scope;
use crate::testkit::Folders;
use selkie_domain::transcript::Call;

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only its schema matters")]
struct SendArgs {
    /// The place.
    nest: Option<Id>,
    /// The file.
    path: String,
    /// Its name.
    filename: Option<String>,
    /// Words under it.
    caption: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only its schema matters")]
enum Id {
    Number(i64),
    Text(String),
}

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only its schema matters")]
struct ReactArgs {
    nest: Option<Id>,
    song: Option<Id>,
    emoji: String,
    is_big: Option<bool>,
}

const SEND: SpeakingTool = SpeakingTool {
    name: "bird_send_file",
    description: "Send a file.",
    effect: SpeakingEffect::SendFile,
    parameters: || schemars::schema_for!(SendArgs),
    names: ParameterNames { conversation: Some("nest"), message: None },
    vocabulary: "",
    max_bytes: 10,
    too_big: "birds carry no more",
};
static FILE: SpeakingTool = SEND;
static PHOTO: SpeakingTool =
    SpeakingTool { name: "bird_send_photo", effect: SpeakingEffect::SendPhoto, ..SEND };
static VOICE: SpeakingTool =
    SpeakingTool { name: "bird_send_voice", effect: SpeakingEffect::SendVoice, ..SEND };
static REACT: SpeakingTool = SpeakingTool {
    name: "message_react",
    effect: SpeakingEffect::React,
    parameters: || schemars::schema_for!(ReactArgs),
    names: ParameterNames { conversation: Some("nest"), message: Some("song") },
    vocabulary: "👍 ❤",
    ..SEND
};

async fn call(scope: &Scope, data: &'static SpeakingTool, args: Value) -> String {
    let tool = tool(data, "bird", &Settings::default());
    let args = match accept(&tool.spec().parameters, &args) {
        Ok(accepted) => accepted.args,
        Err(faults) => return faults,
    };
    tool.handler.call(scope, args).await.map_or_else(|e| e.to_string(), |o| o.text)
}

fn said(folders: &Folders) -> String {
    let said = std::mem::take(&mut *folders.sender.said.lock().unwrap());
    let own = folders.at("");
    let lines: Vec<String> = said.iter().map(|b| serde_json::to_string(b).unwrap()).collect();
    lines.join("\n").replace(own.to_str().unwrap(), "…/")
}

#[tokio::test]
async fn files_of_this_conversation_are_sent() {
    let folders = Folders::new();
    folders.put("cache/bird/one/a.txt", "x");
    folders.put("work/b.txt", "x");
    let scope = folders.scope();
    for (data, args) in [
        (&FILE, json!({"path": "file_cache_dir/a.txt", "caption": "here"})),
        (&FILE, json!({"path": "a.txt", "nest": "bird:42", "filename": "../../etc/b\u{7}.txt"})),
        (&FILE, json!({"path": "b.txt", "nest": 42})),
        (&PHOTO, json!({"path": folders.at("work/b.txt"), "caption": "look"})),
        (&VOICE, json!({"path": "b.txt", "nest": "42"})),
    ] {
        assert_eq!(call(&scope, data, args).await, "sent");
    }
    assert_eq!(*folders.sender.sent.lock().unwrap(), ["x"; 5], "the file goes with its words");
    insta::assert_snapshot!(said(&folders), @r#"
    {"kind":"file","path":"…/cache/bird/one/a.txt","name":"a.txt","caption":"here"}
    {"kind":"file","path":"…/cache/bird/one/a.txt","name":"b.txt","caption":null}
    {"kind":"file","path":"…/work/b.txt","name":"b.txt","caption":null}
    {"kind":"photo","path":"…/work/b.txt","caption":"look"}
    {"kind":"voice","path":"…/work/b.txt","name":"b.txt"}
    "#);
}

/// 16.2 #5: the voice and the reaction tool took any chat id.
#[tokio::test]
async fn no_other_conversation_is_spoken_into() {
    let folders = Folders::new();
    folders.put("work/b.txt", "x");
    let scope = folders.scope();
    for (data, args) in [
        (&VOICE, json!({"path": "b.txt", "nest": 43})),
        (&FILE, json!({"path": "b.txt", "nest": "bird:43"})),
        (&REACT, json!({"emoji": "👍", "nest": -42})),
        (&REACT, json!({"emoji": "👍", "nest": "42 or 43"})),
        (&REACT, json!({"emoji": "👍", "nest": [43]})),
    ] {
        let answer = call(&scope, data, args.clone()).await;
        let refused = ["unauthorized nest: ", "invalid nest: ", "nest must be "];
        assert!(refused.iter().any(|r| answer.starts_with(r)), "{args}: {answer}");
    }
    assert_eq!(said(&folders), "");
}

#[tokio::test]
async fn other_files_are_refused() {
    let folders = Folders::new();
    folders.put("work/empty", "");
    folders.put("work/big", "12345678901");
    folders.put("etc/bot.yaml", "x");
    std::fs::hard_link(folders.at("etc/bot.yaml"), folders.at("work/bot.txt")).unwrap();
    folders.put("state/TODO.md", "x");
    folders.put("outside/secret", "x");
    folders.put("cache/bird/two/theirs", "x");
    symlink(folders.at("outside/secret"), folders.at("work/link")).unwrap();
    let mut scope = folders.scope();
    scope.roots.elsewhere = true;
    let mut answers = Vec::new();
    for path in [
        "empty",
        "big",
        "bot.txt",
        "link",
        "none",
        "../outside/secret",
        "/etc/passwd",
        "../cache/bird/two/theirs",
        "file_state_dir/TODO.md",
        "../state/TODO.md",
        ".",
        "a\0b",
        " ",
    ] {
        answers.push(format!("{path:?}: {}", call(&scope, &FILE, json!({"path": path})).await));
    }
    insta::assert_snapshot!(answers.join("\n"), @r#"
    "empty": the file is empty: empty
    "big": file too large to send (>10 bytes): big birds carry no more
    "bot.txt": bird_send_file denied for path: bot.txt (it is the bot's own: no tool touches it)
    "link": refusing to send file outside file_cache_dir: link (write or copy it to file_cache_dir/<path> first)
    "none": no such file: none
    "../outside/secret": refusing to send file outside file_cache_dir: ../outside/secret (write or copy it to file_cache_dir/<path> first)
    "/etc/passwd": refusing to send file outside file_cache_dir: /etc/passwd (write or copy it to file_cache_dir/<path> first)
    "../cache/bird/two/theirs": refusing to send file outside file_cache_dir: ../cache/bird/two/theirs (write or copy it to file_cache_dir/<path> first)
    "file_state_dir/TODO.md": refusing to send file outside file_cache_dir: file_state_dir/TODO.md (write or copy it to file_cache_dir/<path> first)
    "../state/TODO.md": refusing to send file outside file_cache_dir: ../state/TODO.md (write or copy it to file_cache_dir/<path> first)
    ".": path is a directory: .
    "a\0b": invalid path: it contains a NUL character
    " ": path is required
    "#);
    assert_eq!(said(&folders), "");
}

#[tokio::test]
async fn reactions_point_at_a_message_and_keep_to_the_vocabulary() {
    let folders = Folders::new();
    let mut scope = folders.scope();
    assert_eq!(call(&scope, &REACT, json!({"emoji": "👍"})).await, "reacted with 👍");
    let other = json!({"emoji": "❤\u{fe0f}", "song": 9, "is_big": "true"});
    assert_eq!(call(&scope, &REACT, other).await, "reacted with ❤");
    assert_eq!(
        call(&scope, &REACT, json!({"emoji": "🦭"})).await,
        "invalid emoji: 🦭 (takes 👍 ❤)"
    );
    scope.message = None;
    assert_eq!(
        call(&scope, &REACT, json!({"emoji": "👍"})).await,
        "song is required: this task answers no message"
    );
    let named = json!({"emoji": "👍", "nest": 42, "song": "11"});
    assert_eq!(call(&scope, &REACT, named).await, "reacted with 👍");
    insta::assert_snapshot!(said(&folders), @r#"
    {"kind":"reaction","message":"7","emoji":"👍","big":false}
    {"kind":"reaction","message":"9","emoji":"❤","big":true}
    {"kind":"reaction","message":"11","emoji":"👍","big":false}
    "#);
}

#[tokio::test]
async fn the_model_learns_what_became_of_it() {
    let folders = Folders::new();
    let scope = folders.scope();
    let mut answers = Vec::new();
    for spoken in
        [SayOutcome::Queued, SayOutcome::Unclear, SayOutcome::Refused("REACTION_INVALID".into())]
    {
        *folders.sender.next.lock().unwrap() = Some(spoken);
        answers.push(call(&scope, &REACT, json!({"emoji": "👍"})).await);
    }
    insta::assert_snapshot!(answers.join("\n"), @r"
    queued: it is stored and will be sent; do not send it again
    unclear: it may or may not have arrived, and it is not repeated; do not send it again
    refused: REACTION_INVALID
    ");
}

/// Isolation: a thousand tasks at once call the same shared tools, and each speaks and writes only where
/// its own scope says.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_shared_tool_knows_only_the_scope_of_its_call() {
    let base = Arc::new(crate::base::build(&Settings::default(), &Default::default()).unwrap());
    let there = vec![tool(&REACT, "bird", &Settings::default())];
    let registry = Registry::view(base, vec![], Overlay { there, ..Overlay::default() });
    let mut tasks = tokio::task::JoinSet::new();
    for number in 0..1_000 {
        let registry = registry.clone();
        tasks.spawn(async move {
            let folders = Folders::new();
            let mut scope = folders.scope();
            scope.message = Some(MessageRef::new(number.to_string()));
            let todo =
                json!({"todos": [{"id": "1", "title": number.to_string(), "status": "pending"}]});
            for (name, arguments) in [
                ("todo_write", todo),
                ("message_react", json!({"emoji": "👍"})),
                ("write_file", json!({"path": "mine", "content": number.to_string()})),
                ("todo_read", json!({})),
            ] {
                let call = Call { id: "c1.0".into(), name: name.into(), arguments };
                let done = dispatch(&registry, &call, &scope, &Redactor::default()).await.unwrap();
                assert!(!done.answer.is_error, "{}", done.answer.text);
                if name.starts_with("todo") {
                    assert_eq!(done.answer.text, format!("[1] pending: {number}"));
                }
                tokio::task::yield_now().await;
            }
            assert_eq!(folders.get("work/mine"), number.to_string());
            let said = folders.sender.said.lock().unwrap();
            let message = MessageRef::new(number.to_string());
            let reaction = Body::Reaction { message, emoji: "👍".into(), big: false };
            assert_eq!(*said, [reaction]);
        });
    }
    while let Some(task) = tasks.join_next().await {
        task.unwrap();
    }
}
