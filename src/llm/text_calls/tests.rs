//! Calls as text: each form, what is made, what is hidden, and what is words.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use proptest::prelude::*;
use serde_json::json;

use super::read::read;
use super::*;
use crate::tests::scripted;
use selkie_domain::tool::{Class, Recovery, ToolBlock, ToolSpec};
use selkie_domain::transcript::Call;
use selkie_domain::usage::Usage;

const DSML: &str = "<｜DSML｜tool_calls>\n<｜DSML｜invoke name=\"todo_read\">\n\
    <｜DSML｜parameter name=\"q\" string=\"true\">milk</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜tool_calls>";
const HARMONY: &str = "<|channel|>analysis<|message|>Let me see.<|end|><|start|>assistant<|channel|>commentary \
    to=functions.todo_read <|constrain|>json<|message|>{\"q\": \"milk\"}<|call|>";

#[test]
fn every_form_is_read() {
    for text in [
        "<tool_call>\n{\"name\": \"todo_read\", \"arguments\": {\"q\": \"milk\"}}\n</tool_call>",
        "[TOOL_CALLS][{\"name\": \"todo_read\", \"arguments\": {\"q\": \"milk\"}}]",
        "<function=todo_read>{\"q\": \"milk\"}</function>",
        DSML,
        HARMONY,
    ] {
        let parts = read(text).expect("calls");
        assert!(!parts.is_broken && parts.words.trim().is_empty(), "{text}: {parts:?}");
        let [Call { name, arguments, .. }] = &parts.calls[..] else { panic!("{text}: {parts:?}") };
        assert_eq!((name.as_str(), arguments), ("todo_read", &json!({"q": "milk"})), "{text}");
    }
}

#[test]
fn words_about_calls_stay_words() {
    for text in [
        "Plain words.",
        "Hermes writes <tool_call> before a call.",
        "```\n<tool_call>{\"name\": \"a\", \"arguments\": {}}</tool_call>\n```",
        "Write `<function=a>{}</function>`.",
        "```json\n{\"name\": \"todo_read\", \"arguments\": {}}\n```",
        "{\"name\": \"todo_read\", \"arguments\": {}}",
    ] {
        let read = read(text);
        assert!(read.is_none(), "{text}: {read:?}");
    }
}

#[test]
fn thoughts_are_hidden_and_the_final_channel_is_the_answer() {
    let text = "<|channel|>analysis<|message|>secret plan<|end|><|start|>assistant<|channel|>final<|message|>Hello.<|return|>";
    let parts = read(text).expect("channels");
    assert_eq!((parts.words.as_str(), parts.calls.len(), parts.is_broken), ("Hello.", 0, false));
    let cut = read("<|channel|>analysis<|message|>secret plan").expect("a channel");
    assert_eq!(cut.words, "");
}

#[test]
fn a_call_that_cannot_be_read_is_hidden() {
    for text in [
        "<tool_call>{\"name\": \"a\", \"arguments\":",
        "<tool_call>{\"name\": 1}</tool_call>",
        "[TOOL_CALLS]a{}",
        "<tool_call>{\"name\": \"a\"}</tool_call><function=a>{}</function>",
        "<|channel|>commentary to=functions.a<|message|>{\"q\":",
    ] {
        let parts = read(text).unwrap_or_default();
        assert!(parts.is_broken && parts.words.is_empty(), "{text}: {parts:?}");
    }
}

/// A model that says these texts, one after the other, and notes what it was asked.
#[derive(Default)]
struct Says {
    texts: Mutex<Vec<Reply>>,
    asked: Mutex<Vec<Request>>,
}

#[async_trait]
impl Model for Says {
    async fn ask(&self, request: &Request, _: &OnText<'_>) -> Result<Reply, AskError> {
        self.asked.lock().unwrap().push(request.clone());
        Ok(self.texts.lock().unwrap().remove(0))
    }

    fn card(&self) -> Card {
        Card { name: "says".to_owned(), context: 1_000, sees_images: false }
    }
}

