//! Which programs a line of plain words starts, and whether its words say what they do.

use super::plain::{PlainCommand, PlainLine, PlainWord};

/// Programs whose words are a command again.
const WRAPPERS: [&str; 14] = [
    "builtin", "busybox", "command", "doas", "env", "exec", "ionice", "nice", "nohup", "setsid",
    "stdbuf", "sudo", "timeout", "xargs",
];
/// Programs that make commands out of their words, a file or their input.
const COMMAND_MAKERS: [&str; 30] = [
    ".",
    "alias",
    "ash",
    "at",
    "bash",
    "batch",
    "compgen",
    "coproc",
    "dash",
    "declare",
    "enable",
    "eval",
    "fish",
    "flock",
    "hash",
    "jobs",
    "ksh",
    "let",
    "mapfile",
    "mksh",
    "parallel",
    "readarray",
    "script",
    "sh",
    "source",
    "ssh",
    "su",
    "trap",
    "typeset",
    "zsh",
];
/// Programs that do so with these options.
const WITH_OPTIONS: [&str; 4] = ["env", "fd", "fdfind", "find"];
const MAKING_OPTIONS: [&str; 7] = ["-S", "-X", "-exec", "-execdir", "-ok", "-okdir", "-x"];
/// As many programs of a command are looked at: each may hold the words of the others.
const MAX_PROGRAMS: usize = 16;

/// Returns the first of these beginnings (`rm `, `git push`) that a command of the line has: its program by name, then the
/// words in their order, with others in between; `*` is any.
pub fn begins_with<'p>(
    line: &PlainLine,
    beginnings: impl IntoIterator<Item = &'p str>,
) -> Option<&'p str> {
    let programs: Vec<&[PlainWord]> = line.programs().collect();
    beginnings.into_iter().find(|beginning| {
        let wanted: Vec<&str> = beginning.split_whitespace().filter(|word| *word != "*").collect();
        programs.iter().any(|words| has(words, &wanted))
    })
}

fn has(words: &[PlainWord], wanted: &[&str]) -> bool {
    let [program, arguments @ ..] = words else { return false };
    let [name, rest @ ..] = wanted else { return false };
    let mut left = arguments.iter();
    is_called(&program.text, name)
        && rest.iter().all(|word| left.any(|argument| argument.text == **word))
}

/// Whether a word is a program of this name, wherever it lies.
pub(super) fn is_called(word: &str, name: &str) -> bool {
    word == name || word.rsplit('/').next() == Some(name)
}

impl PlainLine {
    /// Whether its words say what it runs: it is plain, and no program makes commands out of what it is given.
    pub fn is_judged(&self) -> bool {
        self.is_plain && self.commands.iter().all(PlainCommand::is_judged)
    }

    /// Returns the words from where each program stands.
    pub(super) fn programs(&self) -> impl Iterator<Item = &[PlainWord]> {
        self.commands.iter().flat_map(PlainCommand::programs)
    }
}

impl PlainCommand {
    fn is_judged(&self) -> bool {
        let programs = self.programs();
        let is_fed = programs.iter().any(|words| is_called(&words[0].text, "xargs"));
        // Where `xargs` has no program behind it, what comes in says which.
        let is_open = programs.last().is_some_and(|words| words[0].is_one_of(&WRAPPERS));
        self.is_plain()
            && !programs.iter().any(|words| makes_commands(words))
            && !(is_fed && is_open)
    }

    /// Where programs stand: at the first word, and behind programs that start the one that follows. Behind an option
    /// a word may be its value, so that the next one may be the program, too.
    fn programs(&self) -> Vec<&[PlainWord]> {
        let mut found = Vec::new();
        let mut behind_option = false;
        for (at, word) in self.words.iter().enumerate() {
            let text = word.text.as_str();
            let is_option = text.starts_with('-');
            let is_own =
                is_option || text.contains('=') || text.starts_with(|c: char| c.is_ascii_digit());
            if at > 0 && is_own {
                behind_option = is_option;
                continue;
            }
            found.push(&self.words[at..]);
            let is_last = !std::mem::take(&mut behind_option) && !word.is_one_of(&WRAPPERS);
            if is_last || found.len() == MAX_PROGRAMS {
                break;
            }
        }
        found
    }
}

fn makes_commands(program: &[PlainWord]) -> bool {
    let mut options = program.iter().map(|word| word.text.as_str());
    program[0].is_one_of(&COMMAND_MAKERS)
        || program[0].is_one_of(&WITH_OPTIONS) && options.any(|word| MAKING_OPTIONS.contains(&word))
}

impl PlainWord {
    /// Whether it is one of these programs.
    pub(super) fn is_one_of(&self, names: &[&str]) -> bool {
        names.iter().any(|name| is_called(&self.text, name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plain::read;

    #[test]
    fn patterns_hold_where_a_program_stands() {
        let asks = |line: &str| begins_with(&read(line), ["rm ", "git push * --force"]).is_some();
        for line in [
            "rm x",
            "cd a && /bin/rm x",
            "sudo -n rm x",
            "sudo -u root rm x",
            "xargs -I % -n 1 rm %",
            "env A=1 rm x",
            "ls | xargs -n1 rm",
            "'rm' x",
            "for i in *; do rm $i; done",
            "(rm x)",
            "git push -q origin --force",
            "timeout 5 rm x",
            "X=1 rm x",
            "X='1 2' rm x",
            "echo $(rm x)",
            "if rm x; then :; fi",
            "{ rm x; }",
        ] {
            assert!(asks(line), "{line}");
        }
        for line in
            ["farm x", "echo rm x", "git push", "git commit -m 'rm x'", "ls # rm x", "rmdir x"]
        {
            assert!(!asks(line), "{line}");
        }
    }

    #[test]
    fn what_runs_what_it_is_given_is_not_judged() {
        for line in [
            "ls -la && cargo test | tail -n 5; [ -e go ]",
            "find . -name '*.rs' | xargs -n 1 grep -n foo",
            "python3 -c 'print(1)'",
            "awk '{print $1}' f",
            "git commit -m 'Run it with `bash` or eval'",
            "",
        ] {
            assert!(read(line).is_judged(), "{line}");
        }
        for line in [
            "sh -c 'rm x'",
            "echo rm x | bash",
            "sudo -u root sh x",
            "eval 'rm x'",
            ". ./env",
            "trap 'rm x' EXIT",
            "find . -exec rm x +",
            "echo rm x | xargs",
            "echo rm x | xargs sudo -n",
            "env -S 'rm x'",
            "ssh host rm x",
            "PAGER='rm x' git log",
            "rm $x",
            "ls > x",
        ] {
            assert!(!read(line).is_judged(), "{line}");
        }
    }
}
