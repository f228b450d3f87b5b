//! Which agent and which model answer a task and how hard that thinks, by what the call, a command and the config say now.

use std::sync::Arc;

use selkie_channel_core::{ConversationId, PlaceId};

use crate::work::agents::Agents;
use crate::work::rights::Rights;
use selkie_domain::choice::{Choice, Decider, Pick, Wish};
use selkie_domain::facts::Trigger;
use selkie_domain::live::Live;
use selkie_domain::own_agent::OwnAgent;
use selkie_llm::{ListedRoute, ModelList};
use selkie_store::TaskClaim;

/// Who answers, and what its agent brings.
pub struct Answerer {
    /// Which agent and which model, and who decided.
    pub pick: Pick,
    /// The agent, where one answers.
    pub agent: Option<OwnAgent>,
}

/// Decides it, anew at each claim: a task that was parked goes on with what is chosen by then.
#[derive(Clone)]
pub struct ModelChooser {
    /// Knows the places.
    pub rights: Arc<Rights>,
    /// What can be chosen.
    pub models: Live<ModelList>,
    /// Who can be chosen.
    pub agents: Live<Agents>,
}

impl ModelChooser {
    /// Decides for a claimed task who answers, and gives it what that agent brings; `schedule` is what its schedule names.
    pub fn decide(&self, claimed: &mut TaskClaim, schedule: Choice) {
        let Answerer { pick, agent } = self.of_task(claimed, schedule);
        let facts = &mut claimed.facts;
        // What the agent of the last claim has left counts no more; what anybody else has left stays.
        let before = facts.pick.agent.as_deref().map(OwnAgent::reason);
        let mut narrowed = facts.narrowed.clone();
        narrowed.retain(|narrowing| before.as_ref() != Some(&narrowing.by));
        narrowed.extend(agent.as_ref().and_then(OwnAgent::narrowing));
        claimed.reshaped |= facts.pick != pick || facts.narrowed != narrowed;
        facts.pick = pick;
        facts.narrowed = narrowed;
        claimed.agent = agent.map(Arc::new);
    }

    /// Picks for a claimed task.
    fn of_task(&self, claimed: &TaskClaim, schedule: Choice) -> Answerer {
        let mut wishes = vec![
            self.wish(Decider::Call, claimed.facts.pick.call()),
            self.wish(Decider::Schedule, schedule),
            Wish { by: Decider::Route, choice: self.route(claimed.facts.trigger).choice() },
        ];
        // The heartbeat has a route of its own: what is chosen for a talk is not meant for what comes by the clock.
        if claimed.facts.trigger != Trigger::Heartbeat {
            let TaskClaim { conversation, place, chosen, .. } = claimed;
            wishes.extend(self.of_place(conversation, place, chosen));
        }
        let named =
            [&claimed.facts.pick.call(), &claimed.chosen].map(|choice| choice.agent.clone());
        for agent in named.into_iter().flatten().filter(|name| !self.has_agent(name)) {
            let task = claimed.claim.task;
            tracing::warn!(%task, agent, "the agent is not in the config any more: the task goes on without it");
        }
        self.among(wishes)
    }

    /// Picks for what somebody asks in a conversation next.
    pub fn here(
        &self,
        conversation: &ConversationId,
        place: &PlaceId,
        chosen: &Choice,
    ) -> Answerer {
        let route = Wish { by: Decider::Route, choice: self.route(Trigger::Asked).choice() };
        let here = self.of_place(conversation, place, chosen);
        self.among(here.into_iter().chain([route]).collect())
    }

    /// The agent first: it may name a model.
    fn among(&self, mut wishes: Vec<Wish>) -> Answerer {
        let pick = Pick::among(&wishes);
        let agents = self.agents.now();
        let Some(agent) = pick.agent.as_deref().and_then(|name| agents.get(name)) else {
            return Answerer { pick, agent: None };
        };
        wishes.push(self.wish(Decider::Agent, agent.choice()));
        Answerer { pick: Pick::among(&wishes), agent: Some(agent) }
    }

