//! Reads a shell command far enough to judge it: which programs it starts, and what it leaves running.
//!
//! Quotes, substitutions, here-documents and arithmetic are told apart from commands, nothing is expanded.
//! Programs that start others (`sudo`, `xargs`, `find -exec`) and words that are commands themselves
//! (`sh -c '…'`, `eval`) are looked into. What is not understood is unclear, and not allowed. A script or
//! an interpreter can still do what it likes: this explains early, and is no barrier.

use std::collections::BTreeSet;

use super::reading::{first, is_assignment};
use super::{inner, shell_words};

pub use super::reading::{CommandReading, Word};

/// Programs that wait for a person at a terminal.
const INTERACTIVE: [&str; 30] = [
    "atop", "btop", "emacs", "ftp", "gdb", "helix", "htop", "hx", "info", "lazygit", "less", "man",
    "mc", "more", "most", "nano", "ncdu", "nnn", "nvim", "pico", "ranger", "screen", "telnet",
    "tig", "tmux", "top", "vi", "view", "vim", "watch",
];
/// Programs that start the program that follows.
pub(super) const WRAPPERS: [&str; 36] = [
    "builtin",
    "busybox",
    "caffeinate",
    "catchsegv",
    "chrt",
    "command",
    "doas",
    "dumb-init",
    "env",
    "exec",
    "fakeroot",
    "ifne",
    "ionice",
    "ltrace",
    "nice",
    "nohup",
    "parallel",
    "pkexec",
    "proxychains",
    "rlwrap",
    "rtk",
    "setpriv",
    "setsid",
    "ssh-agent",
    "stdbuf",
    "strace",
    "sudo",
    "taskset",
    "time",
    "timeout",
    "tini",
    "toybox",
    "unbuffer",
    "watch",
    "xargs",
    "xvfb-run",
];
/// Those of them that make commands out of their input.
pub(super) const FEEDS: [&str; 2] = ["parallel", "xargs"];
/// Like the wrappers, with other words in between.
pub(super) const LATE: [&str; 33] = [
    "bwrap",
    "choom",
    "chpst",
    "chroot",
    "cpulimit",
    "dbus-run-session",
    "direnv",
    "eatmydata",
    "faketime",
    "firejail",
    "flock",
    "gosu",
    "i386",
    "linux32",
    "linux64",
    "npx",
    "nsenter",
    "numactl",
    "perf",
    "prlimit",
    "proot",
    "runuser",
    "script",
    "setarch",
    "sg",
    "start-stop-daemon",
    "su",
    "su-exec",
    "systemd-run",
    "unshare",
    "uv",
    "valgrind",
    "x86_64",
];
/// How the program is called that starts others for the kernel.
const LOADER: &str = "ld-linux";
/// Options of `find` and its like that start a program.
const EXECUTES: [&str; 8] =
    ["-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch"];
/// Programs whose words are commands.
pub(super) const SHELLS: [&str; 11] =
    ["ash", "bash", "dash", "fish", "flock", "ksh", "mksh", "script", "sh", "su", "zsh"];
/// Options of shells that have a value.
const VALUED: [&str; 5] = ["-o", "+o", "-O", "--rcfile", "--init-file"];
/// Arguments with which an interactive program works on its own.
const BATCH: [&str; 6] = ["-b", "-batch", "--batch", "--help", "--version", "-V"];
/// Commands in words of commands in words.
const ROUNDS: usize = 8;
/// Bytes of such commands in all: each may hold the words behind it again, and so they would multiply.
const CODES: usize = 1 << 20;
/// Words of a wrapper that are looked at.
const NEAR: usize = 64;
/// Why a shell is not understood that has no script of its own.
const ELSEWHERE: &str = "a shell without a script or -c reads its commands from elsewhere";

/// Why a program is not understood whose input says what it runs.
const FED: &str = "it reads what it runs from its input: write that out";

/// Reads a command line.
pub fn read(text: &str) -> CommandReading {
    let mut reading = CommandReading::default();
    shell_words::split(text, 0, &mut reading);
    look_into_all(&mut reading);
    reading
}

/// Reads the substitution that a text begins with, which bash carries out when it evaluates that text.
pub(super) fn read_substitution(text: &str) -> CommandReading {
    let mut reading = CommandReading::default();
    shell_words::substitution(text, &mut reading);
    look_into_all(&mut reading);
    reading
}

