//! A restored life: nothing of it begins until its owner lets it.

use crate::flow::Flow;
use crate::intake::passing_over::pass_over;
use selkie_schedule::words::moment;
use selkie_store::{Released, Restored, StoreError, WaitingThen};

/// So many schedules are looked at together.
const AT_ONCE: usize = 256;

/// What was let go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LetGo {
    /// Tasks.
    pub tasks: Released,
    /// Schedules of which a time was passed over.
    pub passed_over: u64,
}

impl Flow {
    /// Returns what this life was restored from, while nobody has let it go on.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn restored(&self) -> Result<Option<Restored>, StoreError> {
        self.outbox.storage.ledger.restored().await
    }

    /// Counts the tasks that have not ended.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn tasks_open(&self) -> Result<u64, StoreError> {
        let counts = self.outbox.storage.ledger.counts().await?;
        Ok(counts.waiting + counts.running + counts.parked)
    }

    /// Counts the messages that wait to be sent, each of their parts for itself.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn to_send(&self) -> Result<u64, StoreError> {
        Ok(self.outbox.storage.ledger.counts().await?.queued)
    }

    /// Counts the schedules of which a time has come.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn schedules_due(&self) -> Result<usize, StoreError> {
        Ok(self.outbox.storage.ledger.due_schedules(self.now(), AT_ONCE).await?.len())
    }

    /// Lets a restored life go on; `None` when nothing holds it. Whoever runs begins it then.
    ///
    /// # Errors
    /// When the store cannot be written: it is held still, and this can be asked again.
    pub async fn let_go(&self, waiting: WaitingThen) -> Result<Option<LetGo>, StoreError> {
        let mut passed_over = 0;
        if waiting == WaitingThen::Drop && self.restored().await?.is_some() {
            passed_over = self.pass_over_due().await?;
        }
        let tasks = self.outbox.storage.ledger.release(waiting).await?;
        Ok(tasks.map(|tasks| LetGo { tasks, passed_over }))
    }

    async fn pass_over_due(&self) -> Result<u64, StoreError> {
        let ledger = &self.outbox.storage.ledger;
        let mut passed = 0;
        loop {
            let before = passed;
            for row in ledger.due_schedules(self.now(), AT_ONCE).await? {
                passed += u64::from(pass_over(&self.firings, &row, self.now()).await?);
            }
            // What is left cannot be read.
            if passed == before {
                return Ok(passed);
            }
        }
    }

    /// Refuses to begin anything of a restored life.
    pub(super) async fn may_begin(&self) -> Result<(), StoreError> {
        match self.restored().await? {
            None => Ok(()),
            Some(restored) => Err(StoreError::Held(
                restored.says(&moment(restored.made_at, self.timetable.book.zone())),
            )),
        }
    }
}
