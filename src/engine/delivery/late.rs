//! Rights to answer that taps brought before the answer was there, by the task.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard};

use selkie_channel_core::ReplyWindow;
use selkie_channel_core::locked;
use tokio::sync::Notify;

use selkie_domain::ids::TaskId;

/// Rights to answer that wait for their answers.
#[derive(Default)]
pub struct Late {
    rights: Mutex<HashMap<TaskId, ReplyWindow>>,
    /// Rung when held answers should be looked at.
    pub held: Notify,
}

impl Late {
    /// The rights, by the task whose answer they are for.
    pub fn rights(&self) -> MutexGuard<'_, HashMap<TaskId, ReplyWindow>> {
        locked(&self.rights)
    }
}
