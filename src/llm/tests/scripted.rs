//! A model that fails as told and then answers, for the decorators' tables.

use std::sync::Arc;
use std::sync::Mutex;
use std::time::Duration;

use async_trait::async_trait;

use crate::domain::tool::ToolBlock;
use crate::domain::transcript::Turn;
use crate::domain::usage::Usage;
use crate::llm::{Card, Heard, Model, ModelError, Reply, Request};

pub(crate) struct Scripted {
    errors: Mutex<Vec<ModelError>>,
    asked: Mutex<usize>,
    context: u64,
    hangs: bool,
}

impl Scripted {
    pub fn failing(mut errors: Vec<ModelError>) -> Self {
        errors.reverse();
        Self { errors: Mutex::new(errors), asked: Mutex::new(0), context: 8_000, hangs: false }
    }

    pub fn hanging() -> Self {
        Self { hangs: true, ..Self::failing(vec![]) }
    }

    pub fn with_context(self, context: u64) -> Self {
        Self { context, ..self }
    }

    pub fn asked(&self) -> usize {
        *self.asked.lock().expect("lock")
    }
}

#[async_trait]
impl Model for Scripted {
    async fn ask(&self, _: &Request, _: &Heard<'_>) -> Result<Reply, ModelError> {
        *self.asked.lock().expect("lock") += 1;
        if self.hangs {
            std::future::pending::<()>().await;
        }
        match self.errors.lock().expect("lock").pop() {
            Some(error) => Err(error),
            None => Ok(Reply {
                text: "good".to_owned(),
                calls: vec![],
                usage: Usage::default(),
                cut: false,
                by: "scripted".to_owned(),
            }),
        }
    }

    fn card(&self) -> Card {
        Card { name: "scripted".to_owned(), context: self.context, sees_images: false }
    }
}

pub(crate) fn transient(why: &str, retry_after: Option<Duration>) -> ModelError {
    ModelError::Transient { why: why.to_owned(), retry_after }
}

pub(crate) fn rejected(why: &str) -> ModelError {
    ModelError::Rejected { why: why.to_owned() }
}

pub(crate) fn too_long(why: &str) -> ModelError {
    ModelError::TooLong { why: why.to_owned() }
}

pub(crate) fn unusable(why: &str) -> ModelError {
    ModelError::Unusable { why: why.to_owned() }
}

/// A request with one user turn and a deadline in seconds.
pub(crate) fn request(deadline: u64) -> Request {
    Request {
        system: "be brief".into(),
        turns: vec![Turn::User("hi".to_owned())],
        tools: Arc::new(ToolBlock::new(vec![])),
        max_output: 256,
        deadline: Duration::from_secs(deadline),
        cache_key: "tg:1".to_owned(),
        pictures: Default::default(),
    }
}
