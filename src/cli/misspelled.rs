//! What somebody may have meant who asked for the help of a command that there is not: clap says so of commands alone.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, Error};

use selkie_domain::spelling::nearest;

/// Adds a similar command to an error that names none; `line` is what was typed.
pub fn with_similar(mut error: Error, line: &[OsString], whole: &Command) -> Error {
    if error.kind() == ErrorKind::InvalidSubcommand
        && error.get(ContextKind::SuggestedSubcommand).is_none()
        && let Some(similar) = similar(&error, line, whole)
    {
        error.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(vec![similar]));
    }
    error
}

/// Finds it among the commands of the group that the words before lead to.
fn similar(error: &Error, line: &[OsString], whole: &Command) -> Option<String> {
    let Some(ContextValue::String(wrong)) = error.get(ContextKind::InvalidSubcommand) else {
        return None;
    };
    let words = line.iter().skip(1).filter_map(|word| word.to_str());
    let before = words.take_while(|word| word != wrong);
    let group = before.fold(whole, |group, word| group.find_subcommand(word).unwrap_or(group));
    let names = group.get_subcommands().filter(|below| !below.is_hide_set());
    nearest(wrong, names.map(Command::get_name)).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::help;

    fn told(line: &[&str]) -> String {
        let line: Vec<OsString> = line.iter().map(OsString::from).collect();
        let error = help::whole().try_get_matches_from(line.clone()).unwrap_err();
        with_similar(error, &line, &help::whole()).to_string()
    }

    #[test]
    fn help_of_what_is_misspelled_names_what_is_similar() {
        for (line, name) in [
            (&["selkie", "stauts"][..], "'status'"),
            (&["selkie", "help", "stauts"], "'status'"),
            (&["selkie", "help", "schedules", "lsit"], "'list'"),
            (&["selkie", "schedules", "help", "lsit"], "'list'"),
        ] {
            let told = told(line);
            assert!(told.contains(" similar subcommand") && told.contains(name), "{told}");
        }
        let told = told(&["selkie", "help", "frobnicate"]);
        assert!(told.contains("unrecognized") && !told.contains("similar"), "{told}");
    }
}
