//! Where log lines go: a thread of its own writes them, so that whoever logs never waits for who reads. A line
//! that finds no room is lost; how many were, is said as soon as there is room again.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, TrySendError, channel, sync_channel};
use std::time::{Duration, Instant};

/// Lines that may wait for a slow reader: with usual ones about a megabyte.
const MAX_LINES: usize = 4_096;
/// The longest line, bytes: what waits stays bounded whatever is logged.
const MAX_LENGTH: usize = 16 << 10;

/// The near end: cheap to copy, never waits.
#[derive(Clone, Debug)]
pub struct Sink {
    jobs: SyncSender<Job>,
    lost: Arc<AtomicU64>,
}

enum Job {
    Line(String),
    /// Everything before it has been written.
    Flushed(Sender<()>),
}

impl Sink {
    /// Starts the thread that writes to `out`; `told` words the line that says how many were lost.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub fn start(
        out: impl Write + Send + 'static,
        told: fn(u64) -> String,
    ) -> std::io::Result<Self> {
        let (jobs, inbox) = sync_channel(MAX_LINES);
        let lost = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&lost);
        std::thread::Builder::new()
            .name("log".to_owned())
            .spawn(move || write(&inbox, out, &counted, told))?;
        Ok(Self { jobs, lost })
    }

    /// Takes a line; one that finds no room is counted.
    pub fn line(&self, mut line: String) {
        if line.len() > MAX_LENGTH {
            line.truncate(line.floor_char_boundary(MAX_LENGTH));
            line.push_str("…\n");
        }
        if self.jobs.try_send(Job::Line(line)).is_err() {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Waits until everything is written, but no longer than `patience`: nobody may be reading.
    pub fn flush(&self, patience: Duration) {
        let end = Instant::now() + patience;
        let (done, written) = channel();
        let mut job = Job::Flushed(done);
        loop {
            job = match self.jobs.try_send(job) {
                Ok(()) => break,
                Err(TrySendError::Full(job)) if Instant::now() < end => job,
                Err(_) => return,
            };
            std::thread::sleep(Duration::from_millis(1));
        }
        // Not written in time: it is left behind.
        written.recv_timeout(end.saturating_duration_since(Instant::now())).ok();
    }
}

/// Writes until the last sink is gone. A closed end is no reason to stop: its lines are nobody's.
fn write(inbox: &Receiver<Job>, mut out: impl Write, lost: &AtomicU64, told: fn(u64) -> String) {
    for job in inbox {
        match job {
            Job::Line(line) => out.write_all(line.as_bytes()).ok(),
            // Whoever waited may have gone.
            Job::Flushed(done) => done.send(()).ok(),
        };
        let missing = lost.swap(0, Ordering::Relaxed);
        if missing > 0 {
            out.write_all(told(missing).as_bytes()).ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::{Mutex, mpsc};

    use super::*;

    /// A pipe that is read only when it is told to.
    struct Slow {
        gate: mpsc::Receiver<()>,
        read: Arc<Mutex<Vec<u8>>>,
    }

    impl Write for Slow {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            // Open for ever when the other side is gone.
            self.gate.recv().ok();
            self.read.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn nobody_waits_for_who_does_not_read_and_what_is_lost_is_told() {
        let (open, gate) = mpsc::channel();
        let read = Arc::new(Mutex::new(Vec::new()));
        let slow = Slow { gate, read: Arc::clone(&read) };
        let sink = Sink::start(slow, |lost| format!("{lost} lost\n")).unwrap();
        for number in 0..MAX_LINES + 1_000 {
            sink.line(format!("line {number}\n"));
        }
        sink.flush(Duration::from_millis(20));
        assert!(read.lock().unwrap().is_empty(), "nobody has read yet");
        drop(open);
        sink.flush(Duration::from_secs(20));
        let read = String::from_utf8(read.lock().unwrap().clone()).unwrap();
        assert!(read.starts_with("line 0\n"), "{read}");
        let told = read.lines().find_map(|line| line.strip_suffix(" lost")).unwrap();
        let lines = read.lines().filter(|line| line.starts_with("line ")).count();
        assert_eq!(told.parse::<usize>().unwrap() + lines, MAX_LINES + 1_000);
    }

    #[test]
    fn a_line_without_end_is_cut() {
        let (open, gate) = mpsc::channel();
        let read = Arc::new(Mutex::new(Vec::new()));
        drop(open);
        let sink = Sink::start(Slow { gate, read: Arc::clone(&read) }, |_| String::new()).unwrap();
        sink.line("é".repeat(MAX_LENGTH * 2));
        sink.flush(Duration::from_secs(20));
        assert!(read.lock().unwrap().len() < MAX_LENGTH + 9);
    }
}
