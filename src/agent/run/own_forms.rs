//! A run's answers in their provider's own form, for whoever drives it.

use std::collections::BTreeMap;

use super::Run;
use crate::domain::own_form::OwnForm;

impl Run {
    /// Takes up what was stored of a run that goes on.
    pub fn take_up(&mut self, own_forms: BTreeMap<String, OwnForm>) {
        self.own.all = own_forms;
    }

    /// Returns the answers in their provider's own form, by the step that all calls of each have in common.
    pub fn own_forms(&self) -> &BTreeMap<String, OwnForm> {
        &self.own.all
    }
}
