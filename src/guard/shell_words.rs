//! Splits a shell command line into the words of its simple commands.
//!
//! It knows what bash does with quotes, substitutions, here-documents, arithmetic and redirections, and
//! expands nothing. What it does not know it calls unclear, and an unclear command is not allowed: a
//! splitter that guesses is a way around every rule.

mod quotes;

use std::iter::Peekable;
use std::str::Chars;

use super::reading::{CommandReading, Word, first};

/// Substitutions inside of substitutions.
const DEEPEST: usize = 24;

/// What ends the text that is read just now.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Until {
    End,
    Bracket,
}

/// Reads a command line into `reading`.
pub(super) fn split(text: &str, depth: usize, reading: &mut CommandReading) {
    let mut splitter = Splitter::over(text, depth, reading);
    splitter.run(Until::End);
    splitter.end_line();
}

/// Reads the commands of the `$(…)` or the backticks that a text begins with; what stands behind them is left.
pub(super) fn substitution(text: &str, reading: &mut CommandReading) {
    let mut splitter = Splitter::over(text, 1, reading);
    match splitter.rest.next() {
        Some('`') => splitter.backticks(),
        Some('$') => splitter.expansion(),
        _ => {}
    }
}

struct Splitter<'a, 'r> {
    rest: Peekable<Chars<'a>>,
    reading: &'r mut CommandReading,
    depth: usize,
    words: Vec<Word>,
    word: Option<Word>,
    /// The next word is where a redirection leads, and no word of the command.
    target: bool,
    /// In a `[[ … ]]`, where operators are no operators.
    test: bool,
    documents: Vec<Document>,
}

/// A here-document that begins after this line.
struct Document {
    delimiter: String,
    /// Nothing in it is expanded.
    quoted: bool,
    /// Tabs before its lines do not count.
    dashed: bool,
}

impl<'a, 'r> Splitter<'a, 'r> {
    fn over(text: &'a str, depth: usize, reading: &'r mut CommandReading) -> Self {
        if depth > DEEPEST {
            reading.unclear("it is nested too deeply");
        }
        Self {
            rest: text.chars().peekable(),
            reading,
            depth,
            words: Vec::new(),
            word: None,
            target: false,
            test: false,
            documents: Vec::new(),
        }
    }

    /// Reads commands up to the end, or to a `)`, which is taken.
    fn run(&mut self, until: Until) {
        while self.reading.unclear.is_none() {
            let Some(c) = self.rest.next() else {
                if until == Until::Bracket {
                    self.reading.unclear("a bracket is not closed");
                }
                break;
            };
            match c {
                '\n' if !self.test => self.end_line(),
                ' ' | '\t' | '\n' => self.end_word(),
                '#' if self.word.is_none() => while self.rest.next_if(|c| *c != '\n').is_some() {},
                ')' if until == Until::Bracket && !self.test => {
                    self.end_command();
                    return;
                }
                '(' | ')' | ';' | '|' | '&' | '<' | '>' if self.test => self.end_word(),
                '(' => self.bracket(),
                ';' => {
                    self.end_command();
                    while self.rest.next_if(|c| matches!(c, ';' | '&')).is_some() {}
                }
                '|' => {
                    self.end_command();
                    self.rest.next_if(|c| matches!(c, '|' | '&'));
                }
                '&' => self.ampersand(),
                // The end of a pattern of `case`.
                ')' => {
                    self.end_word();
                    self.words.clear();
                }
                '<' | '>' => self.redirect(c),
                c => self.piece(c),
            }
        }
        self.end_command();
    }

    /// A piece of a word.
    fn piece(&mut self, c: char) {
        match c {
            '\\' => match self.rest.next() {
                Some('\n') | None => {}
                Some(c) => {
                    self.quoted();
                    self.push(c);
                }
            },
            '\'' => self.single(),
            '"' => self.double(),
            '`' => {
                self.backticks();
                self.splits();
            }
            '$' => self.dollar(),
            // What names of files are put in the place of.
            '*' | '?' | '[' if self.word.is_some() || c != '[' => self.push_soft(c),
            '[' => self.push_test(),
            '~' if self.word.is_none() => self.push_soft('~'),
            '{' => self.brace(),
            c => self.push(c),
        }
    }

    /// `[` and `[[` are commands; anything else that begins so is a pattern.
    fn push_test(&mut self) {
        let double = self.rest.next_if_eq(&'[').is_some();
        let alone = self.rest.peek().is_none_or(|c| " \t\n".contains(*c));
        for c in "[[".chars().take(if double { 2 } else { 1 }) {
            if alone { self.push(c) } else { self.push_soft(c) }
        }
    }

