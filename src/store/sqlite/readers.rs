//! Two connections that only read, opened when first asked: console, trace, lists.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::Connection;
use tokio::sync::Semaphore;

use super::schema;
use crate::store::{Result, StoreError};

const MOST: usize = 2;

/// The readers.
#[derive(Debug)]
pub struct Readers {
    path: PathBuf,
    free: Arc<Mutex<Vec<Connection>>>,
    permits: Arc<Semaphore>,
}

impl Readers {
    /// Knows the file; opens nothing.
    pub fn new(path: PathBuf) -> Self {
        Self { path, free: Arc::default(), permits: Arc::new(Semaphore::new(MOST)) }
    }

    /// Reads, on a thread that may block, in one snapshot.
    ///
    /// # Errors
    /// The query's own, or `Broken` when the file cannot be opened.
    pub async fn run<T, F>(&self, query: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Result<T> + Send + 'static,
    {
        let gone = || StoreError::Broken("the reader has ended".to_owned());
        let permit = Arc::clone(&self.permits).acquire_owned().await.map_err(|_| gone())?;
        let (free, path) = (Arc::clone(&self.free), self.path.clone());
        let reading = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            let conn = free.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let conn = match conn {
                Some(conn) => conn,
                None => schema::open_reader(&path)?,
            };
            let answer = snapshot(&conn, query);
            free.lock().unwrap_or_else(PoisonError::into_inner).push(conn);
            answer
        });
        reading.await.map_err(|_| gone())?
    }
}

fn snapshot<T>(conn: &Connection, query: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
    let transaction = conn.unchecked_transaction()?;
    query(&transaction)
}
