//! A transaction on one connection: writes that nobody waits for travel with what is waited for next.

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use futures_util::FutureExt as _;
use tokio::runtime::Runtime;
use tokio_postgres::{Client, Error, Row as DriverRow};

use super::metrics::Metrics;
use super::session::{PreparedStatement, Session};
use super::statement::{Name, ReturnKind, only_reads, spelled};
use super::trouble::Trouble;
use super::value::Answer;
use crate::engine::Class;
use crate::error::{Result, StoreError};
use crate::tx::{Dialect, Each, Lock, Query, Tx};
use crate::value::{OwnedValue, Row, Value};

/// Says that this connection's owner still has the database, and which of its transactions this is. Fails, with all
/// that stands in the transaction, when another selkie has taken over: a taking waits for this row.
const PROOF: &str = "WITH mine AS (UPDATE fence SET turn = ?3 WHERE slot = ?1 AND instance = ?2 RETURNING slot) \
     SELECT 1 / COUNT(*) FROM mine";

/// Locks conversations in the order of their rows, by what names them.
const NAMED: &str = "SELECT 1 FROM conversation WHERE id = ANY (ARRAY[
     (SELECT id FROM conversation WHERE account = ?1 AND key = ?2),
     (SELECT conversation FROM conversation_alias WHERE account = ?1 AND old = ?2)])
     ORDER BY id FOR NO KEY UPDATE";
const OF_TASK: &str = "SELECT 1 FROM conversation WHERE id = ANY (ARRAY[
     (SELECT conversation FROM task WHERE id = ?1),
     (SELECT c.parent FROM task t JOIN conversation c ON c.id = t.conversation WHERE t.id = ?1),
     (SELECT id FROM conversation WHERE account = ?2 AND key = ?3),
     (SELECT conversation FROM conversation_alias WHERE account = ?2 AND old = ?3)])
     ORDER BY id FOR NO KEY UPDATE";
const OF_PART: &str = "SELECT 1 FROM conversation WHERE id = ANY (ARRAY[
     (SELECT conversation FROM part WHERE id = ?1),
     (SELECT t.conversation FROM part p JOIN outbound o ON o.id = p.outbound JOIN task t ON t.id = o.task
      WHERE p.id = ?1)])
     ORDER BY id FOR NO KEY UPDATE";

/// Who writes, and how often it has.
#[derive(Clone, Debug)]
pub struct Turn {
    /// Which connection.
    pub slot: i64,
    /// Whose.
    pub instance: String,
    /// The number of its last transaction that holds.
    pub last: i64,
}

/// What a transaction is for.
#[derive(Clone, Copy, Debug)]
pub enum Purpose<'t> {
    /// It may write, in this turn.
    Write(Class, &'t Turn),
    /// It only reads, all of it as of one moment.
    Read,
}

/// How a commit went.
#[derive(Debug)]
pub enum Commit {
    /// It holds. `wrote`: there was something to write.
    Done {
        /// There was something to write.
        wrote: bool,
    },
    /// It does not hold.
    Not(Trouble),
    /// The connection was lost before the answer came.
    Unclear,
}

/// A transaction that is open, or will be with its first statement.
pub struct Transaction<'s> {
    runtime: &'s Runtime,
    client: &'s Client,
    statements: &'s mut HashMap<Name, PreparedStatement>,
    metrics: &'s Metrics,
    patience: Duration,
    purpose: Purpose<'s>,
    /// What has been sent and not been waited for.
    sent: Vec<PendingWrite<'s>>,
    begun: bool,
    wrote: bool,
    trouble: Option<Trouble>,
}

type Asking<'s> = Pin<Box<dyn Future<Output = std::result::Result<Vec<DriverRow>, Error>> + 's>>;
type PendingWrite<'s> = Pin<Box<dyn Future<Output = std::result::Result<(), Error>> + 's>>;

impl<'s> Transaction<'s> {
    /// Prepares for a transaction; nothing is sent yet.
    pub fn new(session: &'s mut Session, purpose: Purpose<'s>) -> Self {
        let Session { runtime, client, statements, metrics, patience, .. } = session;
        let patience = *patience;
        Self {
            runtime,
            client,
            statements,
            metrics,
            patience,
            purpose,
            sent: Vec::new(),
            begun: false,
            wrote: false,
            trouble: None,
        }
    }

    /// Returns what went wrong, if something did: a verb only knows that it failed.
    pub fn trouble(&mut self) -> Option<Trouble> {
        self.trouble.take()
    }

