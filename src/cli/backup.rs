//! `selkie backup`, `selkie restore` and `selkie resume`: a life in one file, put back elsewhere, and let go on.

use std::path::PathBuf;

use clap::ValueEnum;

use super::confirm::agreed;
use super::outcome::{Failure, Outcome};
use super::print;
use super::request::{ask, mismatched, no_state, quiet, to_ask};
use selkie_app::Binary;
use selkie_app::backup::{
    BackupReport, BackupRequest, RestoreReport, ResumeReport, make, restore as bring,
};
use selkie_app::build::{AppConfig, ConfigChoice};
use selkie_app::lifecycle;
use selkie_app::request::{Request, Response};
use selkie_domain::count::{counted, sized};
use selkie_schedule::words::moment;
use selkie_store::WaitingThen;

/// `selkie backup`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  selkie backup /mnt/backups/selkie-today.tar.gz
  selkie backup /mnt/backups/selkie.tar.gz --force --json

The backup holds everything that is stored and the files of the state folder, but not the config, its secrets or the cache. \
selkie may be running. `backup:` in the config makes one every day.

Exit codes: 0 the backup was made and checked · 1 it was not made, and nothing of it is left · 2 the command line or the config \
is wrong")]
pub struct BackupArgs {
    /// The file to write
    pub file: PathBuf,
    /// Replace an existing file
    #[arg(long)]
    pub force: bool,
    /// Print JSON instead of text
    #[arg(long)]
    pub json: bool,
}

/// `selkie restore`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  selkie restore /mnt/backups/selkie-today.tar.gz
  selkie restore selkie.tar.gz --state /var/lib/selkie --force

Stop selkie first. The copy that an upgrade leaves behind (selkie.db.backup-…) can be restored, too: it replaces the database \
alone. A restored selkie receives, starts and sends nothing until `selkie resume`.

Exit codes: 0 restored · 1 not restored: the message says why, and what to do · 2 the command line or the config is wrong")]
pub struct RestoreArgs {
    /// A file that `selkie backup` wrote, or the copy that an upgrade left behind
    pub file: PathBuf,
    /// Restore over an existing state folder: what it holds now is moved into a folder inside it
    #[arg(long)]
    pub force: bool,
    /// Print JSON instead of text
    #[arg(long)]
    pub json: bool,
}

/// `selkie resume`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  selkie resume
  selkie resume --waiting drop --yes
  selkie resume --json                      show what waits, and change nothing

Exit codes: 0 selkie is back to work, or --json has shown what waits · 1 it is not, or there was nothing to resume · 2 the command \
line or the config is wrong, or nobody could be asked: what waits is shown, add --yes")]
pub struct ResumeArgs {
    /// What to do with messages that were waiting when the backup was made, and with scheduled times since then [default:
    /// drop if selkie was running when the backup was made, because it has dealt with them; else answer]
    #[arg(long, value_name = "WHAT")]
    pub waiting: Option<What>,
    /// Do not ask for confirmation
    #[arg(long)]
    pub yes: bool,
    /// Print JSON instead of text; without --yes it only shows what would be done
    #[arg(long)]
    pub json: bool,
}

/// What becomes of what waited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum What {
    /// Answer the messages, and catch up on missed times as after any pause
    Answer,
    /// Leave the messages unanswered and skip the missed times
    Drop,
}

impl From<What> for WaitingThen {
    fn from(what: What) -> Self {
        match what {
            What::Answer => Self::Answer,
            What::Drop => Self::Drop,
        }
    }
}

/// Makes a backup.
pub fn backup(binary: &Binary, chosen: &ConfigChoice, args: &BackupArgs) -> Outcome {
    let config = quiet(binary, chosen)?;
    if !config.has_state() {
        return Err(Failure::Failed(anyhow::anyhow!(no_state(&config))));
    }
    let to = binary.here.join(&args.file);
    let runtime = lifecycle::runtime()?;
    // What ends the writing of a file that may not grow is no end of the process.
    let _entered = runtime.enter();
    let made = made(&config, to, args.force)?;
    if args.json {
        return Ok(print::json(&made)?);
    }
    let mut says = format!(
        "{} holds {} and {}, {} in all. It was checked by reading it again.\n",
        made.file.display(),
        counted(made.rows, ["row", "rows"]),
        counted(made.files, ["file", "files"]),
        sized(made.bytes)
    );
    for left in &made.left_out {
        says.push_str(&format!("Not in it: {left}\n"));
    }
    says.push_str("The config and its secrets are not in it: back them up yourself.\n");
    Ok(print::prose(&says)?)
}

fn made(config: &AppConfig, to: PathBuf, replaces: bool) -> anyhow::Result<BackupReport> {
    let source = config.source().map_err(|why| anyhow::anyhow!("store.url {why}"))?;
    let mut part = to.clone().into_os_string();
    part.push(".part");
    make(BackupRequest {
        source,
        folders: &config.folders,
        to: &to,
        part: part.into(),
        apart: config.settings.backup.dir.as_deref(),
        replaces,
    })
}

