//! A server that is a program: one line is one message, and all calls share its two pipes.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use selkie_sandbox::State;
use selkie_tools::shell::{Speaker, SpeakerLife};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::unix::pipe;
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::ask::{Ask, Era};
use crate::error::McpError;
use crate::line::{Line, LineReader};
use crate::message::{self, Incoming};
use crate::news::News;
use crate::open_calls::{Answered, OpenCalls};
use crate::progress::ProgressNews;
use crate::text::{begin, clean, short};

/// Bytes of a line.
const MAX_LINE: usize = 16 * 1024 * 1024;
/// A server whose line has no end after so many is ended.
const MAX_ENDLESS: u64 = 4 * MAX_LINE as u64;
/// A longer line is read beside everything else.
const SHORT_LINE: usize = 256 * 1024;
/// Lines that wait for the server to read them.
const WAITING: usize = 64;
/// How long a server may leave a line unread.
const READS_WITHIN: Duration = Duration::from_secs(30);
/// Bytes of one read.
const PIECE: usize = 64 * 1024;
/// Lines that are no messages of which each is logged.
const LOGGED: u32 = 5;
/// The rest between two looks at what it complains about.
const LOOKS: Duration = Duration::from_secs(1);
/// Characters of its complaints in the log and, the last of them, in an error.
const MAX_LOGGED: usize = 2_000;
const MAX_QUOTED: usize = 400;

/// A program that is spoken with.
pub(crate) struct StdioLink {
    lines: mpsc::Sender<String>,
    calls: Arc<OpenCalls>,
    last: AtomicU64,
    /// Asks it to end.
    stop: CancellationToken,
    end: Arc<End>,
}

/// How it ended.
#[derive(Default)]
struct End {
    over: CancellationToken,
    how: OnceLock<String>,
}

/// The part that has to be driven.
struct Pump {
    server: String,
    life: SpeakerLife,
    output: pipe::Receiver,
    lines: mpsc::WeakSender<String>,
    calls: Arc<OpenCalls>,
    news: News,
    stop: CancellationToken,
    deaf: CancellationToken,
    end: Arc<End>,
    skipped: u32,
    /// Up to here its complaints are logged, and when they were looked at last.
    logged: u64,
    looked: Instant,
}

/// Why no more is read.
enum PumpEnd {
    /// Its output has ended.
    Gone,
    /// It reads nothing.
    Deaf,
    /// A line of it has no end.
    Endless,
    /// Nobody wants it any more.
    Stopped,
}

impl StdioLink {
    /// Speaks with a program that has been started.
    pub(crate) fn new(server: &str, speaker: Speaker, news: News, tracker: &TaskTracker) -> Self {
        let Speaker { life, input, output } = speaker;
        let (lines, waiting) = mpsc::channel(WAITING);
        let calls = Arc::<OpenCalls>::default();
        let stop = CancellationToken::new();
        let deaf = CancellationToken::new();
        let end = Arc::<End>::default();
        let pump = Pump {
            server: server.to_owned(),
            life,
            output,
            lines: lines.downgrade(),
            calls: Arc::clone(&calls),
            news,
            stop: stop.clone(),
            deaf: deaf.clone(),
            end: Arc::clone(&end),
            skipped: 0,
            logged: 0,
            looked: Instant::now(),
        };
        tracker.spawn(write(input, waiting, deaf, end.over.clone()));
        tracker.spawn(pump.run());
        Self { lines, calls, last: AtomicU64::new(0), stop, end }
    }

    /// Asks, and waits for the answer. Dropped, it calls the request off.
    pub(crate) async fn ask(&self, era: Era, ask: Ask) -> Answered {
        let id = self.last.fetch_add(1, Ordering::Relaxed) + 1;
        let line = message::request(id, ask.method, &ask.params(era, id));
        let answer = self.calls.open(id, ask.progress.as_ref())?;
        let mut open = OpenAsk { link: self, id, is_called_off: false };
        self.send(line).await?;
        open.is_called_off = ask.can_be_called_off;
        answer.await.unwrap_or_else(|_| Err(gone("has ended")))
    }

    /// Tells the server that the handshake is done.
    pub(crate) async fn begin(&self) -> Result<(), McpError> {
        self.send(message::notice("notifications/initialized", None)).await
    }

    /// Waits until it has ended, and says how.
    pub(crate) async fn over(&self) -> String {
        self.end.over.cancelled().await;
        self.end.how.get().cloned().unwrap_or_default()
    }

    /// Ends it with all that it started.
    pub(crate) async fn end(&self) {
        self.stop.cancel();
        self.end.over.cancelled().await;
    }

    async fn send(&self, line: String) -> Result<(), McpError> {
        self.lines.send(line).await.map_err(|_| gone("has ended"))
    }
}

impl Drop for StdioLink {
    fn drop(&mut self) {
        self.stop.cancel();
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
        let is_open = self.link.calls.close(self.id);
        if is_open && self.is_called_off {
            // Where the server does not read, it is ended anyway.
            self.link.lines.try_send(message::cancelled(self.id)).ok();
        }
    }
}

/// Gives the server its lines, one after the other; says when it does not read.
async fn write(
    mut input: pipe::Sender,
    mut lines: mpsc::Receiver<String>,
    deaf: CancellationToken,
    over: CancellationToken,
) {
    loop {
        let line = tokio::select! {
            () = over.cancelled() => return,
            line = lines.recv() => line,
        };
        let Some(mut line) = line else { return };
        line.push('\n');
        let written = tokio::select! {
            () = over.cancelled() => return,
            written = timeout(READS_WITHIN, input.write_all(line.as_bytes())) => written,
        };
        match written {
            Ok(Ok(())) => {}
            // Its output says how it ended.
            Ok(Err(_)) => return,
            Err(_) => return deaf.cancel(),
        }
    }
}

