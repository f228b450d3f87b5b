//! A server that is a program: one line is one message, and all calls share its two pipes.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use selkie_acp::LineReader;
use selkie_tools::shell::{Speaker, SpeakerLife};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::unix::pipe;
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::ask::{Ask, Era};
use crate::error::McpError;
use crate::message::{self, Incoming};
use crate::news::ListBell;
use crate::open_calls::{OpenCalls, Reply};
use crate::text::{last, short};

const MAX_BYTES: usize = 16 * 1024 * 1024;
/// A longer line is read beside everything else.
const SHORT_LINE: usize = 256 * 1024;
/// Lines that wait for the server to read them, and how long it may leave one unread.
const WAITING: usize = 64;
const READS_WITHIN: Duration = Duration::from_secs(30);
const PIECE: usize = 64 * 1024;
/// Lines that are no messages of which each is logged.
const LOGGED: u32 = 5;
/// Characters of its complaints in the log and, the last of them, in an error.
const MAX_LOGGED: usize = 2_000;
const MAX_QUOTED: usize = 400;

pub(crate) struct StdioLink {
    lines: mpsc::Sender<String>,
    last: AtomicU64,
    talk: Arc<Talk>,
}

#[derive(Default)]
struct Talk {
    calls: OpenCalls,
    stop: CancellationToken,
    /// It has ended,
    over: CancellationToken,
    /// and how.
    how: OnceLock<String>,
}

struct Pump {
    server: String,
    life: SpeakerLife,
    output: pipe::Receiver,
    /// For answers to its own requests.
    lines: mpsc::WeakSender<String>,
    bell: ListBell,
    talk: Arc<Talk>,
    skipped: u32,
    /// Up to here its complaints are logged.
    logged: u64,
}

impl StdioLink {
    pub(crate) fn new(server: &str, speaker: Speaker, bell: ListBell, by: &TaskTracker) -> Self {
        let Speaker { life, input, output } = speaker;
        let (lines, waiting) = mpsc::channel(WAITING);
        let talk = Arc::<Talk>::default();
        let pump = Pump {
            server: server.to_owned(),
            life,
            output,
            lines: lines.downgrade(),
            bell,
            talk: Arc::clone(&talk),
            skipped: 0,
            logged: 0,
        };
        by.spawn(write(input, waiting, Arc::clone(&talk)));
        by.spawn(pump.run());
        Self { lines, last: AtomicU64::new(0), talk }
    }

    pub(crate) async fn ask(&self, era: Era, ask: Ask) -> Reply {
        let id = self.last.fetch_add(1, Ordering::Relaxed) + 1;
        let line = message::request(id, ask.method, &ask.params(era, id));
        let answer = self.talk.calls.open(id, ask.progress.as_ref()).ok_or_else(has_ended)?;
        let mut open = OpenAsk { link: self, id, is_called_off: false };
        // Where it cannot be sent, the end answers.
        open.is_called_off = self.send(line).await.is_ok() && ask.can_be_called_off();
        answer.await.unwrap_or_else(|_| Err(has_ended()))
    }

    pub(crate) async fn begin(&self) -> Result<(), McpError> {
        self.send(message::initialized()).await
    }

    pub(crate) async fn over(&self) -> String {
        self.talk.over.cancelled().await;
        self.talk.how.get().cloned().unwrap_or_default()
    }

    pub(crate) async fn end(&self) {
        self.talk.stop.cancel();
        self.talk.over.cancelled().await;
    }

    async fn send(&self, line: String) -> Result<(), McpError> {
        self.lines.send(line).await.map_err(|_| has_ended())
    }
}

impl Drop for StdioLink {
    fn drop(&mut self) {
        self.talk.stop.cancel();
    }
}

/// A request whose answer somebody waits for.
struct OpenAsk<'a> {
    link: &'a StdioLink,
    id: u64,
    /// Whether the server is told when nobody waits any more.
    is_called_off: bool,
}

impl Drop for OpenAsk<'_> {
    fn drop(&mut self) {
        if self.link.talk.calls.close(self.id) && self.is_called_off {
            // Where the server does not read, it is ended anyway.
            self.link.lines.try_send(message::cancelled(self.id)).ok();
        }
    }
}

