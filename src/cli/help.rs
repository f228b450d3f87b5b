//! Finishes the help of every command: one below a group shows the group's examples of itself, and each names its exit
//! codes.

use clap::{Command, CommandFactory as _};

use super::args::Args;

/// What exit codes mean where a command does not say more.
const CODES: &str = "Exit codes: 0 success · 1 failure · 2 the command line or the config is wrong";

/// Returns the whole command line with its help.
pub fn whole() -> Command {
    finished(Args::command(), "selkie", "")
}

/// Finishes a command and all below it; `above` is the help of its group.
fn finished(command: Command, path: &str, above: &str) -> Command {
    let own = command.get_after_help().map(ToString::to_string);
    let mut help = own.unwrap_or_else(|| examples(above, path));
    if !help.contains("Exit codes:") {
        help = format!("{help}\n\n{CODES}").trim_start().to_owned();
    }
    let below: Vec<String> =
        command.get_subcommands().map(|below| below.get_name().to_owned()).collect();
    below.into_iter().fold(command.after_help(help.clone()), |command, name| {
        let path = format!("{path} {name}");
        command.mut_subcommand(name, |below| finished(below, &path, &help))
    })
}

/// Takes the examples of a command out of the help of its group.
fn examples(above: &str, path: &str) -> String {
    let is_of_it = |line: &&str| {
        let line = line.trim_start();
        let rest = line.strip_prefix("sudo ").unwrap_or(line).strip_prefix(path);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
    };
    let lines: Vec<&str> = above.lines().filter(is_of_it).collect();
    if lines.is_empty() { String::new() } else { format!("Examples:\n{}", lines.join("\n")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is longer is wrapped to where a command begins, and reads like one.
    const NARROW: usize = 80;
    /// Why commands print no JSON.
    const WITHOUT_JSON: [(&str, &[&str]); 6] = [
        ("they go on until they are stopped, or talk with a person", &["init", "run", "demo"]),
        (
            "what they print is a file, or JSON already",
            &[
                "config schema",
                "config example",
                "channel manifest",
                "tools docs",
                "tools show",
                "completions",
                "man",
            ],
        ),
        (
            "they change one thing, and the exit code says whether",
            &[
                "pair approve",
                "pair remove",
                "approvals approve",
                "approvals deny",
                "approvals unmute",
                "schedules remove",
                "schedules pause",
                "schedules resume",
                "schedules run",
                "tweets cancel",
                "tweets retry",
                "tweets edit",
                "contacts merge",
                "todos trust",
                "memory trust",
                "store unseal",
                "service install",
                "service uninstall",
                "webhooks test",
                "mcp login",
                "mcp logout",
            ],
        ),
        (
            "they show what a server writes; mcp list and mcp tools --json have the rest",
            &["mcp trust", "mcp call", "mcp import"],
        ),
        (
            "they change many things, all or none; lists and status --json show them",
            &["schedules import", "store copy"],
        ),
        (
            "they show a skill that is to be read; skills list --json has the rest",
            &["skills show", "skills install", "skills review", "skills remove"],
        ),
    ];

    fn each<'c>(command: &'c Command, above: &str, found: &mut Vec<(String, &'c Command)>) {
        for below in command.get_subcommands() {
            let path = format!("{above}{}", below.get_name());
            found.push((path.clone(), below));
            each(below, &format!("{path} "), found);
        }
    }

    fn takes_json(command: &Command) -> bool {
        command.get_arguments().any(|argument| argument.get_long() == Some("json"))
    }

    #[test]
    fn every_command_shows_examples_of_itself_and_its_exit_codes() {
        let (whole, mut found) = (whole(), Vec::new());
        each(&whole, "", &mut found);
        assert!(found.len() > 60, "{}", found.len());
        for (path, command) in found {
            let help = command.clone().render_long_help().to_string();
            assert!(help.contains("Exit codes: 0"), "{path}:\n{help}");
            let (_, examples) =
                help.split_once("Examples:\n").unwrap_or_else(|| panic!("{path}:\n{help}"));
            // One command may have two names: selkie export is selkie sessions export.
            let names = [format!("selkie {path} "), format!("selkie {} ", command.get_name())];
            let shown = examples.replace('\n', " ").replace("help errors", "errors");
            assert!(names.iter().any(|name| shown.contains(name)), "{path}:\n{help}");
        }
    }

    #[test]
    fn no_help_is_broken_by_hand() {
        let (whole, mut found) = (whole(), Vec::new());
        each(&whole, "", &mut found);
        found.push((String::new(), &whole));
        for (path, command) in found {
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            for part in help.split("\n\n") {
                assert!(part.starts_with("Examples:\n") || !part.contains('\n'), "{path}: {part}");
            }
        }
    }

    #[test]
    fn examples_fit_into_a_narrow_terminal() {
        let (whole, mut found) = (whole(), Vec::new());
        each(&whole, "", &mut found);
        found.push((String::new(), &whole));
        for (path, command) in found {
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            let examples = help.split("\n\n").filter(|part| part.starts_with("Examples:\n"));
            for line in examples.flat_map(str::lines) {
                assert!(line.chars().count() <= NARROW, "{path}: {line}");
            }
        }
    }

    #[test]
    fn every_command_prints_json_or_has_a_reason() {
        let (whole, mut found) = (whole(), Vec::new());
        each(&whole, "", &mut found);
        let without: Vec<&str> = WITHOUT_JSON.iter().flat_map(|(_, all)| all.to_vec()).collect();
        for (path, command) in found.iter().filter(|(_, command)| !command.has_subcommands()) {
            let is_listed = without.contains(&path.as_str());
            assert_ne!(takes_json(command), is_listed, "{path}");
        }
        for path in without {
            assert!(found.iter().any(|(is, _)| is == path), "there is no {path}");
        }
    }

    #[test]
    fn a_page_says_what_every_command_prints_as_json() {
        let (page, whole, mut found) = (include_str!("../docs/json.md"), whole(), Vec::new());
        each(&whole, "", &mut found);
        found.retain(|(_, command)| takes_json(command));
        assert!(found.len() > 5, "{}", found.len());
        for (path, _) in found {
            let row = |line: &str| {
                line.starts_with(&format!("| `selkie {path} ")) && line.contains("--json` |")
            };
            assert!(page.lines().any(row), "docs/json.md does not say what {path} --json prints");
        }
    }

    #[test]
    fn the_command_line_contradicts_itself_nowhere() {
        whole().debug_assert();
    }
}
