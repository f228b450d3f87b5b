//! Disk work on a thread that may wait, ended when the call is.

use crate::ToolError;
use crate::paths::Stop;
pub(super) use crate::paths::refused;
use crate::scope::Scope;

/// Runs `work` where it may wait for the disk. It is told to stop when the call's future is dropped.
pub(super) async fn on_disk<T: Send + 'static>(
    scope: &Scope,
    work: impl FnOnce(&Stop) -> Result<T, ToolError> + Send + 'static,
) -> Result<T, ToolError> {
    let cancel = scope.cancel.child_token();
    let stop = Stop::of(scope, cancel.clone());
    let _ends_with_the_call = cancel.drop_guard();
    match tokio::task::spawn_blocking(move || work(&stop)).await {
        Ok(done) => done,
        Err(failed) => match failed.try_into_panic() {
            // Dispatch tells the model: one place for all tools.
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(_) => Err(ToolError::Abort("the daemon is stopping".to_owned())),
        },
    }
}
