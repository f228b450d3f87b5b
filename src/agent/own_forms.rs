//! A task's answers in their provider's own form: they go back with the calls they came with, as long as the task runs.

use std::collections::BTreeMap;

use selkie_domain::own_form::OwnForm;
use selkie_store::StepForm;

/// What a run keeps of its answers.
#[derive(Default)]
pub struct OwnForms {
    /// By the step that all calls of an answer have in common.
    pub all: BTreeMap<String, OwnForm>,
    /// Of these, what is not stored yet.
    pub unstored: Vec<StepForm>,
}

impl OwnForms {
    /// Keeps the answer of a step, where the task has room for it.
    pub fn keep(&mut self, step: u32, own: Option<OwnForm>) {
        let Some(own) = own else { return };
        let kept: usize = self.all.values().map(|own| own.json.len()).sum();
        if kept + own.json.len() > OwnForm::MAX {
            tracing::warn!(step, "what a model's provider wants back is more than a task keeps");
            return;
        }
        tracing::debug!(step, bytes = own.json.len(), "what a model's provider wants back is kept");
        let step = format!("c{step}");
        self.unstored.push(StepForm { step: step.clone(), form: own.clone() });
        self.all.insert(step, own);
    }
}
