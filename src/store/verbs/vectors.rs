//! What pieces of memory mean: kept beside them by file and digest, and compared with what a question means in one pass
//! over a subject, a page at a time.

use std::ops::ControlFlow;

use super::remembered::piece;
use crate::error::Result;
use crate::memory::{BarePiece, NearPiece, PieceVector, SoughtPieces, SoughtVector};
use crate::tx::Tx;
use crate::value::{Row, params};

/// So many vectors of one subject are compared, the newest.
const MAX: usize = 50_000;
/// So many bytes of them: as many as 50,000 of 1,536 numbers have.
const MAX_BYTES: usize = 50_000 * 1_536 * size_of::<f32>();
/// So many are read at once: an engine may hold all rows of an answer.
const PAGE: i64 = 1_000;

/// Takes away what stands for no piece of a file any more.
pub fn drop_stale(tx: &mut dyn Tx, path: &str) -> Result<()> {
    tx.execute_later(
        "DELETE FROM memory_vector WHERE path = ?1
             AND digest NOT IN (SELECT digest FROM memory_piece WHERE path = ?1)",
        params![path],
    )
}

/// Takes away all of a file.
pub fn drop_all(tx: &mut dyn Tx, path: &str) -> Result<()> {
    tx.execute_later("DELETE FROM memory_vector WHERE path = ?1", params![path])
}

/// Lists pieces without a vector, the newest first.
pub fn bare(tx: &mut dyn Tx, sought: &SoughtPieces) -> Result<Vec<BarePiece>> {
    tx.all(
        "SELECT p.id, p.path, p.digest, p.section, p.text FROM memory_piece p WHERE p.id < ?1 AND NOT EXISTS (
             SELECT 1 FROM memory_vector v WHERE v.path = p.path AND v.digest = p.digest AND v.model = ?2)
         ORDER BY p.id DESC LIMIT ?3",
        params![sought.before, &sought.model, sought.most],
        |row| {
            Ok(BarePiece {
                id: row.get(0)?,
                path: row.get(1)?,
                digest: row.get(2)?,
                section: row.get(3)?,
                text: row.get(4)?,
            })
        },
    )
}

/// Keeps vectors of what is still there; returns how many.
pub fn keep(tx: &mut dyn Tx, model: &str, vectors: &[PieceVector]) -> Result<usize> {
    let mut kept = 0;
    for PieceVector { path, digest, vector } in vectors {
        // Its line may have been forgotten while the server was asked.
        let subject: Option<i64> = tx.first(
            "SELECT f.subject FROM memory_piece p CROSS JOIN memory_file f ON f.path = p.path
             WHERE p.path = ?1 AND p.digest = ?2 LIMIT 1",
            params![path, digest],
        )?;
        let Some(subject) = subject else { continue };
        let bytes = vector.bytes();
        tx.execute_later(
            "INSERT INTO memory_vector (subject, path, digest, model, vector) VALUES (?1, ?2, ?3, ?4, ?5)
             ON CONFLICT (path, digest) DO UPDATE SET subject = excluded.subject, model = excluded.model,
                 vector = excluded.vector",
            params![subject, path, digest, model, bytes.as_slice()],
        )?;
        kept += 1;
    }
    Ok(kept)
}

/// How many numbers the newest vector of a model has.
pub fn width(tx: &mut dyn Tx, model: &str) -> Result<Option<usize>> {
    let bytes: Option<i64> = tx.first(
        "SELECT LENGTH(vector) FROM memory_vector WHERE model = ?1 ORDER BY id DESC LIMIT 1",
        params![model],
    )?;
    Ok(bytes.and_then(|bytes| usize::try_from(bytes).ok()).map(|bytes| bytes / size_of::<f32>()))
}

/// Finds the nearest pieces.
pub fn near(tx: &mut dyn Tx, sought: &SoughtVector) -> Result<Vec<NearPiece>> {
    let mut best = Best { all: Vec::new(), most: sought.most };
    for subject in &sought.subjects {
        let known = "SELECT id FROM memory_subject WHERE name = ?1";
        if let Some(subject) = tx.first(known, params![subject])? {
            compare(tx, subject, sought, &mut best)?;
        }
    }
    let mut found = Vec::with_capacity(best.all.len());
    for Near { id, cosine } in best.all {
        let read = tx.all(
            "SELECT p.id, p.path, p.first, p.last, p.section, p.text, p.trust, p.level, p.words, p.digest
             FROM memory_vector v CROSS JOIN memory_piece p ON p.path = v.path AND p.digest = v.digest
             WHERE v.id = ?1 ORDER BY p.id LIMIT 1",
            params![id],
            piece,
        )?;
        found.extend(read.into_iter().map(|piece| NearPiece { piece, cosine }));
    }
    Ok(found)
}

/// Compares the vectors of one subject, the newest first.
fn compare(tx: &mut dyn Tx, subject: i64, sought: &SoughtVector, best: &mut Best) -> Result<()> {
    let mut before = i64::MAX;
    let mut seen = 0;
    let mut bytes = 0;
    while seen < MAX && bytes < MAX_BYTES {
        let from = before;
        let mut page = 0;
        let mut each = |row: &dyn Row| {
            let id = row.get(0)?;
            let model = row.get::<&str>(1)?;
            let vector = row.get::<&[u8]>(2)?;
            (before, page, bytes) = (id, page + 1, bytes + vector.len());
            if model == sought.model
                && let Some(cosine) = sought.vector.cosine(vector)
            {
                best.take(Near { id, cosine });
            }
            Ok(ControlFlow::Continue(()))
        };
        tx.query(
            "SELECT id, model, vector FROM memory_vector WHERE subject = ?1 AND id < ?2 ORDER BY id DESC LIMIT ?3",
            params![subject, from, PAGE],
            &mut each,
        )?;
        seen += page;
        if page == 0 {
            break;
        }
    }
    Ok(())
}

/// The nearest so far, the nearest first.
struct Best {
    all: Vec<Near>,
    most: usize,
}

#[derive(Clone, Copy)]
struct Near {
    id: i64,
    cosine: f32,
}

impl Best {
    fn take(&mut self, one: Near) {
        let at = self.all.partition_point(|other| other.cosine >= one.cosine);
        if at < self.most {
            self.all.insert(at, one);
            self.all.truncate(self.most);
        }
    }
}
