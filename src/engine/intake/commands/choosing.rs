//! `/model`, `/think` and `/agent`: which model and which agent answer in a chat, and how hard the model thinks there.

use super::Commands;
use crate::intake::given::GivenCommand;
use crate::intake::messages::choosing as messages;
use crate::work::agents::AgentAsker;
use crate::work::choosing::Answerer;
use selkie_domain::choice::Choice;
use selkie_domain::effort::Effort;
use selkie_domain::facts::Trust;
use selkie_store::{ChosenHere, ChosenThere, CommandEffect, StoreError};

/// Takes back what was chosen.
const DEFAULT: &str = "default";
/// The same of an agent.
const OFF: &str = "off";

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
                let answers = self.model_here(given, own.or(chat));
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
                let answers = self.model_here(given, own.or(chat));
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

    pub(super) async fn agent(
        &self,
        given: &GivenCommand<'_>,
    ) -> Result<CommandEffect, StoreError> {
        let ChosenThere { own, chat } = self.chosen(given).await?;
        let agents = self.chooser.agents.now();
        let wanted = given.command.args.trim();
        let takes_back = [OFF, DEFAULT].iter().any(|word| wanted.eq_ignore_ascii_case(word));
        let chosen = match wanted {
            "" => {
                let here = self.answerer(given, &own.or(chat)).pick.agent_told();
                return Ok(self.says(given, messages::agents(here.as_deref(), &agents)));
            }
            _ if takes_back => None,
            // Nobody but an owner comes here.
            _ => match agents.given(wanted, AgentAsker { trust: Trust::Owner, bound: None }) {
                Ok(agent) => Some(agent.name),
                Err(why) => return Ok(self.says(given, messages::not_chosen(&why.to_string()))),
            },
        };
        let own = Choice { agent: chosen.clone(), ..own };
        let said = messages::from_now_on(&self.answers(given, own.or(chat)));
        Ok(CommandEffect::Choose(ChosenHere::Agent(chosen), self.draft(given, said)))
    }

    /// Who answers here next.
    pub(super) async fn answerer_here(
        &self,
        given: &GivenCommand<'_>,
    ) -> Result<Answerer, StoreError> {
        let ChosenThere { own, chat } = self.chosen(given).await?;
        Ok(self.answerer(given, &own.or(chat)))
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
        self.chooser.told_whole(&self.answerer(given, &chosen).pick)
    }

    fn model_here(&self, given: &GivenCommand<'_>, chosen: Choice) -> String {
        self.chooser.told(&self.answerer(given, &chosen).pick)
    }

    fn answerer(&self, given: &GivenCommand<'_>, chosen: &Choice) -> Answerer {
        self.chooser.here(given.conversation, given.place, chosen)
    }

    fn says(&self, given: &GivenCommand<'_>, text: String) -> CommandEffect {
        CommandEffect::Say(self.draft(given, text))
    }
}
