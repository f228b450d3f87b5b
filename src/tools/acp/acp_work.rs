//! An agent at work on one task: what it writes is read, its requests are passed on, and it ends when it is to.

use std::sync::Arc;
use std::time::Duration;

use selkie_acp::{AcpError, Event, Kind, LineReader, Permission as Wish, Session, Verdict};
use selkie_guard::visible::{one_line, visible};
use selkie_sandbox::State;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;

use super::wishes::{AskedStep, Question, Wishes, answered};
use crate::Output;
use crate::ports::{Permissions, Progress};
use crate::shell::Speaker;
use selkie_domain::count::counted;
use selkie_domain::ids::TaskId;
use selkie_domain::span::Span;
use selkie_domain::taint::Taint;

/// How long an agent has between being called off and being ended.
pub(super) const CANCEL_GRACE: Duration = Duration::from_secs(5);
/// How long an agent may take to read a line.
const READS_WITHIN: Duration = Duration::from_secs(10);
/// The rest between two lines that tell how far it is.
const REST: Duration = Duration::from_millis(500);
/// Bytes of one read.
const PIECE: usize = 16 * 1024;
/// Characters of its complaints in the log and, the last of them, in an answer.
const MAX_LOGGED: usize = 2_000;
const MAX_QUOTED: usize = 400;

/// An agent at work.
pub(super) struct AgentWork {
    /// The name it is called by.
    pub(super) name: String,
    /// What it may do without asking.
    pub(super) allowed: Vec<Kind>,
    pub(super) limit: Span,
    /// Not after this moment, but for the time in which somebody is asked.
    pub(super) deadline: Instant,
    pub(super) session: Session,
    pub(super) speaker: Speaker,
    pub(super) task: TaskId,
    pub(super) call: String,
    pub(super) permissions: Permissions,
    pub(super) progress: Arc<dyn Progress>,
}

/// How the work ended.
#[derive(Debug)]
enum WorkEnd {
    /// By itself, for this reason.
    Done(String),
    /// Its output has ended.
    Gone,
    /// It cannot be spoken with any more.
    Fault(AcpError),
    /// It reads nothing.
    Deaf,
    /// Its time is over.
    Late,
    /// Nobody wants it any more.
    Stopped,
}

impl AgentWork {
    /// Has it work until it is done, or `stop` says that nobody wants it any more.
    pub(super) async fn done(mut self, stop: CancellationToken) -> Output {
        let mut wishes = Wishes::default();
        let mut question = None;
        let end = self.work(&stop, &mut wishes, &mut question).await;
        if matches!(end, WorkEnd::Late | WorkEnd::Stopped) {
            let open = question.take().map(|question: Question| question.wish);
            timeout(CANCEL_GRACE, self.call_off(open.into_iter().chain(wishes.waiting.drain(..))))
                .await
                .ok();
        }
        drop(question);
        let state = self.speaker.life.end(matches!(end, WorkEnd::Gone)).await;
        let errors = self.speaker.life.errors();
        if !errors.trim().is_empty() {
            let said = one_line(&visible(last(&errors, MAX_LOGGED)));
            tracing::info!(agent = self.name, said, "an agent has written to its standard error");
        }
        self.output(&end, state, &wishes, &errors)
    }

    async fn work(
        &mut self,
        stop: &CancellationToken,
        wishes: &mut Wishes,
        question: &mut Option<Question>,
    ) -> WorkEnd {
        let halts = Arc::clone(&self.permissions.halts);
        let stood = halts.total();
        let mut lines = LineReader::default();
        let mut piece = [0; PIECE];
        let mut told = None;
        let mut write = self.session.hello();
        loop {
            if let Some(end) = self.write(&std::mem::take(&mut write)).await {
                return end;
            }
            if question.is_none() {
                *question = wishes.waiting.pop_front().map(|wish| self.ask(wish));
            }
            tokio::select! {
                biased;
                () = stop.cancelled() => return WorkEnd::Stopped,
                () = halts.until(self.deadline, stood) => return WorkEnd::Late,
                permission = answered(question) => {
                    let wish = question.take().map(|question| question.wish);
                    write = wish.map(|wish| wishes.decided(&wish, permission)).unwrap_or_default();
                    continue;
                }
                read = self.speaker.output.read(&mut piece) => match read {
                    Ok(0) | Err(_) => return WorkEnd::Gone,
                    Ok(read) => lines.push(&piece[..read]),
                },
            }
            loop {
                let event = match lines.line() {
                    Ok(None) => break,
                    Ok(Some(line)) => self.session.take(&line),
                    Err(fault) => Err(fault),
                };
                match event {
                    Ok(Event::Send(line)) => write.push_str(&line),
                    Ok(Event::Doing(line)) => self.tell(&line, &mut told),
                    Ok(Event::Asks(wish)) => write.push_str(&wishes.take(*wish, &self.allowed)),
                    Ok(Event::Nothing) => {}
                    Ok(Event::Ended(reason)) => return WorkEnd::Done(reason),
                    Err(fault) => return WorkEnd::Fault(fault),
                }
            }
        }
    }

