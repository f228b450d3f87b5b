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

A scheduled post is named by the number of its schedule (3), one that was posted or refused by p and a number (p12), a \
draft that waits for approval by its code (3fa9c1).")]
pub enum Tweets {
    /// List drafts, scheduled posts, and the most recent that were posted, refused or withdrawn
    List {
        /// JSON instead of text
        #[arg(long)]
        json: bool,
    },
    /// Show a post in full
    Show {
        /// Its number (3), p and a number (p12), or a draft's code
        id: String,
        /// JSON instead of text
        #[arg(long)]
        json: bool,
    },
    /// Stop a post: a draft is denied, a schedule removed, what waits to be sent withdrawn
    Cancel {
        /// Its number (3), p and a number (p12), or a draft's code
        id: String,
    },
    /// Try again to post what was refused, is unclear or came too late; if it is unclear, the timeline is read first.
    /// Needs a running daemon
    Retry {
        /// p and a number (p12)
        id: String,
    },
    /// Change the words or the time of a scheduled post; they are the owner's own and need no approval
    Edit(EditTweet),
}

/// `selkie tweets edit`.
#[derive(Debug, clap::Args)]
pub struct EditTweet {
    /// Its number
    pub id: String,
    /// The new text; it replaces the whole post, its thread too
    #[arg(long, value_name = "TEXT")]
    pub text: Option<String>,
    /// Another post of its thread; may be repeated
    #[arg(long, value_name = "TEXT", requires = "text")]
    pub thread: Vec<String>,
    /// Its next time: 08:00, "tomorrow 08:00", or 2026-12-24T18:00:00+01:00
    #[arg(long, value_name = "TIME")]
    pub time: Option<String>,
    /// How often from then on: once, daily, hourly [default: as before]
    #[arg(long, value_name = "HOW", requires = "time")]
    pub recurrence: Option<String>,
}
