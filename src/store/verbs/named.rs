//! Names of the schedules that tasks come from, each looked up once.

use std::collections::BTreeMap;

use crate::error::Result;
use crate::spoken::NamedSchedule;
use crate::tx::Tx;
use crate::value::params;
use selkie_domain::cause::Cause;
use selkie_domain::ids::ScheduleId;
use selkie_domain::schedule::Schedule;

/// The names that are known so far.
#[derive(Default)]
pub struct Names(BTreeMap<i64, String>);

impl Names {
    /// Returns the schedule behind a task, by the key of its cause.
    pub fn behind(&mut self, tx: &mut dyn Tx, cause: &str) -> Result<Option<NamedSchedule>> {
        Cause::schedule_in(cause).map(|id| self.of(tx, id)).transpose()
    }

    /// Returns a schedule with its name; without one when it is not kept any more.
    pub fn of(&mut self, tx: &mut dyn Tx, id: ScheduleId) -> Result<NamedSchedule> {
        if let Some(name) = self.0.get(&id.0) {
            return Ok(NamedSchedule { id, name: name.clone() });
        }
        let stored: Option<String> =
            tx.first("SELECT schedule FROM schedule WHERE id = ?1", params![id.0])?;
        let read = stored.and_then(|text| serde_json::from_str::<Schedule>(&text).ok());
        let name = read.map(|schedule| schedule.name()).unwrap_or_default();
        self.0.insert(id.0, name.clone());
        Ok(NamedSchedule { id, name })
    }
}
