//! What words of a command may be once the shell has expanded them: the values that the command itself gives its variables, and
//! any option where it does not say.

use std::collections::HashMap;

use super::command::starts;
use super::reading::{CommandReading, Word};

/// So many values of a word are told apart.
const MAX: usize = 16;
/// Variables that hold a path, a name or a number: none begins with a dash.
const PLAIN: [&str; 13] = [
    "BASHPID", "EUID", "HOME", "HOSTNAME", "LINENO", "LOGNAME", "OLDPWD", "PPID", "PWD", "RANDOM",
    "SECONDS", "UID", "USER",
];
/// Commands whose output begins with no dash.
const PLAIN_COMMANDS: [&str; 10] = [
    "git branch --show-current",
    "git rev-parse --show-toplevel",
    "git rev-parse HEAD",
    "hostname",
    "id -u",
    "mktemp",
    "mktemp -d",
    "nproc",
    "pwd",
    "whoami",
];
/// What fills variables with what nobody knows.
const FILLS: [&str; 4] = ["getopts", "mapfile", "read", "readarray"];
/// What declares variables, among them such as stand for another one.
const DECLARES: [&str; 3] = ["declare", "local", "typeset"];

/// The variables of a command, and what it sets them to.
#[derive(Default)]
pub(super) struct Variables<'r> {
    /// All values of each; `None` where one of them is not known.
    values: HashMap<&'r str, Option<Vec<&'r str>>>,
    /// Somebody else sets variables, too.
    is_open: bool,
    /// The command gives programs other meanings.
    defines: bool,
}

/// What a piece of a word may be.
enum Piece {
    /// One of these.
    These(Vec<String>),
    Anything,
}

impl<'r> Variables<'r> {
    pub fn of(reading: &'r CommandReading) -> Self {
        let mut all = Self { defines: reading.defines, ..Self::default() };
        if reading.commands.iter().flatten().all(Word::is_literal) {
            return all;
        }
        for words in &reading.commands {
            words.iter().for_each(|word| all.assign(word));
            starts(words).into_iter().for_each(|program| all.look_at(program));
        }
        all
    }

    /// Takes `NAME=…`, wherever it stands.
    fn assign(&mut self, word: &'r Word) {
        let Some((name, value)) = word.text.split_once('=') else { return };
        let is_value = is_known(word) && !word.is_list && is_name(name);
        let name = name.split(['[', '+']).next().unwrap_or_default();
        if is_name(name) {
            self.add(name, is_value.then_some(value));
        }
    }

    fn add(&mut self, name: &'r str, value: Option<&'r str>) {
        let values = self.values.entry(name).or_insert_with(|| Some(Vec::new()));
        match (value, values.as_mut()) {
            (Some(value), Some(values)) if values.len() < MAX => values.push(value),
            _ => *values = None,
        }
    }

    /// Takes what a program of the shell does to variables.
    fn look_at(&mut self, program: &'r [Word]) {
        let [first, arguments @ ..] = program else { return };
        let Some(name) = first.name() else { return };
        let has_option = |letter: char| {
            let mut words = arguments.iter().map(|word| word.text.as_str());
            words.any(|word| word.starts_with('-') && word.contains(letter))
        };
        match name {
            "for" | "select" => self.loops(arguments),
            "." | "source" => self.is_open = true,
            "alias" | "function" | "enable" => self.defines = true,
            "printf" if has_option('v') => self.fills(arguments),
            name if FILLS.contains(&name) => self.fills(arguments),
            name if DECLARES.contains(&name) && has_option('n') => self.is_open = true,
            _ => {}
        }
    }

    fn loops(&mut self, arguments: &'r [Word]) {
        let [name, rest @ ..] = arguments else { return };
        match rest {
            [word, values @ ..] if word.text == "in" => {
                for value in values {
                    self.add(&name.text, is_known(value).then_some(value.text.as_str()));
                }
            }
            _ => self.add(&name.text, None),
        }
    }

    /// Any of these words may be the name of what is filled.
    fn fills(&mut self, arguments: &'r [Word]) {
        for word in arguments {
            let name = word.text.trim_start_matches("-v");
            match word.is_literal() {
                true if is_name(name) => self.add(name, None),
                true => {}
                false => self.is_open = true,
            }
        }
    }

    /// Returns words as they may be: several where one may be several, and marked as splitting where one may be any option.
    pub fn expanded(&self, words: &[Word]) -> Vec<Word> {
        let mut all = Vec::new();
        for word in words {
            if word.is_literal() {
                all.push(word.clone());
                continue;
            }
            match self.whole(word) {
                Some(values) if word.splits => {
                    let values = values.iter().flat_map(|value| value.split_whitespace());
                    all.extend(values.map(Word::of));
                }
                Some(values) => all.extend(values.iter().map(|value| Word::of(value))),
                None => all.push(Word { splits: self.may_be_option(word), ..word.clone() }),
            }
        }
        all
    }

    /// All that a word may be, where that is known.
    fn whole(&self, word: &Word) -> Option<Vec<String>> {
        let is_expanded = word.text.contains(['$', '`']);
        // What `$'…'` stands for is not read.
        let is_odd = word.text.contains('\\') || word.text.starts_with('{');
        if is_odd || (!is_expanded && (word.splits || word.text.starts_with('-'))) {
            return None;
        }
        let mut all = vec![String::new()];
        for piece in self.pieces(&word.text) {
            let Piece::These(values) = piece else { return None };
            if all.len() * values.len() > MAX {
                return None;
            }
            let mut longer = Vec::new();
            for begun in &all {
                longer.extend(values.iter().map(|value| format!("{begun}{value}")));
            }
            all = longer;
        }
        Some(all)
    }

