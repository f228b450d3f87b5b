//! Something that can be replaced while others read it: what the config says, as it is now.

use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

/// What stands now; all clones tell the same. Whoever has taken it keeps what they took.
pub struct Live<T: ?Sized>(Arc<RwLock<Arc<T>>>);

impl<T: ?Sized> Live<T> {
    /// This, until something else is put in its place.
    pub fn of(value: impl Into<Arc<T>>) -> Self {
        Self(Arc::new(RwLock::new(value.into())))
    }

    /// Takes what stands now.
    pub fn now(&self) -> Arc<T> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Puts another in its place.
    pub fn put(&self, value: impl Into<Arc<T>>) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = value.into();
    }
}

impl<T: ?Sized> Clone for Live<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T: Default> Default for Live<T> {
    fn default() -> Self {
        Self::of(T::default())
    }
}

/// What it holds may hold a secret.
impl<T: ?Sized> fmt::Debug for Live<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Live")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_clones_tell_the_same_and_what_was_taken_stays() {
        let live = Live::of(1);
        let (clone, before) = (live.clone(), live.now());
        live.put(2);
        assert_eq!((*before, *clone.now()), (1, 2));
    }
}
