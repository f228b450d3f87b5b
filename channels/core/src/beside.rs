//! Work over long foreign texts, which takes a while: the other tasks of the runtime go on meanwhile.

use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::task::block_in_place;

/// A shorter text is done with before another thread would have begun, bytes.
const LONG: usize = 16 * 1024;

/// Does something with a text of so many bytes.
pub(crate) fn beside<T>(bytes: usize, work: impl FnOnce() -> T) -> T {
    if bytes >= LONG && has_other_threads() { block_in_place(work) } else { work() }
}

/// Outside of a runtime nobody waits, and one of a single thread has no other.
fn has_other_threads() -> bool {
    Handle::try_current().is_ok_and(|found| found.runtime_flavor() == RuntimeFlavor::MultiThread)
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use tokio_util::task::TaskTracker;

    use super::*;

    #[test]
    fn other_tasks_go_on_beside_a_long_text_alone() {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
        let (told, heard) = mpsc::channel();
        let task = runtime.spawn(async move {
            // Only another thread can carry this out while the task's own waits for it.
            TaskTracker::new().spawn(async move { told.send("here").unwrap() });
            beside(LONG, move || heard.recv().unwrap())
        });
        assert_eq!(runtime.block_on(task).unwrap(), "here");
        assert_eq!(beside(LONG, || 1), 1, "outside of a runtime");
    }

    #[tokio::test]
    async fn a_runtime_of_one_thread_does_it_itself() {
        assert_eq!(beside(LONG, || 1), 1);
    }
}
