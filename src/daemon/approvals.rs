//! What the command line asks of approvals, carried out in the daemon or, where none runs, in the command itself.

use serde::{Deserialize, Serialize};

use crate::daemon::answered::{Answered, NotDone};
use crate::engine::flow::Flow;
use crate::domain::approval::Verdict;
use crate::store::ApprovalRow;

/// What is asked.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "snake_case")]
pub enum AskedOfApprovals {
    /// What is waiting.
    List,
    /// One is approved, or refused.
    Decide {
        /// The code of the approval, or its key.
        code: String,
        /// What is decided.
        verdict: Verdict,
    },
}

/// The answer.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ToldOfApprovals {
    /// What is waiting.
    pub open: Vec<ApprovalRow>,
    /// With which somebody was muted who still is.
    pub muted: Vec<ApprovalRow>,
    /// What came of the decision.
    pub said: String,
}

/// Carries out what is asked.
///
/// # Errors
/// When the store does not answer.
pub async fn carry_out_approvals(
    flow: &Flow,
    asked: AskedOfApprovals,
) -> anyhow::Result<Answered<ToldOfApprovals>> {
    Answered::of(found(flow, asked).await)
}

async fn found(flow: &Flow, asked: AskedOfApprovals) -> Result<ToldOfApprovals, NotDone> {
    match asked {
        AskedOfApprovals::List => {
            let (open, muted) = (flow.approvals().await?, flow.muted().await?);
            Ok(ToldOfApprovals { open, muted, ..ToldOfApprovals::default() })
        }
        AskedOfApprovals::Decide { code, verdict } => {
            let said = flow.decide(&code, verdict).await?.ok_or_else(|| {
                NotDone::Refused(match verdict {
                    Verdict::Unmute => {
                        format!("nobody is muted under the code {code:?}: see selkie approvals list")
                    }
                    _ => format!(
                        "nothing with the code {code:?} is waiting for approval: see selkie approvals list"
                    ),
                })
            })?;
            Ok(ToldOfApprovals { said, ..ToldOfApprovals::default() })
        }
    }
}
