//! `/model` and `/think`: which model answers in a chat, and how hard it thinks there.

use super::Commands;
use selkie_domain::choice::Choice;
use selkie_domain::effort::Effort;
use crate::intake::given::Given;
use crate::intake::messages::choosing as messages;
use selkie_store::{ChosenHere, ChosenThere, CommandEffect, StoreError};

/// Takes back what was chosen.
const DEFAULT: &str = "default";

impl Commands {
    pub(super) async fn model(&self, given: &Given<'_>) -> Result<CommandEffect, StoreError> {
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

    pub(super) async fn think(&self, given: &Given<'_>) -> Result<CommandEffect, StoreError> {
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
    pub(super) async fn answering(&self, given: &Given<'_>) -> Result<String, StoreError> {
        let ChosenThere { own, chat } = self.chosen(given).await?;
        Ok(self.answers(given, own.or(chat)))
    }

    /// What a command has chosen for a conversation, to be kept by a fresh start.
    pub(super) async fn kept(&self, given: &Given<'_>) -> Result<Option<String>, StoreError> {
        let ChosenThere { own, chat } = self.chosen(given).await?;
        let chosen = own.or(chat);
        Ok((chosen != Choice::default()).then(|| self.answers(given, chosen)))
    }

    async fn chosen(&self, given: &Given<'_>) -> Result<ChosenThere, StoreError> {
        self.outbox.storage.ledger.chosen(given.conversation).await
    }

    fn answers(&self, given: &Given<'_>, chosen: Choice) -> String {
        self.chooser.told(&self.chooser.here(given.conversation, given.place, &chosen))
    }

    fn says(&self, given: &Given<'_>, text: String) -> CommandEffect {
        CommandEffect::Say(self.draft(given, text))
    }
}
