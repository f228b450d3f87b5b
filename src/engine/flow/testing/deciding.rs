//! A model for the gate that answers from a script.

use std::collections::VecDeque;
use std::sync::Mutex;

use async_trait::async_trait;
use tokio::sync::watch;

use selkie_domain::transcript::Turn;
use selkie_domain::usage::Usage;
use selkie_llm::{self as llm, Model, ModelError, Request};

/// Answers the gate from a script, when it is let; counts the questions.
pub(crate) struct TestDecider {
    pub(crate) script: Mutex<VecDeque<String>>,
    pub(crate) asked: watch::Sender<Vec<String>>,
    pub(crate) open: watch::Sender<bool>,
}

impl Default for TestDecider {
    fn default() -> Self {
        let (asked, open) = (watch::Sender::new(Vec::new()), watch::Sender::new(true));
        Self { script: Mutex::default(), asked, open }
    }
}

#[async_trait]
impl Model for TestDecider {
    async fn ask(
        &self,
        request: &Request,
        _: &llm::OnText<'_>,
    ) -> Result<llm::Reply, llm::AskError> {
        let Some(Turn::User(asked)) = request.turns.last() else { panic!("no question") };
        self.asked.send_modify(|all| all.push(asked.clone()));
        self.open.subscribe().wait_for(|open| *open).await.unwrap();
        let text = self.script.lock().unwrap().pop_front();
        let text = text.ok_or(ModelError::Unusable {
            why: "no script".to_owned(),
            reason: llm::Reason::Key,
        })?;
        let usage = Usage { calls: 1, ..Usage::default() };
        Ok(llm::Reply {
            text,
            calls: Vec::new(),
            pictures: Vec::new(),
            usage,
            own: None,
            stopped: None,
            by: "test".to_owned(),
        })
    }

    fn card(&self) -> llm::Card {
        llm::Card { name: "test".to_owned(), context: 1_000, sees_images: false }
    }
}
