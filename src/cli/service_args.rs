//! What `selkie service` and `selkie logs` take, and their help.

use std::path::PathBuf;

use clap::Subcommand;

use super::number::number_in;

/// The longest beginning that `--since` takes.
const SINCE: usize = 64;
/// The longest name of a unit.
const NAME: usize = 64;

/// `selkie service`.
#[derive(Debug, Subcommand)]
#[command(after_help = "Examples:
  sudo selkie service install               with /etc/selkie/config.yaml
  selkie service install --user             your own, with ./config.yaml
  selkie service install --dry-run          only show what it would write
  selkie service status
  sudo selkie service uninstall

Exit codes: 0 success; for status: installed and, if systemd runs, active · 1 failure; for status: not installed, or not active · 2 the command line \
or something it names is wrong")]
pub enum Service {
    /// Install selkie as a systemd service and start it; shows first what it will write, and asks
    Install(Install),
    /// Stop the service and remove what was installed; state and config are kept
    Uninstall(Uninstall),
    /// Show whether the service is installed, and how it is doing
    Status(ServiceStatus),
}

/// Which service is meant.
#[derive(Clone, Debug, clap::Args)]
pub struct Which {
    /// A service for yourself instead of the machine
    #[arg(long)]
    pub user: bool,
    /// The unit's name
    #[arg(long, value_name = "NAME", default_value = "selkie", value_parser = name)]
    pub name: String,
    /// Work below this folder as if it were /, as `systemctl --root` does; nothing is started
    #[arg(long, value_name = "DIR")]
    pub root: Option<PathBuf>,
}

/// How far one goes.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct Consent {
    /// Do not ask for confirmation
    #[arg(long, conflicts_with = "dry_run")]
    pub yes: bool,
    /// Show what would be done, and do nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Replace or remove files even if somebody has changed them; they are kept as FILE.old
    #[arg(long)]
    pub force: bool,
}

/// `selkie service install`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  sudo selkie service install --workspace /srv/selkie/work
  sudo selkie service install --config /etc/team/config.yaml --name team --yes
  selkie service install --user --config ~/bot/config.yaml --state ~/bot/state

The machine's service reads /etc/NAME/config.yaml, which has to be readable for everybody, and keeps its state in /var/lib/NAME, a link \
to /var/lib/private/NAME, which only root can enter. \
Its secrets are files beside the config, named like their keys (llm.api_key). Your own service reads ./config.yaml and runs \
while you are logged in; after `loginctl enable-linger` it always runs.

Exit codes: 0 installed and, if systemd runs, started · 1 it could not be installed or started · 2 the command line, or something \
it names, is wrong")]
pub struct Install {
    #[command(flatten)]
    pub which: Which,
    /// The program to start [default: this one]
    #[arg(long, value_name = "FILE")]
    pub program: Option<PathBuf>,
    /// A folder that the service may write to; may be repeated. Your own service may write wherever you may
    #[arg(long, value_name = "DIR", num_args = 1.., conflicts_with = "user")]
    pub workspace: Vec<PathBuf>,
    #[command(flatten)]
    pub consent: Consent,
}

/// `selkie service uninstall`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  sudo selkie service uninstall
  selkie service uninstall --user --yes

Exit codes: 0 removed · 1 it was not installed, or could not be removed · 2 the command line is wrong")]
pub struct Uninstall {
    #[command(flatten)]
    pub which: Which,
    #[command(flatten)]
    pub consent: Consent,
}

/// `selkie service status`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  selkie service status                     the machine's, or your own
  selkie service status --json

Exit codes: 0 installed and, if systemd runs, active · 1 not installed, or not active · 2 the command line is wrong")]
pub struct ServiceStatus {
    #[command(flatten)]
    pub which: Which,
    /// Print JSON instead of text
    #[arg(long)]
    pub json: bool,
}

/// `selkie logs`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  selkie logs -f                            follow the log
  selkie logs -n 200
  selkie logs --since 'today 08:00'

This shows the journal of the installed service (the machine's, or your own). For the machine's, your user has to be in the group \
systemd-journal or adm, or use sudo. A selkie that you start by hand logs to standard error.

Exit codes: 0 shown · 1 there is no journal for it here, or journalctl fails · 2 the command line is wrong")]
pub struct Logs {
    /// Keep running, and show new lines as they come
    #[arg(short, long)]
    pub follow: bool,
    /// The newest N lines [default: 50, or all with --since]
    #[arg(short = 'n', long, value_name = "N", value_parser = number_in(1..=1_000_000_u32))]
    pub lines: Option<u32>,
    /// Only lines since then: 2026-12-24 18:00, today, yesterday, -1h
    #[arg(long, value_name = "T", allow_hyphen_values = true, value_parser = since)]
    pub since: Option<String>,
    /// Your own service instead of the machine's
    #[arg(long)]
    pub user: bool,
    /// The unit's name
    #[arg(long, value_name = "NAME", default_value = "selkie", value_parser = name)]
    pub name: String,
    /// Print a JSON object per line, as the journal keeps it
    #[arg(long)]
    pub json: bool,
}

fn name(text: &str) -> Result<String, String> {
    let fits = |c: char| c.is_ascii_alphanumeric() || "_-@".contains(c);
    let begins = text.starts_with(|c: char| c.is_ascii_alphanumeric());
    match begins && text.len() <= NAME && text.chars().all(fits) {
        true => Ok(text.to_owned()),
        false => Err(format!(
            "takes a unit's name without .service: letters, digits, - and _, {NAME} at most; selkie@team is an instance"
        )),
    }
}

fn since(text: &str) -> Result<String, String> {
    let fits = |c: char| c == ' ' || c.is_ascii_graphic();
    match !text.is_empty() && text.len() <= SINCE && text.chars().all(fits) {
        true => Ok(text.to_owned()),
        false => Err("takes a time as journalctl does: 2026-12-24 18:00, today, -1h".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_times_are_words_of_their_kind() {
        for good in ["selkie", "selkie@team", "a_b-1"] {
            assert!(name(good).is_ok(), "{good}");
        }
        for bad in ["", "-x", "../x", "a.service", "a b", &"x".repeat(65)] {
            assert!(name(bad).is_err(), "{bad}");
        }
        assert!(since("2026-12-24 18:00").is_ok() && since("-1h").is_ok());
        assert!(since("").is_err() && since("a\nb").is_err() && since(&"x".repeat(65)).is_err());
    }
}
