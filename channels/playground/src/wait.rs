//! Waits until something is there.

use tokio::sync::watch;

/// Looks at once, and after everything that happens.
pub(crate) async fn until<T>(
    mut happened: watch::Receiver<u64>,
    mut look: impl FnMut() -> Option<T>,
) -> T {
    loop {
        happened.mark_unchanged();
        if let Some(found) = look() {
            return found;
        }
        if happened.changed().await.is_err() {
            // A server holds the sender, and the handle of whoever waits the server.
            std::future::pending::<()>().await;
        }
    }
}
