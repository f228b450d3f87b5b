//! `selkie help errors`: what messages mean and what to do, out of the page that says so.

use std::ffi::OsString;

use anyhow::anyhow;
use serde::Serialize;

use super::outcome::{Failure, Outcome};
use super::print;
use super::wrap::wrapped;

/// The page; each message of it stands in the source, which a test holds.
const PAGE: &str = include_str!("../docs/troubleshooting.md");

/// How long a line is at most, in characters.
const WIDTH: usize = 80;
/// How far what is said of a message stands below it.
const INDENT: usize = 6;

/// `selkie errors`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  selkie help errors                        all of them
  selkie help errors token                  those about tokens
  selkie help errors 'holds the store'

Exit codes: 0 found · 1 no message has these words · 2 the command line is wrong")]
pub struct Errors {
    /// Only those with all of these words, in the message or its explanation
    #[arg(value_name = "WORD")]
    pub words: Vec<String>,
    /// Print JSON instead of text
    #[arg(long)]
    pub json: bool,
}

/// A message and what is said of it.
#[derive(Serialize)]
struct Entry<'a> {
    /// The part of the page it stands in.
    part: &'a str,
    message: &'a str,
    advice: &'a str,
}

/// Takes `selkie help errors` for `selkie errors`.
pub fn spelled_out(mut line: Vec<OsString>) -> Vec<OsString> {
    let is = |index: usize, word: &str| line.get(index).is_some_and(|at| at == word);
    if is(1, "help") && is(2, "errors") {
        line.remove(1);
    }
    line
}

/// Prints what messages mean.
pub fn errors(wanted: &Errors) -> Outcome {
    let found: Vec<Entry<'_>> = found(&wanted.words).collect();
    if found.is_empty() {
        let why = anyhow!(
            "no message has all of these words: {}. `selkie help errors` prints every one, and `selkie doctor` looks for what is \
             wrong",
            wanted.words.join(", ")
        );
        return Err(Failure::Failed(why));
    }
    match wanted.json {
        true => print::json(&found),
        false => Ok(print::prose(&told(&found))?),
    }?;
    Ok(())
}

/// Finds the entries that have all of these words.
fn found(words: &[String]) -> impl Iterator<Item = Entry<'static>> {
    let words: Vec<String> = words.iter().map(|word| word.to_lowercase()).collect();
    entries().filter(move |entry| {
        let whole = format!("{} {} {}", entry.part, entry.message, entry.advice).to_lowercase();
        words.iter().all(|word| whole.contains(word))
    })
}

fn told(entries: &[Entry<'_>]) -> String {
    let mut text = String::new();
    let mut part = "";
    for entry in entries {
        if entry.part != part {
            part = entry.part;
            let gap = if text.is_empty() { "" } else { "\n" };
            text.push_str(&format!("{gap}{part}\n"));
        }
        text.push_str(&format!("\n  {}\n{}", entry.message, below(entry.advice)));
    }
    text
}

/// Reads the page: a line "- `message`: what it means and what to do", below a heading.
fn entries() -> impl Iterator<Item = Entry<'static>> {
    let mut part = "";
    PAGE.lines().filter_map(move |line| {
        if let Some(heading) = line.strip_prefix("## ") {
            part = heading;
        }
        let (message, advice) = line.strip_prefix("- `")?.split_once("`: ")?;
        Some(Entry { part, message, advice })
    })
}

/// Breaks a text into lines, each below the message it belongs to.
fn below(text: &str) -> String {
    let lines = wrapped(text, WIDTH - INDENT).into_iter();
    lines.map(|line| format!("{:INDENT$}{line}\n", "")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_is_read_whole() {
        let lines = PAGE.lines().filter(|line| line.starts_with("- ")).count();
        assert!(lines > 60, "{lines}");
        assert_eq!(entries().count(), lines, "a line is not written like the others");
        assert!(entries().all(|entry| !entry.part.is_empty() && entry.advice.ends_with('.')));
    }

    #[test]
    fn messages_are_found_by_words_in_any_case() {
        let told = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
            told(&found(&words).collect::<Vec<_>>())
        };
        insta::assert_snapshot!(told(&["HOLDS the store in"]), @r"
        Starting

          holds the store in …: stop it first, or name another state folder
              another selkie is running with this state folder. `selkie status` shows
              it; stop it, or use `--state` for a second one.
        ");
        assert!(told(&["token"]).lines().all(|line| line.chars().count() <= WIDTH + 60));
        assert_eq!(told(&["no", "such", "unicorn"]), "");
    }

    #[test]
    fn help_errors_is_the_command_errors() {
        let line = |words: &[&str]| words.iter().map(OsString::from).collect::<Vec<_>>();
        let taken = spelled_out(line(&["selkie", "help", "errors", "token"]));
        assert_eq!(taken, line(&["selkie", "errors", "token"]));
        assert_eq!(spelled_out(line(&["selkie", "help", "run"])), line(&["selkie", "help", "run"]));
    }
}
