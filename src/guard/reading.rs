//! What is read of a command line: its words, where they lead, what it leaves running.

/// What a command line holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandReading {
    /// The words of each simple command, without quotes.
    pub commands: Vec<Vec<Word>>,
    /// Where redirections lead, and the values of lists.
    pub targets: Vec<Word>,
    /// Something is left running with a `&` outside of quotes.
    pub backgrounds: bool,
    /// Why it is not understood.
    pub unclear: Option<&'static str>,
    /// It makes functions, which may go by the names of programs.
    pub(super) defines: bool,
}

/// A word of a command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Word {
    /// The word without quotes; what is expanded stands as it is written.
    pub text: String,
    /// The byte up to which it has pieces that become something else when the command runs.
    pub(super) soft: usize,
    /// It may become several words, or none.
    pub(super) splits: bool,
    /// It has quotes, and so is none of the shell's own words.
    pub(super) quoted: bool,
    /// It gives a variable a list (`a=(…)`), whose values stand among the targets.
    pub(super) is_list: bool,
}

/// The shell's own words before a command.
const RESERVED: [&str; 12] =
    ["!", "coproc", "do", "elif", "else", "if", "then", "time", "until", "while", "{", "}"];

impl CommandReading {
    /// Marks it as not understood; the first reason stays.
    pub(super) fn unclear(&mut self, why: &'static str) {
        self.unclear.get_or_insert(why);
    }

    /// Returns every word there is.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        let words = self.commands.iter().flatten().chain(&self.targets);
        words.map(|word| word.text.as_str())
    }
}

impl Word {
    /// A word that is what it says.
    pub(super) fn of(text: &str) -> Self {
        Self { text: text.to_owned(), ..Self::default() }
    }

    /// Returns the name of the program that it is: its last part, when that is known.
    pub(super) fn name(&self) -> Option<&str> {
        let from = self.text.rfind('/').map_or(0, |at| at + 1);
        (!self.splits && self.soft <= from).then(|| &self.text[from..])
    }

    /// Whether it is what it says.
    pub(super) fn is_literal(&self) -> bool {
        self.soft == 0 && !self.splits
    }

    /// Whether it is one of the shell's own words before a command.
    pub(super) fn is_reserved(&self) -> bool {
        !self.quoted && RESERVED.contains(&self.text.as_str())
    }
}

/// Whether a word gives a variable a value: `NAME=…`.
pub(super) fn is_assignment(word: &str) -> bool {
    let Some((name, _)) = word.split_once('=') else { return false };
    let name = name.strip_suffix('+').unwrap_or(name);
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "_[]".contains(c))
}

/// The first word from there that is a program's: behind the shell's own words, options of `time`, and assignments.
pub(super) fn first(words: &[Word], from: usize) -> Option<usize> {
    let mut timed = false;
    (from..words.len()).find(|at| {
        let word = &words[*at];
        let option = timed && word.text.starts_with('-');
        timed = option || (word.is_reserved() && word.text == "time");
        !option && !word.is_reserved() && !is_assignment(&word.text)
    })
}
