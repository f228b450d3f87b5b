//! Options of a program, however they are written: together or apart, in any order, short or long. Data and a comparison.

use std::borrow::Cow;

use super::reading::Word;

/// Programs whose options have several letters behind one dash.
const ONE_DASH: [&str; 13] = [
    "adb",
    "convert",
    "fd",
    "ffmpeg",
    "find",
    "gcc",
    "go",
    "java",
    "javac",
    "magick",
    "openssl",
    "terraform",
    "xcodebuild",
];
/// What short options are called that mean the same in nearly every program.
const ANYWHERE: [OptionName; 4] = [
    OptionName { letter: 'r', long: "recursive" },
    OptionName { letter: 'R', long: "recursive" },
    OptionName { letter: 'f', long: "force" },
    OptionName { letter: 'q', long: "quiet" },
];
/// The others, by program.
const OF_PROGRAMS: [(&str, OptionName); 12] = [
    ("rm", OptionName { letter: 'd', long: "dir" }),
    ("rm", OptionName { letter: 'i', long: "interactive" }),
    ("cp", OptionName { letter: 'a', long: "archive" }),
    ("rsync", OptionName { letter: 'a', long: "archive" }),
    ("sed", OptionName { letter: 'i', long: "in-place" }),
    ("git", OptionName { letter: 'a', long: "all" }),
    ("git", OptionName { letter: 'd', long: "delete" }),
    ("git", OptionName { letter: 'n', long: "no-verify" }),
    ("docker", OptionName { letter: 'a', long: "all" }),
    ("podman", OptionName { letter: 'a', long: "all" }),
    ("curl", OptionName { letter: 'X', long: "request" }),
    ("curl", OptionName { letter: 'd', long: "data" }),
];

/// A short option and its long name.
struct OptionName {
    letter: char,
    long: &'static str,
}

/// Whether a word of a pattern is an option.
pub(super) fn is_option(word: &str) -> bool {
    word.len() > 1 && word.starts_with('-') && word != "--"
}

/// Programs whose first word may be options without a dash, and those of them that take one of the words behind it.
const UNDASHED: [&str; 3] = ["bsdtar", "gtar", "tar"];
const WITH_VALUE: &str = "bCfFgHIKLNTVX";

/// Arguments with a dash before options that were written without one: `tar cIf gzip a` is `tar -c -I gzip -f a`.
pub(super) fn spelled<'w>(program: &str, arguments: &'w [Word]) -> Cow<'w, [Word]> {
    let [first, rest @ ..] = arguments else { return Cow::Borrowed(arguments) };
    let is_undashed = UNDASHED.contains(&program)
        && first.is_literal()
        && first.text.chars().all(|c| c.is_ascii_alphanumeric())
        && first.text.contains(['A', 'c', 'd', 'r', 't', 'u', 'x']);
    if !is_undashed {
        return Cow::Borrowed(arguments);
    }
    let (mut all, mut rest) = (Vec::new(), rest.iter());
    for letter in first.text.chars() {
        all.push(Word::of(&format!("-{letter}")));
        if WITH_VALUE.contains(letter) {
            all.extend(rest.next().cloned());
        }
    }
    all.extend(rest.cloned());
    Cow::Owned(all)
}

/// Whether a program is given this option. A word that may become several may be any.
pub(super) fn has(program: &str, arguments: &[Word], wanted: &str) -> bool {
    let given = arguments.iter().take_while(|word| word.text != "--");
    if given.clone().any(|word| word.splits) || arguments.iter().any(|word| word.text == wanted) {
        return true;
    }
    let options: Vec<&str> = given.map(|word| word.text.as_str()).collect();
    match (wanted.strip_prefix("--"), letters(program, wanted)) {
        (Some(name), _) => has_long(program, &options, name),
        (None, Some(letters)) => letters.chars().all(|letter| has_short(program, &options, letter)),
        (None, None) => false,
    }
}

fn has_short(program: &str, options: &[&str], letter: char) -> bool {
    let same = |other: char| other == letter || (is_recursive(other) && is_recursive(letter));
    let together = |word: &&str| letters(program, word).is_some_and(|all| all.contains(same));
    options.iter().any(together)
        || names(program)
            .filter(|named| same(named.letter))
            .any(|named| options.iter().any(|word| is_long(word, named.long)))
}

