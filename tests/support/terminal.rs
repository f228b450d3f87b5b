//! A program at a terminal of its own: what it shows is read as it comes, and a person types.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::process::{Child, Command, ExitStatus};
use std::thread::JoinHandle;

use rustix::fs::{Mode, OFlags, open};
use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use tokio::sync::watch;

/// A running program; killed when dropped.
pub struct AtTerminal {
    child: Child,
    keyboard: File,
    screen: watch::Receiver<String>,
    reader: Option<JoinHandle<()>>,
}

impl AtTerminal {
    /// Starts a program whose input, output and errors are one terminal, which says no width.
    pub fn start(command: Command) -> Self {
        Self::start_with(command, 0)
    }

    /// The same, of so many columns.
    pub fn start_with(mut command: Command, columns: u16) -> Self {
        let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
        let size = Winsize { ws_row: 0, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&ours, size).expect("a size");
        grantpt(&ours).expect("a terminal of ours");
        unlockpt(&ours).expect("a terminal to open");
        let name = ptsname(&ours, Vec::new()).expect("its name");
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
        let theirs = open(OsStr::from_bytes(name.as_bytes()), flags, Mode::empty());
        let theirs: OwnedFd = theirs.expect("the program's side");
        let again = || theirs.try_clone().expect("a handle");
        command.stdin(again()).stdout(again()).stderr(again());
        let child = command.spawn().expect("it starts");
        // The screen ends when nobody holds the program's side any more.
        drop((command, theirs));
        let keyboard = File::from(ours);
        let mut glass = keyboard.try_clone().expect("a handle");
        let (sender, screen) = watch::channel(String::new());
        let reader = std::thread::spawn(move || {
            let mut piece = [0; 4096];
            // The end of a terminal is an error.
            while let Ok(read @ 1..) = glass.read(&mut piece) {
                let text = String::from_utf8_lossy(&piece[..read]).into_owned();
                sender.send_modify(|all| all.push_str(&text));
            }
        });
        Self { child, keyboard, screen, reader: Some(reader) }
    }

    /// Waits until this is on the screen, or until nothing comes any more; returns all that is.
    pub async fn shows(&mut self, part: &str) -> String {
        // An end of the program ends the waiting.
        drop(self.screen.wait_for(|all| all.contains(part)).await);
        let all = self.screen.borrow().clone();
        assert!(all.contains(part), "{part:?} is not in:\n{all}");
        all
    }

    /// Waits until this is on the screen so often, or until nothing comes any more.
    pub async fn shows_times(&mut self, part: &str, times: usize) {
        let so_often = |all: &String| all.matches(part).count() >= times;
        drop(self.screen.wait_for(so_often).await);
        let all = self.screen.borrow().clone();
        assert!(so_often(&all), "{part:?} is not {times} times in:\n{all}");
    }

    /// Sends the program a signal.
    pub fn signal(&self, signal: Signal) {
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        kill_process(pid.expect("a process id"), signal).expect("it runs");
    }

    /// Types.
    pub fn types(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).expect("it takes keys");
    }

    /// Waits for its end; returns how it ended and all that it showed.
    pub async fn ended(mut self) -> (ExitStatus, String) {
        let ending = tokio::task::spawn_blocking(move || {
            let status = self.child.wait().expect("wait");
            if let Some(reader) = self.reader.take() {
                reader.join().expect("the screen's reader");
            }
            let all = self.screen.borrow().clone();
            (status, all)
        });
        ending.await.expect("the waiting thread")
    }
}

impl Drop for AtTerminal {
    fn drop(&mut self) {
        // It may have ended by itself.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