    /// Commits, with what is still on its way.
    pub fn commit(mut self) -> Commit {
        if let Some(trouble) = self.trouble.take() {
            return Commit::Not(trouble);
        }
        if !self.begun {
            return Commit::Done { wrote: false };
        }
        let client = self.client;
        self.metrics.statements.add();
        let committed = self.wait(async move { client.batch_execute("COMMIT").await });
        match (committed, self.trouble.take()) {
            (Ok(()), _) => Commit::Done { wrote: self.wrote },
            (Err(_), Some(Trouble::Lost(_))) if self.wrote => Commit::Unclear,
            (Err(_), Some(trouble)) => Commit::Not(trouble),
            (Err(error), None) => Commit::Not(Trouble::Failed(error)),
        }
    }

    /// Takes everything back.
    ///
    /// # Errors
    /// When the connection is lost: then the server takes it back.
    pub fn roll_back(mut self) -> std::result::Result<(), Trouble> {
        self.sent.clear();
        if !self.begun {
            return Ok(());
        }
        let client = self.client;
        self.metrics.statements.add();
        let rolled_back = self.wait(async move { client.batch_execute("ROLLBACK").await });
        match (rolled_back, self.trouble.take()) {
            (Ok(()), _) => Ok(()),
            (Err(_), Some(trouble)) => Err(trouble),
            (Err(error), None) => Err(Trouble::Failed(error)),
        }
    }

    /// Waits for what has been sent, and for this, which goes with it.
    fn wait<T>(&mut self, last: impl Future<Output = std::result::Result<T, Error>>) -> Result<T> {
        let mut last = std::pin::pin!(last);
        // The first look at it puts it on its way, behind the others.
        let early = last.as_mut().now_or_never();
        let sent = std::mem::take(&mut self.sent);
        self.metrics.round_trips.add();
        let answers = async move {
            for one in sent {
                one.await?;
            }
            match early {
                Some(answer) => answer,
                None => last.await,
            }
        };
        let patience = self.patience;
        let answer = async { tokio::time::timeout(patience, answers).await };
        match self.runtime.block_on(answer) {
            Ok(answer) => answer.map_err(|e| self.failed(&e)),
            Err(_) => {
                let trouble = Trouble::silent(patience);
                self.trouble.get_or_insert_with(|| trouble.clone());
                Err(trouble.into_error())
            }
        }
    }

    fn failed(&mut self, error: &Error) -> StoreError {
        let trouble = Trouble::of(error);
        self.trouble.get_or_insert_with(|| trouble.clone());
        trouble.into_error()
    }

    /// Puts something on its way.
    fn send(&mut self, what: impl Future<Output = std::result::Result<(), Error>> + 's) {
        let mut what: PendingWrite<'s> = Box::pin(what);
        let early = what.as_mut().now_or_never();
        self.sent.push(match early {
            Some(answer) => Box::pin(async move { answer }),
            None => what,
        });
    }

    /// Makes ready for a statement: the transaction has begun, and who writes has proved that they may.
    fn statement(&mut self, sql: &'static str, asked: ReturnKind) -> Result<PreparedStatement> {
        self.begin();
        let known = self.known(sql, asked)?;
        self.metrics.statements.add();
        if known.only_reads || self.wrote {
            return Ok(known);
        }
        let Purpose::Write(_, turn) = self.purpose else {
            return Err(StoreError::Corrupt(
                "a statement that reads would write: a defect".to_owned(),
            ));
        };
        let proof = self.known(PROOF, ReturnKind::AsWritten)?;
        self.wrote = true;
        self.metrics.statements.add();
        let params = vec![
            OwnedValue::Int(turn.slot),
            OwnedValue::Text(turn.instance.clone()),
            OwnedValue::Int(turn.last + 1),
        ];
        self.send(execute(self.client, proof, params).map(|done| done.map(drop)));
        Ok(known)
    }

    fn begin(&mut self) {
        if self.begun {
            return;
        }
        self.begun = true;
        self.metrics.statements.add();
        let client = self.client;
        let begin = match self.purpose {
            Purpose::Write(Class::Durable, _) => "BEGIN",
            Purpose::Write(Class::Relaxed, _) => "BEGIN; SET LOCAL synchronous_commit = off",
            Purpose::Read => "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY",
        };
        self.send(async move { client.batch_execute(begin).await });
    }

    /// Returns the prepared statement; the first time it is prepared, which waits.
    fn known(&mut self, sql: &'static str, asked: ReturnKind) -> Result<PreparedStatement> {
        let name = Name::of(sql, asked);
        if let Some(known) = self.statements.get(&name) {
            return Ok(known.clone());
        }
        let client = self.client;
        let text = spelled(sql, asked);
        let statement = self.wait(async move { client.prepare(&text).await })?;
        let known = PreparedStatement { statement, only_reads: only_reads(sql) };
        self.statements.insert(name, known.clone());
        Ok(known)
    }

