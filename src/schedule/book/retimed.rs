//! New zone data: the next times of all schedules are set anew, once.

use super::{Book, BookError, BookParts};
use crate::turn::{anew, plan};
use crate::zone::RULES;
use selkie_domain::ids::ScheduleId;
use selkie_store::Change;

/// So many are read at a time.
const PAGE: usize = 500;

impl Book {
    /// Sets the next times anew when they were set by other zone data; returns how many are others now. A crash in
    /// between begins it again, which changes nothing.
    ///
    /// # Errors
    /// When the store does not answer.
    pub async fn follow_zone_data(&self) -> Result<u64, BookError> {
        let BookParts { ledger, clock, .. } = &self.parts;
        if ledger.zone_data().await?.as_deref() == Some(RULES) {
            return Ok(0);
        }
        let mut after = ScheduleId(0);
        let mut changed = 0;
        loop {
            let rows = ledger.active_after(after, PAGE).await?;
            let Some(last) = rows.last() else { break };
            after = last.id();
            for row in rows {
                let Ok(plan) = plan(&row.schedule) else { continue };
                let next_at = anew(&row, &plan, clock.now());
                if next_at != row.next_at {
                    ledger.reschedule(row.version, Change::Retime { next_at }).await?;
                    changed += 1;
                }
            }
        }
        ledger.note_zone_data(RULES).await?;
        Ok(changed)
    }
}
