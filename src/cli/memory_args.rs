//! The arguments of `selkie memory`.

use clap::Subcommand;

use super::number::fraction;

/// `selkie memory`.
#[derive(Debug, Subcommand)]
#[command(after_help = "Examples:
  selkie memory list
  selkie memory show owner                    the general memory
  selkie memory show tg.4711 --json
  selkie memory search 'green tea'
  selkie memory trust tg.4711                 show the lines, and ask
  selkie memory export > memory.md")]
pub enum Memory {
    /// List the memories: one for each chat, and the general one
    List {
        /// Print JSON instead of text
        #[arg(long)]
        json: bool,
    },
    /// Show what is remembered, line by line, and who said it
    Show {
        /// A name that `list` shows, or the id of its chat
        #[arg(default_value = "owner")]
        name: String,
        /// Print JSON instead of text
        #[arg(long)]
        json: bool,
    },
    /// Search what is remembered
    Search {
        /// The words
        query: String,
        /// Only in this memory, by a name that `list` shows [default: all]
        #[arg(long = "in", value_name = "NAME")]
        name: Option<String>,
        /// How well a line has to match, from 0 to 1
        #[arg(long, default_value_t = 0.35, value_parser = fraction)]
        min_score: f64,
        /// Print JSON instead of text
        #[arg(long)]
        json: bool,
    },
    /// Print the files of one memory, or of all of them
    Export {
        /// A name that `list` shows [default: all]
        name: Option<String>,
        /// Print JSON, entry by entry, instead of the files
        #[arg(long)]
        json: bool,
    },
    /// Accept the unmarked lines of a memory as your own words, after the note of who wrote them was lost: shows the
    /// lines, and asks
    #[command(
        long_about = "Accept the unmarked lines of a memory as your own words, after the note of who wrote them was lost: \
shows the lines, and asks.\n\nWhile that note is missing or outdated, selkie uses the memory only when a model searches it. \
Lines that you accept are shown to the model as your words. Lines that are marked as somebody else's stay theirs."
    )]
    Trust {
        /// A name that `list` shows
        name: String,
        /// Do not ask
        #[arg(long)]
        yes: bool,
    },
}
