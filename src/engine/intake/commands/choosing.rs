//! `/model` and `/think`: which model answers in a chat, and how hard it thinks there.

use super::Commands;
use crate::intake::given::GivenCommand;
use crate::intake::messages::choosing as messages;
use selkie_domain::choice::Choice;
use selkie_domain::effort::Effort;
use selkie_store::{ChosenHere, ChosenThere, CommandEffect, StoreError};

/// Takes back what was chosen.
const DEFAULT: &str = "default";

impl Commands {
    pub(super) async fn model(
        &self,
        given: &GivenCommand<'_>,
    ) -> Result<CommandEffect, StoreError> {
        let ChosenThere { own, chat } = self.chosen(given).await?;
        let models = self.chooser.models.now();
        let wanted = given.command.args.trim();
        let chosen = match wanted {
            "" => {
                let answers = self.answers(given, own.or(chat));
                return Ok(self.says(given, messages::model(&answers, &models)));
            }
            _ if wanted.eq_ignore_ascii_case(DEFAULT) => None,
            _ => match models.named(wanted) {
                Ok(profile) => Some(profile),
                Err(why) => return Ok(self.says(given, messages::not_chosen(&why))),
            },
        };
        let own = Choice { model: chosen.clone(), ..own };
        let said = messages::from_now_on(&self.answers(given, own.or(chat)));
        Ok(CommandEffect::Choose(ChosenHere::Model(chosen), self.draft(given, said)))
    }

    pub(super) async fn think(
        &self,
        given: &GivenCommand<'_>,
    ) -> Result<CommandEffect, StoreError> {
        let ChosenThere { own, chat } = self.chosen(given).await?;
        let wanted = given.command.args.trim();
        let chosen = match wanted {
            "" => {
                let answers = self.answers(given, own.or(chat));
                return Ok(self.says(given, messages::think(&answers)));
            }
            _ if wanted.eq_ignore_ascii_case(DEFAULT) => None,
            _ => match Effort::parse(wanted) {
                Some(effort) => Some(effort),
                None => return Ok(self.says(given, messages::no_level(wanted))),
            },
        };
        let own = Choice { effort: chosen, ..own };
        let said = messages::from_now_on(&self.answers(given, own.or(chat)));
        Ok(CommandEffect::Choose(ChosenHere::Effort(chosen), self.draft(given, said)))
    }

    /// Says what answers here next, and who decided that.
    pub(super) async fn answering(&self, given: &GivenCommand<'_>) -> Result<String, StoreError> {
        let ChosenThere { own, chat } = self.chosen(given).await?;
        Ok(self.answers(given, own.or(chat)))
    }

    /// What a command has chosen for a conversation, to be kept by a fresh start.
    pub(super) async fn kept(
        &self,
        given: &GivenCommand<'_>,
    ) -> Result<Option<String>, StoreError> {
        let ChosenThere { own, chat } = self.chosen(given).await?;
        let chosen = own.or(chat);
        Ok((chosen != Choice::default()).then(|| self.answers(given, chosen)))
    }

    async fn chosen(&self, given: &GivenCommand<'_>) -> Result<ChosenThere, StoreError> {
        self.context.storage.ledger.chosen(given.conversation).await
    }

    fn answers(&self, given: &GivenCommand<'_>, chosen: Choice) -> String {
        self.chooser.told(&self.chooser.here(given.conversation, given.place, &chosen))
    }

    fn says(&self, given: &GivenCommand<'_>, text: String) -> CommandEffect {
        CommandEffect::Say(self.draft(given, text))
    }
}
