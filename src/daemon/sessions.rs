//! What the command line asks of conversations: which there are, and what was said in one.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::daemon::answered::{Answered, NotDone};
use crate::store::Ledger;
use crate::work::told::{self, Kept};

/// Tasks of one conversation that are told of at most.
const MOST_TASKS: usize = 100_000;

/// Messages of it that no task has answered, at most.
const MOST_UNANSWERED: usize = 100_000;

/// What the bot said there for no task's model, at most.
const MOST_SPOKEN: usize = 100_000;

/// What is asked.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "asked", rename_all = "snake_case")]
pub enum AskedOfSessions {
    /// The conversations, the last active first.
    List {
        /// How many at most.
        limit: usize,
    },
    /// All that is kept of what was said in one.
    Said {
        /// Its id, as the list shows it.
        id: String,
    },
}

/// Answers with a list of rows.
///
/// # Errors
/// When the store cannot be read.
pub async fn carry_out_sessions(
    ledger: &dyn Ledger,
    asked: AskedOfSessions,
) -> anyhow::Result<Answered<Value>> {
    match asked {
        AskedOfSessions::List { limit } => {
            let rows = ledger.conversations(limit).await?;
            let rows = rows.into_iter().map(|row| {
                let key = row.id.key().to_owned();
                serde_json::to_value(row).map(|mut row| {
                    row["key"] = key.into();
                    row
                })
            });
            Ok(Answered::Done(Value::Array(rows.collect::<Result<_, _>>()?)))
        }
        AskedOfSessions::Said { id } => Answered::of(said(ledger, &id).await),
    }
}

/// All that was said in the one conversation of this id.
async fn said(ledger: &dyn Ledger, id: &str) -> Result<Value, NotDone> {
    let rows = ledger.conversations(usize::MAX).await?;
    let named = rows.into_iter().map(|row| row.id);
    let named: Vec<_> = named.filter(|found| found.key() == id || found.full() == id).collect();
    match named.as_slice() {
        [] => Err(NotDone::Refused(format!(
            "there is no conversation {id:?}: `selkie sessions list` shows them"
        ))),
        [one] => {
            let tasks = ledger.said(one, true, MOST_TASKS).await?;
            let unanswered = ledger.unanswered(one, MOST_UNANSWERED).await?;
            let spoken = ledger.spoken(one, MOST_SPOKEN).await?;
            Ok(json!(told::whole(Kept { tasks, unanswered, spoken })))
        }
        many => {
            let all: Vec<String> = many.iter().map(|id| id.full()).collect();
            let all = all.join(" or ");
            Err(NotDone::Refused(format!("{id:?} names several conversations: write {all}")))
        }
    }
}
