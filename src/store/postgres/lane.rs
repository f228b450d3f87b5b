//! One thread with one connection: it runs verbs one after another, again where that helps, and finds out what became
//! of a commit whose answer was lost.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use super::session::{ServerProcess, Session};
use super::shared::ConnectionSettings;
use super::transaction::{Commit, Purpose, Transaction, Turn};
use super::trouble::Trouble;
use crate::engine::{Class, Job, Verb};
use crate::error::{Result, StoreError};

/// So often a verb is run again that somebody else was in the way of.
const AGAIN: u32 = 3;
/// The pauses between two tries to connect.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const MAX_PAUSE: Duration = Duration::from_secs(5);

/// What a lane is asked to do.
pub enum Order {
    /// Run this and commit it.
    Write(Verb),
    /// Run this, which only reads.
    Read(Box<dyn Job>),
    /// End, and say so.
    Close(oneshot::Sender<()>),
}

/// A thread's connection and what it needs to make another one.
pub struct Lane {
    shared: Arc<ConnectionSettings>,
    orders: Receiver<Order>,
    /// Its place among the metrics's; a lane that writes has a row of this number.
    place: usize,
    session: Option<Session>,
    /// Absent for a lane that only reads.
    turn: Option<Turn>,
    former: Option<ServerProcess>,
    pause: Duration,
    next_try: Option<Instant>,
    closing: Option<oneshot::Sender<()>>,
}

/// How one run of a job went.
enum Ran {
    /// It holds.
    Held,
    /// It does not; the job's own error, or one that another run would meet, too.
    Refused(StoreError),
    /// Somebody else was in the way: it is run again, a few times.
    Hindered(StoreError),
    /// The connection was lost before the commit.
    Lost(String),
    /// The connection was lost in the commit.
    Unclear,
}

impl Lane {
    /// Makes a lane. One that writes is given its first turn with its connection.
    pub fn new(
        shared: Arc<ConnectionSettings>,
        orders: Receiver<Order>,
        place: usize,
        session: Option<Session>,
        turn: Option<Turn>,
    ) -> Self {
        let pause = FIRST_PAUSE;
        Self {
            shared,
            orders,
            place,
            session,
            turn,
            former: None,
            pause,
            next_try: None,
            closing: None,
        }
    }

    /// Works until there is nobody left to work for.
    pub fn work(mut self) {
        while self.closing.is_none() {
            let Ok(order) = self.orders.recv() else { break };
            match order {
                Order::Write(verb) => self.write(verb),
                Order::Read(job) => self.read(job),
                Order::Close(done) => self.closing = Some(done),
            }
        }
        if let Some(session) = self.session.take() {
            session.close();
        }
        // Whoever asked for the end may have gone.
        self.closing.map(|done| done.send(()));
    }

    fn write(&mut self, verb: Verb) {
        self.shared.metrics.hold(self.place, Some(verb.came));
        let Verb { class, mut job, .. } = verb;
        let committed = self.carry_out(job.as_mut(), Some(class));
        job.answer(committed);
        self.shared.metrics.hold(self.place, None);
    }

    fn read(&mut self, mut job: Box<dyn Job>) {
        let read = self.carry_out(job.as_mut(), None);
        job.answer(read);
    }

    /// Runs a job until it holds, or cannot.
    fn carry_out(&mut self, job: &mut dyn Job, class: Option<Class>) -> Result<()> {
        let mut tries = 0;
        loop {
            let session = self.session()?;
            let error = match session.run(job, class) {
                Ran::Held => return Ok(()),
                Ran::Refused(error) => return Err(error),
                Ran::Hindered(error) => error,
                Ran::Lost(why) => {
                    self.lost(&why);
                    StoreError::Broken(why)
                }
                Ran::Unclear => {
                    self.lost("the connection was lost in a commit");
                    match self.find_out()? {
                        true => return Ok(()),
                        false => StoreError::Broken("a commit was lost".to_owned()),
                    }
                }
            };
            tries += 1;
            if tries > AGAIN {
                return Err(error);
            }
            self.shared.metrics.reruns.add();
        }
    }

