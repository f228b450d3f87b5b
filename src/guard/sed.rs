//! Scripts of `sed` as far as they run commands: by `e`, and by the flag of `s` that runs what came of it.

use super::reading::Word;

/// Returns the scripts among sed's arguments: behind `-e` and `--expression`, else the first word that is no option.
pub(super) fn scripts(arguments: &[Word]) -> Vec<&str> {
    let (mut scripts, mut first, mut has_file) = (Vec::new(), None, false);
    let mut words = arguments.iter().map(|word| word.text.as_str());
    while let Some(word) = words.next() {
        match SedWord::of(word) {
            SedWord::Script(Some(script)) => scripts.push(script),
            SedWord::Script(None) => scripts.extend(words.next()),
            SedWord::File { is_next } => {
                has_file = true;
                is_next.then(|| words.next());
            }
            SedWord::Option => {}
            SedWord::Word => first = first.or(Some(word)),
        }
    }
    if scripts.is_empty() && !has_file {
        scripts.extend(first);
    }
    scripts
}

/// Whether a script runs anything.
pub(super) fn runs(script: &str) -> bool {
    pieces(script).any(|piece| piece.starts_with('e') || run_by_flag(piece).is_some())
}

/// Returns the commands that a script's `e` runs, as far as they stand there.
pub(super) fn commands(script: &str) -> impl Iterator<Item = String> {
    let run = pieces(script).filter_map(|piece| piece.strip_prefix('e').or(run_by_flag(piece)));
    run.map(|command| command.trim().to_owned()).filter(|command| !command.is_empty())
}

/// What an `s` puts in that runs what came of it.
fn run_by_flag(piece: &str) -> Option<&str> {
    let rest = piece.strip_prefix('s')?;
    let mark = rest.chars().next().filter(|mark| !mark.is_alphanumeric())?;
    let mut parts = rest.rsplit(mark);
    let is_run = parts.next()?.contains('e');
    let put_in = parts.next()?;
    // What is looked for, and what stands before the first mark: nothing.
    (is_run && parts.count() >= 2).then_some(put_in)
}

/// What a word of sed's is.
enum SedWord<'w> {
    /// A script, or the next word is one.
    Script(Option<&'w str>),
    /// A file of scripts.
    File {
        /// The next word names it.
        is_next: bool,
    },
    Option,
    Word,
}

impl<'w> SedWord<'w> {
    fn of(word: &'w str) -> Self {
        if let Some(long) = word.strip_prefix("--") {
            let (name, value) = long.split_once('=').map_or((long, None), |(n, v)| (n, Some(v)));
            return match name {
                "" => Self::Option,
                name if "expression".starts_with(name) => Self::Script(value),
                name if "file".starts_with(name) => Self::File { is_next: value.is_none() },
                _ => Self::Option,
            };
        }
        let Some(letters) = word.strip_prefix('-').filter(|letters| !letters.is_empty()) else {
            return Self::Word;
        };
        // Behind `i` stands what its copies are called.
        let letters = letters.split('i').next().unwrap_or_default();
        match letters.find(['e', 'f']) {
            Some(at) => {
                let value = Some(&letters[at + 1..]).filter(|value| !value.is_empty());
                match letters.as_bytes()[at] {
                    b'e' => Self::Script(value.map(|_| &word[at + 2..])),
                    _ => Self::File { is_next: value.is_none() },
                }
            }
            None => Self::Option,
        }
    }
}

/// The commands of a script, without the addresses before them.
fn pieces(script: &str) -> impl Iterator<Item = &str> {
    script.split([';', '\n', '{', '}']).map(|piece| {
        let is_address = |c: char| c.is_ascii_digit() || " \t,$!~+".contains(c);
        let piece = piece.trim_start_matches(is_address);
        match piece.strip_prefix('/').and_then(|rest| rest.split_once('/')) {
            Some((_, rest)) => rest.trim_start_matches(|c: char| is_address(c) || c == 'I'),
            None => piece,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<Word> {
        text.split(' ').map(|word| Word::of(&word.replace('_', " "))).collect()
    }

    #[test]
    fn scripts_stand_behind_their_options_or_first() {
        for (text, wanted) in [
            ("s/a/b/ example", &["s/a/b/"][..]),
            ("-n -e p -ex file", &["p", "x"]),
            ("-ne 1e_ls file", &["1e ls"]),
            ("--expr=1e_ls file", &["1e ls"]),
            ("--expression 1e_ls file", &["1e ls"]),
            ("-i.bake s/a/b/ file", &["s/a/b/"]),
            ("-f script file", &[]),
            ("--file=script file", &[]),
        ] {
            assert_eq!(scripts(&words(text)), wanted, "{text}");
        }
    }

    #[test]
    fn what_runs_is_found_behind_addresses() {
        for script in ["1erm -rf x", "$ e rm -rf x", "/a b/erm -rf x", "p;2,3{erm -rf x\n}"] {
            assert!(runs(script), "{script}");
            assert_eq!(commands(script).collect::<Vec<_>>(), ["rm -rf x"], "{script}");
        }
        assert!(runs("s/a/b/e") && runs("s,a,b,ge"));
        for script in ["s/one/the end/p; 3,5d", "p", "/end/d", "y/e/a/", ""] {
            assert!(!runs(script) && commands(script).next().is_none(), "{script}");
        }
    }
}
