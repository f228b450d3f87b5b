//! Trouble that an owner is told of in private, by a way that is not itself the trouble.

use std::sync::Arc;

use selkie_channel_core::{AccountId, ConversationId};

use crate::delivery::outbox::Outbox;

impl Outbox {
    /// Tells the first owner who can be reached, once for ever under `key`, through no account of these; `true` when that
    /// is stored, now or before, or there is nobody to tell.
    pub async fn alert(self: &Arc<Self>, key: &str, text: &str, silent: &[AccountId]) -> bool {
        let text = self.runtime.redactor.clean(text);
        let private = self.reach(silent);
        let Some(draft) = private.and_then(|c| self.draft(&c, &text, None, None)) else {
            tracing::warn!(
                key,
                "no owner can be reached in a chat: no working channel leads to one (owners)"
            );
            return true;
        };
        let (outbox, key) = (Arc::clone(self), key.to_owned());
        let said = async move {
            match outbox.storage.ledger.say_once(&key, draft).await {
                Ok(queued) => {
                    queued.into_iter().for_each(|queued| outbox.send(queued));
                    true
                }
                Err(error) => {
                    outbox.storage.trouble(&error);
                    false
                }
            }
        };
        self.runtime.to_the_end(said).await
    }

    /// Where an owner reads in private, of whom no account of these is needed.
    pub(super) fn reach(&self, silent: &[AccountId]) -> Option<ConversationId> {
        let private = self.owners.iter().filter_map(|owner| self.accounts.private(owner));
        private.into_iter().find(|conversation| !silent.contains(conversation.account()))
    }
}

#[cfg(test)]
mod tests {
    use selkie_channel_core::PersonId;

    use crate::flow::testing;

    #[tokio::test]
    async fn trouble_takes_another_way_than_the_one_that_it_is_about() {
        let outbox = testing::desk().outbox;
        let owner = outbox.owners.first().cloned().unwrap_or_else(|| PersonId::new("tg:1"));
        outbox.owners.add(&owner);
        let open = outbox.reach(&[]).expect("a way");
        assert_eq!(outbox.reach(&[open.account().clone()]), None);
    }
}
