//! Folders and a way to run a program in them, held.

use std::fs;
use std::io::{self, Read as _};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

use selkie_sandbox::{
    Boundary, ControlLine, Launch, Launcher, Plan, Reach, Settings, State, Streams,
};
use tempfile::TempDir;

/// A state folder, a workspace, and what lies beside them.
pub struct Stand {
    dir: TempDir,
    pub plan: Plan,
}

/// How a program ended, and what it printed.
#[derive(Debug)]
pub struct Outcome {
    pub how: Option<Result<State, String>>,
    pub text: String,
}

impl Stand {
    pub fn new(network: bool) -> Self {
        let dir = TempDir::new().unwrap();
        for folder in ["state", "work", "home", "tmp", "beside"] {
            fs::create_dir(dir.path().join(folder)).unwrap();
        }
        fs::write(dir.path().join("state/secret"), "the secret\n").unwrap();
        fs::write(dir.path().join("beside/file"), "the secret\n").unwrap();
        let mut stand = Self { dir, plan: Plan::default() };
        stand.open(network, &["work", "home", "tmp"]);
        stand.plan.least = reach();
        stand
    }

    pub fn open(&mut self, network: bool, writes: &[&str]) {
        let writes = writes.iter().map(|name| self.at(name)).collect();
        let closed = vec![self.at("state")];
        let boundary = Boundary::new(&Settings::default(), writes, closed, network).unwrap();
        self.plan.boundary = Some(boundary);
    }

    pub fn at(&self, name: &str) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join(name)
    }

    /// Runs a script to its end.
    pub fn run(&self, script: &str) -> Outcome {
        let mut started = self.start(&["sh", "-c", script]);
        let mut text = String::new();
        started.output.read_to_string(&mut text).unwrap();
        started.child.wait().unwrap();
        Outcome { how: started.line.report(), text }
    }

    pub fn start(&self, argv: &[&str]) -> Program {
        let (output, writer) = io::pipe().unwrap();
        let writer = OwnedFd::from(writer);
        let errors = writer.try_clone().unwrap();
        let streams = Streams { output: writer, errors, ..Streams::null().unwrap() };
        let argv: Vec<String> = argv.iter().map(|word| (*word).to_owned()).collect();
        let launch = Launch { argv: &argv, plan: &self.plan, streams };
        let (command, control) = launcher().command(launch).unwrap();
        let mut command: Command = command.into_std();
        command
            .current_dir(self.at("work"))
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", self.at("home"))
            .env("TMPDIR", self.at("tmp"))
            .env("TOP", self.at(""))
            .env("OUT", std::process::id().to_string());
        let child = command.spawn().unwrap();
        drop(command);
        let leader = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw);
        let line = ControlLine::new(leader.unwrap(), control);
        Program { child, line, output }
    }

    #[track_caller]
    pub fn works(&self, script: &str, text: &str) {
        let ended = self.run(script);
        assert!(matches!(ended.how, Some(Ok(State::Exited(0)))), "{script}: {ended:?}");
        assert_eq!(ended.text.trim_end(), text, "{script}");
    }
}

pub struct Program {
    pub child: Child,
    pub line: ControlLine,
    pub output: io::PipeReader,
}

pub fn launcher() -> Launcher {
    Launcher::Supervised("/proc/self/exe".into())
}

/// What is reached here; the stories have nothing to tell where it is nothing.
pub fn reach() -> Reach {
    launcher().reach()
}

/// This program at a place that nobody else's user is kept from.
pub fn copied(to: &Path) -> PathBuf {
    let copy = to.join("escape");
    fs::copy("/proc/self/exe", &copy).unwrap();
    copy
}
