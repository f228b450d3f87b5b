//! What comes in while a task runs, as its drive sees it.

use async_trait::async_trait;

use selkie_domain::facts::Facts;
use selkie_domain::ids::InboxId;
use selkie_domain::transcript::UserMessage;
use selkie_store::SeenTask;

/// What comes in while a task runs.
#[async_trait]
pub trait Inflow: Send + Sync {
    /// Returns what the next model call is to see besides, oldest first; `facts` are the run's own now.
    /// What it does not see, it gets again.
    async fn newer(&self, facts: &Facts) -> Vec<Newer>;

    /// Waits until something joins the request, which has no answer yet.
    async fn joins(&self);

    /// Returns what has joined the request since it was read, oldest first. Its level may be above the run's.
    async fn joined(&self, facts: &Facts) -> Vec<Newer>;
}

/// Something that the next model call is to see besides.
#[derive(Clone, Debug, PartialEq)]
pub struct Newer {
    /// Which row it is.
    pub source: Source,
    /// As the model reads it.
    pub heard: Vec<UserMessage>,
}

/// Which row came in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// Messages of a waiting task: the run answers them, too.
    Task(SeenTask),
    /// The edit of a message that the run answers.
    Edit(InboxId),
}
