//! Words of programs that are commands themselves: which option or word of which program one stands behind. Data.

use super::options::spelled;
use super::reading::{CommandReading, Word, is_assignment};
use super::{awk, sed, shell_words};

/// Where the command stands.
#[derive(Clone, Copy)]
enum Takes {
    /// In the next word, or behind the option's `=` or its letter.
    Value,
    /// In the same, behind this text in it, in letters of any size; without the text there is none.
    Behind(&'static str),
    /// In the same: words of the program's own that stand in the option's place.
    Own,
    /// In all words that follow.
    Rest,
    /// In the same, whatever options come first.
    RestBehindOptions,
}

use Takes::{Behind, Own, Rest, RestBehindOptions, Value};

/// Program, the words that come somewhere before, the option or word itself.
type Row = (&'static str, &'static str, &'static str, Takes);

const TABLE: &[Row] = &[
    ("env", "", "-S", Own),
    ("env", "", "--split-string", Own),
    ("git", "rebase", "-x", Value),
    ("git", "rebase", "--exec", Value),
    ("git", "submodule", "foreach", RestBehindOptions),
    ("git", "bisect", "run", Rest),
    ("git", "", "-c", Behind("=!")),
    ("git", "difftool", "-x", Value),
    ("git", "difftool", "--extcmd", Value),
    ("git", "grep", "-O", Value),
    ("git", "grep", "--open-files-in-pager", Value),
    ("make", "", "--eval", Behind(";")),
    ("gmake", "", "--eval", Behind(";")),
    ("npm", "exec", "-c", Value),
    ("npx", "", "-c", Value),
    ("sg", "", "-c", Value),
    ("tar", "", "--checkpoint-action", Behind("exec=")),
    ("tar", "", "--to-command", Value),
    ("tar", "", "--use-compress-program", Value),
    ("tar", "", "--info-script", Value),
    ("tar", "", "--new-volume-script", Value),
    ("tar", "", "--rsh-command", Value),
    ("tar", "", "-I", Value),
    ("tar", "", "-F", Value),
    ("rsync", "", "-e", Value),
    ("rsync", "", "--rsh", Value),
    ("scp", "", "-S", Value),
    ("sftp", "", "-S", Value),
    ("ssh", "", "-o", Behind("proxycommand")),
    ("ssh", "", "-o", Behind("localcommand")),
    ("ssh", "", "-o", Behind("knownhostscommand")),
    ("sort", "", "--compress-program", Value),
    ("mapfile", "", "-C", Value),
    ("readarray", "", "-C", Value),
    ("hash", "", "-p", Value),
    ("compgen", "", "-C", Value),
    ("complete", "", "-C", Value),
    ("split", "", "--filter", Value),
    ("runuser", "", "-c", Value),
    ("runuser", "", "--command", Value),
    ("man", "", "-P", Value),
    ("vi", "", "-c", Behind("!")),
    ("vim", "", "-c", Behind("!")),
    ("nvim", "", "-c", Behind("!")),
    ("ex", "", "-c", Behind("!")),
    ("psql", "", "-c", Behind("\\!")),
    ("git", "", "-c", Behind("core.askpass=")),
    ("git", "", "-c", Behind("core.editor=")),
    ("git", "", "-c", Behind("core.fsmonitor=")),
    ("git", "", "-c", Behind("core.pager=")),
    ("git", "", "-c", Behind("core.sshcommand=")),
    ("git", "", "-c", Behind("credential.helper=")),
    ("git", "", "-c", Behind("diff.external=")),
    ("git", "", "-c", Behind("gpg.program=")),
    ("git", "", "-c", Behind("sequence.editor=")),
];

/// Variables whose values programs carry out, and what such a value goes on from.
const VARIABLES: [(&str, &str); 20] = [
    ("BROWSER", ""),
    ("EDITOR", ""),
    ("GIT_ASKPASS", ""),
    ("GIT_EDITOR", ""),
    ("GIT_EXTERNAL_DIFF", ""),
    ("GIT_PAGER", ""),
    ("GIT_SEQUENCE_EDITOR", ""),
    ("GIT_SSH", ""),
    ("GIT_SSH_COMMAND", ""),
    ("LESSCLOSE", ""),
    ("LESSOPEN", ""),
    ("MAKEFLAGS", "make "),
    ("MANPAGER", ""),
    ("PAGER", ""),
    ("PROMPT_COMMAND", ""),
    ("PS4", ""),
    ("RSYNC_RSH", ""),
    ("SSH_ASKPASS", ""),
    ("TAR_OPTIONS", "tar "),
    ("VISUAL", ""),
];

/// Returns the commands that a command gives to variables (`PAGER='…' git log`, `export PS4='$(…)'`).
pub(super) fn assigned(words: &[Word]) -> impl Iterator<Item = String> {
    words.iter().filter(|word| word.is_literal()).filter_map(|word| {
        let (name, value) = word.text.split_once('=')?;
        let (_, program) = VARIABLES.iter().find(|(known, _)| *known == name)?;
        // A bar begins what reads a file for `less`.
        let value = value.trim_start_matches(['|', '-']);
        let value = if program.is_empty() { value } else { word.text.split_once('=')?.1 };
        (!value.is_empty()).then(|| format!("{program}{value}"))
    })
}

/// Whether a program runs what comes in: a makefile, or a script of sed, from `-`; a job for later.
pub(super) fn is_fed(name: &str, arguments: &[Word]) -> bool {
    let is_input = |word: &str| matches!(word, "-" | "/dev/stdin");
    let from_input = |long: &str| {
        let mut last = "";
        arguments.iter().any(|word| {
            let before = std::mem::replace(&mut last, &word.text);
            let inside = match word.text.split_once('=') {
                Some((name, value)) if name.len() > 2 => long.starts_with(name) && is_input(value),
                _ => word.text.strip_prefix("-f").is_some_and(is_input),
            };
            let is_option = before == "-f" || (before.len() > 2 && long.starts_with(before));
            inside || is_option && is_input(&word.text)
        })
    };
    match name {
        "make" | "gmake" => from_input("--file") || from_input("--makefile"),
        "sed" | "gsed" => from_input("--file"),
        "at" | "batch" => !arguments.iter().any(|word| is_of_jobs(&word.text)),
        _ => false,
    }
}

/// Whether an option makes `at` take a job from a file, or tell of jobs and take them away.
fn is_of_jobs(word: &str) -> bool {
    ["-c", "-d", "-f", "-l", "-r", "-V"].iter().any(|option| word.starts_with(option))
}

/// Returns the commands that a program's words are; what is made when it runs is left to the notes.
pub(super) fn commands(name: &str, arguments: &[Word]) -> Vec<String> {
    if name == "alias" {
        let body = |word: &Word| word.text.split_once('=').map(|(_, body)| body.to_owned());
        return arguments.iter().filter(|word| word.is_literal()).filter_map(body).collect();
    }
    let rows = TABLE.iter().filter(|row| row.0 == name);
    let spelled = spelled(name, arguments);
    let mut found: Vec<String> = rows.flat_map(|row| of_row(row, &spelled)).collect();
    if matches!(name, "sed" | "gsed") {
        found.extend(sed::scripts(arguments).into_iter().flat_map(sed::commands));
    }
    if matches!(name, "awk" | "gawk" | "mawk") {
        let texts = awk::commands(arguments);
        // Most texts of such a program are none: what cannot be read as one is not.
        found.extend(texts.filter(|text| is_readable(text)));
    }
    if name == "ssh" {
        found.extend(on_another_machine(arguments));
    }
    if name == "parallel" {
        let own = arguments.iter().take_while(|word| !word.text.starts_with(":::"));
        let scripts = own.filter(|word| word.is_literal() && word.text.contains(' '));
        found.extend(scripts.map(|word| word.text.clone()));
    }
    if name == "git" {
        found
            .extend((0..arguments.len()).find_map(|at| alias(arguments, at)).into_iter().flatten());
    }
    found
}

fn is_readable(text: &str) -> bool {
    let mut reading = CommandReading::default();
    shell_words::split(text, 1, &mut reading);
    reading.unclear.is_none()
}

/// What `ssh` runs over there: all words behind the host, which a shell reads again.
fn on_another_machine(arguments: &[Word]) -> Option<String> {
    /// Options that have a value.
    const VALUED: &str = "BDEFIJLOPQRSWbceilmopw";
    let mut words = arguments.iter();
    let mut host = None;
    while let Some(word) = words.next() {
        match word.text.strip_prefix('-') {
            // A value stands in the same word or in the next.
            Some(letters) if letters.ends_with(|last| VALUED.contains(last)) => {
                let is_glued = letters.chars().rev().skip(1).any(|letter| VALUED.contains(letter));
                (!is_glued).then(|| words.next());
            }
            Some(_) => {}
            None if host.is_none() => host = Some(word),
            None => {
                let all = std::iter::once(word).chain(words).map(|word| word.text.as_str());
                let all = all.collect::<Vec<_>>().join(" ");
                // What goes on there leaves nothing running here.
                return Some(all.trim_end_matches([' ', '&']).to_owned());
            }
        }
    }
    None
}

fn of_row(row: &Row, arguments: &[Word]) -> Vec<String> {
    let (_, after, option, _) = *row;
    let from = match after {
        "" => Some(0),
        word => arguments.iter().position(|w| w.text == word).map(|at| at + 1),
    };
    let Some(from) = from else { return Vec::new() };
    let at_word = |at: usize| {
        let next = &arguments[at + 1..];
        match row.3 {
            Rest if arguments[at].text == option => joined(next),
            RestBehindOptions if arguments[at].text == option => {
                let own = next.iter().take_while(|word| word.text.starts_with('-')).count();
                joined(&next[own..])
            }
            Rest | RestBehindOptions => None,
            Value | Behind(_) | Own => {
                let (word, text, next) = match given(&arguments[at].text, option)? {
                    Some(text) => (&arguments[at], text, next),
                    None => {
                        next.split_first().map(|(word, next)| (word, word.text.as_str(), next))?
                    }
                };
                of_value(row, literal(word, text)?, next)
            }
        }
    };
    // Words of its own hold what follows, which is read again.
    let most = if matches!(row.3, Own) { 1 } else { usize::MAX };
    (from..arguments.len()).filter_map(at_word).take(most).collect()
}

/// What an option is given when a word is that option, together with others (`-iS`) or cut short (`--split`), too:
/// `Some(None)` for the next word.
fn given<'w>(word: &'w str, option: &str) -> Option<Option<&'w str>> {
    if option.starts_with("--") {
        let (name, value) = word.split_once('=').map_or((word, None), |(n, v)| (n, Some(v)));
        return (name.len() > 2 && option.starts_with(name)).then_some(value);
    }
    let (before, value) = word.strip_prefix('-')?.split_once(option.strip_prefix('-')?)?;
    let together = before.bytes().all(|b| b.is_ascii_alphanumeric());
    let value = value.strip_prefix('=').unwrap_or(value);
    together.then_some((!value.is_empty()).then_some(value))
}