/// Gives the server its lines, one after the other; one that does not read them is ended.
async fn write(mut input: pipe::Sender, mut lines: mpsc::Receiver<String>, talk: Arc<Talk>) {
    let writes = async {
        while let Some(mut line) = lines.recv().await {
            line.push('\n');
            match timeout(READS_WITHIN, input.write_all(line.as_bytes())).await {
                Ok(Ok(())) => {}
                // Its output says how it ended.
                Ok(Err(_)) => return,
                Err(_) => return talk.end("was ended: it did not read what it was told"),
            }
        }
    };
    tokio::select! {
        () = talk.over.cancelled() => {}
        () = writes => {}
    }
}

impl Talk {
    fn end(&self, how: &str) {
        self.how.set(how.to_owned()).ok();
        self.stop.cancel();
    }
}

impl Pump {
    async fn run(mut self) {
        let is_over = self.read().await;
        self.talk.calls.end();
        let state = self.life.end(is_over).await;
        self.log_errors();
        let how = self.talk.how.get_or_init(|| match self.life.errors().trim() {
            "" => state.to_string(),
            errors => {
                let errors = short(last(errors, MAX_QUOTED), MAX_QUOTED);
                format!("{state} (its standard error ends with: {errors})")
            }
        });
        self.talk.calls.answer_all(&McpError::Gone(how.clone()));
        self.talk.over.cancel();
    }

    /// Reads until it is to end, or its output has: then it is over.
    async fn read(&mut self) -> bool {
        let mut reader = LineReader::at_most(MAX_BYTES);
        let mut piece = vec![0; PIECE];
        loop {
            let read = tokio::select! {
                biased;
                () = self.talk.stop.cancelled() => return false,
                read = self.output.read(&mut piece) => read,
            };
            match read {
                Ok(0) | Err(_) => return true,
                Ok(read) => reader.push(&piece[..read]),
            }
            loop {
                match reader.line() {
                    Ok(Some(line)) => self.take(line).await,
                    Ok(None) => break,
                    Err(_) => {
                        let how =
                            format!("was ended: it wrote a line of more than {MAX_BYTES} bytes");
                        self.talk.end(&how);
                        return false;
                    }
                }
            }
        }
    }

    async fn take(&mut self, line: Vec<u8>) {
        let read = |line: Vec<u8>| message::read(&line).ok_or(line);
        let message = match line.len() > SHORT_LINE {
            true => {
                tokio::task::spawn_blocking(move || read(line)).await.unwrap_or(Err(Vec::new()))
            }
            false => read(line),
        };
        match message {
            Ok(Incoming::Answer { id: Some(id), result }) => {
                self.talk.calls.answer(id, result);
                self.log_errors();
            }
            Ok(Incoming::Request { reply }) => {
                // Where it does not read them, it gets none.
                self.lines.upgrade().map(|lines| lines.try_send(reply).ok());
            }
            Ok(Incoming::Progress(news)) => self.talk.calls.tell(&news),
            Ok(Incoming::ListChanged) => self.bell.notify_one(),
            Ok(Incoming::Answer { id: None, .. } | Incoming::Stray) => {}
            Err(line) => self.skip(&line),
        }
    }

    fn skip(&mut self, line: &[u8]) {
        let line = short(&String::from_utf8_lossy(&line[..line.len().min(1024)]), 200);
        if !line.is_empty() && self.skipped < LOGGED {
            self.skipped += 1;
            let server = &self.server;
            tracing::info!(server, line, "an MCP server wrote a line that is no message");
        }
    }

    fn log_errors(&mut self) {
        let said = self.life.new_errors(&mut self.logged);
        let said = short(last(&said, MAX_LOGGED), MAX_LOGGED);
        if !said.is_empty() {
            let server = &self.server;
            tracing::info!(server, said, "an MCP server has written to its standard error");
        }
    }
}

fn has_ended() -> McpError {
    McpError::NotStarted("it has ended just now".to_owned())
}
