//! What the calls of a model have used, kept beside the items that they wrote: numbers in one short text.

use crate::error::Result;
use crate::tx::Tx;
use crate::value::params;
use crate::work::WritingCall;
use selkie_domain::usage::{ModelCall, Usage};

/// A call, as it is written beside its item.
#[derive(Debug, Default)]
pub struct Column {
    /// The name of its model.
    pub by: Option<String>,
    /// What follows the number of its model.
    pub rest: Option<String>,
}

/// Returns what is written beside so many items. Where a call was the only one of its task, the task has its numbers.
pub fn columns(items: usize, wrote: &[WritingCall], alone: bool) -> Vec<Column> {
    let mut columns: Vec<Column> = (0..items).map(|_| Column::default()).collect();
    for WritingCall { item, call } in wrote {
        if let Some(column) = columns.get_mut(*item) {
            *column = Column { by: Some(call.by.clone()), rest: Some(rest(call, alone)) };
        }
    }
    columns
}

fn rest(call: &ModelCall, alone: bool) -> String {
    let took = call.took_ms;
    // The task has no number of its thoughts.
    match call.usage.filter(|usage| !alone || usage.thoughts > 0) {
        None => format!(" {took}"),
        Some(Usage { calls, input, cached, output, micro_usd, thoughts }) => {
            let more = match (calls, thoughts) {
                (1, 0) => String::new(),
                (calls, 0) => format!(" {calls}"),
                (calls, thoughts) => format!(" {calls} {thoughts}"),
            };
            format!(" {took} {input} {cached} {output} {micro_usd}{more}")
        }
    }
}

/// Gives the models that wrote something their numbers, where they have none yet.
pub fn name(tx: &mut dyn Tx, columns: &[Column]) -> Result<()> {
    for by in columns.iter().filter_map(|column| column.by.as_deref()) {
        tx.execute_later(
            "INSERT INTO model (name) SELECT CAST(?1 AS TEXT) WHERE NOT EXISTS (SELECT 1 FROM model WHERE name = ?1)
             ON CONFLICT (name) DO NOTHING",
            params![by],
        )?;
    }
    Ok(())
}

/// The names of models.
pub struct Names(Vec<Name>);

struct Name {
    id: i64,
    name: String,
}

impl Names {
    /// Reads them.
    pub fn read(tx: &mut dyn Tx) -> Result<Self> {
        let name = |row: &dyn crate::value::Row| Ok(Name { id: row.get(0)?, name: row.get(1)? });
        tx.all("SELECT id, name FROM model", params![], name).map(Self)
    }

    /// Reads what stands beside an item of a task that has used so much in all; `None` for what cannot be read.
    pub fn call(&self, used: &str, total: Usage) -> Option<ModelCall> {
        let mut words = used.split(' ');
        let id: i64 = words.next()?.parse().ok()?;
        let took_ms = words.next()?.parse().ok()?;
        let numbers: Vec<u64> = words.map(|word| word.parse().ok()).collect::<Option<_>>()?;
        let usage = match numbers.as_slice() {
            [] => Some(total).filter(|total| total.calls == 1),
            [input, cached, output, micro_usd, more @ ..] => {
                let calls = more.first().map_or(Some(1), |calls| u32::try_from(*calls).ok())?;
                let thoughts = more.get(1).copied().unwrap_or_default();
                let [input, cached, output, micro_usd] = [*input, *cached, *output, *micro_usd];
                Some(Usage { calls, input, cached, output, micro_usd, thoughts })
            }
            _ => return None,
        };
        let by = self.0.iter().find(|known| known.id == id).map(|known| known.name.clone());
        Some(ModelCall { by: by.unwrap_or_default(), took_ms, usage })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(usage: Usage) -> WritingCall {
        WritingCall {
            item: 1,
            call: ModelCall { by: "main/m".to_owned(), took_ms: 840, usage: Some(usage) },
        }
    }

    #[test]
    fn a_call_is_read_as_it_was_written() {
        let names = Names(vec![Name { id: 3, name: "main/m".to_owned() }]);
        let once = Usage {
            calls: 1,
            input: 1_204,
            cached: 1_100,
            output: 88,
            micro_usd: 3_100,
            ..Usage::default()
        };
        for (usage, alone, text) in [
            (once, false, " 840 1204 1100 88 3100"),
            (Usage { calls: 3, ..once }, false, " 840 1204 1100 88 3100 3"),
            (once, true, " 840"),
            (Usage { thoughts: 60, ..once }, false, " 840 1204 1100 88 3100 1 60"),
            (Usage { thoughts: 60, ..once }, true, " 840 1204 1100 88 3100 1 60"),
        ] {
            let wrote = call(usage);
            let columns = columns(2, std::slice::from_ref(&wrote), alone);
            assert_eq!((columns[0].by.as_ref(), columns[1].rest.as_deref()), (None, Some(text)));
            assert_eq!(names.call(&format!("3{text}"), usage), Some(wrote.call));
        }
    }

    #[test]
    fn what_is_not_known_is_left_out() {
        let names = Names(Vec::new());
        let several = Usage { calls: 2, ..Usage::default() };
        let of_unknown = names.call("9 840", several).unwrap();
        assert_eq!((of_unknown.by.as_str(), of_unknown.usage), ("", None));
        for damaged in ["", "3", "3 x", "3 840 1", "3 840 1 2 3 x", "three 840"] {
            assert_eq!(names.call(damaged, several), None, "{damaged}");
        }
    }
}
