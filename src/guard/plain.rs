//! Reads a command line as plain words: programs with their words, joined by `&&`, `||`, `;` and `|`.
//!
//! Nothing is expanded and nothing is followed. What is more than that (redirections, expansions, groups, loops) makes
//! the line not plain; the words in it are read all the same, as far as they stand there.

/// Words of the shell behind which a command begins.
const RESERVED: [&str; 15] = [
    "!", "coproc", "do", "done", "elif", "else", "esac", "fi", "if", "then", "time", "until",
    "while", "{", "}",
];
/// Words of the shell behind which names stand.
const BEFORE_NAMES: [&str; 4] = ["case", "for", "function", "select"];
/// As many here-documents of a line are left out.
const MAX_DOCUMENTS: usize = 16;

/// A command line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlainLine {
    /// Its simple commands, in their order.
    pub commands: Vec<PlainCommand>,
    /// Whether there is nothing else to it.
    pub is_plain: bool,
    /// Whether it has anything that ends or joins commands.
    pub is_joined: bool,
    /// Whether it ends with the `&` that leaves something running.
    pub is_background: bool,
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
    /// How much of the text stands before the first quote, when there is one.
    quoted_from: Option<usize>,
}

/// Reads a command line; its time grows with its length alone.
pub fn read(line: &str) -> PlainLine {
    let read = PlainLine { is_plain: true, ..PlainLine::default() };
    Reader { line, at: 0, read, behind_and: 0, documents: Vec::new(), left: MAX_DOCUMENTS }.read()
}

impl PlainLine {
    /// Returns every word there is.
    pub fn words(&self) -> impl Iterator<Item = &PlainWord> {
        self.commands.iter().flat_map(|command| &command.words)
    }
}

impl PlainCommand {
    /// Whether every word is what it says and nothing is set before them.
    pub fn is_plain(&self) -> bool {
        !self.assigns && self.words.iter().all(|word| word.is_plain)
    }
}

struct Reader<'l> {
    line: &'l str,
    at: usize,
    read: PlainLine,
    /// Where the last `&` alone ends.
    behind_and: usize,
    /// The ends of here-documents that begin on the next line.
    documents: Vec<String>,
    /// So many more of them are looked for.
    left: usize,
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
                    if next == '\n' {
                        self.pass_documents();
                    }
                }
                '<' if self.line[self.at..].starts_with("<<<") => {
                    self.at += 3;
                    self.read.is_plain = false;
                }
                '<' if self.line[self.at..].starts_with("<<") => self.document(),
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
                    if next == '&' {
                        self.behind_and = self.at;
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
        let end = self.line.trim_end().len();
        self.read.is_background = end > 0 && self.behind_and == end;
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
        let is_first = command.words.is_empty();
        let text = word.text.as_str();
        let is_own =
            |words: &[&str]| is_first && word.quoted_from.is_none() && words.contains(&text);
        self.read.is_plain &= word.is_plain && !is_own(&BEFORE_NAMES);
        if is_own(&RESERVED) {
            self.read.is_plain = false;
        } else if is_first && is_assignment(&text[..word.quoted_from.unwrap_or(text.len())]) {
            command.assigns = true;
        } else {
            command.words.push(word);
        }
    }

    /// A here-document is announced: its end is a word.
    fn document(&mut self) {
        self.read.is_plain = false;
        self.at += 2;
        let rest = &self.line[self.at..];
        let blanks = rest.len() - rest.trim_start_matches(['-', ' ', '\t']).len();
        self.at += blanks;
        let end = self.one_word().text;
        if !end.is_empty() && self.left > 0 {
            self.left -= 1;
            self.documents.push(end);
        }
    }

    /// Goes on behind the here-documents: their lines are no commands. One without an end is none.
    fn pass_documents(&mut self) {
        for end in std::mem::take(&mut self.documents) {
            let mut at = self.at;
            let mut lines = self.line[at..].split_inclusive('\n').map(|line| {
                at += line.len();
                (line.trim_start_matches('\t').trim_end_matches('\n') == end).then_some(at)
            });
            self.at = lines.find_map(|found| found).unwrap_or(self.at);
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
                    word.quoted_from.get_or_insert(word.text.len());
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
        if word.text.ends_with('$') && self.peek() == Some('(') {
            word.text.push_str("(…)");
        }
        // The program of this name, and its last word.
        word.is_plain |= matches!(&*word.text, "[" | "]");
        word
    }

    fn quoted(&mut self, quote: char, word: &mut PlainWord) {
        word.quoted_from.get_or_insert(word.text.len());
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
            "X=\"$x\" ls",
        ] {
            assert!(!read(not).is_plain, "{not}");
        }
        assert_eq!(words("X='a b' ls; 'X=1' ls"), [vec!["ls"], vec!["X=1", "ls"]]);
        assert_eq!(words("cat <<'E' | wc\nrm x\n\tE\nls"), [["cat"], ["wc"], ["ls"]]);
        assert_eq!(words("cat <<E\nrm x"), [vec!["cat"], vec!["rm", "x"]]);
        assert_eq!(words("case $x in top) ls;; esac")[1], ["ls"]);
    }

    #[test]
    fn what_is_left_running_at_the_end_is_seen() {
        for line in ["sleep 9 &", "a & b &\n", "nohup x &>/dev/null &"] {
            assert!(read(line).is_background, "{line}");
        }
        for line in
            ["a && b", "a 2>&1", "echo 'a &'", "cat <<E\na &\nE", "a & wait", "echo a \\&", "# a &"]
        {
            assert!(!read(line).is_background, "{line}");
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
