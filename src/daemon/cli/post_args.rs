//! The arguments of `selkie tweets`.

use clap::Subcommand;

/// `selkie tweets`.
#[derive(Debug, Subcommand)]
#[command(after_help = "Examples:
  selkie tweets list
  selkie tweets show 3
  selkie tweets edit 3 --text \"Good morning, and mind the tide!\"
  selkie tweets retry p12

A scheduled post is named by its schedule's number, one that went out (or did not) by p and a number, a draft that waits
for approval by its code.")]
pub enum Tweets {
    /// List drafts, scheduled posts, and the newest that were posted or were not
    List {
        /// JSON instead of text
        #[arg(long)]
        json: bool,
    },
    /// Show one in full
    Show {
        /// Its number, p with a number, or a draft's code
        id: String,
        /// JSON instead of text
        #[arg(long)]
        json: bool,
    },
    /// Have it not posted: a draft is denied, a schedule removed, what waits to be sent withdrawn
    Cancel {
        /// Its number, p with a number, or a draft's code
        id: String,
    },
    /// Try what was refused, is unclear or came too late once more; for an unclear one the timeline is read first
    Retry {
        /// p with a number
        id: String,
    },
    /// Give a scheduled post other words or another time: what is written here is the owner's own word
    Edit(EditTweet),
}

/// `selkie tweets edit`.
#[derive(Debug, clap::Args)]
pub struct EditTweet {
    /// Its number
    pub id: String,
    /// The text of the post, in place of all that it was
    #[arg(long, value_name = "TEXT")]
    pub text: Option<String>,
    /// A further post of its thread; may be given several times
    #[arg(long, value_name = "TEXT", requires = "text")]
    pub thread: Vec<String>,
    /// Its first time: 08:00, or 2026-12-24T18:00:00+01:00
    #[arg(long, value_name = "TIME")]
    pub time: Option<String>,
    /// How often from then on: once (without it), daily, hourly
    #[arg(long, value_name = "HOW", requires = "time")]
    pub recurrence: Option<String>,
}
