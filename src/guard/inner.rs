//! Words of programs that are commands themselves: which option or word of which program one stands behind. Data.

use super::reading::{Word, is_assignment};

/// Where the command stands.
#[derive(Clone, Copy)]
enum Takes {
    /// In the next word, or behind the option's `=` or its letter.
    Value,
    /// In the same, behind this text in it; without the text there is none.
    Behind(&'static str),
    /// In all words that follow.
    Rest,
    /// In the same, whatever options come first.
    RestBehindOptions,
}

use Takes::{Behind, Rest, RestBehindOptions, Value};

/// Program, the words that come somewhere before, the option or word itself.
type Row = (&'static str, &'static str, &'static str, Takes);

const TABLE: &[Row] = &[
    ("env", "", "-S", Value),
    ("env", "", "--split-string", Value),
    ("git", "rebase", "-x", Value),
    ("git", "rebase", "--exec", Value),
    ("git", "submodule", "foreach", RestBehindOptions),
    ("git", "bisect", "run", Rest),
    ("git", "", "-c", Behind("=!")),
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
    ("ssh", "", "-o", Behind("ProxyCommand=")),
    ("ssh", "", "-o", Behind("LocalCommand=")),
    ("ssh", "", "-oProxyCommand", Value),
    ("sort", "", "--compress-program", Value),
    ("mapfile", "", "-C", Value),
    ("readarray", "", "-C", Value),
    ("hash", "", "-p", Value),
    ("man", "", "-P", Value),
    ("vi", "", "-c", Behind("!")),
    ("vim", "", "-c", Behind("!")),
    ("nvim", "", "-c", Behind("!")),
    ("ex", "", "-c", Behind("!")),
    ("psql", "", "-c", Behind("\\!")),
];

/// Returns the commands that a program's words are; what is made when it runs is left to the notes.
pub(super) fn commands(name: &str, arguments: &[Word]) -> Vec<String> {
    if name == "alias" {
        let body = |word: &Word| word.text.split_once('=').map(|(_, body)| body.to_owned());
        return arguments.iter().filter(|word| word.is_literal()).filter_map(body).collect();
    }
    TABLE.iter().filter(|row| row.0 == name).flat_map(|row| of_row(row, arguments)).collect()
}

fn of_row(row: &Row, arguments: &[Word]) -> Vec<String> {
    let (_, after, option, takes) = *row;
    let from = match after {
        "" => Some(0),
        word => arguments.iter().position(|w| w.text == word).map(|at| at + 1),
    };
    let Some(from) = from else { return Vec::new() };
    let found = (from..arguments.len()).filter_map(|at| {
        let rest = arguments[at].text.strip_prefix(option)?;
        let next = &arguments[at + 1..];
        let long = option.starts_with("--") || option.len() > 2;
        match takes {
            Rest if rest.is_empty() => joined(next),
            RestBehindOptions if rest.is_empty() => {
                let own = next.iter().take_while(|word| word.text.starts_with('-')).count();
                joined(&next[own..])
            }
            Rest | RestBehindOptions => None,
            Value | Behind(_) => {
                let (word, text) = match rest.strip_prefix('=') {
                    _ if rest.is_empty() => {
                        let word = next.first()?;
                        (word, word.text.as_str())
                    }
                    Some(text) => (&arguments[at], text),
                    None if !long => (&arguments[at], rest),
                    None => return None,
                };
                let Behind(mark) = takes else { return literal(word, text) };
                literal(word, text.split_once(mark)?.1)
            }
        }
    });
    found.collect()
}

fn literal(word: &Word, text: &str) -> Option<String> {
    (word.is_literal() && !text.is_empty()).then(|| text.to_owned())
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
    let quoted = |word: &Word| format!("'{}'", word.text.replace('\'', "'\\''"));
    Some(words.iter().map(quoted).collect::<Vec<_>>().join(" "))
}
