//! Commands that leave the sandbox by the config's will: one plain command, over ssh, with an approval each.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use selkie_guard::plain;

/// A row of `tools.bash.host_commands`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct HostCommand {
    /// How a command begins, in whole words: `docker compose`.
    #[serde(rename = "match")]
    pub begins: String,
    /// Where it runs instead, as ssh takes it: `me@build.example`.
    pub ssh: String,
}

/// A command that runs on another host.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct OnHost<'a> {
    /// Where.
    pub(super) host: &'a str,
    /// What the shell there reads: the same words, quoted again.
    pub(super) cmd: String,
}

impl<'a> OnHost<'a> {
    /// Finds the row of a command. Only one plain command has one, without operators, redirections and expansions.
    pub(super) fn of(rows: &'a [HostCommand], cmd: &str) -> Option<Self> {
        let line = plain::read(cmd);
        let [command] = line.commands.as_slice() else { return None };
        if !line.is_plain || line.is_joined || !command.is_plain() {
            return None;
        }
        let words: Vec<&str> = command.words.iter().map(|word| word.text.as_str()).collect();
        let begins = |row: &&HostCommand| {
            let wanted: Vec<&str> = row.begins.split_whitespace().collect();
            !wanted.is_empty() && words.starts_with(&wanted)
        };
        let row = rows.iter().find(begins)?;
        let quoted: Vec<String> = words.iter().map(|word| quoted(word)).collect();
        Some(Self { host: row.ssh.trim(), cmd: quoted.join(" ") })
    }

    /// Returns the program that runs it there. It asks nothing, and a host that looks like an option is none.
    pub(super) fn argv(&self) -> Vec<String> {
        let words = ["ssh", "-o", "BatchMode=yes", "-T", "--", self.host, &self.cmd];
        words.map(str::to_owned).to_vec()
    }

    /// Says why it needs an approval.
    pub(super) fn reason(&self) -> String {
        let host = self.host;
        format!(
            "asks first: this command runs outside of the sandbox, on {host} (tools.bash.host_commands)"
        )
    }
}

/// A word that every shell reads as it is.
fn quoted(word: &str) -> String {
    let is_safe = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c);
    match !word.is_empty() && word.chars().all(is_safe) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_plain_command_leaves_and_nothing_else_does() {
        let row = |begins: &str| HostCommand { begins: begins.into(), ssh: "me@host".into() };
        let rows = [row("docker compose"), row("")];
        let there = |cmd: &str| OnHost::of(&rows, cmd).map(|on| on.cmd);
        assert_eq!(there("docker compose up -d").unwrap(), "docker compose up -d");
        assert_eq!(
            there(" 'docker' compose 'a b;c' \"d'e\"").unwrap(),
            r"docker compose 'a b;c' 'd'\''e'"
        );
        for inside in [
            "docker",
            "docker composer up",
            "dockers compose",
            "docker compose up; id",
            "docker compose up | cat",
            "docker compose $X",
            "docker compose up > x",
            "docker compose `id`",
            "X=1 docker compose up",
            "docker compose up &",
            "docker compose *",
            "(docker compose up)",
            "docker compose up\nid",
            "docker compose ~/x",
            "/usr/bin/docker compose up",
            "docker compose 'up",
            "docker compose {a,b}",
        ] {
            assert_eq!(there(inside), None, "{inside}");
        }
        let argv = OnHost::of(&rows, "docker compose 'a b'").unwrap().argv();
        assert_eq!(argv[4..], ["--", "me@host", "docker compose 'a b'"]);
    }
}
