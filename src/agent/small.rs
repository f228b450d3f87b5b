//! A model as tools see it: one question, one answer.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use crate::short;
use selkie_domain::share::Share;
use selkie_domain::tokens;
use selkie_domain::usage::Meter;
use selkie_llm::{Model, Profiles, Request};
use selkie_tools::ToolError;
use selkie_tools::ports::Small;

/// Tokens of one answer.
const MAX_OUTPUT: u32 = 4096;

/// A route behind the port, and the profiles it may be asked to be instead.
pub struct SmallModel {
    model: Arc<dyn Model>,
    profiles: Arc<Profiles>,
}

impl SmallModel {
    /// Asks `model`, or one of `profiles` by its name.
    pub fn new(model: Arc<dyn Model>, profiles: Arc<Profiles>) -> Self {
        Self { model, profiles }
    }
}

#[async_trait]
impl Small for SmallModel {
    async fn ask(
        &self,
        instruction: &str,
        text: &str,
        limit: Duration,
        spent: &Meter,
    ) -> Result<String, ToolError> {
        let window = self.model.card().context;
        let answer = Share::of(window).answer.min(u64::from(MAX_OUTPUT));
        let mut text = text.to_owned();
        let room = window.saturating_sub(answer + tokens::of_text(instruction));
        short::text(&mut text, tokens::bytes(room));
        let request = Request {
            max_output: u32::try_from(answer).unwrap_or(MAX_OUTPUT),
            deadline: limit,
            cache_key: "small".to_owned(),
            ..Request::of_words(instruction, text)
        };
        match self.model.ask(&request, &|_| {}).await {
            Ok(reply) => {
                spent.add(reply.usage);
                Ok(reply.text)
            }
            Err(error) => {
                spent.add(error.usage);
                // What a tool answers can be told to anybody.
                tracing::warn!(%error, "a tool's question to the model has no answer");
                Err(ToolError::tell("the model is not available right now"))
            }
        }
    }

    fn lacks(&self) -> Option<&'static str> {
        self.model.card().name.trim().is_empty().then_some("llm model")
    }

    fn named(&self, profile: &str) -> Result<Arc<dyn Small>, Vec<String>> {
        let Some(model) = self.profiles.get(profile) else {
            return Err(self.profiles.keys().cloned().collect());
        };
        Ok(Arc::new(Self::new(Arc::clone(model), Arc::clone(&self.profiles))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use selkie_domain::usage::Usage;
    use selkie_llm::{AskError, Card, ModelError, OnText, Reply};

    /// Answers the first question, and refuses what comes after it.
    #[derive(Default)]
    struct Once(std::sync::atomic::AtomicBool);

    #[async_trait]
    impl Model for Once {
        async fn ask(&self, _: &Request, _: &OnText<'_>) -> Result<Reply, AskError> {
            let usage = Usage { calls: 1, input: 5, ..Usage::default() };
            if self.0.swap(true, std::sync::atomic::Ordering::SeqCst) {
                let error = ModelError::Withheld { why: "no".to_owned() };
                return Err(AskError { error, usage });
            }
            let (text, by) = ("yes".to_owned(), "m".to_owned());
            let (calls, pictures) = (Vec::new(), Vec::new());
            Ok(Reply { text, calls, pictures, usage, own: None, stopped: None, by })
        }

        fn card(&self) -> Card {
            Card { name: "m".to_owned(), context: 1_000, sees_images: false }
        }
    }

    #[tokio::test]
    async fn an_answer_and_a_refusal_are_counted() {
        let small = SmallModel::new(Arc::new(Once::default()), Arc::default());
        let meter = Meter::default();
        assert!(small.ask("do", "it", Duration::from_secs(1), &meter).await.is_ok());
        assert!(small.ask("do", "it", Duration::from_secs(1), &meter).await.is_err());
        assert_eq!(meter.take(), Usage { calls: 2, input: 10, ..Usage::default() });
        assert_eq!(meter.take(), Usage::default());
    }
}
