//! The arguments of `selkie approvals`.

use clap::Subcommand;

/// `selkie approvals`.
#[derive(Debug, Subcommand)]
#[command(after_help = "Examples:
  selkie approvals list
  selkie approvals approve 3fa9c1
  selkie approvals deny 3fa9c1
  selkie approvals unmute 3fa9c1")]
pub enum Approvals {
    /// List the calls that are waiting for approval
    List {
        /// Print JSON instead of text
        #[arg(long)]
        json: bool,
    },
    /// Approve a call, which is then made once
    Approve {
        /// Its code, as shown by the request and by `selkie approvals list`
        code: String,
    },
    /// Deny a call
    Deny {
        /// Its code, as shown by the request and by `selkie approvals list`
        code: String,
    },
    /// Let requests through again that somebody has muted with a call
    Unmute {
        /// The call's code, as shown by `selkie approvals list`
        code: String,
    },
}
