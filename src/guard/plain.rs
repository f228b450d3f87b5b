//! Reads a command line as plain words: programs with their words, joined by `&&`, `||`, `;` and `|`.
//!
//! Nothing is expanded and nothing is followed. What is more than that (redirections, expansions, groups, loops) makes
//! the line not plain; the words in it are read all the same, as far as they stand there.

/// Words of the shell behind which a command begins.
const RESERVED: [&str; 16] = [
    "!", "case", "do", "done", "elif", "else", "esac", "fi", "for", "function", "if", "then",
    "time", "until", "while", "{",
];
/// Programs whose words are a command again.
const WRAPPERS: [&str; 11] = [
    "command", "doas", "env", "exec", "nice", "nohup", "setsid", "stdbuf", "sudo", "timeout",
    "xargs",
];

/// A command line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlainLine {
    /// Its simple commands, in their order.
    pub commands: Vec<PlainCommand>,
    /// Whether there is nothing else to it.
    pub is_plain: bool,
    /// Whether it has anything that ends or joins commands.
    pub is_joined: bool,
}

/// A program and its words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlainCommand {
    /// The words, variables that are set before the program left out.
    pub words: Vec<PlainWord>,
    /// Whether variables are set before the program.
    pub assigns: bool,
}

/// A word without its quotes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlainWord {
    /// What it says.
    pub text: String,
    /// Where it begins, in bytes.
    pub at: usize,
    /// Whether it is what it says: the shell puts nothing else in its place.
    pub is_plain: bool,
    /// Whether it has quotes, and so is none of the shell's own words.
    is_quoted: bool,
}

/// Reads a command line; its time grows with its length alone.
pub fn read(line: &str) -> PlainLine {
    Reader { line, at: 0, read: PlainLine { is_plain: true, ..PlainLine::default() } }.read()
}

/// Returns the first of these beginnings (`rm `, `git push`) that a command of the line has: its program by name, then the
/// words in their order, with others in between.
pub fn begins_with<'p>(line: &PlainLine, patterns: &'p [String]) -> Option<&'p str> {
    let fits = |pattern: &&String| {
        let wanted: Vec<&str> = pattern.split_whitespace().collect();
        line.commands.iter().any(|command| command.starts().any(|words| has(words, &wanted)))
    };
    patterns.iter().find(fits).map(String::as_str)
}

fn has(words: &[PlainWord], wanted: &[&str]) -> bool {
    let [program, arguments @ ..] = words else { return false };
    let [name, rest @ ..] = wanted else { return false };
    let mut left = arguments.iter();
    program.is_called(name) && rest.iter().all(|word| left.any(|argument| argument.text == **word))
}

impl PlainCommand {
    /// Whether every word is what it says and nothing is set before them.
    pub fn is_plain(&self) -> bool {
        !self.assigns && self.words.iter().all(|word| word.is_plain)
    }

    /// Where programs begin: at the first word, and behind programs that start the one that follows.
    fn starts(&self) -> impl Iterator<Item = &[PlainWord]> {
        let mut from = Some(0);
        std::iter::from_fn(move || {
            let words = self.words.get(from?..).filter(|words| !words.is_empty())?;
            let wraps = WRAPPERS.iter().any(|name| words[0].is_called(name));
            let is_own = |word: &PlainWord| {
                let text = &word.text;
                text.starts_with('-')
                    || text.contains('=')
                    || text.starts_with(|c: char| c.is_ascii_digit())
            };
            let next = words.iter().skip(1).position(|word| !is_own(word));
            from = from.zip(next.filter(|_| wraps)).map(|(from, next)| from + 1 + next);
            Some(words)
        })
    }
}

impl PlainWord {
    /// Whether it is a program of this name, wherever it lies.
    fn is_called(&self, name: &str) -> bool {
        self.text == name || self.text.rsplit('/').next() == Some(name)
    }
}

struct Reader<'l> {
    line: &'l str,
    at: usize,
    read: PlainLine,
}

