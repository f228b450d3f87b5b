//! What was made of some files when they were read last: they are read again, off the runtime's threads, when one looks
//! otherwise.

use std::sync::{Arc, Mutex};

use selkie_channel_core::locked;

use super::{FileError, Files};

/// What was made of the files last.
#[derive(Debug)]
pub struct LastRead<T> {
    kept: Arc<Mutex<Option<KeptReading<T>>>>,
}

#[derive(Debug)]
struct KeptReading<T> {
    /// What each file looked like; nothing for one that was not there.
    looks: Vec<Option<String>>,
    made: Arc<T>,
}

impl<T> Default for LastRead<T> {
    fn default() -> Self {
        Self { kept: Arc::default() }
    }
}

impl<T: Send + Sync + 'static> LastRead<T> {
    /// Returns what is made of these files as they are now. Looking costs a record for each of them.
    ///
    /// # Errors
    /// When one is there and cannot be read.
    pub async fn of(
        &self,
        files: &Arc<Files>,
        names: &[&str],
        make: impl FnOnce(&Files) -> Result<T, FileError> + Send + 'static,
    ) -> Result<Arc<T>, FileError> {
        let looks: Vec<Option<String>> =
            names.iter().map(|name| files.look(name)).collect::<Result<_, _>>()?;
        if let Some(kept) = locked(&self.kept).as_ref().filter(|kept| kept.looks == looks) {
            return Ok(Arc::clone(&kept.made));
        }
        let files = Arc::clone(files);
        let kept = Arc::clone(&self.kept);
        let read = move || {
            let made = Arc::new(make(&files)?);
            // By how they looked before: what has changed meanwhile is read the next time.
            *locked(&kept) = Some(KeptReading { looks, made: Arc::clone(&made) });
            Ok(made)
        };
        let read = tokio::task::spawn_blocking(read).await;
        read.unwrap_or_else(|error| Err(FileError::ended(&error)))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use selkie_domain::clock::SystemClock;

    #[tokio::test]
    async fn files_are_read_again_when_they_look_otherwise() {
        let state = tempfile::tempdir().unwrap();
        let files = Arc::new(Files::new(state.path().to_owned(), Arc::new(SystemClock)));
        let (last, times) = (LastRead::default(), Arc::new(AtomicUsize::new(0)));
        let read = || {
            let times = Arc::clone(&times);
            last.of(&files, &["TODO.md"], move |files| {
                times.fetch_add(1, Ordering::Relaxed);
                Ok(files.read("TODO.md")?.text)
            })
        };
        assert_eq!(*read().await.unwrap(), "");
        assert_eq!(*read().await.unwrap(), "");
        std::fs::write(state.path().join("TODO.md"), "sail").unwrap();
        assert_eq!(*read().await.unwrap(), "sail");
        assert_eq!(*read().await.unwrap(), "sail");
        assert_eq!(times.load(Ordering::Relaxed), 2);
    }
}
