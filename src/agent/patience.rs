//! Tells people when the model's answer takes long: it may be slow, limited, or asked again and again.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::time::{Instant, sleep_until};

use selkie_tools::ports::Progress;

/// So long nothing comes before people are told.
const QUIET: Duration = Duration::from_secs(20);

/// When the model was last heard.
pub struct Patience {
    begun: Instant,
    /// Milliseconds after the beginning.
    heard: AtomicU64,
}

impl Patience {
    /// Begins to wait.
    pub fn begin() -> Self {
        Self { begun: Instant::now(), heard: AtomicU64::new(0) }
    }

    /// Something came.
    pub fn heard(&self) {
        let millis = u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.heard.store(millis, Ordering::Relaxed);
    }

    /// Waits for the answer, and tells when it takes long.
    pub async fn wait<T>(
        &self,
        answer: impl Future<Output = T>,
        progress: &Arc<dyn Progress>,
    ) -> T {
        let mut answer = std::pin::pin!(answer);
        let mut told = false;
        let answer = loop {
            let late = self.last() + QUIET;
            tokio::select! {
                biased;
                answer = &mut answer => break answer,
                () = sleep_until(late), if !told => {
                    told = self.last() + QUIET <= Instant::now();
                    if told {
                        progress.waiting(true);
                    }
                }
            }
        };
        if told {
            progress.waiting(false);
        }
        answer
    }

    fn last(&self) -> Instant {
        self.begun + Duration::from_millis(self.heard.load(Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use tokio::time::sleep;

    use super::*;
    use selkie_domain::plan::Plan;

    #[derive(Default)]
    struct Told(Mutex<Vec<bool>>);

    impl Progress for Told {
        fn plan(&self, _: &Plan) {}
        fn doing(&self, _: &str) {}
        fn waiting(&self, waits: bool) {
            self.0.lock().unwrap().push(waits);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn people_are_told_once_when_nothing_comes_for_twenty_seconds() {
        for (pauses, wanted) in [
            (vec![19], vec![]),
            (vec![15, 15, 15], vec![]),
            (vec![60], vec![true, false]),
            (vec![15, 40, 40], vec![true, false]),
        ] {
            let told = Arc::new(Told::default());
            let progress: Arc<dyn Progress> = told.clone();
            let patience = Patience::begin();
            let answer = async {
                for pause in &pauses {
                    sleep(Duration::from_secs(*pause)).await;
                    patience.heard();
                }
                7
            };
            assert_eq!(patience.wait(answer, &progress).await, 7);
            assert_eq!(*told.0.lock().unwrap(), wanted, "{pauses:?}");
        }
    }
}
