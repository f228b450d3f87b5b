//! Two connections that only read, opened when first asked: console, trace, lists.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rusqlite::{Connection, Transaction};
use tokio::sync::Semaphore;

use super::schema;
use super::tx::SqliteTx;
use crate::engine::Job;
use crate::error::Result;

const MAX: usize = 2;
/// A reader that is busy is waited for no longer when the store closes.
const TIMEOUT: Duration = Duration::from_secs(2);

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
        Self { path, free: Arc::default(), permits: Arc::new(Semaphore::new(MAX)) }
    }

    /// Runs a job that reads, on a thread that may block, in one snapshot.
    pub async fn run(&self, job: Box<dyn Job>) {
        // A job that is dropped says that the store is closed.
        let Ok(permit) = Arc::clone(&self.permits).acquire_owned().await else { return };
        let free = Arc::clone(&self.free);
        let path = self.path.clone();
        let reading = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            let conn = free.lock().unwrap_or_else(PoisonError::into_inner).pop();
            match conn.map_or_else(|| schema::open_reader(&path), Ok) {
                Ok(conn) => {
                    snapshot(&conn, job);
                    free.lock().unwrap_or_else(PoisonError::into_inner).push(conn);
                }
                Err(error) => job.answer(Err(error)),
            }
        });
        // It ends in no other way than a panic, of which its job tells.
        drop(reading.await);
    }

    /// Reads no more, and closes what is open.
    pub async fn close(&self) {
        let all = self.permits.acquire_many(MAX as u32);
        let idle = tokio::time::timeout(TIMEOUT, all).await;
        self.permits.close();
        self.free.lock().unwrap_or_else(PoisonError::into_inner).clear();
        drop(idle);
    }
}

fn snapshot(conn: &Connection, mut job: Box<dyn Job>) {
    let read = begin(conn).and_then(|_open| job.run(&mut SqliteTx::on(conn)));
    job.answer(read);
}

fn begin(conn: &Connection) -> Result<Transaction<'_>> {
    Ok(conn.unchecked_transaction()?)
}
