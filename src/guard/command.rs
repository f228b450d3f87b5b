//! Reads a shell command far enough to judge it: which programs it starts, and what it leaves running.
//!
//! Not a parser of the whole shell: quotes, substitutions, here-documents and arithmetic are told apart
//! from commands, nothing is expanded. A command that hides what it does from this reading is not
//! stopped by it; the sandbox is what stops, this is what explains early.

use std::iter::Peekable;
use std::str::Chars;

/// What a command line holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// The words of each simple command, without quotes, in the order they end.
    pub commands: Vec<Vec<String>>,
    /// Something is left running with a `&` outside of quotes.
    pub backgrounds: bool,
}

/// Programs that wait for a person at a terminal.
const INTERACTIVE: [&str; 30] = [
    "atop", "btop", "emacs", "ftp", "gdb", "helix", "htop", "hx", "info", "lazygit", "less", "man",
    "mc", "more", "most", "nano", "ncdu", "nnn", "nvim", "pico", "ranger", "screen", "telnet",
    "tig", "tmux", "top", "vi", "view", "vim", "watch",
];
/// Words before a program's name that are not the program.
const BEFORE: [&str; 18] = [
    "!", "builtin", "command", "do", "doas", "elif", "else", "env", "exec", "if", "nice", "nohup",
    "sudo", "then", "time", "until", "while", "{",
];
/// Arguments with which an interactive program works on its own.
const BATCH: [&str; 6] = ["-b", "-batch", "--batch", "--help", "--version", "-V"];

/// Reads a command line.
pub fn read(text: &str) -> Reading {
    let mut reader = Reader::over(text);
    reader.run();
    reader.reading
}

/// Returns the first program that waits for a person.
pub fn interactive(reading: &Reading) -> Option<&'static str> {
    reading.commands.iter().find_map(|words| {
        let at = words.iter().position(|w| !BEFORE.contains(&w.as_str()) && !is_assignment(w))?;
        let program = words[at].rsplit('/').next()?;
        let name = INTERACTIVE.into_iter().find(|name| *name == program)?;
        let alone = words[at + 1..].iter().any(|w| BATCH.contains(&w.as_str()));
        (!alone).then_some(name)
    })
}

fn is_assignment(word: &str) -> bool {
    let Some((name, _)) = word.split_once('=') else { return false };
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

struct Reader<'a> {
    rest: Peekable<Chars<'a>>,
    reading: Reading,
    /// Commands that a substitution interrupts.
    outer: Vec<Vec<String>>,
    words: Vec<String>,
    word: Option<String>,
    /// Delimiters of here-documents that begin after this line.
    documents: Vec<String>,
    in_backticks: bool,
}

impl<'a> Reader<'a> {
    fn over(text: &'a str) -> Self {
        Self {
            rest: text.chars().peekable(),
            reading: Reading::default(),
            outer: Vec::new(),
            words: Vec::new(),
            word: None,
            documents: Vec::new(),
            in_backticks: false,
        }
    }

    fn run(&mut self) {
        while let Some(c) = self.rest.next() {
            match c {
                '\n' => self.line(),
                c if c.is_whitespace() => self.end_word(),
                '#' if self.word.is_none() => self.comment(),
                '\\' => self.escaped(),
                '\'' => self.single(),
                '"' => self.double(),
                '`' if self.in_backticks => self.leave_backticks(),
                '`' => self.enter_backticks(),
                '$' => self.dollar(),
                '(' => self.open(),
                ')' => self.leave(),
                ';' => self.semicolon(),
                '|' => self.pipe(),
                '&' => self.ampersand(),
                '<' | '>' => self.redirect(c),
                other => self.push(other),
            }
        }
        self.end_command();
        while !self.outer.is_empty() {
            self.leave();
        }
    }

    fn push(&mut self, c: char) {
        self.word.get_or_insert_default().push(c);
    }

    fn end_word(&mut self) {
        self.words.extend(self.word.take());
    }

    fn end_command(&mut self) {
        self.end_word();
        if !self.words.is_empty() {
            self.reading.commands.push(std::mem::take(&mut self.words));
        }
    }

    fn line(&mut self) {
        self.end_command();
        for delimiter in std::mem::take(&mut self.documents) {
            loop {
                let mut line = String::new();
                let mut more = false;
                for c in self.rest.by_ref() {
                    if c == '\n' {
                        more = true;
                        break;
                    }
                    line.push(c);
                }
                if line.trim_start_matches('\t') == delimiter || !more {
                    break;
                }
            }
        }
    }

