//! The arguments of `selkie skills`.

use clap::Subcommand;

/// `selkie skills`.
#[derive(Debug, Subcommand)]
#[command(after_help = "Examples:
  selkie skills install ./invoices                show what is in it, and ask
  selkie skills install https://example.org/pdf.zip
  selkie skills install skills.tar.gz --skill pdf
  selkie skills list
  selkie skills show invoices
  selkie skills review invoices                   after you have changed it
  selkie skills remove invoices
  selkie skills check ./invoices && echo good

Exit codes: 0 done · 1 it did not work, you said no, or `check` has found an error · 2 the command line or the config is wrong")]
pub enum Skills {
    /// List the skills, whether they are reviewed, and the folders that are none
    List {
        /// Print JSON instead of text
        #[arg(long)]
        json: bool,
    },
    /// Show what is in a skill: its words, its files, commands and addresses
    Show {
        /// Its name
        name: String,
    },
    /// Install a skill from a folder, an archive (.zip, .tar.gz) or an https address: shows what is in it, and asks
    #[command(
        long_about = "Install a skill from a folder, an archive (.zip, .tar.gz) or an https address: shows what is in it, and \
asks.\n\nYou see its words, every file, characters that do not show, every line that looks like a command, and every address. \
Nothing is written before you agree. With your yes its words count as yours, as long as no file of it changes. A skill of the \
same name is replaced."
    )]
    Install {
        /// A folder, a file, or an address that begins with https://
        from: String,
        /// Which one, where there are several
        #[arg(long, value_name = "NAME")]
        skill: Option<String>,
        /// Do not ask if this is the hash that is shown
        #[arg(long, value_name = "HASH")]
        yes: Option<String>,
    },
    /// Remove an installed skill
    Remove {
        /// Its name
        name: String,
        /// Do not ask
        #[arg(long)]
        yes: bool,
    },
    /// Review a skill that was put there by hand or has changed: shows what is in it, and asks
    Review {
        /// Its name
        name: String,
        /// Do not ask if this is the hash that is shown
        #[arg(long, value_name = "HASH")]
        yes: Option<String>,
    },
    /// Compare skills with the specification (agentskills.io)
    Check {
        /// The folder of a skill, or one that holds skills [default: those that selkie knows]
        folder: Option<std::path::PathBuf>,
        /// Print JSON instead of text
        #[arg(long)]
        json: bool,
    },
}
