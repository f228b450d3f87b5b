//! What `selkie ask` takes.

/// `selkie ask`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  selkie ask what is in this folder
  selkie ask 'why does the build fail?' --json
  git diff | selkie ask -

Exit codes: 0 answered · 1 not answered · 2 the command line or the config is wrong")]
pub struct Ask {
    /// What to ask; - reads it from standard input
    #[arg(required = true, value_name = "TEXT")]
    pub text: Vec<String>,
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
