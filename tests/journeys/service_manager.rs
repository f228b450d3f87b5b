//! A service manager supervises the daemon: it hears when everything has started, that it lives also while nothing
//! answers, how it stands, and that it ends. The units that come along are tight, and systemd takes them.

use std::fs;
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use rustix::process::Signal;
use selkie_playground::telegram::ADA;
use serde_json::json;

use crate::support::daemon::{Daemon, Home};
use crate::support::world::World;

/// Below it the words of a service are taken for good by systemd's own measure.
const MAX_EXPOSED: f32 = 1.5;

/// The service manager's end.
struct Manager {
    socket: tokio::net::UnixDatagram,
    path: PathBuf,
}

impl Manager {
    fn of(home: &Home) -> Self {
        let path = home.folder().join("notify");
        let socket = UnixDatagram::bind(&path).expect("a socket");
        socket.set_nonblocking(true).expect("a socket that does not block");
        Self { socket: tokio::net::UnixDatagram::from_std(socket).expect("a socket"), path }
    }

    /// Starts the daemon as its service; the watchdog wants to hear of it within this time.
    fn start(&self, home: &Home, within: Duration) -> Daemon {
        let mut command = home.command(&["run"]);
        command.env("NOTIFY_SOCKET", &self.path);
        command.env("WATCHDOG_USEC", within.as_micros().to_string());
        home.start_as(command)
    }

    /// What it is told until there is this, and that.
    async fn until(&self, fits: impl Fn(&str) -> bool) -> Vec<String> {
        let mut told = Vec::new();
        loop {
            let mut bytes = [0; 4096];
            let length = self.socket.recv(&mut bytes).await.expect("words");
            told.push(String::from_utf8_lossy(&bytes[..length]).into_owned());
            if told.last().is_some_and(|last| fits(last)) {
                return told;
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn it_hears_of_the_start_the_life_and_the_end() {
    let world = World::start().await;
    let manager = Manager::of(&world.home);
    let daemon = manager.start(&world.home, Duration::from_millis(300));
    let told = world.within("the start", manager.until(|word| word == "READY=1")).await;
    assert!(told.iter().any(|word| word.starts_with("EXTEND_TIMEOUT_USEC=")), "{told:?}");
    // A poll without news ends late: a message is proof of receipt sooner.
    world.ask("good morning").await;
    let listens = |word: &str| word == "STATUS=telegram listens; 0 tasks running, 0 waiting";
    world.within("how it stands", manager.until(listens)).await;
    for _ in 0..3 {
        world.within("a sign of life", manager.until(|word| word == "WATCHDOG=1")).await;
    }
    daemon.ask_to_stop();
    world.within("the end", manager.until(|word| word.starts_with("STOPPING=1\n"))).await;
    assert!(daemon.gone().await.success());
}

#[tokio::test(flavor = "multi_thread")]
async fn it_hears_of_a_reload_and_what_came_of_it() {
    let mut world = World::start().await;
    let manager = Manager::of(&world.home);
    let daemon = manager.start(&world.home, Duration::from_secs(60));
    world.within("the start", manager.until(|word| word == "READY=1")).await;
    world.home.set_key("telegram", "allowed_chat_ids", json!({}));
    daemon.signal(Signal::HUP);
    let reloading = |word: &str| {
        word.strip_prefix("RELOADING=1\nMONOTONIC_USEC=")
            .is_some_and(|at| at.parse::<u64>().is_ok())
    };
    world.within("the reload", manager.until(reloading)).await;
    let told = world.within("its end", manager.until(|word| word == "READY=1")).await;
    let fault = "STATUS=the config has 1 fault, the previous one stays: ";
    assert!(told.iter().any(|word| word.starts_with(fault)), "{told:?}");
    world.home.set_key("telegram", "allowed_chat_ids", json!([ADA]));
    daemon.signal(Signal::HUP);
    world.within("the reload", manager.until(reloading)).await;
    let told = world.within("its end", manager.until(|word| word == "READY=1")).await;
    assert!(!told.iter().any(|word| word.contains("fault")), "{told:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restored_life_that_waits_for_a_word_lives() {
    let world = World::restored().await;
    let manager = Manager::of(&world.home);
    let _daemon = manager.start(&world.home, Duration::from_millis(300));
    for _ in 0..3 {
        world.within("a sign of life", manager.until(|word| word == "WATCHDOG=1")).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_platform_that_is_away_is_no_reason_to_end_the_daemon() {
    let mut world = World::start().await;
    world.home.set_key("telegram", "base_url", "http://127.0.0.1:9".into());
    let manager = Manager::of(&world.home);
    let daemon = manager.start(&world.home, Duration::from_millis(300));
    world.within("the start", manager.until(|word| word == "READY=1")).await;
    world.within("a failure", world.home.logged(0, |log| log.contains("a poll failed"))).await;
    let waits = |word: &str| word.starts_with("STATUS=telegram waits for its first answer; ");
    world.within("how it stands", manager.until(waits)).await;
    for _ in 0..5 {
        world.within("a sign of life", manager.until(|word| word == "WATCHDOG=1")).await;
    }
    assert!(daemon.stop().await.success());
}

#[cfg(target_os = "linux")]
#[test]
fn systemd_takes_the_units_and_finds_them_tight() {
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["selkie.service", "selkie@.service"] {
        let unit = fs::read_to_string(units().join(name)).expect("the unit");
        let path = folder.path().join(name.replace('@', "@one"));
        let program = env!("CARGO_BIN_EXE_selkie");
        fs::write(&path, unit.replace("/usr/local/bin/selkie", program)).expect("a file");
        let verified = analyze(&["verify", "--man=no"], &path);
        assert_eq!(verified, "", "{name}");
        let told = analyze(&["security", "--offline=yes", "--no-pager"], &path);
        let level = told.rsplit_once("exposure level for ").and_then(|(_, rest)| {
            rest.split_once(": ")?.1.split_whitespace().next()?.parse::<f32>().ok()
        });
        assert!(level.is_some_and(|level| level <= MAX_EXPOSED), "{name}: {told}");
    }
}

#[test]
fn the_unit_of_many_differs_in_its_places_alone() {
    let read = |name: &str| fs::read_to_string(units().join(name)).expect("the unit");
    let mut one = read("selkie.service");
    one = one.replace("/etc/selkie/", "/etc/selkie/%i/");
    one = one.replace("Directory=selkie\n", "Directory=selkie/%i\n");
    one = one.replace("chat-bot daemon\n", "chat-bot daemon (%i)\n");
    assert_eq!(read("selkie@.service"), one);
}

fn units() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("systemd")
}

/// What it says of a unit, on both streams.
fn analyze(arguments: &[&str], unit: &Path) -> String {
    let out = Command::new("systemd-analyze").args(arguments).arg(unit).output();
    let out = out.expect("systemd-analyze, which `tests/run` installs");
    let (said, complained) = (out.stdout, out.stderr);
    format!("{}{}", String::from_utf8_lossy(&said), String::from_utf8_lossy(&complained))
}
