//! A platform in memory: takes what it is told, but for scripted trouble.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::time::Duration;

use async_trait::async_trait;
use selkie_channel_core::{
    Attachment, Body, Delivery, Inbox, ListenEnd, Lookup, MessageRef, Outbound, Part, Receipt,
    Receiver, Sender, Sink,
};
use serde_json::json;
use tokio::io::AsyncWriteExt as _;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::asking::buttons;

/// A platform that takes what it is told, but for scripted trouble.
pub(crate) struct TestPlatform {
    /// Answers to the next calls; then everything is sent.
    pub(crate) trouble: Mutex<VecDeque<Delivery>>,
    /// What arrived: conversation and text.
    pub(crate) arrived: watch::Sender<Vec<(String, String)>>,
    /// How the next times of listening end, at once; then it goes on until it is stopped.
    pub(crate) ends: Mutex<VecDeque<ListenEnd>>,
    /// While it is set nobody is told that anything has arrived.
    pub(crate) silent: watch::Sender<bool>,
}

impl TestPlatform {
    pub(crate) async fn wait_for(&self, count: usize) -> Vec<(String, String)> {
        let mut arrived = self.arrived.subscribe();
        let wait = arrived.wait_for(|all| all.len() >= count);
        let all = tokio::time::timeout(Duration::from_secs(20), wait).await;
        all.unwrap_or_else(|_| panic!("only {:?} arrived", self.arrived.borrow())).unwrap().clone()
    }
}

#[async_trait]
impl Sender for TestPlatform {
    /// `a|b` is two parts; one that begins with `+` follows the one before it.
    fn render(&self, outbound: &Outbound) -> Vec<Part> {
        let file = |path: &str| Part {
            v: Part::VERSION,
            conversation: outbound.conversation.clone(),
            call: json!({ "file": path }),
            fallback: None,
            shown: "[file]".to_owned(),
            repeatable: false,
            asks: false,
            follows: false,
        };
        let markdown = match &outbound.body {
            Body::Text { markdown } => {
                assert!(!markdown.contains("unrenderable"), "asked for");
                markdown.clone()
            }
            Body::File { path, .. } => return vec![file(path)],
            Body::Question(question) => buttons(question),
            Body::Status { markdown } => format!("[status] {markdown}"),
            Body::Revision { message, markdown, question } => {
                let buttons = question.as_ref().map(buttons);
                format!("[{message}] {}", buttons.unwrap_or_else(|| markdown.clone()))
            }
            Body::TapAnswer { handle, text } => format!("[{handle}] {text:?}"),
            Body::Withdrawal { message } => format!("[{message} gone]"),
            _ => return Vec::new(),
        };
        let texts = markdown.split('|').filter(|t| !t.trim().is_empty());
        let part = |text: &str| Part {
            v: Part::VERSION,
            conversation: outbound.conversation.clone(),
            call: json!(text),
            fallback: None,
            shown: text.to_owned(),
            repeatable: false,
            asks: false,
            follows: text.starts_with('+'),
        };
        texts.map(part).collect()
    }

    async fn deliver(&self, part: &Part) -> Delivery {
        if let Some(trouble) = self.trouble.lock().unwrap().pop_front() {
            return trouble;
        }
        let text = match part.call["file"].as_str() {
            Some(path) => std::fs::read_to_string(path).unwrap(),
            None => part.call.as_str().unwrap().to_owned(),
        };
        self.arrived.send_modify(|all| all.push((part.conversation.key().to_owned(), text)));
        let told = self.silent.subscribe().wait_for(|silent| !silent).await.is_ok();
        assert!(told, "the platform lives as long as its sender");
        Delivery::Sent(Receipt {
            message: Some(MessageRef::new("9")),
            note: None,
            ..Receipt::default()
        })
    }

    async fn lookup(&self, _part: &Part) -> Lookup {
        Lookup::Unknown
    }

    /// What says so waits for five seconds.
    fn held(&self, part: &Part) -> Option<Duration> {
        part.shown.contains("held back").then_some(Duration::from_secs(5))
    }

    fn marked(&self, part: &Part) -> Part {
        let text = format!("{} (possibly repeated)", part.call.as_str().unwrap_or(&part.shown));
        Part { call: json!(text), ..part.clone() }
    }

    fn following(&self, part: &Part, before: &MessageRef) -> Part {
        let text = format!("{} to {before}", part.shown);
        Part { call: json!(text), ..part.clone() }
    }
}

#[async_trait]
impl Receiver for TestPlatform {
    async fn listen(&self, _inbox: &dyn Inbox, stop: CancellationToken) -> ListenEnd {
        if let Some(end) = self.ends.lock().unwrap().pop_front() {
            return end;
        }
        stop.cancelled().await;
        ListenEnd::Stopped
    }

    async fn fetch(
        &self,
        attachment: &Attachment,
        _most: u64,
        sink: Sink<'_>,
    ) -> Result<u64, String> {
        if attachment.handle == "gone" {
            return Err("the platform has lost it".to_owned());
        }
        sink.write_all(attachment.handle.as_bytes()).await.map_err(|e| e.to_string())?;
        Ok(attachment.handle.len() as u64)
    }
}