/// Restores one.
pub fn restore(binary: &Binary, chosen: &ConfigChoice, args: &RestoreArgs) -> Outcome {
    let config = quiet(binary, chosen)?;
    let from = binary.here.join(&args.file);
    let brought = lifecycle::runtime()?.block_on(bring(&config, &from, args.force))?;
    match args.json {
        true => print::json(&brought)?,
        false => print::prose(&brought_says(&brought, &config))?,
    }
    Ok(())
}

fn brought_says(brought: &RestoreReport, config: &AppConfig) -> String {
    let mut says = format!(
        "{} is restored in {}: {} and {}, as of {}.\n",
        brought.from.display(),
        brought.state.display(),
        counted(brought.rows, ["row", "rows"]),
        counted(brought.files, ["file", "files"]),
        moment(brought.made_at, config.zone)
    );
    if let Some(aside) = &brought.moved_aside {
        says.push_str(&format!("What was there before is in {}.\n", aside.display()));
    }
    says.push_str(
        "Messages that were being sent are marked unclear, running tasks are stopped, open questions have expired.\n\
         selkie receives, starts and sends nothing until you run `selkie resume`. Before you do, make sure that the \
         selkie this backup came from is stopped.\n",
    );
    says
}

/// Lets a restored life go on.
pub fn resume(binary: &Binary, chosen: &ConfigChoice, args: &ResumeArgs) -> Outcome {
    let waiting = args.waiting.map(WaitingThen::from);
    if !args.yes {
        let config = to_ask(binary, chosen)?;
        let zone = config.zone;
        let held = asked(config, true, waiting)?;
        if args.json {
            return Ok(print::json(&held)?);
        }
        let asks = format!(
            "Restored from {}, made {}.\n{}\n{}First stop the selkie that this backup was made from: two of them would answer \
             the same messages.\n",
            held.restored.from,
            moment(held.restored.made_at, zone),
            will_become(&held),
            stopped(&held.restored.stopped)
        );
        print::prose(&asks)?;
        agreed("Resume?", || {
            "selkie resume asks first, and there is no terminal to ask on. To put it back to work, add --yes".to_owned()
        })?;
    }
    let resumed = asked(to_ask(binary, chosen)?, false, waiting)?;
    match args.json {
        true => print::json(&resumed)?,
        false => print::prose(&format!(
            "selkie is back to work.\n{}\n{}",
            has_become(&resumed),
            stopped(&resumed.restored.stopped)
        ))?,
    }
    Ok(())
}

fn asked(
    config: AppConfig,
    only_look: bool,
    waiting: Option<WaitingThen>,
) -> Result<ResumeReport, Failure> {
    match ask(config, Request::Resume { only_look, waiting })? {
        Response::Resumed(told) => Ok(told),
        _ => mismatched(),
    }
}

fn will_become(held: &ResumeReport) -> String {
    let all = counts(
        held,
        [
            ["task waits in it", "tasks wait in it"],
            ["message has not been sent", "messages have not been sent"],
            ["schedule has come due", "schedules have come due"],
        ],
    );
    if all.is_empty() {
        return "Nothing waits in it, and no schedule has come due.".to_owned();
    }
    let then = match held.waiting {
        WaitingThen::Answer => {
            "selkie works on all of it once it resumes (--waiting drop drops it)"
        }
        WaitingThen::Drop => {
            "all of it is dropped, because selkie was running when the backup was made (--waiting answer keeps it)"
        }
    };
    format!("{}: {then}.", all.join(", "))
}

/// Says of each kind how many of it wait, where any does: tasks, messages, schedules.
fn counts(held: &ResumeReport, words: [[&str; 2]; 3]) -> Vec<String> {
    let all = [held.tasks, held.to_send, held.schedules].into_iter().zip(words);
    all.filter(|(count, _)| *count > 0).map(|(count, words)| counted(count, words)).collect()
}

/// Says who gets no answer, whatever becomes of what waits.
fn stopped(of: &[String]) -> String {
    let whom = of.join(", ");
    match of.len() {
        0 => String::new(),
        1 => format!(
            "1 task was running when the backup was made and is stopped: {whom} gets no answer from it.\n"
        ),
        many => format!(
            "{many} tasks were running when the backup was made and are stopped: {whom} get no answer from them.\n"
        ),
    }
}

fn has_become(resumed: &ResumeReport) -> String {
    let words = match resumed.waiting {
        WaitingThen::Answer => [
            ["task that waited goes on", "tasks that waited go on"],
            ["message that waited is sent now", "messages that waited are sent now"],
            ["schedule that came due runs now", "schedules that came due run now"],
        ],
        WaitingThen::Drop => [
            ["task that waited was dropped", "tasks that waited were dropped"],
            ["message that waited was dropped", "messages that waited were dropped"],
            ["schedule skips the times it missed", "schedules skip the times they missed"],
        ],
    };
    let told = counts(resumed, words);
    if told.is_empty() {
        return "Nothing was waiting.".to_owned();
    }
    format!("{}.", told.join("; "))
}
