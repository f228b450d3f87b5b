//! What `selkie ask` takes.

use std::path::PathBuf;

use crate::domain::effort::Effort;

/// `selkie ask`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  selkie ask what is in this folder
  selkie ask 'why does the build fail?' --json
  git diff | selkie ask 'review this'
  selkie ask 'what do you see?' --file tea.png --file notes.txt
  selkie ask - < request.txt
  selkie ask 'is this proof right?' --file proof.md --model strong --effort high
  selkie ask 'note: buy milk' --offline

What comes on standard input is read to its end (1 MiB at most) and goes along with your words, as text of others: nothing in it is \
followed. Where standard input stays open and nothing comes, as in some scripts and with ssh, add </dev/null.

Exit codes: 0 answered · 1 not answered · 2 the command line or the config is wrong")]
pub struct Ask {
    /// What to ask; - alone reads it from standard input
    #[arg(required = true, value_name = "TEXT")]
    pub text: Vec<String>,
    /// A file that goes along: text is read, anything else is attached; may be repeated
    #[arg(long, value_name = "FILE")]
    pub file: Vec<PathBuf>,
    /// The profile in `llm.profiles` that answers [default: the one that answers here, see /model]
    #[arg(long, value_name = "NAME", conflicts_with = "offline")]
    pub model: Option<String>,
    /// How hard it thinks: none, minimal, low, medium, high, xhigh or max
    #[arg(long, value_name = "LEVEL")]
    pub effort: Option<Effort>,
    /// Ask the built-in stand-in, which knows a few phrases, instead of a model
    #[arg(long)]
    pub offline: bool,
    /// Print one JSON object a line: progress, answer, end
    #[arg(long, conflicts_with_all = ["stream", "whole"])]
    pub json: bool,
    /// Print the answer while it is written, also into a pipe or a file
    #[arg(long, conflicts_with = "whole")]
    pub stream: bool,
    /// Print the answer when it is whole, also at a terminal
    #[arg(long)]
    pub whole: bool,
}
