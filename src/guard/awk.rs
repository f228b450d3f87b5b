//! Programs of `awk` as far as they run commands: the texts in one that calls `system`, or has a pipe.

use super::reading::Word;

/// What in a program runs something.
const RUNS: [&str; 4] = ["system", "getline", "|", "@load"];

/// Whether a word is a program that runs something.
pub(super) fn runs(word: &str) -> bool {
    RUNS.iter().any(|run| word.contains(run))
}

/// Returns the texts in programs that run something: any of them may be a command, or begin one.
pub(super) fn commands(arguments: &[Word]) -> impl Iterator<Item = String> {
    let programs = arguments.iter().map(|word| word.text.as_str()).filter(|word| runs(word));
    programs
        .flat_map(texts)
        .filter(|text| text.starts_with(|c: char| c.is_alphabetic() || c == '/'))
}

/// The texts between quotation marks, with what a backslash stands for.
fn texts(program: &str) -> Vec<String> {
    let (mut texts, mut open) = (Vec::new(), None::<String>);
    let mut signs = program.chars();
    while let Some(sign) = signs.next() {
        match (sign, &mut open) {
            ('"', Some(_)) => texts.extend(open.take()),
            ('"', None) => open = Some(String::new()),
            ('\\', Some(text)) => text.extend(signs.next()),
            (sign, Some(text)) => text.push(sign),
            (_, None) => {}
        }
    }
    texts
}
