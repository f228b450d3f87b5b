//! Work that is carried to its end, whatever becomes of who asked for it.

use std::future::pending;
use std::panic::resume_unwind;

use crate::flow::desk::Desk;

impl Desk {
    /// Carries a write, and what belongs to it, to the end. A caller may be dropped anywhere (a receiver that
    /// is stopped, a person who hangs up, a tool call whose time is over): what it has claimed is begun all
    /// the same, and what it has stored reaches its courier.
    pub(super) async fn to_the_end<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> T {
        let broken = match self.tracker.spawn(Box::pin(work)).await {
            Ok(done) => return done,
            Err(broken) => broken,
        };
        match broken.try_into_panic() {
            Ok(panic) => resume_unwind(panic),
            // Nobody aborts it: the runtime is going down, and with it whoever waits here.
            Err(_) => pending().await,
        }
    }
}
