//! What systemd is told and asked, by its own program, without a shell.

use std::io::{self, Read as _};
use std::process::{Command, Stdio};

use super::machine::{Kind, Machine};

/// No answer is longer.
const MAX_LENGTH: u64 = 64 * 1024;

/// A command on this machine's environment; `systemctl` ends by itself when its manager does not answer.
pub fn program(machine: &Machine, name: &str) -> Command {
    let mut command = Command::new(name);
    command.env_clear().envs(&machine.env);
    command
}

fn systemctl(machine: &Machine, words: &[&str]) -> Command {
    let mut command = program(machine, "systemctl");
    if machine.asked.kind == Kind::User {
        command.arg("--user");
    }
    command.args(words).stdin(Stdio::null());
    command
}

/// Tells systemd something; what it says goes to standard error.
///
/// # Errors
/// When it does not work.
pub fn tell(machine: &Machine, words: &[&str]) -> io::Result<()> {
    // Standard output may be JSON.
    let status = systemctl(machine, words).stdout(Stdio::from(io::stderr())).status()?;
    match status.success() {
        true => Ok(()),
        false => {
            let words = words.join(" ");
            Err(io::Error::other(format!("{} {words} failed ({status})", machine.systemctl())))
        }
    }
}

/// Asks for properties of the unit, a line `Name=value` each; `None` when systemd does not answer.
pub fn properties(machine: &Machine, names: &str) -> Option<String> {
    let unit = machine.unit_name();
    let words = ["show", "--no-pager", "--property", names, "--", &unit];
    let mut command = systemctl(machine, &words);
    // Times are told by the clock of whoever asks.
    command.env("TZ", "UTC").env("LC_ALL", "C").stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().ok()?;
    let mut text = String::new();
    let read = child.stdout.take()?.take(MAX_LENGTH).read_to_string(&mut text);
    let ended = child.wait().ok()?;
    (read.is_ok() && ended.success()).then_some(text)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::service::machine::ServiceTarget;
    use selkie_config::source::Environment;

    fn machine(kind: Kind, programs: &std::path::Path) -> Machine {
        let env: Environment = [("PATH", programs.to_str().unwrap()), ("HOME", "/home/ada")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into();
        Machine::of(ServiceTarget { kind, name: "selkie".to_owned(), root: None }, &env).unwrap()
    }

    #[test]
    fn a_refusal_and_a_missing_program_are_told() {
        let folder = tempfile::tempdir().unwrap();
        let machine = machine(Kind::User, folder.path());
        assert!(tell(&machine, &["daemon-reload"]).is_err(), "there is no systemctl");
        assert_eq!(properties(&machine, "ActiveState"), None);
        symlink("/bin/false", folder.path().join("systemctl")).unwrap();
        let says = tell(&machine, &["daemon-reload"]).unwrap_err().to_string();
        assert!(says.starts_with("systemctl --user daemon-reload failed"), "{says}");
        assert_eq!(properties(&machine, "ActiveState"), None);
        std::fs::remove_file(folder.path().join("systemctl")).unwrap();
        symlink("/bin/echo", folder.path().join("systemctl")).unwrap();
        tell(&machine, &["daemon-reload"]).unwrap();
        let asked = properties(&machine, "ActiveState").unwrap();
        assert_eq!(asked, "--user show --no-pager --property ActiveState -- selkie.service\n");
    }
}
