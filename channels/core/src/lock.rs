//! Taking a lock that a panic has poisoned: no step of ours leaves what stands under one half done.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Takes a lock, also when somebody has panicked while they held it.
pub fn locked<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_under_a_lock_does_not_close_it() {
        let mutex = Mutex::new(1);
        let panicked = std::thread::scope(|scope| {
            let held = scope.spawn(|| {
                let _held = mutex.lock();
                std::panic::resume_unwind(Box::new("under the lock"));
            });
            held.join().is_err()
        });
        assert!(panicked && mutex.is_poisoned());
        *locked(&mutex) += 1;
        assert_eq!(*locked(&mutex), 2);
    }
}