    /// Whether a word that nobody knows may be an option: nothing in it says that it is a path, a file or a sentence.
    fn may_be_option(&self, word: &Word) -> bool {
        if word.text.contains('\\') {
            return true;
        }
        if !word.text.contains(['$', '`']) {
            let is_brace = word.text.starts_with('{') && word.text.contains('-');
            return word.text.starts_with('-') || is_brace;
        }
        if word.splits {
            return true;
        }
        let mut begins = None;
        let mut is_plain = true;
        for piece in self.pieces(&word.text) {
            let of = |begin: fn(&str) -> bool| match &piece {
                Piece::These(values) => values.iter().all(|value| begin(value)),
                Piece::Anything => false,
            };
            begins.get_or_insert(of(|value| !value.is_empty() && !value.starts_with('-')));
            is_plain &=
                !of(|value| value.contains(|c: char| !(c.is_alphanumeric() || "-_=".contains(c))));
        }
        begins == Some(false) && is_plain
    }

    fn pieces(&self, mut text: &str) -> Vec<Piece> {
        let mut all = Vec::new();
        while !text.is_empty() {
            let at = text.find(['$', '`']).unwrap_or(text.len());
            if at > 0 {
                all.push(Piece::These(vec![text[..at].to_owned()]));
            }
            let rest = &text[at..];
            let length = length_of(rest);
            if length > 0 {
                all.push(self.piece(&rest[..length]));
            }
            text = &rest[length..];
        }
        all
    }

    /// What an expansion may be, written out with its `$`.
    fn piece(&self, written: &str) -> Piece {
        let plain = |value: &str| Piece::These(vec![value.to_owned()]);
        let body = written.strip_prefix('$').unwrap_or(written);
        if let Some(code) = body.strip_prefix('(').and_then(|body| body.strip_suffix(')')) {
            let is_number = code.starts_with('(') && !code.contains('-');
            return match is_number || self.is_plain_command(code) {
                true => plain("0"),
                false => Piece::Anything,
            };
        }
        let name = body.strip_prefix('{').and_then(|body| body.strip_suffix('}')).unwrap_or(body);
        match name {
            "" => plain("$"),
            "#" | "?" | "$" | "!" | "0" => plain("0"),
            name if name.starts_with('#') => plain("0"),
            name if is_name(name) => self.value(name),
            // What is cut off at the end leaves the beginning.
            name => match name.split_once('%').map(|(name, _)| name).filter(|name| is_name(name)) {
                Some(name) => match self.value(name) {
                    Piece::These(values) if values.iter().all(|value| !value.starts_with('-')) => {
                        Piece::These(values)
                    }
                    _ => Piece::Anything,
                },
                None => Piece::Anything,
            },
        }
    }

    fn value(&self, name: &str) -> Piece {
        match self.values.get(name) {
            Some(Some(values)) if !self.is_open => {
                Piece::These(values.iter().map(|value| (*value).to_owned()).collect())
            }
            None if PLAIN.contains(&name) => Piece::These(vec!["/".to_owned()]),
            _ => Piece::Anything,
        }
    }

    fn is_plain_command(&self, code: &str) -> bool {
        let date = || {
            let format = code.strip_prefix("date +%").unwrap_or_default();
            format.starts_with(['F', 'H', 'Y', 'd', 'm', 's', 'y'])
                && format.chars().all(|c| c.is_ascii_alphanumeric() || "%-_.:".contains(c))
        };
        !self.defines && (PLAIN_COMMANDS.contains(&code) || date())
    }
}

/// Whether a word is what it says, but for names of files that stand in its place: they begin as it does.
fn is_known(word: &Word) -> bool {
    let is_pattern = !word.text.contains(['$', '`', '\\']) && !word.text.starts_with('-');
    word.is_literal() || (is_pattern && !(word.splits && word.text.contains('-')))
}

fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// How long the expansion is that begins a text; to its end where it has none.
fn length_of(text: &str) -> usize {
    let closed = |opens: char, closes: char| {
        let mut depth = 0_usize;
        let end = text.char_indices().skip(1).find(|(_, c)| {
            depth += usize::from(*c == opens);
            depth -= usize::from(*c == closes && depth > 0);
            *c == closes && depth == 0
        });
        end.map_or(text.len(), |(at, _)| at + 1)
    };
    let mut chars = text.chars();
    match (chars.next(), chars.next()) {
        (Some('`'), _) => text[1..].find('`').map_or(text.len(), |at| at + 2),
        (Some('$'), Some('(')) => closed('(', ')'),
        (Some('$'), Some('{')) => closed('{', '}'),
        (Some('$'), Some(c)) if c.is_ascii_alphabetic() || c == '_' => {
            let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
            text[1..].find(|c| !is_part(c)).map_or(text.len(), |at| at + 1)
        }
        (Some('$'), Some(c)) if c.is_ascii_digit() || "@*#?$!-".contains(c) => 2,
        (Some('$'), _) => 1,
        _ => 0,
    }
}
