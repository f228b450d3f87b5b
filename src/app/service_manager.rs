//! What the service manager is told (`sd_notify(3)`): that selkie is up, how it stands, that it lives, that it ends.

use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use selkie_channel_core::locked;
use tokio_util::task::TaskTracker;

use selkie_config::source::Environment;

/// How much time is asked for at once.
const ASKED: Duration = Duration::from_secs(30);

/// Its end of the line; a daemon that nobody supervises tells nobody.
#[derive(Debug, Default)]
pub struct ServiceManager {
    line: Option<Line>,
    watchdog: Option<Duration>,
    /// What stands behind how we stand.
    note: Mutex<Option<String>>,
}

#[derive(Debug)]
struct Line {
    socket: UnixDatagram,
    to: SocketAddr,
}

impl ServiceManager {
    /// Reads where it listens, and how often it wants to hear that the process `pid` lives.
    pub fn of(env: &Environment, pid: u32) -> Self {
        let Some(name) = env.get("NOTIFY_SOCKET").filter(|name| !name.is_empty()) else {
            return Self::default();
        };
        let number = |key: &str| env.get(key).and_then(|value| value.parse::<u64>().ok());
        let is_ours = number("WATCHDOG_PID").is_none_or(|of| of == u64::from(pid));
        let watchdog = number("WATCHDOG_USEC").filter(|usec| is_ours && *usec > 0);
        match open(name) {
            Ok(line) => Self {
                line: Some(line),
                watchdog: watchdog.map(Duration::from_micros),
                note: Mutex::default(),
            },
            Err(error) => {
                tracing::warn!(%error, socket = name, "the service manager cannot be told anything");
                Self::default()
            }
        }
    }

    /// Returns within which time it wants to hear that we live.
    pub fn watchdog(&self) -> Option<Duration> {
        self.watchdog
    }

    /// Whether there is one.
    pub fn is_there(&self) -> bool {
        self.line.is_some()
    }

    /// Everything has started.
    pub fn ready(&self) {
        self.tell("READY=1");
    }

    /// The config is read again; `ready` tells that this is over.
    pub fn reloading(&self) {
        let now = clock_gettime(ClockId::Monotonic);
        let usec = i128::from(now.tv_sec) * 1_000_000 + i128::from(now.tv_nsec) / 1_000;
        self.tell(&format!("RELOADING=1\nMONOTONIC_USEC={usec}"));
    }

    /// Something to be read behind how we stand, until there is another.
    pub fn note(&self, note: Option<String>) {
        if let Some(note) = &note {
            self.status(note);
        }
        *locked(&self.note) = note;
    }

    /// Returns how we stand with what stands behind it.
    pub fn noted(&self, status: String) -> String {
        match &*locked(&self.note) {
            Some(note) => format!("{status}; {note}"),
            None => status,
        }
    }

    /// We live: the next time is within the watchdog's.
    pub fn alive(&self) {
        self.tell("WATCHDOG=1");
    }

    /// We end.
    pub fn stopping(&self) {
        self.tell("STOPPING=1\nSTATUS=stopping: running tasks may end");
    }

    /// A start goes on at least so long.
    pub fn needs(&self, time: Duration) {
        self.tell(&format!("EXTEND_TIMEOUT_USEC={}", time.as_micros()));
    }

    /// How we stand, in one line for `systemctl status`.
    pub fn status(&self, words: &str) {
        self.tell(&format!("STATUS={}", words.replace(['\n', '\r'], " ")));
    }

    fn tell(&self, state: &str) {
        let Some(Line { socket, to }) = &self.line else { return };
        if let Err(error) = socket.send_to_addr(state.as_bytes(), to) {
            tracing::debug!(%error, "the service manager was not told");
        }
    }
}

/// Asks for more time again and again while a start or an end goes on: it may wait for its database, bring a large one up to
/// date, or let long tasks end.
pub struct StartExtender(Option<tokio::task::JoinHandle<()>>);

impl StartExtender {
    /// Begins.
    pub fn of(manager: &Arc<ServiceManager>) -> Self {
        let manager = Arc::clone(manager);
        Self(manager.is_there().then(|| {
            TaskTracker::new().spawn(async move {
                loop {
                    manager.needs(ASKED);
                    manager.alive();
                    tokio::time::sleep(ASKED / 3).await;
                }
            })
        }))
    }
}

impl Drop for StartExtender {
    fn drop(&mut self) {
        self.0.take().inspect(tokio::task::JoinHandle::abort);
    }
}

fn open(name: &str) -> std::io::Result<Line> {
    let to = address(name)?;
    let socket = UnixDatagram::unbound()?;
    // Nobody waits for a service manager that does not read.
    socket.set_nonblocking(true)?;
    Ok(Line { socket, to })
}

/// A name with an `@` in front is one of no file system.
fn address(name: &str) -> std::io::Result<SocketAddr> {
    #[cfg(target_os = "linux")]
    if let Some(name) = name.strip_prefix('@') {
        use std::os::linux::net::SocketAddrExt as _;
        return SocketAddr::from_abstract_name(name);
    }
    SocketAddr::from_pathname(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn env(pairs: &[(&str, &str)]) -> Environment {
        pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
    }

    fn heard(by: &UnixDatagram) -> String {
        let mut bytes = [0; 256];
        let length = by.recv(&mut bytes).unwrap();
        String::from_utf8_lossy(&bytes[..length]).into_owned()
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn it_is_told_at_a_path_and_by_an_abstract_name() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("notify");
        let abstract_name = format!("selkie-test-{}", std::process::id());
        let of_name = address(&format!("@{abstract_name}")).unwrap();
        let ends = [
            (path.display().to_string(), UnixDatagram::bind(&path).unwrap()),
            (format!("@{abstract_name}"), UnixDatagram::bind_addr(&of_name).unwrap()),
        ];
        for (name, end) in ends {
            let manager = ServiceManager::of(&env(&[("NOTIFY_SOCKET", &name)]), 7);
            manager.ready();
            manager.status("two\nlines");
            manager.needs(Duration::from_secs(2));
            let told = [(); 3].map(|()| heard(&end));
            assert_eq!(told, ["READY=1", "STATUS=two lines", "EXTEND_TIMEOUT_USEC=2000000"]);
        }
    }

    #[test]
    fn the_watchdog_of_another_process_is_none_of_ours() {
        let of = |more: &[(&str, &str)]| {
            let mut pairs = vec![("NOTIFY_SOCKET", "/nowhere"), ("WATCHDOG_USEC", "2000000")];
            pairs.extend(more);
            ServiceManager::of(&env(&pairs), 7).watchdog()
        };
        assert_eq!(of(&[]), Some(Duration::from_secs(2)));
        assert_eq!(of(&[("WATCHDOG_PID", "7")]), Some(Duration::from_secs(2)));
        assert_eq!(of(&[("WATCHDOG_PID", "8")]), None);
        assert_eq!(ServiceManager::of(&env(&[("WATCHDOG_USEC", "2000000")]), 7).watchdog(), None);
    }

    #[test]
    fn a_service_manager_that_is_gone_is_no_trouble() {
        let manager = ServiceManager::of(&env(&[("NOTIFY_SOCKET", "/nowhere/at/all")]), 7);
        manager.ready();
        assert!(manager.is_there());
        ServiceManager::default().ready();
    }
}
