//! What takes the calls of hooks.

use std::sync::Arc;

use crate::flow::Flow;
use crate::intake::webhooks::WebhookIntake;

impl Flow {
    /// Returns what takes calls of hooks.
    pub fn webhooks(&self) -> WebhookIntake {
        WebhookIntake {
            context: self.context.clone(),
            outbox: Arc::clone(&self.outbox),
            intake: Arc::clone(&self.intake),
            timetable: Arc::clone(&self.timetable),
        }
    }
}
