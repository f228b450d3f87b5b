//! A model that fails as told and then answers, for the decorators' tables.

use std::sync::Mutex;
use std::time::Duration;

use async_trait::async_trait;

use crate::{AskError, Card, Model, ModelError, OnText, Reason, Reply, Request};
use selkie_domain::usage::Usage;

pub(crate) struct Scripted {
    errors: Mutex<Vec<ModelError>>,
    /// How many tokens each request left for its answer.
    rooms: Mutex<Vec<u32>>,
    context: u64,
    hangs: bool,
    /// Tokens that each failure costs.
    spends: u64,
    /// What its answer costs.
    uses: Usage,
}

impl Scripted {
    pub fn failing(mut errors: Vec<ModelError>) -> Self {
        errors.reverse();
        let (errors, rooms) = (Mutex::new(errors), Mutex::default());
        Self { errors, rooms, context: 8_000, hangs: false, spends: 0, uses: Usage::default() }
    }

    pub fn hanging() -> Self {
        Self { hangs: true, ..Self::failing(vec![]) }
    }

    pub fn with_context(self, context: u64) -> Self {
        Self { context, ..self }
    }

    pub fn spending(self, spends: u64) -> Self {
        Self { spends, ..self }
    }

    pub fn using(self, uses: Usage) -> Self {
        Self { uses, ..self }
    }

    pub fn asked(&self) -> usize {
        self.rooms().len()
    }

    pub fn rooms(&self) -> Vec<u32> {
        self.rooms.lock().expect("lock").clone()
    }
}

#[async_trait]
impl Model for Scripted {
    async fn ask(&self, request: &Request, _: &OnText<'_>) -> Result<Reply, AskError> {
        self.rooms.lock().expect("lock").push(request.max_output);
        if self.hangs {
            std::future::pending::<()>().await;
        }
        match self.errors.lock().expect("lock").pop() {
            Some(error) => {
                Err(AskError { error, usage: Usage { output: self.spends, ..Usage::default() } })
            }
            None => Ok(Reply {
                text: "good".to_owned(),
                calls: vec![],
                pictures: vec![],
                usage: self.uses,
                own: None,
                stopped: None,
                by: "scripted".to_owned(),
            }),
        }
    }

    fn card(&self) -> Card {
        Card { name: "scripted".to_owned(), context: self.context, sees_images: false }
    }
}

pub(crate) fn transient(why: &str, retry_after: Option<Duration>) -> ModelError {
    ModelError::Transient { why: why.to_owned(), reason: Reason::Busy, retry_after }
}

pub(crate) fn rejected(why: &str) -> ModelError {
    ModelError::Rejected { why: why.to_owned() }
}

pub(crate) fn too_long(why: &str) -> ModelError {
    ModelError::TooLong { why: why.to_owned() }
}

pub(crate) fn unusable(why: &str) -> ModelError {
    ModelError::Unusable { why: why.to_owned(), reason: Reason::Key }
}

pub(crate) fn withheld(why: &str) -> ModelError {
    ModelError::Withheld { why: why.to_owned() }
}

pub(crate) fn no_room() -> ModelError {
    ModelError::NoRoom { most: 256, may_raise: true }
}

/// A request with one user turn and a deadline in seconds.
pub(crate) fn request(deadline: u64) -> Request {
    Request {
        deadline: Duration::from_secs(deadline),
        cache_key: "tg:1".to_owned(),
        ..Request::of_words("be brief", "hi".to_owned())
    }
}
