//! Two connections that only read, opened when first asked: console, trace, lists.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rusqlite::Connection;
use tokio::sync::Semaphore;

use super::schema;
use crate::store::{Result, StoreError};

const MOST: usize = 2;
/// A reader that is busy is waited for no longer when the store closes.
const PATIENCE: Duration = Duration::from_secs(2);

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
        let gone = || StoreError::Broken("the store is closed".to_owned());
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

    /// Reads no more, and closes what is open.
    pub async fn close(&self) {
        let all = self.permits.acquire_many(MOST as u32);
        let idle = tokio::time::timeout(PATIENCE, all).await;
        self.permits.close();
        self.free.lock().unwrap_or_else(PoisonError::into_inner).clear();
        drop(idle);
    }
}

fn snapshot<T>(conn: &Connection, query: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
    let transaction = conn.unchecked_transaction()?;
    query(&transaction)
}
