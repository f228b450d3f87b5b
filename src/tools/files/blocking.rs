//! Disk work on a thread that may wait, ended when the call is.

use std::io;

use rustix::io::Errno;

use crate::tools::ToolError;
use crate::tools::paths::Stop;
use crate::tools::scope::Scope;

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

/// Says what the disk refused.
pub(super) fn refused(shown: &str, error: &io::Error) -> ToolError {
    let why = match error.kind() {
        io::ErrorKind::NotFound => "it is gone".to_owned(),
        io::ErrorKind::PermissionDenied if error.raw_os_error().is_some() => {
            "permission denied".to_owned()
        }
        io::ErrorKind::StorageFull => "the disk is full: nothing was written".to_owned(),
        io::ErrorKind::ReadOnlyFilesystem => "the disk is read-only".to_owned(),
        _ if error.raw_os_error() == Some(Errno::LOOP.raw_os_error()) => {
            "a link stands in its place".to_owned()
        }
        _ => error.to_string(),
    };
    ToolError::tell(format!("{shown}: {why}"))
}
