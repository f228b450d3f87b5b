//! Which agent answers a task, by which model, and how hard it thinks: who may decide that, in which order, and who did.

use serde::{Deserialize, Serialize};

use crate::effort::Effort;

/// What somebody who may decide chooses; what they leave out is left to the next.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Choice {
    /// The agent of the config that answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The profile that answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// How hard it thinks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<Effort>,
}

impl Choice {
    /// Fills in from another what this one leaves out.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            agent: self.agent.or(other.agent),
            model: self.model.or(other.model),
            effort: self.effort.or(other.effort),
        }
    }
}

/// Who may decide, each before those below.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Decider {
    /// Whoever asks for this one task.
    Call,
    /// The schedule that the task comes from.
    Schedule,
    /// An owner's command in the chat.
    Command,
    /// The agent that answers.
    Agent,
    /// What the config says of the place.
    Place,
    /// The route of the config.
    #[default]
    Route,
}

/// What somebody chooses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wish {
    /// Who.
    pub by: Decider,
    /// What.
    pub choice: Choice,
}

/// Which agent and which model answer and how hard that thinks, and who decided each.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
pub struct Pick {
    /// The agent of the config that answers; none where nobody names one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Who decided that.
    #[serde(skip_serializing_if = "is_nobody")]
    pub agent_by: Decider,
    /// The profile that answers; the route's own ones where nobody names one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Who decided that.
    pub model_by: Decider,
    /// How hard it thinks; where nobody says, its profile or its provider decides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effort: Option<Effort>,
    /// Who decided that.
    pub effort_by: Decider,
}

impl Pick {
    /// Decides: agent, model and effort each by the first who names one. What a route says of effort is meant for its own
    /// models: it does not hold for a profile that somebody else names.
    pub fn among(wishes: &[Wish]) -> Self {
        let mut wishes: Vec<&Wish> = wishes.iter().collect();
        wishes.sort_by_key(|wish| wish.by);
        let agent = wishes.iter().find(|wish| wish.choice.agent.is_some());
        let model = wishes.iter().find(|wish| wish.choice.model.is_some());
        let is_routed = model.is_none_or(|wish| wish.by == Decider::Route);
        let effort = wishes
            .iter()
            .find(|wish| wish.choice.effort.is_some() && (is_routed || wish.by != Decider::Route));
        Self {
            agent: agent.and_then(|wish| wish.choice.agent.clone()),
            agent_by: agent.map(|wish| wish.by).unwrap_or_default(),
            model: model.and_then(|wish| wish.choice.model.clone()),
            model_by: model.map(|wish| wish.by).unwrap_or_default(),
            effort: effort.and_then(|wish| wish.choice.effort),
            effort_by: effort.map(|wish| wish.by).unwrap_or_default(),
        }
    }

    /// Makes the pick of a task for which these were named when it was asked for.
    pub fn named(choice: Choice) -> Self {
        Self::among(&[Wish { by: Decider::Call, choice }])
    }

    /// Returns what was named when the task was asked for.
    pub fn call(&self) -> Choice {
        Choice {
            agent: self.agent.clone().filter(|_| self.agent_by == Decider::Call),
            model: self.model.clone().filter(|_| self.model_by == Decider::Call),
            effort: self.effort.filter(|_| self.effort_by == Decider::Call),
        }
    }

    /// Whether nobody has chosen anything.
    pub fn is_usual(&self) -> bool {
        *self == Self::default()
    }

    /// Says it to people: `gpt-6 via main (/model here), thinks high (/think here)`. `answers` is what answers, as people
    /// know it; `route` is the route that decides where nobody else does.
    pub fn told(&self, answers: &str, route: &str) -> String {
        let of = |key: &str| format!("llm.{key}.{route}");
        let model = format!("{answers} ({})", self.who(self.model_by, "model", &of("routes")));
        match self.effort {
            Some(effort) => {
                let who = self.who(self.effort_by, "think", &of("efforts"));
                format!("{model}, thinks {effort} ({who})")
            }
            None => model,
        }
    }

    /// Says which agent answers: `researcher (/agent here)`; nothing where none does.
    pub fn agent_told(&self) -> Option<String> {
        let name = self.agent.as_ref()?;
        Some(format!("{name} ({})", self.who(self.agent_by, "agent", "agents")))
    }

