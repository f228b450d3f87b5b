//! What the stories look at besides the chat: the model's requests, the ledger's chains, the control socket.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;

use selkie_playground::Spot;
use selkie_playground::telegram::{BOT_ID, MessageView};
use serde_json::Value;

use crate::support::world::World;

impl World {
    /// A person writes in a place; the text of the first answer.
    pub async fn ask_in(&self, spot: impl Into<Spot>, person: i64, text: &str) -> String {
        let spot = spot.into();
        let message = self.telegram().say(spot, person, text);
        let waiting = self.telegram().wait_for_answer(spot, message);
        self.within(&format!("an answer to {text:?}"), waiting).await.text
    }

    /// Waits until the bot has said something in a place that contains `text`.
    pub async fn hears(&self, spot: impl Into<Spot>, text: &str) -> MessageView {
        let fits = |m: &MessageView| m.from.id == BOT_ID && m.text.contains(text);
        self.within(&format!("{text:?}"), self.telegram().wait_for(spot, fits)).await
    }

    /// Waits until the bot has said more than so many messages in a place.
    pub async fn says_more_than(&self, spot: impl Into<Spot>, messages: usize) {
        let spot = spot.into();
        let more = |_: &MessageView| self.said(spot).len() > messages;
        let what = format!("message {} of the bot", messages + 1);
        self.within(&what, self.telegram().wait_for(spot, more)).await;
    }

    /// What the bot has said in a place, oldest first.
    pub fn said(&self, spot: impl Into<Spot>) -> Vec<MessageView> {
        let mut all = self.telegram().messages(spot);
        all.retain(|m| m.from.id == BOT_ID);
        all
    }

    /// The texts of it.
    pub fn texts(&self, spot: impl Into<Spot>) -> Vec<String> {
        self.said(spot).into_iter().map(|m| m.text).collect()
    }

    /// Waits until the model was asked so often.
    pub async fn asked(&self, times: u64) {
        let waiting = self.playground.model().wait_for_calls(times);
        self.within(&format!("request {times} to the model"), waiting).await;
    }

    /// The requests the model got, as JSON text.
    pub fn prompts(&self) -> Vec<String> {
        self.playground.model().requests().iter().map(|r| r.body.to_string()).collect()
    }

    /// The last of them.
    pub fn last_prompt(&self) -> String {
        self.prompts().pop().expect("the model was asked")
    }

    /// Why requests were refused as malformed: empty when the daemon writes good ones.
    pub fn malformed(&self) -> Vec<String> {
        self.playground.model().requests().into_iter().filter_map(|r| r.refused).collect()
    }

    /// The chains that `selkie trace` tells of a message.
    pub fn trace(&self, message: &str) -> Vec<Value> {
        let (code, out, err) = self.home.run(&["trace", message, "--json"]);
        assert_eq!(code, 0, "selkie trace {message}: {err}");
        serde_json::from_str(&out).expect("trace prints JSON")
    }

    /// What the running daemon says of itself on its control socket.
    pub fn status(&self) -> Value {
        let mut socket = UnixStream::connect(self.home.state().join("selkie.sock"))
            .expect("a daemon listens on its socket");
        socket
            .write_all(b"GET /v1/status HTTP/1.1\r\nhost: selkie\r\nconnection: close\r\n\r\n")
            .expect("the daemon takes a request");
        let mut answer = String::new();
        socket.read_to_string(&mut answer).expect("the daemon answers");
        let (_, body) = answer.split_once("\r\n\r\n").expect("an answer with a body");
        serde_json::from_str(body).unwrap_or_else(|e| panic!("{e} in {answer}"))
    }
}
