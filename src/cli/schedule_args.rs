//! The arguments of `selkie schedules`.

use std::path::PathBuf;

use clap::Subcommand;

use super::number::{fraction, number};
use selkie_domain::effort::Effort;

/// What is said of a file that is imported.
const IMPORTED: &str = "Examples:
  selkie schedules import cron.yaml --preview
  selkie schedules import cron.yaml

The file is a list of tasks in morph's form. Each has `content` (what the model is to do) and `cron` or `at` (when), and may have \
`title`, `tz`, `chat_id` (where to write to) and `llm_profile` (a profile in llm.profiles).

Exit codes: 0 imported · 1 not imported · 2 the command line, the config or a task of the file is wrong";

/// `selkie schedules`.
#[derive(Debug, Subcommand)]
#[command(after_help = "Examples:
  selkie schedules add --cron \"0 8 * * 1-5\" --prompt \"What is on my list today?\"
  selkie schedules add --at 18:30 --say \"Time to go home\" --to tg:4711
  selkie schedules add --every 2h --active 08:00-22:00 --prompt \"Any news?\"
  selkie schedules import cron.yaml --preview
  selkie schedules list
  selkie schedules show 3
  selkie schedules pause 3
  selkie schedules resume 3
  selkie schedules run 3                    now, besides its own times
  selkie schedules remove 3
  selkie schedules history 3")]
pub enum Schedules {
    /// List schedules, those due next first
    List {
        /// Include those that have ended or were removed
        #[arg(long)]
        all: bool,
        /// Print JSON instead of text
        #[arg(long)]
        json: bool,
    },
    /// Add a schedule, in the name of the first owner
    Add(Box<AddSchedule>),
    /// Import schedules from another program's `cron.yaml`: all of them, or none if one is wrong. Running it again adds only
    /// what is missing
    #[command(after_help = IMPORTED)]
    Import {
        /// The file
        file: PathBuf,
        /// Print what would be added, or what is wrong, and add nothing
        #[arg(long)]
        preview: bool,
    },
    /// Show a schedule with its next times and all its settings
    Show {
        /// Its number
        #[arg(value_parser = number::<i64>)]
        id: i64,
        /// Print JSON instead of text
        #[arg(long)]
        json: bool,
    },
    /// Remove a schedule
    Remove {
        /// Its number
        #[arg(value_parser = number::<i64>)]
        id: i64,
    },
    /// Pause a schedule until it is resumed
    Pause {
        /// Its number
        #[arg(value_parser = number::<i64>)]
        id: i64,
    },
    /// Resume a paused schedule
    Resume {
        /// Its number
        #[arg(value_parser = number::<i64>)]
        id: i64,
    },
    /// Carry out a schedule now, besides its own times. Needs a running daemon
    Run {
        /// Its number
        #[arg(value_parser = number::<i64>)]
        id: i64,
    },
    /// Show a schedule's most recent runs and how each ended
    History {
        /// Its number
        #[arg(value_parser = number::<i64>)]
        id: i64,
        /// How many at most
        #[arg(long, default_value_t = 20, value_parser = number::<usize>)]
        limit: usize,
        /// Print JSON instead of text
        #[arg(long)]
        json: bool,
    },
}

/// `selkie schedules add`.
#[derive(Debug, clap::Args)]
pub struct AddSchedule {
    /// When it comes due.
    #[command(flatten)]
    pub when: WhenArgs,
    /// What the model is to do each time
    #[arg(long, value_name = "TEXT", conflicts_with = "say")]
    pub prompt: Option<String>,
    /// A fixed text to send each time; no model is asked
    #[arg(long, value_name = "TEXT")]
    pub say: Option<String>,
    /// A reminder with a fixed text, sent late rather than never; no model is asked
    #[arg(long, value_name = "TEXT", conflicts_with_all = ["say", "prompt"])]
    pub remind: Option<String>,
    /// The IANA time zone of the times, such as Europe/Berlin [default: the config's `timezone`, else the machine's]
    #[arg(long, value_name = "ZONE")]
    pub tz: Option<String>,
    /// The conversation to write to, such as tg:4711; /id in a chat shows its id [default: the first owner's latest
    /// private chat]
    #[arg(long, value_name = "CONVERSATION")]
    pub to: Option<String>,
    /// What to call it
    #[arg(long)]
    pub title: Option<String>,
    /// The profile in `llm.profiles` that answers the prompt [default: the main route]
    #[arg(long, value_name = "PROFILE")]
    pub model: Option<String>,
    /// How hard it thinks: none, minimal, low, medium, high, xhigh or max [default: as in its conversation]
    #[arg(long, value_name = "LEVEL")]
    pub effort: Option<Effort>,
    /// Within which bounds.
    #[command(flatten)]
    pub terms: TermArgs,
    /// Print JSON instead of text
    #[arg(long)]
    pub json: bool,
}

/// When a schedule comes due: one of them.
#[derive(Debug, clap::Args)]
#[group(required = true, multiple = false)]
pub struct WhenArgs {
    /// A crontab line of five fields ("0 8 * * 1-5"), or @hourly, @daily, @weekly, @monthly, @yearly
    #[arg(long, value_name = "EXPRESSION")]
    pub cron: Option<String>,
    /// Repeatedly, at this interval: 10m, 2h, 1d
    #[arg(long, value_name = "SPAN")]
    pub every: Option<String>,
    /// Once, this long from now: 20m, 2h
    #[arg(long = "in", value_name = "SPAN")]
    pub within: Option<String>,
    /// Once, at this time: 18:30, "tomorrow 08:00", "2026-12-24 18:00", or 2026-12-24T18:00:00+01:00
    #[arg(long, value_name = "TIME")]
    pub at: Option<String>,
}

/// Within which bounds a schedule is carried out.
#[derive(Debug, clap::Args)]
pub struct TermArgs {
    /// Never after this moment: 2026-12-24T18:00:00+01:00
    #[arg(long, value_name = "MOMENT")]
    pub until: Option<String>,
    /// Stop after this many runs; `selkie schedules run` does not count
    #[arg(long, value_name = "NUMBER", value_parser = number::<u32>)]
    pub times: Option<u32>,
    /// Only between these times of day: 08:00-22:00
    #[arg(long, value_name = "HOURS")]
    pub active: Option<String>,
    /// Start up to this much later each time, at random, so that not everything starts at once
    #[arg(long, value_name = "SPAN")]
    pub jitter: Option<String>,
    /// What to do about times missed while selkie was not running: skip them, catch up on the latest (once), or on all
    /// [default: once]
    #[arg(long, value_name = "POLICY")]
    pub misfire: Option<String>,
    /// How late selkie may still catch up on a missed time [default: 2h]
    #[arg(long, value_name = "SPAN")]
    pub lateness: Option<String>,
    /// How many earlier tasks of its conversation the model reads, 0 to 16 [default: 4]
    #[arg(long, value_name = "TASKS", value_parser = number::<u32>)]
    pub history: Option<u32>,
    /// Model calls a day, 0 for no limit; when they are used up, the schedule waits for the next day [default: 500]
    #[arg(long, value_name = "CALLS", value_parser = number::<u32>)]
    pub budget_calls: Option<u32>,
    /// What the model may cost a day, in US dollars, 0 for no limit [default: 5]
    #[arg(long, value_name = "DOLLARS", allow_negative_numbers = true, value_parser = fraction)]
    pub budget_usd: Option<f64>,
}
