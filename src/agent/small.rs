//! A model as tools see it: one question, one answer.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use crate::domain::tool::ToolBlock;
use crate::domain::transcript::Turn;
use crate::llm::{Model, Profiles, Request};
use crate::tools::ToolError;
use crate::tools::ports::Small;

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
    ) -> Result<String, ToolError> {
        let request = Request {
            system: instruction.into(),
            turns: vec![Turn::User(text.to_owned())],
            tools: Arc::new(ToolBlock::new(Vec::new())),
            max_output: MAX_OUTPUT,
            deadline: limit,
            cache_key: "small".to_owned(),
            has_next: false,
            pictures: HashMap::new(),
        };
        match self.model.ask(&request, &|_| {}).await {
            Ok(reply) => Ok(reply.text),
            Err(error) => {
                // What a tool answers can be told to anybody.
                tracing::warn!(%error, "a tool's question to the model has no answer");
                Err(ToolError::tell("the model is not available right now"))
            }
        }
    }

    fn named(&self, profile: &str) -> Result<Arc<dyn Small>, Vec<String>> {
        let Some(model) = self.profiles.get(profile) else {
            return Err(self.profiles.keys().cloned().collect());
        };
        Ok(Arc::new(Self::new(Arc::clone(model), Arc::clone(&self.profiles))))
    }
}
