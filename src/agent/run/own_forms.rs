//! A run's answers in their provider's own form, for whoever drives it.

use std::collections::BTreeMap;

use super::Run;
use selkie_domain::own_form::OwnForm;

impl Run {
    /// Takes up what was stored of a run that goes on.
    pub fn take_up(&mut self, own_forms: BTreeMap<String, OwnForm>) {
        let from = self.header.own_from;
        let step = |name: &str| name.strip_prefix('c')?.parse::<u32>().ok();
        self.own.all = own_forms;
        self.own.all.retain(|name, _| step(name).is_some_and(|step| step >= from));
    }

    /// Goes on without the forms so far: the provider has refused the request twice, and they may be why.
    pub(super) fn set_own_forms_aside(&mut self) {
        tracing::warn!(
            "a model's provider gets nothing of its own back for what stands here so far"
        );
        self.header.own_from = self.header.steps + 1;
        self.own.all.clear();
    }

    /// Returns the answers in their provider's own form, by the step that all calls of each have in common.
    pub fn own_forms(&self) -> &BTreeMap<String, OwnForm> {
        &self.own.all
    }
}