    /// `{` and `{}` stand for themselves; `{a,b}` becomes several words.
    fn brace(&mut self) {
        match self.rest.peek() {
            None | Some('}') => self.push('{'),
            Some(' ' | '\t' | '\n') if self.word.is_none() => self.push('{'),
            _ => {
                self.push_soft('{');
                self.splits();
            }
        }
    }

    fn push(&mut self, c: char) {
        self.word.get_or_insert_default().text.push(c);
    }

    /// A character that becomes something else when the command runs.
    fn push_soft(&mut self, c: char) {
        let word = self.word.get_or_insert_default();
        word.text.push(c);
        word.soft = word.text.len();
    }

    /// Marks the word as one that may become several, or none.
    fn splits(&mut self) {
        self.word.get_or_insert_default().splits = true;
    }

    /// Marks the word as none of the shell's own.
    fn quoted(&mut self) {
        self.word.get_or_insert_default().quoted = true;
    }

    fn end_word(&mut self) {
        let Some(word) = self.word.take() else { return };
        if std::mem::take(&mut self.target) {
            return self.reading.targets.push(word);
        }
        match word.text.as_str() {
            "[[" if !word.quoted => self.test = self.words.iter().all(Word::is_reserved),
            "]]" if !word.quoted => self.test = false,
            _ => {}
        }
        self.words.push(word);
    }

    fn end_command(&mut self) {
        self.end_word();
        if self.test {
            self.reading.unclear("a [[ is not closed");
        }
        self.target = false;
        if !self.words.is_empty() {
            self.reading.commands.push(std::mem::take(&mut self.words));
        }
    }

    /// `a && b`, `a &> f`, or something that is left running.
    fn ampersand(&mut self) {
        match self.rest.peek() {
            Some('&') => {
                self.rest.next();
                self.end_command();
            }
            Some('>') => self.end_word(),
            _ => {
                self.reading.backgrounds = true;
                self.end_command();
            }
        }
    }

    /// `(…)` where a command begins; `a=(…)`; `f()`; `((…))`.
    fn bracket(&mut self) {
        match self.word.take() {
            Some(word) if word.text.ends_with('=') => self.list(word),
            Some(_) => {
                while self.rest.next_if(|c| c.is_whitespace()).is_some() {}
                if self.rest.next_if_eq(&')').is_none() {
                    self.reading.unclear("a pattern in brackets is not understood");
                }
                // The words before it named the function.
                self.words.clear();
                self.reading.defines = true;
            }
            None => {
                self.end_command();
                if !self.arithmetic() {
                    self.inside();
                }
            }
        }
    }

    /// The commands of a `(…)` or `$(…)`, whose opening is taken.
    fn inside(&mut self) {
        if self.depth >= DEEPEST {
            return self.reading.unclear("it is nested too deeply");
        }
        let rest = std::mem::replace(&mut self.rest, "".chars().peekable());
        let mut inner = Splitter { rest, ..Splitter::over("", self.depth + 1, self.reading) };
        let begun = inner.reading.commands.len();
        inner.run(Until::Bracket);
        let Splitter { rest, documents, .. } = inner;
        self.documents.extend(documents);
        let case = |words: &Vec<Word>| first(words, 0).is_some_and(|at| words[at].text == "case");
        if self.reading.commands[begun..].iter().any(case) {
            self.reading.unclear("a case inside of brackets is not understood");
        }
        self.rest = rest;
    }

    /// The values of `a=(…)`: words, none of them a command.
    fn list(&mut self, name: Word) {
        let begun = self.reading.commands.len();
        self.inside();
        // Substitutions among them were commands, too; which ones is not told apart.
        if self.reading.commands.len() > begun + 1 {
            self.reading
                .unclear("a list of several lines, or with commands in it, is not understood");
        }
        self.reading.targets.extend(self.reading.commands.drain(begun..).flatten());
        self.word = Some(Word { is_list: true, ..name });
    }

    /// `((…))` behind its first bracket: no commands but in substitutions. Whether it was that.
    fn arithmetic(&mut self) -> bool {
        let mut ahead = self.rest.clone();
        if ahead.next() != Some('(') {
            return false;
        }
        let (mut depth, mut text) = (1_u32, String::new());
        for c in ahead.by_ref() {
            match c {
                '(' => depth += 1,
                ')' => depth -= 1,
                // A quoted bracket counts for nothing, and who writes one here hides something.
                '\'' | '"' | '\\' | '`' => return self.odd(),
                _ => {}
            }
            if depth == 0 {
                break;
            }
            text.push(c);
        }
        if depth > 0 || ahead.next() != Some(')') {
            return false;
        }
        if text.contains("$(") {
            return self.odd();
        }
        self.rest = ahead;
        true
    }
}

fn is_operator(c: char) -> bool {
    " \t\n;|&<>()".contains(c)
}