impl Reader<'_> {
    fn read(mut self) -> PlainLine {
        let mut command = PlainCommand::default();
        while let Some(next) = self.peek() {
            match next {
                '\n' | ';' | '|' => {
                    self.at += 1;
                    self.read.is_joined = true;
                    self.end(&mut command);
                }
                '&' if self.line[self.at..].starts_with("&&") => {
                    self.at += 2;
                    self.read.is_joined = true;
                    self.end(&mut command);
                }
                '&' | '(' | ')' | '<' | '>' | '`' => {
                    self.at += 1;
                    self.read.is_plain = false;
                    // What is redirected to is a word like others.
                    if !matches!(next, '<' | '>') {
                        self.end(&mut command);
                    }
                }
                '#' => {
                    self.at =
                        self.line[self.at..].find('\n').map_or(self.line.len(), |n| self.at + n)
                }
                c if c.is_whitespace() => self.at += c.len_utf8(),
                _ => self.word(&mut command),
            }
        }
        self.end(&mut command);
        self.read
    }

    fn peek(&self) -> Option<char> {
        self.line[self.at..].chars().next()
    }

    fn end(&mut self, command: &mut PlainCommand) {
        let ended = std::mem::take(command);
        if !ended.words.is_empty() || ended.assigns {
            self.read.commands.push(ended);
        }
    }

    fn word(&mut self, command: &mut PlainCommand) {
        let word = self.one_word();
        let bare = command.words.is_empty() && !word.is_quoted;
        if bare && RESERVED.contains(&word.text.as_str()) {
            self.read.is_plain = false;
        } else if bare && is_assignment(&word.text) {
            command.assigns = true;
        } else {
            self.read.is_plain &= word.is_plain;
            command.words.push(word);
        }
    }

    fn one_word(&mut self) -> PlainWord {
        let mut word = PlainWord { at: self.at, is_plain: true, ..PlainWord::default() };
        while let Some(next) = self.peek() {
            if next.is_whitespace() || ";|&()<>`".contains(next) {
                break;
            }
            self.at += next.len_utf8();
            match next {
                '\'' | '"' => self.quoted(next, &mut word),
                '\\' => {
                    word.is_quoted = true;
                    let escaped = self.peek();
                    self.at += escaped.map_or(0, char::len_utf8);
                    // A line goes on behind it.
                    word.text.extend(escaped.filter(|c| *c != '\n'));
                }
                _ => {
                    word.is_plain &= !"$*?[]{}~!".contains(next);
                    word.text.push(next);
                }
            }
        }
        word
    }

    fn quoted(&mut self, quote: char, word: &mut PlainWord) {
        word.is_quoted = true;
        while let Some(next) = self.peek() {
            self.at += next.len_utf8();
            match next {
                _ if next == quote => return,
                '\\' if quote == '"' => {
                    let escaped = self.peek();
                    self.at += escaped.map_or(0, char::len_utf8);
                    match escaped {
                        Some(c) if "$`\"\\\n".contains(c) => {
                            word.text.extend((c != '\n').then_some(c))
                        }
                        other => word.text.extend(['\\'].into_iter().chain(other)),
                    }
                }
                _ => {
                    word.is_plain &= quote == '\'' || !"$`!".contains(next);
                    word.text.push(next);
                }
            }
        }
        // The end of the quote is missing.
        word.is_plain = false;
    }
}

fn is_assignment(word: &str) -> bool {
    let name = word.split_once('=').map(|(name, _)| name.strip_suffix('+').unwrap_or(name));
    name.is_some_and(|name| {
        !name.is_empty()
            && !name.starts_with(|c: char| c.is_ascii_digit())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn words(line: &str) -> Vec<Vec<String>> {
        let texts = |c: &PlainCommand| c.words.iter().map(|w| w.text.clone()).collect();
        read(line).commands.iter().map(texts).collect()
    }

    #[test]
    fn plain_words_are_read_without_their_quotes() {
        let line = "cd 'a b' && X=1 ls -l \"c\\\"d\"|wc; echo e\\ f # rest\n true";
        assert_eq!(
            words(line),
            [
                vec!["cd", "a b"],
                vec!["ls", "-l", "c\"d"],
                vec!["wc"],
                vec!["echo", "e f"],
                vec!["true"]
            ]
        );
        assert!(read("git log -3 | head; ls 'a*b'").is_plain);
        for not in [
            "ls > x",
            "ls $HOME",
            "ls *",
            "(ls)",
            "ls &",
            "for i in 1; do ls; done",
            "echo \"$x\"",
            "echo `ls`",
            "cat <<x",
            "ls ~",
            "echo 'a",
            "if true; then ls; fi",
            "! ls",
            "f() { ls; }",
        ] {
            assert!(!read(not).is_plain, "{not}");
        }
    }

    #[test]
    fn patterns_hold_where_a_program_stands() {
        let patterns = ["rm ", "git push --force"].map(str::to_owned);
        let asks = |line: &str| begins_with(&read(line), &patterns).is_some();
        for line in [
            "rm x",
            "cd a && /bin/rm x",
            "sudo -n rm x",
            "env A=1 rm x",
            "ls | xargs -n1 rm",
            "'rm' x",
            "for i in *; do rm $i; done",
            "(rm x)",
            "git push -q origin --force",
            "timeout 5 rm x",
            "X=1 rm x",
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

    proptest! {
        #[test]
        fn any_line_is_read_and_places_are_its_own(line in any::<String>()) {
            for command in read(&line).commands {
                prop_assert!(command.words.iter().all(|word| line.is_char_boundary(word.at)));
            }
        }

        #[test]
        fn what_is_quoted_is_read_back(text in "[ -~]{1,20}") {
            let line = format!("x '{}'", text.replace('\'', "'\\''"));
            prop_assert_eq!(words(&line), [["x".to_owned(), text]]);
        }
    }
}