/// Reads the commands in words of commands, round by round.
fn look_into_all(reading: &mut CommandReading) {
    let (mut from, mut left) = (0, CODES);
    for _ in 0..ROUNDS {
        let to = reading.commands.len();
        for at in from..to {
            if left > 0 {
                look_into(at, &mut left, reading);
            }
        }
        from = to;
    }
    if from < reading.commands.len() {
        reading.unclear("it is nested too deeply");
    }
}

/// Reads the commands that a command's words are, as long as there are bytes left for them.
fn look_into(at: usize, left: &mut usize, reading: &mut CommandReading) {
    let mut codes = Vec::new();
    let mut unclear = None;
    codes.extend(inner::assigned(&reading.commands[at]));
    for start in starts(&reading.commands[at]) {
        match code(start) {
            Ok(more) => codes.extend(more),
            Err(why) => unclear = Some(why),
        }
        if codes.iter().map(String::len).sum::<usize>() >= *left {
            *left = 0;
            return reading.unclear("it holds too many commands in words");
        }
    }
    for code in &codes {
        *left -= code.len();
        shell_words::split(code, 1, reading);
    }
    if let Some(why) = unclear {
        reading.unclear(why);
    }
}

/// The words of a program that are commands.
fn code(start: &[Word]) -> Result<Vec<String>, &'static str> {
    let [program, arguments @ ..] = start else { return Ok(Vec::new()) };
    let name = program.name().ok_or("the name of a program is made when it runs: write it out")?;
    let literal = |word: &Word| match word.is_literal() {
        true => Ok(word.text.clone()),
        false => Err("a command is made when it runs: write it out"),
    };
    let is_option = |word: &&Word| word.text.starts_with(['-', '+']);
    match name {
        "eval" => {
            let all: Result<Vec<_>, _> = arguments.iter().map(literal).collect();
            Ok(vec![all?.join(" ")])
        }
        "trap" => {
            let action = arguments.iter().find(|word| !is_option(word));
            action.map(literal).transpose().map(|code| code.into_iter().collect())
        }
        "." | "source" if arguments.iter().any(is_elsewhere) => Err(ELSEWHERE),
        name if SHELLS.contains(&name) => code_of_shell(name, arguments),
        name if inner::is_fed(name, arguments) => Err(FED),
        name => Ok(inner::commands(name, arguments)),
    }
}

/// What a shell is given to run. One that reads its commands from somewhere else is not understood.
fn code_of_shell(name: &str, arguments: &[Word]) -> Result<Vec<String>, &'static str> {
    // These start a person's shell, or what follows them; they read their options as most programs do.
    let other = ["flock", "script"].contains(&name);
    let is_glued = other || name == "su";
    let short = |word: &Word, letter: char| {
        word.text.starts_with('-') && !word.text.starts_with("--") && word.text.contains(letter)
    };
    if arguments.iter().any(|word| matches!(word.text.as_str(), "--version" | "--help")) {
        return Ok(Vec::new());
    }
    let at = arguments.iter().position(|w| short(w, 'c') || is_command(&w.text));
    let Some(at) = at else {
        let mut rest = arguments.iter();
        while let Some(word) = rest.next() {
            if VALUED.contains(&word.text.as_str()) {
                rest.next();
            } else if !word.text.starts_with(['-', '+']) {
                let read = !other && is_elsewhere(word);
                return if read { Err(ELSEWHERE) } else { Ok(Vec::new()) };
            } else if short(word, 's') {
                break;
            }
        }
        return if other { Ok(Vec::new()) } else { Err(ELSEWHERE) };
    };
    let mut given = arguments[at + 1..].iter().filter(|word| !word.text.starts_with(['-', '+']));
    let all: Vec<&Word> = given.by_ref().collect();
    if all.first().is_some_and(|word| !word.is_literal()) {
        return Err("a command is made when it runs: write it out");
    }
    let inline = arguments[at].text.split_once('=').filter(|(name, _)| is_command(name));
    let given = all.iter().filter(|word| word.is_literal()).map(|word| word.text.clone());
    let glued = arguments[at].text.split_once('c').filter(|_| is_glued && inline.is_none());
    let own = inline.or(glued).map(|(_, script)| script).filter(|script| !script.is_empty());
    Ok(own.map(str::to_owned).into_iter().chain(given).collect())
}

/// Whether a word is the option `--command`, cut short or with its value.
fn is_command(word: &str) -> bool {
    let name = word.split('=').next().unwrap_or(word);
    name.len() > 2 && "--command".starts_with(name)
}

