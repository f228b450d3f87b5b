//! What programs that run others are handed: words that may be a command as they stand, or hold one, and nothing but what comes in.

use super::command::{FEEDS, SHELLS, WRAPPERS, starts};
use super::reading::{CommandReading, Word};
use super::unseen::runs_others;

/// So many words behind such a program are looked at.
const NEAR: usize = 32;
/// What decides in bash over every program that runs afterwards.
const DECIDES: [&str; 3] = ["BASH_ALIASES", "BASH_ENV", "BASH_FUNC_"];

/// Whether a command may run anything: its input says which program, or a variable does that decides over all.
pub(super) fn anything(reading: &CommandReading) -> bool {
    // `read` and its like give variables values without a sign.
    let sets = |word: &Word| DECIDES.iter().any(|name| word.text.starts_with(name));
    reading.commands.iter().any(|words| words.iter().any(sets) || is_fed_whole(words))
}

/// Whether `xargs` or its like is to start what comes in: behind a program that starts others there is none, or a shell
/// has no script of its own.
fn is_fed_whole(words: &[Word]) -> bool {
    let programs = starts(words);
    let name =
        |program: &&[Word]| program.first().and_then(Word::name).unwrap_or_default().to_owned();
    let Some(from) = programs.iter().position(|it| FEEDS.contains(&&*name(it))) else {
        return false;
    };
    let behind = &programs[from + 1..];
    if behind.is_empty() {
        // Without a program of its own, it starts what comes in, but for `xargs`, which prints it.
        return name(&programs[from]) == "parallel";
    }
    let ends = |it: &&[Word]| WRAPPERS.contains(&&*name(it));
    behind.last().is_some_and(ends)
        || behind.iter().any(|it| SHELLS.contains(&&*name(it)) && !has_script(it))
}

/// Whether a shell is given a file, or a script of more than one word that starts programs of its own.
fn has_script(program: &[Word]) -> bool {
    let inline = program.iter().any(|word| word.text == "-c");
    let is_file = |word: &Word| !inline && !word.text.starts_with('-');
    let is_script =
        |word: &Word| word.text.contains(char::is_whitespace) && !runs_its_words(&word.text);
    program.iter().skip(1).any(|word| is_file(word) || is_script(word))
}

/// Whether a script carries out what it is handed: `eval {}`, `"$@" x`.
fn runs_its_words(script: &str) -> bool {
    let is_handed = |word: &str| {
        let bare = word.trim_matches(['"', '\'']);
        bare == "{}" || bare.strip_prefix('$').is_some_and(|name| !name.starts_with('('))
    };
    script.split([';', '|', '&', '\n']).any(|piece| {
        let mut words = piece.split_whitespace();
        words.next().is_some_and(|first| {
            is_handed(first)
                || ["eval", "exec", "source", "."].contains(&first) && words.any(is_handed)
        })
    })
}

/// Every place behind a program that runs others, as if a command began there.
pub(super) fn as_they_stand(reading: &CommandReading) -> CommandReading {
    let behind = |program: &[Word]| -> Vec<Vec<Word>> {
        (1..program.len()).take(NEAR).map(|at| program[at..].to_vec()).collect()
    };
    let commands = programs(reading).flat_map(behind).collect();
    CommandReading { commands, ..CommandReading::default() }
}

/// The words of programs that run others which may hold a command.
pub(super) fn in_one_word(reading: &CommandReading) -> impl Iterator<Item = &str> {
    let words = programs(reading).flat_map(|program| program.iter().skip(1));
    words.map(|word| word.text.as_str()).filter(|text| text.contains(char::is_whitespace))
}

fn programs(reading: &CommandReading) -> impl Iterator<Item = &[Word]> {
    let all = reading.commands.iter().flat_map(|words| starts(words));
    all.filter(|program| runs_others(program))
}
