//! Logs: to standard error, as text or JSON, with every secret replaced before a byte is written. Whoever logs
//! never waits for who reads.

use std::io::{self, IsTerminal, Write};
use std::panic::PanicHookInfo;
use std::sync::OnceLock;
use std::time::Duration;

use selkie_channel_core::Redactor;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{Layer, fmt, registry};

use selkie_config::settings::{Format, Level, LogSettings};
use selkie_config::source::Environment;

mod sink;

use sink::Sink;

/// How long the end of the process waits for the last lines to be read.
const LAST: Duration = Duration::from_secs(1);
/// The sink of this process.
static SINK: OnceLock<Sink> = OnceLock::new();

/// Starts logging for the whole process; a second call changes nothing.
pub fn start(logging: LogSettings, redactor: &Redactor, colour: bool) {
    let level = filter(logging.level);
    // Libraries speak when something is wrong; `trace` shows everything.
    let others = if logging.level == Level::Trace { level } else { level.min(LevelFilter::WARN) };
    let targets = Targets::new().with_target("selkie", level).with_default(others);
    let told: fn(u64) -> String = match logging.format {
        Format::Json => lost_json,
        Format::Text => lost_text,
    };
    let sink = match Sink::start(io::stderr(), told) {
        Ok(sink) => sink,
        Err(error) => {
            eprintln!("selkie: no thread for the log, nothing is logged: {error}");
            return;
        }
    };
    SINK.set(sink.clone()).ok();
    let writer = RedactingWriter(redactor.clone(), sink);
    let layer = match logging.format {
        Format::Json => fmt::layer().json().with_writer(writer).boxed(),
        Format::Text => {
            let ansi = colour && io::stderr().is_terminal();
            fmt::layer().with_ansi(ansi).with_writer(writer).boxed()
        }
    };
    // A logger that is there already is one of a test in the same process.
    registry().with(layer.with_filter(targets)).try_init().ok();
    std::panic::set_hook(Box::new(log_panic));
}

/// A panic is a line of the log like any other: without secrets, and waiting for nobody.
fn log_panic(panic: &PanicHookInfo<'_>) {
    let payload = panic.payload();
    let says = payload.downcast_ref::<&str>().copied();
    let says = says.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    let at = panic.location().map(ToString::to_string).unwrap_or_default();
    let thread = std::thread::current();
    let name = thread.name().unwrap_or("unnamed");
    tracing::error!(
        at,
        thread = name,
        panic = says.unwrap_or("without words"),
        "a defect: a panic"
    );
    if name == "main" {
        // The process ends by it.
        flush();
    }
}

/// Waits a moment until what was logged is written: called last, before the process ends.
pub fn flush() {
    if let Some(sink) = SINK.get() {
        sink.flush(LAST);
    }
}

fn lost_text(lines: u64) -> String {
    format!(" WARN selkie: {lines} lines of this log were lost: standard error was not read\n")
}

fn lost_json(lines: u64) -> String {
    let fields = serde_json::json!({
        "message": "lines of this log were lost: standard error was not read", "lines": lines,
    });
    format!("{}\n", serde_json::json!({ "level": "WARN", "fields": fields, "target": "selkie" }))
}

/// Whether colours are wanted: `NO_COLOR` with any value says no.
pub fn colour(env: &Environment) -> bool {
    env.get("NO_COLOR").is_none_or(String::is_empty)
}

fn filter(level: Level) -> LevelFilter {
    match level {
        Level::Error => LevelFilter::ERROR,
        Level::Warn => LevelFilter::WARN,
        Level::Info => LevelFilter::INFO,
        Level::Debug => LevelFilter::DEBUG,
        Level::Trace => LevelFilter::TRACE,
    }
}

/// Makes a writer for each line.
struct RedactingWriter(Redactor, Sink);

impl<'a> MakeWriter<'a> for RedactingWriter {
    type Writer = Line<'a>;

    fn make_writer(&'a self) -> Line<'a> {
        Line { redactor: &self.0, sink: &self.1, text: Vec::new() }
    }
}

/// Gathers one line, so that a secret cannot hide between two writes.
struct Line<'a> {
    redactor: &'a Redactor,
    sink: &'a Sink,
    text: Vec<u8>,
}

impl Write for Line<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.text.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Line<'_> {
    fn drop(&mut self) {
        let line = self.redactor.clean(&String::from_utf8_lossy(&self.text));
        self.sink.line(line);
    }
}