    /// Says to people who answers in a conversation: the agent, where one does, and the model.
    pub fn told_whole(&self, pick: &Pick) -> String {
        let agent = pick.agent_told().map(|agent| format!("{agent}, ")).unwrap_or_default();
        agent + &self.told(pick)
    }

    /// Says a pick for a conversation to people.
    pub fn told(&self, pick: &Pick) -> String {
        let models = self.models.now();
        match &pick.model {
            Some(profile) => pick.told(models.name_of(profile), "main"),
            None => pick.told(&models.main.told(), "main"),
        }
    }

    fn of_place(
        &self,
        conversation: &ConversationId,
        place: &PlaceId,
        chosen: &Choice,
    ) -> [Wish; 2] {
        let here = self.rights.here(conversation, place);
        [
            self.wish(Decider::Command, chosen.clone()),
            self.wish(
                Decider::Place,
                Choice { agent: here.agent, model: here.model, effort: here.effort },
            ),
        ]
    }

    /// A profile or an agent that has left the config is nobody's wish any more.
    fn wish(&self, by: Decider, choice: Choice) -> Wish {
        let models = self.models.now();
        let model = choice.model.filter(|name| models.profiles.contains_key(name));
        let agent = choice.agent.filter(|name| self.has_agent(name));
        Wish { by, choice: Choice { agent, model, ..choice } }
    }

    fn has_agent(&self, name: &str) -> bool {
        self.agents.now().get(name).is_some()
    }

    fn route(&self, trigger: Trigger) -> ListedRoute {
        let models = self.models.now();
        match trigger {
            Trigger::Heartbeat => models.heartbeat.clone(),
            _ => models.main.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::testing;
    use selkie_domain::narrowing::Narrowing;

    fn agents(written: serde_json::Value) -> Agents {
        Agents::of(&serde_json::from_value(written).unwrap(), "/nowhere".as_ref())
    }

    #[test]
    fn each_claim_puts_its_agents_tools_in_the_place_of_the_last_ones_and_leaves_others() {
        let reader = serde_json::json!({ "reader": { "tools": ["read"], "memory": "own" } });
        let chooser = ModelChooser {
            rights: Arc::clone(&testing::desk().rights),
            models: Live::default(),
            agents: Live::of(agents(reader)),
        };
        let mut claimed = testing::claimed(1, &testing::message("tg:1", "hi"));
        let by = |by: &str| Narrowing { by: by.to_owned(), tools: vec!["read".to_owned()] };
        let others = [by("spawn's tools"), by("the agent reader").of_parent()];
        claimed.facts.narrowed = others.to_vec();
        claimed.chosen.agent = Some("reader".to_owned());
        let mut decide = |chooser: &ModelChooser| {
            claimed.reshaped = false;
            chooser.decide(&mut claimed, Choice::default());
            claimed.clone()
        };
        let first = decide(&chooser);
        let narrowed: Vec<&str> = first.facts.narrowed.iter().map(|one| one.by.as_str()).collect();
        assert_eq!(
            narrowed,
            ["spawn's tools", "the agent reader (its parent's)", "the agent reader"]
        );
        assert_eq!(first.agent.unwrap().memory.as_deref(), Some("reader"));
        assert!(first.reshaped && !decide(&chooser).reshaped, "the same once more");
        chooser.agents.put(agents(serde_json::json!({ "reader": { "tools": ["grep"] } })));
        let other = decide(&chooser);
        assert_eq!(other.facts.narrowed.last().unwrap().tools, ["grep"]);
        assert!(other.reshaped && other.facts.narrowed.len() == 3);
        chooser.agents.put(Agents::default());
        let gone = decide(&chooser);
        assert_eq!(
            (gone.facts.narrowed.as_slice(), gone.facts.pick),
            (&others[..], Pick::default())
        );
        assert!(gone.agent.is_none() && gone.reshaped);
    }
}
