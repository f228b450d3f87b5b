//! `/workspace`: the folder that a conversation works in.

use selkie_channel_core::Audience;

use super::Commands;
use crate::intake::given::GivenCommand;
use crate::intake::messages::{self, choosing};
use selkie_domain::facts::Trust;
use selkie_store::{CommandEffect, StoreError, Workplace};

impl Commands {
    pub(super) async fn workspace(
        &self,
        given: &GivenCommand<'_>,
        args: &str,
    ) -> Result<CommandEffect, StoreError> {
        let say = |text: String| self.draft(given, text);
        let spaces = &self.workspaces.now();
        Ok(match args {
            "" => {
                if let Some(agent) = self.answerer_here(given).await?.agent
                    && let Some(folder) = &agent.workspace
                {
                    let text = choosing::agents_folder(&agent.name, folder);
                    return Ok(CommandEffect::Say(say(text)));
                }
                let Workplace { row, set } =
                    self.context.storage.ledger.workspace(given.conversation).await?;
                let row = row.filter(|_| given.audience != Audience::Group);
                let by_config = row.and_then(|row| spaces.by_config(row, Trust::Owner));
                CommandEffect::Say(say(messages::workspace(set.as_deref(), by_config.as_deref())))
            }
            "off" => CommandEffect::Workspace(None, say(messages::NO_WORKSPACE.to_owned())),
            written => match spaces.judged(written) {
                Ok(real) => {
                    let real = real.to_string_lossy().into_owned();
                    let said = say(messages::workspace_set(&real));
                    CommandEffect::Workspace(Some(real), said)
                }
                Err(why) => CommandEffect::Say(say(why)),
            },
        })
    }
}