    /// Reads rows, when all that was sent before has been answered.
    fn rows(
        &mut self,
        sql: &'static str,
        asked: ReturnKind,
        params: &[Value<'_>],
    ) -> Result<Vec<DriverRow>> {
        let known = self.statement(sql, asked)?;
        let client = self.client;
        let params = owned(params);
        self.wait(query(client, known, params))
    }
}

fn read(rows: Vec<DriverRow>, each: Each<'_>) -> Result<()> {
    for row in rows {
        if each(&Answer(row))?.is_break() {
            break;
        }
    }
    Ok(())
}

fn text(text: &str) -> Value<'_> {
    Value::Text(text)
}

fn owned(params: &[Value<'_>]) -> Vec<OwnedValue> {
    params.iter().copied().map(OwnedValue::of).collect()
}

async fn execute(
    client: &Client,
    known: PreparedStatement,
    params: Vec<OwnedValue>,
) -> std::result::Result<u64, Error> {
    client.execute_raw(&known.statement, params).await
}

async fn query(
    client: &Client,
    known: PreparedStatement,
    params: Vec<OwnedValue>,
) -> std::result::Result<Vec<DriverRow>, Error> {
    use futures_util::TryStreamExt as _;
    client.query_raw(&known.statement, params).await?.try_collect().await
}

impl Tx for Transaction<'_> {
    fn dialect(&self) -> Dialect {
        Dialect::Postgres
    }

    fn is_alone(&self) -> bool {
        false
    }

    fn execute(&mut self, sql: &'static str, params: &[Value<'_>]) -> Result<u64> {
        let known = self.statement(sql, ReturnKind::AsWritten)?;
        let client = self.client;
        let params = owned(params);
        self.wait(execute(client, known, params))
    }

    fn execute_later(&mut self, sql: &'static str, params: &[Value<'_>]) -> Result<()> {
        let known = self.statement(sql, ReturnKind::AsWritten)?;
        let client = self.client;
        let params = owned(params);
        self.send(execute(client, known, params).map(|done| done.map(drop)));
        Ok(())
    }

    fn insert(&mut self, sql: &'static str, params: &[Value<'_>]) -> Result<Option<i64>> {
        let rows = self.rows(sql, ReturnKind::Id, params)?;
        rows.into_iter().next().map(|row| (&Answer(row) as &dyn Row).get(0)).transpose()
    }

    fn query(&mut self, sql: &'static str, params: &[Value<'_>], each: Each<'_>) -> Result<()> {
        read(self.rows(sql, ReturnKind::AsWritten, params)?, each)
    }

    fn query_all(&mut self, queries: &mut [Query<'_>]) -> Result<()> {
        let mut asked: Vec<Asking<'_>> = Vec::with_capacity(queries.len());
        for one in &*queries {
            let known = self.statement(one.sql, ReturnKind::AsWritten)?;
            let mut rows: Asking<'_> = Box::pin(query(self.client, known, owned(one.params)));
            let early = rows.as_mut().now_or_never();
            asked.push(match early {
                Some(answer) => Box::pin(async move { answer }),
                None => rows,
            });
        }
        let answers = self.wait(async move {
            let mut answers = Vec::with_capacity(asked.len());
            for one in asked {
                answers.push(one.await?);
            }
            Ok(answers)
        })?;
        queries.iter_mut().zip(answers).try_for_each(|(one, rows)| read(rows, one.each))
    }

    fn lock(&mut self, what: Lock<'_>) -> Result<()> {
        match what {
            Lock::Conversation(row) => self.execute_later(
                "SELECT 1 FROM conversation WHERE id = ?1 FOR NO KEY UPDATE",
                &[Value::Int(row)],
            ),
            Lock::Named(id) => {
                self.execute_later(NAMED, &[text(id.account().as_str()), text(id.key())])
            }
            Lock::OfTask(task, also) => {
                let (account, key) = also.map_or(("", ""), |id| (id.account().as_str(), id.key()));
                self.execute_later(OF_TASK, &[Value::Int(task), text(account), text(key)])
            }
            Lock::OfPart(part) => self.execute_later(OF_PART, &[Value::Int(part)]),
            Lock::Lane(row) => self.execute_later(
                "SELECT 1 FROM lane WHERE id = ?1 FOR NO KEY UPDATE",
                &[Value::Int(row)],
            ),
            Lock::Outbound(row) => self.execute_later(
                "SELECT 1 FROM outbound WHERE id = ?1 FOR NO KEY UPDATE",
                &[Value::Int(row)],
            ),
        }
    }
}
