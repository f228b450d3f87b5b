//! Has remembered lines embedded beside the messages: as soon as there are new ones, and again after trouble.

use std::sync::Arc;

use crate::delivery::runtime::Runtime;
use selkie_memory::Vectors;

/// Looks for lines that have no vector until the daemon ends.
pub async fn embed_lines(vectors: Arc<Vectors>, runtime: Arc<Runtime>) {
    let ends = &runtime.stop.work;
    // What an earlier start has left.
    vectors.ring();
    let mut again = None;
    loop {
        let waits = async {
            tokio::select! {
                () = vectors.rung() => {}
                () = async {
                    match again {
                        Some(at) => runtime.sleeper.until_or_set(at).await,
                        None => std::future::pending().await,
                    }
                } => {}
            }
        };
        if ends.run_until_cancelled(waits).await.is_none() {
            return;
        }
        match ends.run_until_cancelled(vectors.take_in()).await {
            Some(next) => again = next,
            None => return,
        }
    }
}
