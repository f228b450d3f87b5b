//! The arguments of `selkie schedules`.

use std::path::PathBuf;

use clap::Subcommand;

/// `selkie schedules`.
#[derive(Debug, Subcommand)]
#[command(after_help = "Examples:
  selkie schedules add --cron \"0 8 * * 1-5\" --prompt \"Tell me what is on my list today\"
  selkie schedules add --at 18:30 --say \"Time to go home\" --to tg:4711
  selkie schedules add --every 2h --tz Asia/Tokyo --prompt \"Look at the news\" --active 08:00-22:00
  selkie schedules list
  selkie schedules history 3")]
pub enum Schedules {
    /// List schedules, the next to come due first
    List {
        /// Those that have ended or were removed, too
        #[arg(long)]
        all: bool,
        /// JSON instead of text
        #[arg(long)]
        json: bool,
    },
    /// Make a schedule, in the name of the first owner
    Add(Box<AddSchedule>),
    /// Make schedules of a morph `cron.yaml`: all of its tasks, or none where one cannot be
    Import {
        /// The file
        file: PathBuf,
        /// Tell what would be made, or what is wrong, and make nothing
        #[arg(long)]
        preview: bool,
    },
    /// Show one schedule with its next times
    Show {
        /// Its number
        id: i64,
        /// JSON instead of text
        #[arg(long)]
        json: bool,
    },
    /// Remove a schedule
    Remove {
        /// Its number
        id: i64,
    },
    /// Let a schedule wait until it is resumed
    Pause {
        /// Its number
        id: i64,
    },
    /// Let a paused schedule go on
    Resume {
        /// Its number
        id: i64,
    },
    /// Have a schedule come due now; its other times stay
    Run {
        /// Its number
        id: i64,
    },
    /// Show the newest times of a schedule and what became of each
    History {
        /// Its number
        id: i64,
        /// At most so many
        #[arg(long, default_value_t = 20)]
        limit: usize,
        /// JSON instead of text
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
    /// Fixed words to say each time; no model is asked
    #[arg(long, value_name = "TEXT")]
    pub say: Option<String>,
    /// Fixed words that are said late rather than never; no model is asked
    #[arg(long, value_name = "TEXT", conflicts_with_all = ["say", "prompt"])]
    pub remind: Option<String>,
    /// The IANA time zone of the times, such as Europe/Berlin; the config's `timezone` or the host's without it
    #[arg(long, value_name = "ZONE")]
    pub tz: Option<String>,
    /// The conversation it speaks in, as its channel writes it: tg:4711; the first owner's private chat without it
    #[arg(long, value_name = "CONVERSATION")]
    pub to: Option<String>,
    /// What to call it
    #[arg(long)]
    pub title: Option<String>,
    /// The model profile that answers a prompt, by its name in `llm.profiles`; the main route without it
    #[arg(long, value_name = "PROFILE", requires = "prompt")]
    pub model: Option<String>,
    /// Within which bounds.
    #[command(flatten)]
    pub terms: TermArgs,
}

/// When a schedule comes due: one of them.
#[derive(Debug, clap::Args)]
#[group(required = true, multiple = false)]
pub struct WhenArgs {
    /// A crontab line of five fields, or @daily and its like
    #[arg(long, value_name = "EXPRESSION")]
    pub cron: Option<String>,
    /// Again and again after so long: 10m, 2h, 1d
    #[arg(long, value_name = "SPAN")]
    pub every: Option<String>,
    /// Once after so long
    #[arg(long = "in", value_name = "SPAN")]
    pub within: Option<String>,
    /// Once at a time: 18:30, or 2026-12-24T18:00:00+01:00
    #[arg(long, value_name = "TIME")]
    pub at: Option<String>,
}

/// Within which bounds a schedule is carried out.
#[derive(Debug, clap::Args)]
pub struct TermArgs {
    /// Not after this moment: 2026-12-24T18:00:00+01:00
    #[arg(long, value_name = "MOMENT")]
    pub until: Option<String>,
    /// At most so often
    #[arg(long, value_name = "NUMBER")]
    pub times: Option<u32>,
    /// Only between these times of day: 08:00-22:00
    #[arg(long, value_name = "HOURS")]
    pub active: Option<String>,
    /// Later by up to so long each time, so that not all come at once
    #[arg(long, value_name = "SPAN")]
    pub jitter: Option<String>,
    /// What becomes of missed times: skip, once (the latest is made up for), all
    #[arg(long, value_name = "POLICY")]
    pub misfire: Option<String>,
    /// How late a time may be made up for; 2h without it
    #[arg(long, value_name = "SPAN")]
    pub lateness: Option<String>,
    /// How many earlier tasks of its conversation the model reads, 0 to 16; 4 without it
    #[arg(long, value_name = "TASKS", requires = "prompt")]
    pub history: Option<u32>,
    /// Calls of the model in a day; 500 without it, 0 for no limit. Beyond it the schedule waits for its next day
    #[arg(long, value_name = "CALLS", requires = "prompt")]
    pub budget_calls: Option<u32>,
    /// What the model may cost in a day, in US dollars; 5 without it, 0 for no limit
    #[arg(long, value_name = "DOLLARS", requires = "prompt")]
    pub budget_usd: Option<f64>,
}
