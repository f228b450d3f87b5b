//! `selkie completions`, `selkie man` and `selkie --version`: what an installation brings beside the binary.

use std::fs;
use std::path::Path;

use anyhow::Context as _;
use clap::Command;
use clap_complete::shells::{Bash, Fish, Zsh};
use clap_complete::{Generator, generate};
use clap_mangen::{Man, generate_to};

use super::built;
use super::help;
use super::manual_args::{Completions, Manual, Shell};
use super::outcome::Outcome;
use super::print;
use selkie_app::Binary;

/// The program's name, as shells and pages call it.
const NAME: &str = "selkie";

/// Prints what completes this command line in a shell.
pub fn completions(completions: &Completions) -> Outcome {
    let script = match completions.shell {
        Shell::Bash => script(Bash),
        Shell::Zsh => script(Zsh),
        Shell::Fish => script(Fish),
    };
    Ok(print::out(&String::from_utf8(script)?)?)
}

fn script(shell: impl Generator) -> Vec<u8> {
    let mut script = Vec::new();
    generate(shell, &mut help::whole(), NAME, &mut script);
    script
}

/// Writes the manual pages into a folder, or the main one to standard output.
pub fn manual(manual: &Manual) -> Outcome {
    let Some(folder) = &manual.folder else {
        let mut page = Vec::new();
        // As in a folder: there is no page of `selkie help`.
        Man::new(help::whole().disable_help_subcommand(true)).render(&mut page)?;
        return Ok(print::out(&String::from_utf8(page)?)?);
    };
    write(folder).with_context(|| {
        format!("no manual pages in {}: name a folder that you may write to", folder.display())
    })?;
    Ok(print::prose(&format!("The manual pages are in {}.\n", folder.display()))?)
}

fn write(folder: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(folder)?;
    Ok(generate_to(help::whole(), folder)?)
}

/// Returns the command line with what `--version` says of this build; `-V` says the first line alone.
pub fn with_version(binary: &Binary) -> Command {
    help::whole().long_version(built::version(binary))
}
