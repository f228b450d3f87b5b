//! A program put before the programs of a command.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::environment::Environment;
use super::launch::find_program;
use selkie_guard::plain;

/// What the shell does itself, though there may be a program of that name.
const BUILTINS: [&str; 30] = [
    ".", ":", "[", "alias", "bg", "builtin", "cd", "command", "echo", "eval", "exec", "exit",
    "export", "false", "fg", "jobs", "kill", "printf", "pwd", "read", "set", "shift", "source",
    "test", "trap", "true", "ulimit", "umask", "unset", "wait",
];

/// `tools.bash.rewrite`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Rewrite {
    /// Whether commands are rewritten.
    pub enabled: bool,
    /// The program: `rtk` turns `git status` into `rtk git status`. What the shell does itself (`cd`, `export`, loops)
    /// stays as it is.
    pub binary: String,
}

impl Rewrite {
    /// Puts the program before each program of plain words; a line that is more than plain words stays as it is.
    pub(super) fn of(&self, cmd: String, env: &Environment) -> String {
        let binary = self.binary.trim();
        if !self.enabled || binary.is_empty() {
            return cmd;
        }
        let line = plain::read(&cmd);
        if !line.is_plain {
            return cmd;
        }
        let programs = line.commands.iter().filter_map(|command| command.words.first());
        let is_program = |word: &&plain::PlainWord| {
            let name = word.text.as_str();
            !BUILTINS.contains(&name) && (name.contains('/') || find_program(env, name).is_some())
        };
        let places: BTreeSet<usize> = programs.filter(is_program).map(|word| word.at).collect();
        let mut text = cmd.clone();
        for at in places.into_iter().rev() {
            text.insert_str(at, &format!("{binary} "));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_get_it_and_the_shells_own_words_do_not() {
        let rewrite = Rewrite { enabled: true, binary: "rtk".to_owned() };
        let env = Environment::from([("PATH".to_owned(), "/usr/bin:/bin".to_owned())]);
        for (cmd, becomes) in [
            ("ls -l", "rtk ls -l"),
            ("cd sub && ls", "cd sub && rtk ls"),
            ("# look\nls | head -3; wc x", "# look\nrtk ls | rtk head -3; rtk wc x"),
            ("export A=1; env", "export A=1; rtk env"),
            ("A=1 env", "A=1 rtk env"),
            ("./own 'a b'", "rtk ./own 'a b'"),
            ("no-such-program x", "no-such-program x"),
            ("for i in 1 2; do ls; done", "for i in 1 2; do ls; done"),
            ("if ls; then ls; fi", "if ls; then ls; fi"),
            ("( ls )", "( ls )"),
            ("ls > x", "ls > x"),
            ("# ls", "# ls"),
            ("", ""),
        ] {
            assert_eq!(rewrite.of(cmd.to_owned(), &env), becomes);
        }
        let off = Rewrite { enabled: false, ..rewrite };
        assert_eq!(off.of("ls".to_owned(), &env), "ls");
    }
}