/// The command that an option's value is.
fn of_value(row: &Row, value: &str, next: &[Word]) -> Option<String> {
    match row.3 {
        Behind(mark) => {
            let at = value.to_ascii_lowercase().find(mark)? + mark.len();
            let command = value[at..].trim_start_matches([' ', '\t', '=']);
            (!command.is_empty()).then(|| command.to_owned())
        }
        // Such words may be options again, and have this sign for a space.
        Own => Some(format!("{} {} {}", row.0, value.replace("\\_", " "), retyped(next))),
        _ => Some(value.to_owned()),
    }
}

/// What an alias of git is, with what may follow it: `-c alias.p='push --force'`, `config alias.p push`. Behind one
/// that is another program's command there may be more aliases.
fn alias(arguments: &[Word], at: usize) -> Option<Vec<String>> {
    let word = &arguments[at];
    let is_alias = |key: &str| key.get(..6).is_some_and(|key| key.eq_ignore_ascii_case("alias."));
    let named = |other: &str| arguments[..at].iter().any(|word| word.text == other);
    let (body, next) = match word.text.split_once('=') {
        Some((key, body)) if is_alias(key) && named("-c") => {
            (literal(word, body)?, &arguments[at + 1..])
        }
        None if is_alias(&word.text) && named("config") => {
            let (body, next) = arguments[at + 1..].split_first()?;
            (literal(body, &body.text)?, next)
        }
        _ => return None,
    };
    let rest = retyped(next);
    Some(match body.strip_prefix('!') {
        Some(command) => vec![format!("{command} {rest}"), format!("git {rest}")],
        None => vec![format!("git {body} {rest}")],
    })
}

fn literal<'t>(word: &Word, text: &'t str) -> Option<&'t str> {
    (word.is_literal() && !text.is_empty()).then_some(text)
}

/// Words as they would be typed again; one word may be a command by itself.
fn joined(words: &[Word]) -> Option<String> {
    let [first, ..] = words else { return None };
    if words.iter().any(|word| !word.is_literal()) {
        return None;
    }
    if words.len() == 1 || is_assignment(&first.text) {
        return Some(words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" "));
    }
    Some(retyped(words))
}

/// Words as they would be typed again, each of them one; what is expanded stands as it is written.
fn retyped(words: &[Word]) -> String {
    let typed = |word: &Word| match (word.is_literal(), word.splits) {
        (true, _) => format!("'{}'", word.text.replace('\'', "'\\''")),
        (false, true) => word.text.clone(),
        (false, false) => format!("\"{}\"", word.text),
    };
    words.iter().map(typed).collect::<Vec<_>>().join(" ")
}
