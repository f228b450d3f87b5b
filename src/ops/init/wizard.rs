//! The wizard: channel by channel, the model, the owner.

use super::channels::Step;
use super::prompt::{PromptClosed, Prompter};
use super::trial::Trial;
use super::{Answers, model, owner};

/// What is asked at a terminal is answered; what the flags say already is not asked for.
///
/// # Errors
/// When nobody goes on answering.
pub async fn ask(
    prompter: &mut Prompter,
    trial: Trial<'_>,
    answers: &mut Answers,
) -> Result<(), PromptClosed> {
    for kit in &trial.binary.kits {
        if let Some(setup) = kit.setup {
            Step { kit, setup }.ask(prompter, trial, answers).await?;
        }
    }
    model::ask(prompter, trial, answers).await?;
    owner::ask(prompter, trial, answers).await
}
