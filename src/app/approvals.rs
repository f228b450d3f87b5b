//! What people at the machine decide about approvals.

use crate::answered::NotDone;
use selkie_domain::approval::{self, Verdict};
use selkie_engine::flow::Flow;
use selkie_store::StoreError;

/// Decides, and says what came of it.
///
/// # Errors
/// When nothing, or more than one thing, waits under this code.
pub async fn decide(flow: &Flow, code: &str, verdict: Verdict) -> Result<String, NotDone> {
    let said = decided(flow, code, verdict).await?;
    said.ok_or_else(|| {
        NotDone::Refused(match verdict {
            Verdict::Unmute => {
                format!("nobody is muted under the code {code:?}: see selkie approvals list")
            }
            _ => format!(
                "nothing with the code {code:?} is waiting for approval: see selkie approvals list"
            ),
        })
    })
}

/// Decides what waits under this code, in the name of the machine's owner; returns what came of it, `None` when nothing, or
/// more than one thing, waits under it.
///
/// # Errors
/// When the store cannot be read.
pub async fn decided(
    flow: &Flow,
    code: &str,
    verdict: Verdict,
) -> Result<Option<String>, StoreError> {
    let ledger = flow.ledger();
    let mut open = match verdict {
        Verdict::Unmute => ledger.muted().await?,
        _ => ledger.approvals(None).await?,
    };
    open.retain(|row| row.key == code || approval::code(&row.key) == code.to_lowercase());
    if open.len() != 1 {
        return Ok(None);
    }
    match open.pop() {
        Some(row) => Ok(Some(flow.decide(row, verdict).await)),
        None => Ok(None),
    }
}
