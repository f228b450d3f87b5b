//! The model is away: who is told, and how often.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use chrono::{DateTime, Utc};
use selkie_channel_core::{ConversationId, locked};

use crate::delivery::outbox::Outbox;
use crate::delivery::settings::TellOutages;
use crate::work::{messages, unattended};
use selkie_agent::DriveOutcome;
use selkie_domain::facts::Trust;
use selkie_domain::transcript::Item;
use selkie_llm::Outage;
use selkie_store::{End, TaskClaim};

/// Conversations remembered before it begins anew: one may be told again then.
const MANY: usize = 10_000;

/// Who knows of the outage.
#[derive(Default)]
pub struct Outages {
    outage: Outage,
    told: Mutex<OutageNotice>,
}

#[derive(Default)]
struct OutageNotice {
    /// Of which outage.
    since: Option<DateTime<Utc>>,
    owner: Owner,
    conversations: HashSet<ConversationId>,
}

/// What the owner knows.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Owner {
    #[default]
    Nothing,
    /// By an answer of their own.
    Saw,
    /// By a notice.
    Told,
}

/// What the owner is told.
enum News {
    Away(String),
    Back,
}

/// The same without a word: what was not said is no history.
pub fn unsaid(mut ending: DriveOutcome) -> DriveOutcome {
    ending.text.clear();
    ending.append.retain(|item| !matches!(item, Item::Said { .. }));
    ending
}

impl Outages {
    pub(crate) fn of(outage: Outage) -> Self {
        Self { outage, told: Mutex::default() }
    }

    /// Takes the end of a task. Whether its conversation knows already that the model is away, and is to be told
    /// so once. The owner is told when others meet it first.
    pub async fn knows(&self, outbox: &Arc<Outbox>, claimed: &TaskClaim, end: &End) -> bool {
        if unattended::is_unattended(&claimed.facts) {
            return false;
        }
        let is_owners = claimed.facts.trust == Trust::Owner;
        match self.news(is_owners, end) {
            Some(News::Away(why)) => outbox.notice("model_away", &messages::model_away(&why)).await,
            Some(News::Back) => outbox.notice("model_back", messages::MODEL_BACK).await,
            None => {}
        }
        let failed = matches!(end, End::Failed { .. }) && self.outage.now().is_some();
        let is_new = failed && self.is_new(&claimed.conversation);
        failed && !is_new && outbox.tell_outages() == TellOutages::Once
    }

    /// Returns what the owner is to be told by now.
    fn news(&self, is_owners: bool, end: &End) -> Option<News> {
        let mut told = locked(&self.told);
        let Some(away) = self.outage.now() else {
            let before = std::mem::take(&mut *told);
            return (before.owner == Owner::Told).then_some(News::Back);
        };
        if told.since != Some(away.since) {
            *told = OutageNotice { since: Some(away.since), ..OutageNotice::default() };
        }
        if !matches!(end, End::Failed { .. }) || told.owner != Owner::Nothing {
            return None;
        }
        told.owner = if is_owners { Owner::Saw } else { Owner::Told };
        (!is_owners).then_some(News::Away(away.why))
    }

    fn is_new(&self, conversation: &ConversationId) -> bool {
        let mut told = locked(&self.told);
        if told.conversations.len() >= MANY {
            told.conversations.clear();
        }
        told.conversations.insert(conversation.clone())
    }
}
