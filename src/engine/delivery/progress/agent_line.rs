//! The newest step of an agent, shown with the task that it works for.

/// Shows a step of an agent, or that there is none any more.
type Show = Box<dyn Fn(Option<String>) + Send + Sync>;

/// The line of an agent in the progress of its parent; gone with it.
pub(super) struct AgentLine(Show);

impl AgentLine {
    pub(super) fn of(show: impl Fn(Option<String>) + Send + Sync + 'static) -> Self {
        Self(Box::new(show))
    }

    /// Shows what the agent does now.
    pub(super) fn show(&self, step: &str) {
        (self.0)(Some(step.to_owned()));
    }
}

impl Drop for AgentLine {
    fn drop(&mut self) {
        (self.0)(None);
    }
}