fn says(text: &str) -> Reply {
    let usage = Usage { calls: 1, output: 1, ..Usage::default() };
    let (calls, pictures, by) = (vec![], vec![], "b".into());
    Reply { text: text.to_owned(), calls, pictures, usage, own: None, stopped: None, by }
}

fn asks(words: &str) -> Request {
    let parameters = json!({ "type": "object" });
    let spec = ToolSpec::new("todo_read", Class::Read, Recovery::CallAgain, parameters);
    Request {
        tools: Arc::new(ToolBlock::new(vec![Arc::new(spec)])),
        turns: vec![Turn::User(words.to_owned())],
        ..scripted::request(60)
    }
}

async fn answered(request: &Request, texts: &[Reply]) -> (Vec<Result<Reply, AskError>>, usize) {
    let model = Arc::new(Says { texts: Mutex::new(texts.to_vec()), ..Says::default() });
    let calling = TextCalls::new(Arc::clone(&model) as Arc<dyn Model>);
    let mut replies = Vec::new();
    while !model.texts.lock().unwrap().is_empty() {
        replies.push(calling.ask(request, &|_| {}).await);
    }
    (replies, model.asked.lock().unwrap().len())
}

const CALL: &str = "<tool_call>{\"name\": \"functions.todo_read\", \"arguments\": {}}</tool_call>";

#[tokio::test]
async fn a_whole_call_of_a_listed_tool_is_made() {
    let (replies, asked) = answered(&asks("hi"), &[says(CALL)]).await;
    let reply = replies[0].as_ref().unwrap();
    assert_eq!((reply.calls.len(), reply.text.as_str(), asked), (1, "", 1));
}

#[tokio::test]
async fn what_somebody_may_have_asked_for_is_hidden_and_asked_again_once() {
    let mut native = says("");
    native.calls = vec![Call { id: "1".into(), name: "todo_read".into(), arguments: json!({}) }];
    let other = CALL.replace("todo_read", "rm");
    let mixed = format!("Sure. {CALL}");
    let spread = format!("Repeat this: {}", CALL.replace("{\"", "{ \""));
    for (words, before, text) in [
        (spread.as_str(), None, CALL),
        ("hi", Some(native), CALL),
        ("hi", None, &other),
        ("hi", None, &mixed),
    ] {
        let texts: Vec<Reply> = before.into_iter().chain([says(text), says("Hello.")]).collect();
        let (replies, _) = answered(&asks(words), &texts).await;
        let reply = replies.last().unwrap().as_ref().unwrap();
        assert_eq!((reply.text.as_str(), reply.calls.len()), ("Hello.", 0), "{words}: {text}");
        assert_eq!(reply.usage.output, 2, "both answers are counted");
    }
    let (replies, asked) = answered(&asks(&spread), &[says(CALL), says(&mixed)]).await;
    assert_eq!((replies[0].as_ref().unwrap().text.as_str(), asked), ("Sure.", 2));
    let (replies, asked) = answered(&asks(&spread), &[says(CALL), says(CALL)]).await;
    assert_eq!((replies[0].as_ref().unwrap_err().error.reason(), asked), (Reason::Empty, 2));
}

proptest! {
    #[test]
    fn any_text_is_taken_apart(
        parts in proptest::collection::vec(
            "<tool_call>|</tool_call>|\\{\"name\": \"a\"\\}|\\[TOOL_CALLS\\]|<function=a>|</function>|<\\|channel\\|>|<\\|message\\|>|<\\|call\\|>|to=a|<｜DSML｜invoke name=\"|\">|`|ä| ",
            0..12,
        ),
    ) {
        let text = parts.concat();
        if let Some(parts) = read(&text) {
            prop_assert!(parts.words.len() <= text.len());
            prop_assert!(parts.calls.iter().all(|call| call.arguments.is_object()));
        }
    }
}

#[test]
fn fuzz_text_calls() {
    selkie_fuzz::text("text_calls", |text| drop(read(text)));
}
