//! Conversations whose parts wait for a time of their own: what a platform asked of one keeps nothing of others back.

use std::collections::HashMap;

use selkie_channel_core::ConversationId;

/// How many parts wait in which of them.
#[derive(Default)]
pub struct PausedAccounts {
    lanes: HashMap<ConversationId, usize>,
    parts: usize,
}

impl PausedAccounts {
    /// So many parts of a conversation wait from now on.
    pub fn pause(&mut self, conversation: &ConversationId, parts: usize) {
        self.resume(conversation);
        self.lanes.insert(conversation.clone(), parts);
        self.parts += parts;
    }

    /// One part more: it waits as well, where its conversation does.
    pub fn join(&mut self, conversation: &ConversationId) {
        if let Some(parts) = self.lanes.get_mut(conversation) {
            *parts += 1;
            self.parts += 1;
        }
    }

    /// Its time has come.
    pub fn resume(&mut self, conversation: &ConversationId) {
        self.parts -= self.lanes.remove(conversation).unwrap_or_default();
    }

    /// Whether something goes before what is no speech there, when so many parts of the account wait: what waits in the
    /// same conversation, and what waits elsewhere for nothing but its turn.
    pub fn goes_before(&self, conversation: &ConversationId, waiting: usize) -> bool {
        waiting > self.parts || self.lanes.contains_key(conversation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::testing::account;

    #[test]
    fn what_waits_for_its_time_keeps_its_own_conversation_back_alone() {
        let [held, other] =
            ["tg:1", "tg:2"].map(|key| ConversationId::new(account(), key.to_owned()));
        let mut paused = PausedAccounts::default();
        assert!(paused.goes_before(&other, 1), "it waits for its turn");
        paused.pause(&held, 1);
        paused.join(&held);
        paused.join(&other);
        assert!(!paused.goes_before(&other, 2));
        assert!(paused.goes_before(&held, 2));
        assert!(paused.goes_before(&other, 3), "somebody else has something to say");
        paused.resume(&held);
        paused.resume(&held);
        assert!(paused.goes_before(&other, 2), "its turn has come");
        assert!(!paused.goes_before(&held, 0));
    }
}
