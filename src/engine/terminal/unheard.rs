//! Questions at a terminal that nobody sits at any more: nobody can answer them, so they hold nobody up.

use selkie_channel_core::ConversationId;

use crate::intake::commands::Commands;
use crate::terminal::channel::Terminal;
use selkie_store::StoreError;

/// Ends the tasks of a folder that wait for an answer of somebody who has gone without hanging up: their
/// process was killed.
pub async fn withdraw(
    commands: &Commands,
    terminal: &Terminal,
    folder: &ConversationId,
) -> Result<(), StoreError> {
    let ledger = &commands.context.storage.ledger;
    for question in ledger.open_questions(Some(folder)).await? {
        let detail = ledger.task(question.task).await?;
        let Some(asked) = detail.and_then(|detail| detail.facts.message) else {
            tracing::error!(task = %question.task, "a question whose task has no message stays open: a defect");
            continue;
        };
        if terminal.hears(folder, &asked) {
            continue;
        }
        commands.abandon(question.task).await;
    }
    Ok(())
}
