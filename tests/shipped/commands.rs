//! The command lines of scripts and pages: each is taken by the program, which prints the help of its command instead.

use std::process::Command;

/// What the program is called in them.
const NAMES: [&str; 5] = [
    "selkie",
    "$selkie",
    "/usr/bin/selkie",
    "ExecStart=/usr/bin/selkie",
    "ExecReload=/usr/bin/selkie",
];

/// What ends a command.
const ENDS: [&str; 9] = ["|", "||", "&&", ";", ">", ">>", "<", "&", ")"];

/// Lists the command lines that a text names and the program refuses, with what it says.
pub fn refused(text: &str) -> Vec<String> {
    of(text).into_iter().filter_map(|words| refusal(&words)).collect()
}

/// Returns the arguments of every call of the program in a shell's text.
pub fn of(text: &str) -> Vec<Vec<String>> {
    let joined = text.replace("\\\n", " ");
    let mut found = Vec::new();
    for line in joined.lines() {
        let words = words(line);
        let calls = words.iter().enumerate().filter(|(_, word)| NAMES.contains(&word.as_str()));
        for (index, _) in calls.filter(|(index, _)| begins(&words, *index)) {
            let arguments = words[index + 1..].iter();
            let arguments = arguments.take_while(|word| !ENDS.contains(&word.as_str()));
            found.push(arguments.cloned().collect());
        }
    }
    found
}

/// Whether a command begins there: at the line's start, behind another command's end, behind variables, or behind a
/// command that runs others.
fn begins(words: &[String], index: usize) -> bool {
    let mut before: Vec<&str> = words[..index].iter().map(String::as_str).collect();
    while before.pop_if(|word| word.contains('=') || *word == "--").is_some() {}
    if let [.., "sudo" | "runuser", "-u", _] = before[..] {
        return true;
    }
    let Some(last) = before.last() else { return true };
    ENDS.contains(last) || ["sudo", "exec", "then", "(", "-", "$", "!"].contains(last)
}

/// What the program says against a command line.
fn refusal(words: &[String]) -> Option<String> {
    let mut selkie = Command::new(env!("CARGO_BIN_EXE_selkie"));
    let out = selkie.args(words).arg("--help").env_clear().output().expect("the program");
    let said = String::from_utf8_lossy(&out.stderr);
    let first = said.lines().next().unwrap_or_default();
    (!out.status.success()).then(|| format!("selkie {}: {first}", words.join(" ")))
}

/// Splits a line as a shell does, as far as our scripts and pages go: quotes, comments, and signs that end a command.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), String::new(), None);
    let (mut held, mut all) = (false, line.chars().peekable());
    while let Some(sign) = all.next() {
        match (quote, sign) {
            (Some(open), sign) if sign == open => quote = None,
            (Some('"'), '\\') => word.extend(all.next()),
            (Some(_), sign) => word.push(sign),
            (None, '\'' | '"') => (quote, held) = (Some(sign), true),
            (None, '#') if word.is_empty() && !held => break,
            (None, '|' | '&' | ';' | '>' | '<' | '(' | ')') => {
                end(&mut words, &mut word, &mut held);
                let twice = all.next_if_eq(&sign).is_some();
                words.push(sign.to_string().repeat(1 + usize::from(twice)));
            }
            (None, sign) if sign.is_whitespace() => end(&mut words, &mut word, &mut held),
            (None, sign) => word.push(sign),
        }
    }
    end(&mut words, &mut word, &mut held);
    words
}

fn end(words: &mut Vec<String>, word: &mut String, held: &mut bool) {
    if !word.is_empty() || *held {
        words.push(std::mem::take(word));
    }
    *held = false;
}

#[test]
fn calls_are_found_in_a_shells_text() {
    let text = "a=b selkie say --to 'x:main' \"tea # is\" > out # no\n\
                x && selkie status | grep selkie; sudo -u selkie /usr/bin/selkie run\n\
                useradd selkie\n";
    let found = of(text);
    assert_eq!(found[0], ["say", "--to", "x:main", "tea # is"]);
    assert_eq!(found[1..], [vec!["status".to_owned()], vec!["run".to_owned()]]);
}

#[test]
fn what_the_program_does_not_have_is_refused() {
    let refused = refused("selkie say --too x\nselkie status --json\nselkie sings\n");
    assert_eq!(refused.len(), 2, "{refused:?}");
    assert!(refused[0].contains("--too") && refused[1].contains("sings"), "{refused:?}");
}

/// The README's commands, and those of the folders' own pages.
#[test]
fn the_program_takes_every_command_of_the_pages() {
    let mut seen = 0;
    for page in [include_str!("../../README.md"), include_str!("../../systemd/README.md")] {
        let commands = blocks(page) + &in_sentences(page);
        seen += of(&commands).len();
        assert_eq!(refused(&commands), [""; 0]);
    }
    assert!(seen > 25, "only {seen} commands are found");
}

/// The commands of a page in Markdown: blocks for a shell, and lines that are set off by four spaces. What a recorded
/// session shows is its lines after a `$`.
pub fn blocks(page: &str) -> String {
    let (mut fence, mut out) = (None, String::new());
    for line in page.lines() {
        if let Some(kind) = line.trim_start().strip_prefix("```") {
            fence = fence.is_none().then_some(kind);
            continue;
        }
        let command = match fence {
            Some("sh") => Some(line),
            Some("console") => line.strip_prefix("$ "),
            Some(_) => None,
            None => line.strip_prefix("    "),
        };
        out.extend(command.into_iter().flat_map(|line| [line, "\n"]));
    }
    out
}

/// The commands that sentences of a page name, a line each, with a number where they say `N` or `ID`.
pub fn in_sentences(page: &str) -> String {
    let (mut inside, mut out) = (false, String::new());
    for line in page.lines() {
        if line.trim_start().starts_with("```") {
            inside = !inside;
        } else if !inside {
            let spans = line.split('`').skip(1).step_by(2);
            out.extend(spans.filter(|span| span.contains("selkie ")).flat_map(|span| [span, "\n"]));
        }
    }
    let word = |word: &str| match word {
        "N" | "ID" => "1".to_owned(),
        "…" => String::new(),
        word => word.to_owned(),
    };
    let line = |line: &str| line.split(' ').map(word).collect::<Vec<_>>().join(" ") + "\n";
    out.lines().map(line).collect()
}