impl Pump {
    async fn run(mut self) {
        let end = self.read().await;
        let server = self.server.clone();
        self.calls.shut(McpError::NotStarted("it is just ending".to_owned()));
        let state = self.life.end(matches!(end, PumpEnd::Gone)).await;
        self.log_errors();
        if self.skipped > LOGGED {
            let lines = self.skipped;
            tracing::info!(server, lines, "an MCP server wrote lines that are no messages");
        }
        let how = self.how(&end, state);
        self.calls.end(&McpError::Gone(how.clone()), gone(&how));
        self.end.how.set(how).ok();
        self.end.over.cancel();
    }

    async fn read(&mut self) -> PumpEnd {
        let mut reader = LineReader::new(MAX_LINE);
        let mut piece = vec![0; PIECE];
        loop {
            let read = tokio::select! {
                biased;
                () = self.stop.cancelled() => return PumpEnd::Stopped,
                () = self.deaf.cancelled() => return PumpEnd::Deaf,
                read = self.output.read(&mut piece) => read,
            };
            match read {
                Ok(0) | Err(_) => return PumpEnd::Gone,
                Ok(read) => reader.push(&piece[..read]),
            }
            while let Some(line) = reader.line() {
                self.take(line).await;
            }
            if reader.passed() > MAX_ENDLESS {
                return PumpEnd::Endless;
            }
        }
    }

    async fn take(&mut self, line: Line) {
        let line = match line {
            Line::Whole(line) => line,
            Line::Long(head) => return self.refuse(&head),
        };
        let message = match line.len() > SHORT_LINE {
            true => tokio::task::spawn_blocking(move || message::read(&line).ok_or(line)).await,
            false => Ok(message::read(&line).ok_or(line)),
        };
        match message.unwrap_or_else(|_| Err(Vec::new())) {
            Ok(Incoming::Answer { id, result }) => {
                if !self.calls.answer(id, result) {
                    let server = &self.server;
                    tracing::debug!(server, id, "an MCP server answered what nobody waits for");
                }
                self.look();
            }
            Ok(Incoming::Request { id, method }) => self.reply(&id, &method),
            Ok(Incoming::Notice { method, params }) if method == "notifications/progress" => {
                if let Some(news) = ProgressNews::read(params.as_deref()) {
                    self.calls.tell(&news);
                }
            }
            Ok(Incoming::Notice { method, .. }) => self.news.take(&method),
            Ok(Incoming::Stray) => {}
            Err(line) => self.skip(&line),
        }
    }

    /// Answers a request of the server; not where it does not read the answers.
    fn reply(&self, id: &serde_json::value::RawValue, method: &str) {
        let lines = self.lines.upgrade();
        if let (Some(lines), Some(reply)) = (lines, message::reply(id, method)) {
            lines.try_send(reply).ok();
        }
    }

    /// Ends the call whose answer is too long, as far as its beginning says which it is.
    fn refuse(&mut self, head: &[u8]) {
        let why = format!("wrote a line of more than {MAX_LINE} bytes");
        tracing::warn!(server = self.server, "an MCP server {why}");
        if let Some(id) = id_of(head) {
            self.calls.answer(id, Err(McpError::Protocol(why)));
        }
    }

    fn skip(&mut self, line: &[u8]) {
        if line.iter().all(u8::is_ascii_whitespace) {
            return;
        }
        self.skipped = self.skipped.saturating_add(1);
        if self.skipped <= LOGGED {
            let line = short(&String::from_utf8_lossy(&line[..line.len().min(1024)]), 200);
            let server = &self.server;
            tracing::info!(server, line, "an MCP server wrote a line that is no message");
        }
    }

    fn look(&mut self) {
        if self.looked.elapsed() >= LOOKS {
            self.log_errors();
        }
    }

    fn log_errors(&mut self) {
        self.looked = Instant::now();
        let said = self.life.new_errors(&mut self.logged);
        if !said.trim().is_empty() {
            let said = short(last(&said, MAX_LOGGED), MAX_LOGGED);
            let server = &self.server;
            tracing::info!(server, said, "an MCP server has written to its standard error");
        }
    }

    fn how(&self, end: &PumpEnd, state: State) -> String {
        let how = match end {
            PumpEnd::Gone => state.to_string(),
            PumpEnd::Deaf => "was ended: it did not read what it was told".to_owned(),
            PumpEnd::Endless => "was ended: it wrote a line without an end".to_owned(),
            PumpEnd::Stopped => "was ended".to_owned(),
        };
        let errors = self.life.errors();
        let errors = clean(last(errors.trim(), MAX_QUOTED)).replace('\n', " ⏎ ");
        match errors.is_empty() || matches!(end, PumpEnd::Stopped) {
            true => how,
            false => format!("{how} (its standard error ends with: {errors})"),
        }
    }
}

fn gone(how: &str) -> McpError {
    McpError::NotStarted(format!("it {how}"))
}

/// Finds the number of the answer that a line begins.
fn id_of(head: &[u8]) -> Option<u64> {
    let head = String::from_utf8_lossy(head);
    let rest = head.split_once("\"id\"")?.1.trim_start().strip_prefix(':')?.trim_start();
    let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    begin(rest, digits).parse().ok()
}

fn last(text: &str, most: usize) -> &str {
    text.char_indices().rev().nth(most).map_or(text, |(at, _)| &text[at..])
}
