//! What works in the sandbox, and what ends with what.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use rustix::process::Signal;
use selkie_sandbox::{State, descendants};

use crate::stand::Stand;

/// The word by which this program starts something and waits.
pub const DAEMON: &str = "as-daemon";
/// An end to waiting, not a timing.
const TIMEOUT: Duration = Duration::from_secs(60);

pub fn what_is_needed_works() {
    let stand = Stand::new(true);
    stand.works("echo hi > new; cat new; mkdir d; mv new d/; ls d; rm -r d; ls", "hi\nnew");
    stand.works("cat < /dev/null; echo x > /dev/null; head -c 4 /dev/urandom | wc -c", "4");
    stand.works("cd; echo a > a; cat a; cd \"$TMPDIR\"; echo b > b; cat b", "a\nb");
    stand.works("bash -c 'diff <(echo a) <(echo a)'; echo x | tee /dev/stderr | cat", "x\nx");
    stand.works("head -1 /etc/passwd | cut -d: -f1; test -r /etc/hosts && echo y", "root\ny");
    stand.works("perl -e 'print 6*7'", "42");
    stand.works("f() { for i in 1 2; do echo $i; done; }; f; echo $(expr 1 + 2)", "1\n2\n3");
    let ended = stand.run("exit 7");
    assert!(matches!(ended.how, Some(Ok(State::Exited(7)))), "{ended:?}");
    let missing = Stand::start(&stand, &["no-such-program"]);
    let mut child = missing.child;
    child.wait().unwrap();
    let said = missing.line.report();
    assert!(matches!(said, Some(Err(ref why)) if why.contains("No such file")), "{said:?}");
}

pub fn limits_hold() {
    let mut stand = Stand::new(false);
    stand.plan.limits.file_mb = 1;
    stand.plan.limits.open_files = 20;
    stand.works("ulimit -c; ulimit -n; ulimit -Hn", "0\n20\n20");
    let ended = stand.run("head -c 2000000 /dev/zero > big");
    assert!(!matches!(ended.how, Some(Ok(State::Exited(0)))), "{ended:?}");
    assert!(fs::metadata(stand.at("work/big")).unwrap().len() <= 1024 * 1024);
    stand.plan.limits.memory_mb = 1;
    stand.works("echo enough", "enough");
}

/// Starts something that goes on by itself, says so, and waits for its own end.
pub fn as_daemon() -> ExitCode {
    let stand = Stand::new(false);
    let script = "setsid sh -c 'sleep 7301 & sleep 7301' & sleep 7301 & echo up; wait";
    let started = stand.start(&["sh", "-c", script]);
    let mut line = String::new();
    BufReader::new(started.output).read_line(&mut line).unwrap();
    print!("{line}");
    std::io::Write::flush(&mut std::io::stdout()).unwrap();
    std::thread::sleep(TIMEOUT);
    ExitCode::SUCCESS
}

pub fn everything_ends_with_the_daemon() {
    let mut daemon = Command::new("/proc/self/exe");
    let mut daemon = daemon.arg(DAEMON).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(daemon.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "up\n");
    let all = descendants(i32::try_from(daemon.id()).unwrap());
    assert!(all.len() >= 4, "{all:?}");
    daemon.kill().unwrap();
    daemon.wait().unwrap();
    gone(&all);
}

pub fn everything_ends_with_the_program() {
    let stand = Stand::new(false);
    let script = "setsid sleep 7302 & sleep 7302 & echo $$; wait";
    let mut started = stand.start(&["sh", "-c", script]);
    let mut line = String::new();
    BufReader::new(&mut started.output).read_line(&mut line).unwrap();
    let all = descendants(i32::try_from(started.child.id()).unwrap());
    let program: i32 = line.trim().parse().unwrap();
    let program = rustix::process::Pid::from_raw(program).unwrap();
    rustix::process::kill_process(program, Signal::KILL).unwrap();
    let mut rest = String::new();
    started.output.read_to_string(&mut rest).unwrap();
    started.child.wait().unwrap();
    let how = started.line.report();
    assert!(matches!(how, Some(Ok(State::Killed(9)))), "{how:?}");
    gone(&all);
}

pub fn a_thousand_start_at_once() {
    let stand = Stand::new(false);
    let all: Vec<_> = (0..1000).map(|_| stand.start(&["true"])).collect();
    for mut started in all {
        started.child.wait().unwrap();
        let how = started.line.report();
        assert!(matches!(how, Some(Ok(State::Exited(0)))), "{how:?}");
    }
}

fn gone(all: &[i32]) {
    let since = Instant::now();
    while all.iter().any(|pid| fs::metadata(format!("/proc/{pid}")).is_ok()) {
        assert!(since.elapsed() < TIMEOUT, "something is left of {all:?}");
        std::thread::yield_now();
    }
}
