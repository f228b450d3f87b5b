//! The handle of the emulated X: faults, tokens that end, and what stands on the timeline.

use std::sync::Arc;

use serde_json::{Value, json};

use super::record::{XCall, XPost};
use super::{Server, media, post};
use crate::faults::Fault;
use crate::wait::until;

/// Looks at the emulated X and makes its trouble.
#[derive(Clone)]
pub struct XPlatform {
    server: Arc<Server>,
}

impl XPlatform {
    pub(crate) fn new(server: Arc<Server>) -> Self {
        Self { server }
    }

    /// Tells of everything that happens.
    pub(crate) fn changes(&self) -> tokio::sync::watch::Receiver<u64> {
        self.server.happened.subscribe()
    }

    /// The posts of the timeline, oldest first.
    pub fn posts(&self) -> Vec<XPost> {
        self.server.world().posts.clone()
    }

    /// Takes every post away, as the account's owner does in the app.
    pub fn clear_posts(&self) {
        self.server.world().posts.clear();
    }

    /// The calls that arrived, oldest first.
    pub fn calls(&self) -> Vec<XCall> {
        self.server.world().calls.clone()
    }

    /// The calls of one method, oldest first.
    pub fn calls_of(&self, method: &str) -> Vec<XCall> {
        self.calls().into_iter().filter(|call| call.method == method).collect()
    }

    /// Posts by hand, as the account's owner does in the app; gives the id, or X's words of refusal.
    ///
    /// # Errors
    /// What X refuses.
    pub fn post_by_hand(&self, text: &str) -> Result<String, String> {
        let now = self.server.now();
        let made = {
            let mut world = self.server.world();
            let made = post::make(&mut world, &json!({ "text": text }), now);
            if let (Ok(_), Some(post)) = (&made, world.posts.last_mut()) {
                post.by_hand = true;
            }
            made
        };
        self.server.tell();
        match made {
            Ok(answer) => Ok(answer["data"]["id"].as_str().unwrap_or_default().to_owned()),
            Err(refusal) => Err(refusal.body["detail"].as_str().unwrap_or_default().to_owned()),
        }
    }

    /// Keeps a picture that another account has uploaded; gives its id.
    pub fn upload_by_another(&self) -> String {
        let now = self.server.now();
        media::of_another(&mut self.server.world(), now)
    }

    /// Plans a fault; methods are named as in [`XCall`].
    pub fn fault(&self, fault: Fault) {
        self.server.faults.add(fault);
    }

    /// Answers the next call of a method that goes well with this instead: X of another day, or whoever stands
    /// before it.
    pub fn answer_next(&self, method: &str, answer: Value) {
        self.server.world().answers.push((method.to_owned(), answer));
    }

    /// Forgets every planned fault.
    pub fn clear_faults(&self) {
        self.server.faults.clear();
    }

    /// Ends every access token that was given so far.
    pub fn end_access_tokens(&self) {
        self.server.world().access.clear();
    }

    /// The one refresh token that works now.
    pub fn refresh_token(&self) -> String {
        self.server.world().refresh.clone()
    }

    /// Waits until something is there; looks at once and after everything that happens.
    pub async fn wait_until<T>(&self, look: impl Fn(&Self) -> Option<T>) -> T {
        until(self.changes(), || look(self)).await
    }
}
