//! Why a verb did nothing, and what a verb answers.

/// How what is broken begins, once, however often it was handed on as words.
const CANNOT: &str = "the store cannot write: ";

/// Why a verb did nothing. Each variant says what the caller does next.
#[derive(Clone, Debug, thiserror::Error)]
pub enum StoreError {
    /// Nothing was written (disk full, read-only, I/O): refuse to acknowledge and to act; try later.
    #[error("{CANNOT}{}", .0.trim_start_matches(CANNOT))]
    Broken(String),
    /// The database was written by a newer selkie: do not start.
    #[error(
        "the database is of version {found}, this selkie ({}) knows {known}: run the newer selkie again, or go back to before \
         the upgrade with {back}; what came since is not in it",
        env!("CARGO_PKG_VERSION")
    )]
    Newer {
        /// The file's version.
        found: i64,
        /// The newest version known here.
        known: i64,
        /// What goes back.
        back: String,
    },
    /// The file is not whole, or not ours: do not start. It says what to do.
    #[error("{0}")]
    Damaged(String),
    /// Another process holds the store: do not start.
    #[error("{0}")]
    Held(String),
    /// The database cannot be reached, or takes no writes for now: wait, and open it again.
    #[error("{0}")]
    Away(String),
    /// A stored row cannot be read: a defect, the row is named.
    #[error("a stored row cannot be read: {0}")]
    Corrupt(String),
}

impl StoreError {
    /// A database of a newer selkie, with no copy beside it.
    pub fn newer(found: i64, known: i64) -> Self {
        let back = "`selkie restore` and a backup that was made before it".to_owned();
        Self::Newer { found, known, back }
    }
}

/// What a verb answers.
pub type Result<T> = std::result::Result<T, StoreError>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_handed_on_as_words_says_it_once() {
        let broken = StoreError::Broken("error connecting".to_owned());
        let again = StoreError::Broken(StoreError::Broken(broken.to_string()).to_string());
        assert_eq!(again.to_string(), "the store cannot write: error connecting");
    }
}