    fn comment(&mut self) {
        while self.rest.next_if(|c| *c != '\n').is_some() {}
    }

    fn escaped(&mut self) {
        match self.rest.next() {
            Some('\n') | None => {}
            Some(c) => self.push(c),
        }
    }

    fn single(&mut self) {
        self.word.get_or_insert_default();
        while let Some(c) = self.rest.next().filter(|c| *c != '\'') {
            self.push(c);
        }
    }

    fn double(&mut self) {
        self.word.get_or_insert_default();
        while let Some(c) = self.rest.next().filter(|c| *c != '"') {
            match c {
                '\\' => self.escaped(),
                c => self.push(c),
            }
        }
    }

    fn enter_backticks(&mut self) {
        self.in_backticks = true;
        self.enter();
    }

    fn leave_backticks(&mut self) {
        self.in_backticks = false;
        self.leave();
    }

    fn dollar(&mut self) {
        match self.rest.peek() {
            Some('\'') => {
                self.rest.next();
                self.word.get_or_insert_default();
                while let Some(c) = self.rest.next().filter(|c| *c != '\'') {
                    match c {
                        '\\' => self.escaped(),
                        c => self.push(c),
                    }
                }
            }
            Some('{') => {
                self.push('$');
                while let Some(c) = self.rest.next() {
                    self.push(c);
                    if c == '}' {
                        break;
                    }
                }
            }
            Some('(') => {
                self.push('$');
                self.rest.next();
                self.open();
            }
            _ => self.push('$'),
        }
    }

    /// After `(`: arithmetic holds no commands, everything else does.
    fn open(&mut self) {
        if self.rest.next_if_eq(&'(').is_none() {
            self.enter();
            return;
        }
        let mut depth = 2_u32;
        while depth > 0 {
            match self.rest.next() {
                Some('(') => depth += 1,
                Some(')') => depth -= 1,
                Some(_) => {}
                None => return,
            }
        }
    }

    fn enter(&mut self) {
        self.end_word();
        self.outer.push(std::mem::take(&mut self.words));
    }

    fn leave(&mut self) {
        self.end_command();
        self.words = self.outer.pop().unwrap_or_default();
    }

    /// `;`, and `;;`, `;&`, `;;&` of a case.
    fn semicolon(&mut self) {
        self.end_command();
        while self.rest.next_if(|c| *c == ';' || *c == '&').is_some() {}
    }

    /// `|`, `||` and `|&`.
    fn pipe(&mut self) {
        self.end_command();
        self.rest.next_if(|c| *c == '|' || *c == '&');
    }

    /// `&&` joins, `&>` redirects, anything else leaves the command running.
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

    fn redirect(&mut self, c: char) {
        self.end_word();
        if c == '<' && self.rest.next_if_eq(&'<').is_some() {
            if self.rest.next_if_eq(&'<').is_none() {
                self.document();
            }
            return;
        }
        // `>&2`, `<&-`, `>|file`, `<>file`: one sign.
        while self.rest.next_if(|c| matches!(c, '&' | '>' | '|')).is_some() {}
    }

    fn document(&mut self) {
        self.rest.next_if_eq(&'-');
        while self.rest.next_if(|c| *c == ' ' || *c == '\t').is_some() {}
        let mut delimiter = String::new();
        while let Some(c) = self.rest.next_if(|c| !c.is_whitespace() && !";|&<>()".contains(*c)) {
            if !matches!(c, '\'' | '"' | '\\') {
                delimiter.push(c);
            }
        }
        self.documents.push(delimiter);
    }
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

    proptest! {
        /// Whatever stands in single quotes is one word and leaves nothing running.
        #[test]
        fn quotes_hide_everything(inner in "[^']{0,30}") {
            let reading = read(&format!("echo '{inner}'"));
            prop_assert_eq!(reading.commands, vec![vec!["echo".to_owned(), inner]]);
            prop_assert!(!reading.backgrounds);
        }

        /// Any text is read to its end, and a `&` behind harmless words is always seen.
        #[test]
        fn nothing_is_too_strange(text in any::<String>(), words in "[a-z ]{0,12}[a-z]") {
            drop(read(&text));
            let trailing = format!("{words} &");
            prop_assert!(read(&trailing).backgrounds);
        }
    }
}