/// `name` may have a value.
fn has_long(program: &str, options: &[&str], name: &str) -> bool {
    let (bare, value) = match name.split_once('=') {
        Some((bare, value)) => (bare, Some(value)),
        None => (name, None),
    };
    let is_it = |word: &&str| {
        is_long(word, bare)
            && value.is_none_or(|value| word.split_once('=').is_some_and(|(_, own)| own == value))
    };
    let short = || names(program).filter(|named| named.long == bare).map(|named| named.letter);
    options.iter().any(is_it)
        || (value.is_none()
            && options.iter().any(|word| {
                letters(program, word).is_some_and(|all| short().any(|letter| all.contains(letter)))
            }))
}

/// Whether a word is this long option, which programs take cut short, too.
fn is_long(word: &str, name: &str) -> bool {
    let Some(written) = word.strip_prefix("--") else { return false };
    let written = written.split('=').next().unwrap_or_default();
    !written.is_empty() && name.starts_with(written)
}

/// The letters of short options that stand together; `None` for what is none.
fn letters<'w>(program: &str, word: &'w str) -> Option<&'w str> {
    let letters = word.strip_prefix('-')?;
    let is_cluster = letters.starts_with(|c: char| c.is_ascii_alphabetic());
    (is_cluster && !ONE_DASH.contains(&program)).then_some(letters)
}

fn is_recursive(letter: char) -> bool {
    matches!(letter, 'r' | 'R')
}

fn names(program: &str) -> impl Iterator<Item = &'static OptionName> {
    let own = OF_PROGRAMS.iter().filter(move |(name, _)| *name == program);
    ANYWHERE.iter().chain(own.map(|(_, named)| named))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(program: &str, arguments: &str, wanted: &str) -> bool {
        let words: Vec<Word> = arguments.split_whitespace().map(Word::of).collect();
        has(program, &words, wanted)
    }

    #[test]
    fn an_option_is_the_same_however_it_is_written() {
        for arguments in [
            "-rf x",
            "-fr x",
            "-Rf x",
            "-r -f x",
            "x -f y -r",
            "-rvf x",
            "--recursive --force x",
            "--force -R x",
            "--recurs --forc x",
            "-r --force=x",
        ] {
            assert!(given("rm", arguments, "-rf"), "{arguments}");
        }
        for arguments in ["-r x", "-f x", "x", "-- -r -f", "--reckless --forced", "r f", "-i"] {
            assert!(!given("rm", arguments, "-rf"), "{arguments}");
        }
    }

    #[test]
    fn a_long_option_is_found_short_and_with_its_value() {
        assert!(given("git", "push -f", "--force") && given("git", "push --forc", "--force"));
        assert!(!given("git", "push --force-with-lease", "--force"));
        assert!(given("sed", "-i.bak x", "--in-place") && given("sed", "--in-place=b x", "-i"));
        assert!(
            given("x", "--mode=fast", "--mode=fast") && !given("x", "--mode=slow", "--mode=fast")
        );
    }

    #[test]
    fn options_without_a_dash_get_theirs() {
        let spelled = |arguments: &str| {
            let words: Vec<Word> = arguments.split_whitespace().map(Word::of).collect();
            let words = spelled("tar", &words).into_owned();
            words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(spelled("cIf gzip a.tgz b"), "-c -I gzip -f a.tgz b");
        assert_eq!(spelled("xzf a.tgz -C b"), "-x -z -f a.tgz -C b");
        assert_eq!(spelled("xf"), "-x -f");
        for other in ["-cf a b", "--list a", "a.tar", ""] {
            assert_eq!(spelled(other), other);
        }
    }

    #[test]
    fn letters_behind_one_dash_may_be_a_word() {
        assert!(given("find", ". -delete", "-delete"));
        assert!(!given("find", "-depth -type l -name e", "-delete"));
        assert!(given("kill", "-9 7", "-9") && !given("kill", "-19 7", "-9"));
    }
}