/// Whether a script is none, but what an open file or another program gives: `/dev/stdin`, `/proc/self/fd/3`, `<(…)`.
fn is_elsewhere(script: &Word) -> bool {
    let path = script.text.as_str();
    ["/dev/", "/proc/", "<"].iter().any(|begins| path.starts_with(begins))
        || path.starts_with("//")
        || path.contains("/fd/")
        || path.rsplit('/').next() == Some("stdin")
}

/// Returns every place of a simple command where a program begins: the command's own, and those that it is
/// to start.
pub(super) fn starts(words: &[Word]) -> Vec<&[Word]> {
    let mut seen = BTreeSet::new();
    // `{` begins commands behind other words, too: `function f {`, `coproc f {`.
    let braces = (0..words.len()).filter(|at| words[*at].text == "{" && !words[*at].quoted);
    let begun = braces.filter_map(|at| first(words, at + 1));
    let mut open: Vec<usize> = first(words, 0).into_iter().chain(begun).collect();
    while let Some(at) = open.pop() {
        if !seen.insert(at) {
            continue;
        }
        let name = words[at].name().unwrap_or_default();
        if WRAPPERS.contains(&name) {
            open.extend(wrapped(words, at + 1));
        } else if LATE.contains(&name) || name.starts_with(LOADER) {
            let near = (at + 1..words.len()).take(NEAR);
            open.extend(near.filter(|at| !words[*at].text.starts_with('-')));
        } else if matches!(name, "find" | "fd" | "fdfind") {
            let executes = |at: &usize| EXECUTES.contains(&words[*at].text.as_str());
            let behind = (at + 1..words.len()).filter(executes);
            open.extend(behind.filter_map(|at| first(words, at + 1)));
        }
    }
    seen.into_iter().map(|at| &words[at..]).collect()
}

/// Where the program of a wrapper may stand: behind options, and behind what may be an option's value.
fn wrapped(words: &[Word], from: usize) -> Vec<usize> {
    let (mut found, mut option) = (Vec::new(), false);
    for (at, word) in words.iter().enumerate().skip(from).take(NEAR) {
        let text = word.text.as_str();
        if text.starts_with('-') {
            option = true;
        } else if is_assignment(text) || text.starts_with(|c: char| c.is_ascii_digit()) {
            option = false;
        } else {
            found.push(at);
            if !std::mem::take(&mut option) {
                break;
            }
        }
    }
    found
}

