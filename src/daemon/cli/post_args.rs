//! The arguments of `selkie tweets`.

use clap::Subcommand;

/// `selkie tweets`.
#[derive(Debug, Subcommand)]
#[command(after_help = "Examples:
  selkie tweets list
  selkie tweets show 3
  selkie tweets edit 3 --text \"Good morning, and mind the tide!\"
  selkie tweets retry p12
  selkie tweets cancel 3

A scheduled post goes by the number of its schedule (3), one that was posted or refused by p and a number (p12), and a draft \
that waits for approval by its code (3fa9c1).")]
pub enum Tweets {
    /// List drafts, scheduled posts, and those most recently posted, refused or withdrawn
    List {
        /// Print JSON instead of text
        #[arg(long)]
        json: bool,
    },
    /// Show a post in full
    Show {
        /// Its number (3), p and a number (p12), or a draft's code
        id: String,
        /// Print JSON instead of text
        #[arg(long)]
        json: bool,
    },
    /// Stop a post: deny a draft, remove a schedule, or withdraw what is waiting to be sent
    Cancel {
        /// Its number (3), p and a number (p12), or a draft's code
        id: String,
    },
    /// Try again to post what was refused, came too late, or may not have arrived; in that case selkie looks at the
    /// timeline first. Needs a running daemon
    Retry {
        /// p and a number (p12)
        id: String,
    },
    /// Change the text or the time of a scheduled post; needs no approval, since you are the owner
    Edit(EditTweet),
}

/// `selkie tweets edit`.
#[derive(Debug, clap::Args)]
pub struct EditTweet {
    /// Its number
    pub id: String,
    /// The new text; it replaces the whole post, including its thread
    #[arg(long, value_name = "TEXT")]
    pub text: Option<String>,
    /// Another post of its thread; may be repeated
    #[arg(long, value_name = "TEXT", requires = "text")]
    pub thread: Vec<String>,
    /// When to post it next: 08:00, "tomorrow 08:00", or 2026-12-24T18:00:00+01:00
    #[arg(long, value_name = "TIME")]
    pub time: Option<String>,
    /// How often from then on: once, daily or hourly [default: as before]
    #[arg(long, value_name = "HOW", requires = "time")]
    pub recurrence: Option<String>,
}
