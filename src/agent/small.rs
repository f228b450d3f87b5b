//! The small model as tools see it: one question, one answer.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use crate::domain::tool::ToolBlock;
use crate::domain::transcript::Turn;
use crate::llm::{Model, Request};
use crate::tools::ToolError;
use crate::tools::ports::Small;

/// Tokens of one answer.
const MAX_OUTPUT: u32 = 4096;

/// The `small` route behind its port.
pub struct SmallModel(
    /// The route.
    pub Arc<dyn Model>,
);

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
        };
        match self.0.ask(&request, &|_| {}).await {
            Ok(reply) => Ok(reply.text),
            Err(error) => Err(ToolError::tell(format!("the small model has no answer: {error}"))),
        }
    }
}