/// Returns the first program that waits for a person.
pub fn interactive(reading: &CommandReading) -> Option<&'static str> {
    reading.commands.iter().flat_map(|words| starts(words)).find_map(|start| {
        let program = start.first()?.name()?;
        let name = INTERACTIVE.into_iter().find(|name| *name == program)?;
        let alone = start[1..].iter().any(|word| BATCH.contains(&word.text.as_str()));
        (!alone).then_some(name)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_what_leaves_something_running_backgrounds() {
        let leaves = [
            "sleep 9 &",
            "a & b",
            "(sleep 9 &)",
            "a &\nb",
            "echo $(sleep 9 &)",
            "a && b & c",
            "x&y",
            "cat <<E\nx\nE\nsleep 9 &",
            "a >&2 &",
            "nohup x &>/dev/null &",
            "echo `sleep 9 &`",
        ];
        let harmless = [
            "a && b",
            "a 2>&1",
            "a &> f",
            "a |& b",
            "echo '&'",
            "echo \"a & b\"",
            "echo \\&",
            "a <&3",
            "cat <<E\na & b\nE",
            "cat <<-'E E'\n\tx &\n",
            "echo $((5 & 3))",
            "((x & 1)) && y",
            "# a &",
            "case x in a) b ;& c) d ;;& esac",
            "echo ${x:-&}",
            "echo $'it\\'s &'",
            "curl 'http://x/?a=1&b=2'",
            "cat <<< 'a & b'",
            "a >& f",
        ];
        for text in leaves {
            assert!(read(text).backgrounds, "{text}");
        }
        for text in harmless {
            assert!(!read(text).backgrounds, "{text}");
        }
    }

    #[test]
    fn programs_are_found_wherever_a_command_begins() {
        let found = |text| interactive(&read(text));
        for text in [
            "vim x",
            "/usr/bin/vim x",
            "EDITOR=x sudo vim",
            "a && vim",
            "a | vim -",
            "(vim)",
            "x=$(vim)",
            "if true; then vim; fi",
            "echo a\nvim",
            "'vim' x",
            "echo `vim`",
        ] {
            assert_eq!(found(text), Some("vim"), "{text}");
        }
        for text in [
            "echo vim",
            "grep less file",
            "echo 'a; vim'",
            "top -b -n1",
            "echo $(date) vim",
            "git log # | less",
            "cat <<E\nvim\nE",
            "vim --version",
        ] {
            assert_eq!(found(text), None, "{text}");
        }
        assert_eq!(found("git log | less"), Some("less"));
    }

    /// The programs of a command, or why it is not understood.
    fn programs(text: &str) -> String {
        let reading = read(text);
        if let Some(why) = reading.unclear {
            return why.to_owned();
        }
        let starts = reading.commands.iter().flat_map(|words| starts(words));
        let names: Vec<_> = starts.filter_map(|start| start[0].name()).collect();
        names.join(" ")
    }

    #[test]
    fn however_it_is_written_the_program_is_found() {
        for text in [
            "rm x",
            "rm\tx",
            "'rm' x",
            "r\\m x",
            "\"r\"'m' x",
            "/bin/rm x",
            "\"$HOME\"/bin/rm x",
            "rm<x",
            ">x rm y",
            "2>x rm",
            "A=1 rm",
            "A=$(true) rm",
            "if ! rm x; then true; fi",
            "for i in 1; do rm x; done",
            "f() { rm x; }; f",
            "function f { rm x; }; f",
            "case x in x) rm x;; esac",
            "echo \"$(rm x)\"",
            "echo \"a `rm x`\"",
            "echo ${a:-$(rm x)}",
            "cat <(rm x)",
            "(rm x)",
            "((1 + 1)); rm x",
            "[[ a < b ]] && rm x",
            "[ a ] || rm x",
            "cat <<'E'\n'\nE\nrm x",
            "cat <<E\n\tE\n'\nE\nrm x\n# '",
            "(cat <<E)\n'\nE\nrm x",
            "a=(1 2); rm x",
            "echo [[ ; rm x ]]",
            "'[[' a ; rm x ]]",
            "echo a\u{c}# ; rm x",
            "sudo -u root rm x",
            "env A=1 nice -n 5 rm x",
            "timeout 5 rm x",
            "xargs -I {} rm {}",
            "find . -name x -exec rm {} +",
            "sh -c 'rm x'",
            "bash -ec \"rm x\"",
            "bash -o pipefail -c 'true; rm x'",
            "xargs sh -c 'rm \"$1\"' _",
            "eval rm x",
            "eval 'eval \"rm x\"'",
            "trap 'rm x' EXIT",
            "flock /tmp/x rm x",
            "su -c 'rm x' nobody",
            "env -S 'rm x'",
            "env -S'rm x'",
            "env --split-string='rm x'",
            "git rebase -x 'rm x' main",
            "git -C a rebase --exec='rm x' main",
            "git submodule foreach 'rm x'",
            "git submodule foreach --recursive rm x",
            "git bisect run rm x",
            "git -c alias.x='!rm y' x",
            "tar --checkpoint-action=exec='rm x' -cf a b",
            "tar -I 'rm x' -xf a",
            "tar --to-command 'rm x' -xf a",
            "rsync -e 'rm x' a b:",
            "ssh -o ProxyCommand='rm x' h",
            "alias q='rm x'; q",
            "hash -p /bin/rm q",
            "mapfile -C 'rm x' -t a",
            "vim -c '!rm x'",
            "env -iS 'rm x'",
            "env -vS'rm x'",
            "env -i0S 'rm x'",
            "env --split='rm x'",
            "env --sp 'rm x'",
            "env -S '-u A rm x'",
            "env -S 'nice\\_rm\\_x'",
            "tar -cvI 'rm x' -f a b",
            "tar cIf 'rm x' a b",
            "sudo tar cfI a 'rm x' b",
            "tar --to-com='rm x' -xf a",
            "rsync -ave 'rm x' a b:",
            "rsync -ave'rm x' a b:",
            "ssh -vo ProxyCommand='rm x' h",
            "ssh -voProxyCommand='rm x' h",
            "ssh -o 'proxycommand rm x' h",
            "mapfile -tC 'rm x' a",
            "git rebase --ex 'rm x' main",
            "time rm x",
            "time -p rm x",
            "! time -p -- A=1 rm x",
            "time -p time -p rm x",
            "/usr/bin/time -v rm x",
            "/usr/bin/time -f '%e s' -o f rm x",
            "'time' rm x",
            "sudo time -p rm x",
            "git config alias.x '!rm y'",
            "git -c Alias.x='!rm' x y",
            "git -c alias.a='!true' -c alias.b='!rm' b y",
            "env -S true -S 'rm x'",
        ] {
            let programs = programs(text);
            assert!(programs.split(' ').any(|name| name == "rm"), "{text}: {programs}");
        }
    }

    #[test]
    fn what_is_made_when_it_runs_is_not_understood() {
        for text in [
            "$(echo rm) x",
            "`echo rm` x",
            "x=rm; $x y",
            "\"$x\" y",
            "$x/y",
            "{rm,-rf,x}",
            "{/bin/rm,/x}",
            "r? x",
            "/bin/r[m] x",
            "$'\\x72m' x",
            "eval \"$x\"",
            "sh -c \"$x\"",
            "echo rm x | sh",
            "bash -s < x",
            "bash <<E\nrm x\nE",
            "cat <<E\n$(rm x)\nE",
            "cat <<E\na\\\nE\nE",
            "echo 'a",
            "echo \"a",
            "echo $(rm",
            "echo ${a:-\"$(rm x)\"}",
            "$(case x in x) rm;; esac)",
            "!(x) y",
            "sudo $x",
            "[[ a",
            "source /dev/stdin <<< 'rm x'",
            ". <(echo rm x)",
            "source /dev/fd/3",
            ". /proc/self/fd/0",
            "cd /dev; . ./stdin",
            "command . //dev/stdin",
            "bash /dev/stdin <<< 'rm x'",
            "sh -e <(echo rm x)",
            "\"$@\"/rm x",
            "$(time -p case x in x) rm;; esac)",
        ] {
            assert!(read(text).unclear.is_some(), "{text}: {}", programs(text));
        }
        let deep = format!("{}x{}", "$(".repeat(5_000), ")".repeat(5_000));
        assert!(read(&deep).unclear.is_some());
        for opened in ["(", "${", "\"$(", "((", "`", "$((", "[[ ", "sudo -u ", "eval ", "env -S "] {
            drop(read(&opened.repeat(20_000)));
        }
    }

    #[test]
    fn ordinary_commands_are_understood() {
        for text in [
            "grep -rn shutdown src",
            "git commit -m 'fix reboot loop'",
            "ls -la && cargo test 2>&1 | tail -n 5",
            "for f in *.rs; do wc -l \"$f\"; done",
            "if [[ -f a && ! -d b ]]; then echo yes; fi",
            "awk '{ print $1 }' x | sort | uniq -c",
            "x=$(date +%s); echo $((x + 1))",
            "cat > f <<'EOF'\nit's $(x)\nEOF",
            "cat <<EOF\nhello $USER\nEOF",
            "while read -r line; do echo \"got $line\"; done < f",
            "python3 -c 'import os; print(os.getcwd())'",
            "case $x in a|b) echo 1;; *) echo 2;; esac",
            "find . -name '*.rs' | xargs grep -n foo",
            "echo {a,b}.txt *.md ~/x ${x:-y} $'a'",
            "a=(1 2 3); echo \"${a[@]}\"",
            "set -euo pipefail; ./run.sh --all",
            "diff <(sort a) <(sort b)",
            "time make -j4",
            "kill -9 $$; echo $?",
            "~/.cargo/bin/cargo build",
            "bash x.sh a b",
            "source ~/.bashrc",
            ". venv/bin/activate",
            ". \"$HOME/.cargo/env\"",
            "flock /dev/shm/x make",
            "time -p make",
            "git log alias.rs src",
            "[ -e go ] || sleep 0.1",
            "until [ -e go ]; do sleep 0.01; done; seq 20000",
        ] {
            assert_eq!(read(text).unclear, None, "{text}");
        }
    }

    proptest! {
        /// Whatever stands in single quotes is one word and leaves nothing running.
        #[test]
        fn quotes_hide_everything(inner in "[^']{0,30}") {
            let reading = read(&format!("echo '{inner}'"));
            let words: Vec<&str> = reading.words().collect();
            prop_assert_eq!(words, ["echo", inner.as_str()]);
            prop_assert_eq!(reading.unclear, None);
            prop_assert!(!reading.backgrounds);
        }

        /// Any text is read to its end, and a `&` behind harmless words is always seen.
        #[test]
        fn nothing_is_too_strange(
            text in any::<String>(),
            odd in "[()$`'\"{}\\[\\]<>&|; \n#=a-c-]{0,60}",
            words in "x[a-z ]{0,12}[a-z]",
        ) {
            drop(read(&odd));
            drop(read(&text));
            let trailing = format!("{words} &");
            prop_assert!(read(&trailing).backgrounds);
        }
    }
}
