//! `/memory`: what is remembered here, for the people it is about.

use std::sync::Arc;

use selkie_channel_core::{Audience, ConversationId};
use tokio::sync::Notify;

use crate::intake::given::GivenCommand;
use crate::intake::messages::memory as messages;
use selkie_domain::facts::Trust;
use selkie_memory::MemoryBook;
use selkie_memory::remembered::MemoryEntry;
use selkie_tools::ToolError;

/// Carries the command out.
pub struct MemoryCommands {
    pub(crate) book: Arc<MemoryBook>,
    /// Rung when what was said is to go now.
    pub forgetting: Arc<Notify>,
}

/// What `/forget` comes to.
pub enum ForgetOutcome {
    /// Nothing but these words.
    Says(String),
    /// What is remembered is gone, and what was said is to go, with these words.
    All(String),
}

impl MemoryCommands {
    /// Answers `/memory`, and takes out the line that it names.
    pub async fn memory(&self, given: &GivenCommand<'_>, trust: Trust) -> String {
        let words: Vec<&str> = given.command.args.split_whitespace().collect();
        let done = match words.as_slice() {
            [] => self.all(given, trust).await.map(|all| messages::remembered(&all)),
            ["forget", number] => match number.trim_start_matches('#').parse::<usize>() {
                Ok(number) => self.forget(given, trust, number).await,
                Err(_) => Ok(messages::USAGE.to_owned()),
            },
            _ => Ok(messages::USAGE.to_owned()),
        };
        done.unwrap_or_else(|why| why.to_string())
    }

    /// Answers `/forget`; with `yes` behind it what is remembered here goes at once.
    pub async fn forget_all(&self, given: &GivenCommand<'_>, trust: Trust) -> ForgetOutcome {
        if given.audience == Audience::Group && trust != Trust::Owner {
            return ForgetOutcome::Says(messages::OWNER_FORGETS.to_owned());
        }
        if !given.command.args.trim().eq_ignore_ascii_case("yes") {
            return ForgetOutcome::Says(messages::FORGET_WHAT.to_owned());
        }
        match self.book.forget(given.conversation).await {
            Ok(()) => ForgetOutcome::All(messages::forgotten()),
            Err(why) => ForgetOutcome::Says(messages::not_forgotten(&why.to_string())),
        }
    }

    /// What a task wrote until it was stopped goes, too.
    pub async fn forget_rest(&self, conversation: &ConversationId) {
        if let Err(error) = self.book.forget(conversation).await {
            tracing::error!(%error, "what is remembered of a forgotten place is still there");
        }
        self.forgetting.notify_one();
    }

    async fn all(
        &self,
        given: &GivenCommand<'_>,
        trust: Trust,
    ) -> Result<Vec<MemoryEntry>, ToolError> {
        // Others read along in a group: what only the owner knows is not said there.
        let is_alone = given.is_owner_alone(trust);
        self.book.remembered(given.conversation, is_alone).await
    }

    async fn forget(
        &self,
        given: &GivenCommand<'_>,
        trust: Trust,
        number: usize,
    ) -> Result<String, ToolError> {
        let all = self.all(given, trust).await?;
        let Some(one) = number.checked_sub(1).and_then(|at| all.get(at)) else {
            return Ok(messages::no_such_line(number, all.len()));
        };
        let is_theirs = one.author.as_deref() == Some(given.person.as_str());
        if given.audience == Audience::Group && trust != Trust::Owner && !is_theirs {
            return Ok(messages::NOT_THEIR_LINE.to_owned());
        }
        let taken = self.book.take(given.conversation, one).await?;
        Ok(if taken { messages::line_forgotten(one) } else { messages::LINE_CHANGED.to_owned() })
    }
}
