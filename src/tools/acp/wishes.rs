//! What an agent asks while it works: what it may, what somebody is asked about, and what is rejected.

use std::collections::VecDeque;
use std::future::pending;
use std::pin::Pin;

use selkie_acp::{Kind, Permission as Wish, Verdict};
use sha2::{Digest as _, Sha256};

use crate::ports::Permission;
use selkie_domain::approval::{Approvers, Request};
use selkie_domain::ids::TaskId;

/// The tool whose calls ask.
pub(super) const NAME: &str = "acp_spawn";
/// Requests of one call that somebody is asked about; what comes after them is rejected.
const MAX_ASKED: usize = 20;
/// Characters of what an agent's tool would be called with that are shown.
const MAX_INPUT: usize = 4_000;

/// What it has asked.
#[derive(Default)]
pub(super) struct Wishes {
    pub(super) waiting: VecDeque<Wish>,
    /// So many were or are asked about.
    asked: usize,
    /// So many were rejected.
    pub(super) rejected: u64,
    /// Why the last of them was.
    pub(super) why: String,
    /// Nobody can be asked.
    nobody: bool,
}

/// Somebody is asked.
pub(super) struct Question {
    pub(super) wish: Wish,
    pub(super) answer: Pin<Box<dyn Future<Output = Permission> + Send>>,
}

/// A step of an agent, in whose call.
pub(super) struct AskedStep<'a> {
    pub(super) name: &'a str,
    pub(super) task: TaskId,
    pub(super) call: &'a str,
}

impl AskedStep<'_> {
    /// Says what it asks for, to whoever can approve it.
    pub(super) fn request(&self, wish: &Wish) -> Request {
        let Self { name, task, call } = self;
        let mut preview = format!("let the agent {name} {}:\n{}", wish.kind.words(), wish.title);
        if !wish.files.is_empty() {
            preview += &format!("\nfiles: {}", wish.files.join(", "));
        }
        let mut unseen = Vec::new();
        if !wish.input.is_null() {
            let input = serde_json::to_string_pretty(&wish.input).unwrap_or_default();
            let shown = first(&input, MAX_INPUT);
            preview += &format!("\ncalled with: {shown}");
            if shown.len() < input.len() {
                unseen.push("the rest of what its tool is called with".to_owned());
            }
        }
        let of = format!("{task} {call} {preview}");
        let hash = Sha256::digest(of).iter().map(|byte| format!("{byte:02x}")).collect();
        let kind = wish.kind.name();
        Request {
            v: Request::VERSION,
            call: (*call).to_owned(),
            tool: NAME.to_owned(),
            words: format!("a step of the agent {name}"),
            preview,
            unseen,
            place: String::new(),
            reasons: vec![format!("asks first: acp.agents.{name}.allow does not name {kind}")],
            of: Approvers::Nobody,
            hash,
        }
    }
}

impl Wishes {
    /// Takes a request: what is to be written at once.
    pub(super) fn take(&mut self, wish: Wish, allowed: &[Kind]) -> String {
        if allowed.contains(&wish.kind) && wish.is_allowable() {
            return wish.answer(Verdict::Allow);
        }
        let why = match () {
            () if self.nobody => self.why.clone(),
            () if !wish.is_allowable() => "it does not take leave for once".to_owned(),
            () if self.asked >= MAX_ASKED => format!("it has asked more than {MAX_ASKED} times"),
            () => {
                self.asked += 1;
                self.waiting.push_back(wish);
                return String::new();
            }
        };
        self.reject(why);
        wish.answer(Verdict::Reject)
    }

    /// What is to be written when somebody has decided about a request. Where nobody can be asked, nobody is asked again.
    pub(super) fn decided(&mut self, wish: &Wish, permission: Permission) -> String {
        let why = match permission {
            Permission::Granted => return wish.answer(Verdict::Allow),
            Permission::Denied(why) => why,
            Permission::Nobody(why) => {
                self.nobody = true;
                why
            }
        };
        let waiting = if self.nobody { std::mem::take(&mut self.waiting) } else { VecDeque::new() };
        let rejected = [wish].into_iter().chain(&waiting);
        self.why = why;
        rejected.inspect(|_| self.rejected += 1).map(|wish| wish.answer(Verdict::Reject)).collect()
    }

    fn reject(&mut self, why: String) {
        self.rejected += 1;
        self.why = why;
    }
}

/// Waits for the answer to a question.
pub(super) async fn answered(question: &mut Option<Question>) -> Permission {
    match question {
        Some(question) => question.answer.as_mut().await,
        None => pending().await,
    }
}

fn first(text: &str, most: usize) -> &str {
    text.char_indices().nth(most).map_or(text, |(at, _)| &text[..at])
}