    fn who(&self, by: Decider, command: &str, key: &str) -> String {
        match by {
            Decider::Call => "named in the request".to_owned(),
            Decider::Schedule => "named by its schedule".to_owned(),
            Decider::Command => format!("/{command} here"),
            Decider::Agent => format!("agents.{}", self.agent.as_deref().unwrap_or_default()),
            Decider::Place => "places in the config".to_owned(),
            Decider::Route => key.to_owned(),
        }
    }
}

fn is_nobody(by: &Decider) -> bool {
    *by == Decider::default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wish(by: Decider, model: Option<&str>, effort: Option<Effort>) -> Wish {
        Wish { by, choice: Choice { model: model.map(str::to_owned), effort, ..Choice::default() } }
    }

    fn picked(wishes: &[Wish]) -> String {
        let pick = Pick::among(wishes);
        pick.told(pick.model.as_deref().unwrap_or("its own"), "main")
    }

    #[test]
    fn each_is_decided_by_the_first_who_names_it() {
        use Decider::{Call, Command, Place, Route, Schedule};
        use Effort::{High, Low, Max, Minimal};
        let route = || wish(Route, None, Some(Low));
        let place = || wish(Place, Some("p"), Some(High));
        let command = |model, effort| wish(Command, model, effort);
        let cases: [(&[Wish], &str); 10] = [
            (&[], "its own (llm.routes.main)"),
            (&[route()], "its own (llm.routes.main), thinks low (llm.efforts.main)"),
            (&[route(), place()], "p (places in the config), thinks high (places in the config)"),
            (&[route(), wish(Place, Some("p"), None)], "p (places in the config)"),
            (
                &[route(), wish(Place, None, Some(High))],
                "its own (llm.routes.main), thinks high (places in the config)",
            ),
            (
                &[route(), place(), command(Some("c"), None)],
                "c (/model here), thinks high (places in the config)",
            ),
            (
                &[command(None, Some(Max)), place(), route()],
                "p (places in the config), thinks max (/think here)",
            ),
            (
                &[place(), command(Some("c"), Some(Max)), wish(Schedule, Some("s"), None)],
                "s (named by its schedule), thinks max (/think here)",
            ),
            (
                &[
                    place(),
                    command(Some("c"), Some(Max)),
                    wish(Schedule, Some("s"), Some(Minimal)),
                    wish(Call, Some("a"), None),
                ],
                "a (named in the request), thinks minimal (named by its schedule)",
            ),
            (&[route(), command(Some("c"), None)], "c (/model here)"),
        ];
        for (wishes, expected) in cases {
            assert_eq!(picked(wishes), expected);
        }
    }

    #[test]
    fn an_agent_brings_a_model_that_people_override_and_a_place_does_not() {
        let named = |by, agent: &str| Wish {
            by,
            choice: Choice { agent: Some(agent.to_owned()), ..Choice::default() },
        };
        let own = wish(Decider::Agent, Some("a"), Some(Effort::High));
        let mut wishes = vec![named(Decider::Place, "reader"), named(Decider::Command, "coder")];
        wishes.extend([own, wish(Decider::Place, Some("p"), Some(Effort::Low))]);
        let pick = Pick::among(&wishes);
        assert_eq!(pick.agent_told().unwrap(), "coder (/agent here)");
        assert_eq!(picked(&wishes), "a (agents.coder), thinks high (agents.coder)");
        assert_eq!(pick.call(), Choice::default());
        wishes.push(wish(Decider::Command, Some("c"), None));
        assert_eq!(picked(&wishes), "c (/model here), thinks high (agents.coder)");
        wishes.push(named(Decider::Call, "writer"));
        let pick = Pick::among(&wishes);
        assert_eq!(pick.agent_told().unwrap(), "writer (named in the request)");
        assert_eq!(pick.call().agent.as_deref(), Some("writer"));
        assert_eq!(Pick::default().agent_told(), None);
        let stored = serde_json::to_value(Pick::default()).unwrap();
        assert_eq!(stored.get("agent_by"), None, "what no agent answers is written as before");
    }

    #[test]
    fn what_the_call_names_is_told_from_the_rest() {
        let named = Choice { model: Some("a".to_owned()), ..Choice::default() };
        let with = |choice: Choice| {
            Pick::among(&[
                Wish { by: Decider::Call, choice },
                wish(Decider::Command, Some("c"), Some(Effort::High)),
            ])
        };
        assert_eq!(with(named.clone()).call(), named);
        assert_eq!(with(Choice::default()).call(), Choice::default());
        assert!(Pick::default().is_usual() && !with(named).is_usual());
    }
}
