//! The small model as the config names it now.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use crate::ToolError;
use crate::ports::Small;
use selkie_domain::live::Live;
use selkie_domain::usage::Meter;

/// Whichever is asked now.
#[async_trait]
impl Small for Live<dyn Small> {
    async fn ask(
        &self,
        instruction: &str,
        text: &str,
        limit: Duration,
        spent: &Meter,
    ) -> Result<String, ToolError> {
        self.now().ask(instruction, text, limit, spent).await
    }

    fn lacks(&self) -> Option<&'static str> {
        self.now().lacks()
    }

    fn named(&self, profile: &str) -> Result<Arc<dyn Small>, Vec<String>> {
        self.now().named(profile)
    }
}