    /// Returns the lane with a connection, made when there is none and it is time to try.
    fn session(&mut self) -> Result<Connection<'_>> {
        self.shared.is_ours()?;
        if self.session.is_none() {
            if self.next_try.is_some_and(|at| Instant::now() < at) {
                self.shared.is_there()?;
            }
            self.connect().map_err(Trouble::into_error)?;
        }
        let Self { shared, session, turn, .. } = self;
        let away = || StoreError::Broken("there is no connection to the database".to_owned());
        let session = session.as_mut().ok_or_else(away)?;
        Ok(Connection { shared, session, turn: turn.as_mut() })
    }

    fn connect(&mut self) -> std::result::Result<(), Trouble> {
        let connected = match &self.turn {
            Some(_) => self.shared.connect_again(self.place, self.former.as_ref()),
            None => self.shared.connect().map(|session| (session, 0)),
        };
        match connected {
            Ok((session, last)) => {
                self.former = Some(session.server.clone());
                self.session = Some(session);
                if let Some(turn) = &mut self.turn {
                    turn.last = last;
                }
                (self.pause, self.next_try) = (FIRST_PAUSE, None);
                self.shared.back();
                Ok(())
            }
            Err(Trouble::Taken) => Err(Trouble::Taken),
            Err(trouble) => {
                let why = self.shared.gone(&trouble.says());
                self.next_try = Some(Instant::now() + self.pause);
                self.pause = (self.pause * 2).min(MAX_PAUSE);
                Err(Trouble::Lost(why))
            }
        }
    }

    fn lost(&mut self, why: &str) {
        tracing::debug!(why, "a connection to the database was lost");
        // It is at once tried again; only when that fails the database is away.
        self.next_try = None;
        if let Some(session) = self.session.take() {
            self.former = Some(session.server);
        }
    }

    /// Finds out whether the commit holds whose answer was lost: as long as it takes, for whoever asked must be told
    /// the truth. What else is asked meanwhile is refused.
    fn find_out(&mut self) -> Result<bool> {
        let before = self.turn.as_ref().map_or(0, |turn| turn.last);
        loop {
            self.shared.is_ours()?;
            if self.connect().is_ok() {
                let after = self.turn.as_ref().map_or(0, |turn| turn.last);
                tracing::warn!(
                    holds = after > before,
                    "the connection to the database was lost during a commit; selkie has found out whether it took effect"
                );
                return Ok(after > before);
            }
            let until = self.next_try.unwrap_or_else(Instant::now);
            if !self.refuse_until(until) {
                return Err(StoreError::Broken(
                    "the store was closed before it was clear whether a commit took effect"
                        .to_owned(),
                ));
            }
        }
    }

    /// Refuses what is asked until then; `false` when it is to end.
    fn refuse_until(&mut self, until: Instant) -> bool {
        loop {
            let away = || {
                self.shared.is_there().err().unwrap_or_else(|| {
                    StoreError::Broken(
                        "nobody knows whether the last commit took effect".to_owned(),
                    )
                })
            };
            match self.orders.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(Order::Write(verb)) => verb.job.answer(Err(away())),
                Ok(Order::Read(job)) => job.answer(Err(away())),
                Ok(Order::Close(done)) => {
                    self.closing = Some(done);
                    return false;
                }
                Err(RecvTimeoutError::Timeout) => return true,
                Err(RecvTimeoutError::Disconnected) => return false,
            }
        }
    }
}

/// A lane that has a connection.
struct Connection<'l> {
    shared: &'l ConnectionSettings,
    session: &'l mut Session,
    turn: Option<&'l mut Turn>,
}

impl Connection<'_> {
    /// Runs a job once.
    fn run(self, job: &mut dyn Job, class: Option<Class>) -> Ran {
        let Self { shared, session, turn } = self;
        let purpose = match (class, turn.as_deref()) {
            (Some(class), Some(turn)) => Purpose::Write(class, turn),
            _ => Purpose::Read,
        };
        let mut transaction = Transaction::new(session, purpose);
        let ran = job.run(&mut transaction);
        let trouble = match (ran, transaction.trouble()) {
            (Ok(()), None) => match transaction.commit() {
                Commit::Done { wrote } => {
                    shared.back();
                    if let Some(turn) = turn
                        && wrote
                    {
                        turn.last += 1;
                        if class == Some(Class::Durable) {
                            shared.metrics.syncs.add();
                        }
                    }
                    return Ran::Held;
                }
                Commit::Unclear => return Ran::Unclear,
                Commit::Not(trouble) => trouble,
            },
            // Nobody is there to take it back; the server does when the connection is closed.
            (_, Some(lost @ (Trouble::Lost(_) | Trouble::ReadOnly(_)))) => {
                drop(transaction);
                lost
            }
            (_, Some(trouble)) => match transaction.roll_back() {
                Ok(()) => trouble,
                Err(worse) => worse,
            },
            (Err(error), None) => match transaction.roll_back() {
                Ok(()) => return Ran::Refused(error),
                Err(worse) => worse,
            },
        };
        match trouble {
            Trouble::Conflict(says) => Ran::Hindered(StoreError::Broken(says)),
            Trouble::Lost(why) | Trouble::ReadOnly(why) => Ran::Lost(why),
            Trouble::Taken => {
                shared.lose(session);
                Ran::Refused(Trouble::Taken.into_error())
            }
            Trouble::Failed(error) => Ran::Refused(error),
        }
    }
}
