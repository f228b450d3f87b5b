//! Who uses something, and the counters of that, each with its limit.

use selkie_channel_core::{ConversationId, Inbound, PersonId};

use super::reached::Whose;
use super::settings::{Caps, LimitSettings};
use selkie_domain::facts::Trust;
use selkie_store::TaskClaim;

/// Who uses something.
pub(super) struct User<'a> {
    pub(super) person: Option<&'a PersonId>,
    pub(super) conversation: &'a ConversationId,
    pub(super) is_owner: bool,
}

impl<'a> User<'a> {
    /// Who has asked for a task.
    pub(super) fn of(claimed: &'a TaskClaim, trust: Trust) -> Self {
        Self {
            person: claimed.facts.speaker.as_ref(),
            conversation: &claimed.conversation,
            is_owner: trust == Trust::Owner,
        }
    }

    /// Who has written a message; whether they are an owner is looked at before.
    pub(super) fn who_wrote(inbound: &'a Inbound) -> Self {
        Self {
            person: Some(&inbound.speaker.id),
            conversation: &inbound.conversation,
            is_owner: false,
        }
    }

    /// The counters of a use, each with its limit.
    pub(super) fn shares(&self, settings: &LimitSettings) -> Vec<Share> {
        let whose = Whose::Everybody;
        let who = "everybody".to_owned();
        let caps = settings.everybody.caps();
        if self.is_owner {
            return vec![Share { whose, who, caps: caps.of_cost() }];
        }
        let person = self.person.map(|person| Share {
            whose: Whose::Person,
            who: format!("person {person}"),
            caps: settings.person.caps(),
        });
        let conversation = Share {
            whose: Whose::Conversation,
            who: format!("conversation {}", self.conversation),
            caps: settings.conversation.caps(),
        };
        let everybody = Share { whose, who, caps };
        person.into_iter().chain([conversation, everybody]).collect()
    }
}

/// One that uses something: whose counter, its name, and how far it may go.
pub(super) struct Share {
    pub(super) whose: Whose,
    pub(super) who: String,
    pub(super) caps: Caps,
}