    /// Calls it off, answers what it asks, and takes in what it still says.
    async fn call_off(&mut self, open: impl Iterator<Item = Wish>) {
        let answers: String = open.map(|wish| wish.answer(Verdict::Cancelled)).collect();
        let mut write = answers + &self.session.cancel().unwrap_or_default();
        let mut lines = LineReader::default();
        let mut piece = [0; PIECE];
        // It ends within the middle of a line at most.
        let mut is_first = true;
        while self.write(&std::mem::take(&mut write)).await.is_none() {
            match self.speaker.output.read(&mut piece).await {
                Ok(0) | Err(_) => return,
                Ok(read) => lines.push(&piece[..read]),
            }
            while let Ok(Some(line)) = lines.line() {
                match self.session.take(&line) {
                    Ok(Event::Asks(wish)) => write.push_str(&wish.answer(Verdict::Cancelled)),
                    Ok(Event::Send(line)) => write.push_str(&line),
                    Ok(Event::Ended(_)) => return,
                    Ok(_) => {}
                    Err(_) if is_first => {}
                    Err(_) => return,
                }
                is_first = false;
            }
        }
    }

    /// Writes lines; how the work ends where they cannot be written.
    async fn write(&mut self, lines: &str) -> Option<WorkEnd> {
        match timeout(READS_WITHIN, self.speaker.input.write_all(lines.as_bytes())).await {
            Ok(Ok(())) => None,
            Ok(Err(_)) => Some(WorkEnd::Gone),
            Err(_) => Some(WorkEnd::Deaf),
        }
    }

    /// Tells how far it is, not too often.
    fn tell(&self, line: &str, told: &mut Option<Instant>) {
        if told.is_none_or(|told: Instant| told.elapsed() >= REST) {
            *told = Some(Instant::now());
            self.progress.doing(line);
        }
    }

    /// Asks whoever could approve the call itself.
    fn ask(&self, wish: Wish) -> Question {
        let asks = AskedStep { name: &self.name, task: self.task, call: &self.call };
        let request = asks.request(&wish);
        let permissions = self.permissions.clone();
        Question { wish, answer: Box::pin(async move { permissions.ask(request).await }) }
    }

    fn output(&self, end: &WorkEnd, state: State, wishes: &Wishes, errors: &str) -> Output {
        let name = &self.name;
        let trouble = match end {
            WorkEnd::Done(reason) if reason == "end_turn" => None,
            WorkEnd::Done(reason) => {
                Some(format!("the agent {name} stopped before the end: {reason}"))
            }
            WorkEnd::Gone => Some(format!("the agent {name} {state} in the middle of its work")),
            WorkEnd::Fault(fault) => Some(format!("the agent {name} {fault}")),
            WorkEnd::Deaf => Some(format!("the agent {name} does not read what it is told")),
            WorkEnd::Late => Some(format!(
                "the agent {name} was ended: not done within {}",
                self.limit.in_words()
            )),
            WorkEnd::Stopped => Some(format!("the agent {name} was stopped")),
        };
        let mut notes = Vec::new();
        if wishes.rejected > 0 {
            let of = "of its requests for permission";
            let were = counted(wishes.rejected, [&format!("{of} was"), &format!("{of} were")]);
            notes.push(format!("{were} rejected: {}", wishes.why));
        }
        let complaint = one_line(&visible(last(errors.trim(), MAX_QUOTED)));
        if matches!(end, WorkEnd::Gone | WorkEnd::Fault(_)) && !complaint.is_empty() {
            notes.push(format!("its standard error ends with: {complaint}"));
        }
        let is_error = trouble.is_some();
        let said = self.session.said();
        let said = if said.trim().is_empty() { "(it has said nothing)" } else { said.trim_end() };
        let notes = trouble.into_iter().chain(notes).map(|note| format!("\n({note})"));
        let text = said.to_owned() + &notes.collect::<String>();
        Output { text, is_error, untrusted: true, level: Taint::Raw, ..Output::default() }
    }
}

fn last(text: &str, most: usize) -> &str {
    text.char_indices().rev().nth(most).map_or(text, |(at, _)| &text[at..])
}
