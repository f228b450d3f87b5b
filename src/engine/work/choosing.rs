//! Which model answers a task and how hard it thinks, by what the call, a command and the config say now.

use std::sync::Arc;

use selkie_channel_core::{ConversationId, PlaceId};

use crate::work::rights::Rights;
use selkie_domain::choice::{Choice, Decider, Pick, Wish};
use selkie_domain::facts::Trigger;
use selkie_domain::live::Live;
use selkie_llm::{ListedRoute, ModelList};
use selkie_store::TaskClaim;

/// Decides it, anew at each claim: a task that was parked goes on with what is chosen by then.
#[derive(Clone)]
pub struct ModelChooser {
    /// Knows the places.
    pub rights: Arc<Rights>,
    /// What can be chosen.
    pub models: Live<ModelList>,
}

impl ModelChooser {
    /// Picks for a claimed task; `schedule` is what its schedule names.
    pub fn of_task(&self, claimed: &TaskClaim, schedule: Choice) -> Pick {
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
        Pick::among(&wishes)
    }

    /// Picks for what somebody asks in a conversation next.
    pub fn here(&self, conversation: &ConversationId, place: &PlaceId, chosen: &Choice) -> Pick {
        let route = Wish { by: Decider::Route, choice: self.route(Trigger::Asked).choice() };
        let here = self.of_place(conversation, place, chosen);
        Pick::among(&here.into_iter().chain([route]).collect::<Vec<_>>())
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
            self.wish(Decider::Place, Choice { model: here.model, effort: here.effort }),
        ]
    }

    /// A profile that has left the config is nobody's wish any more.
    fn wish(&self, by: Decider, choice: Choice) -> Wish {
        let models = self.models.now();
        let model = choice.model.filter(|name| models.profiles.contains_key(name));
        Wish { by, choice: Choice { model, ..choice } }
    }

    fn route(&self, trigger: Trigger) -> ListedRoute {
        let models = self.models.now();
        match trigger {
            Trigger::Heartbeat => models.heartbeat.clone(),
            _ => models.main.clone(),
        }
    }
}
