//! What the bot says: rendered for its platform, stored once, handed to who delivers it; and how an owner is told.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use chrono::TimeDelta;
use selkie_channel_core::{
    AccountId, Audience, Body, ConversationId, Inbound, MessageRef, Outbound, PlaceId, ReplyWindow,
};
use tokio::sync::{Notify, watch};

use crate::delivery::account::Account;
use crate::delivery::accounts::Accounts;
use crate::delivery::context::Context;
use crate::delivery::late::Late;
use crate::delivery::messages;
use crate::delivery::moments::after;
use crate::delivery::month::month;
use crate::delivery::outgoing::OutgoingFiles;
use crate::delivery::post_files::PostFiles;
use crate::delivery::queue::{PartQueue, PartQueues};
use crate::delivery::rendered::rendered;
use crate::delivery::runtime::Runtime;
use crate::delivery::settings::{Settings, TellOutages};
use crate::delivery::storage::Storage;
use crate::delivery::waiters::DeliveryWaiters;
use selkie_domain::ids::OutboundId;
use selkie_domain::live::Live;
use selkie_domain::owners::Owners;
use selkie_store::{DeliveryState, Draft, QueuedOutbound};

/// How long after its promised life a right to answer is worth trying.
const WORTH_TRYING: TimeDelta = TimeDelta::minutes(20);

/// What the bot says, and those it says it by.
pub struct Outbox {
    pub(super) runtime: Arc<Runtime>,
    pub(super) storage: Arc<Storage>,
    pub(super) accounts: Arc<Accounts>,
    /// Of the config as it is now.
    pub(super) settings: Live<Settings>,
    /// Copies of files on their way out.
    pub(super) files: OutgoingFiles,
    /// Copies of the files of posts.
    pub(super) post_files: Arc<PostFiles>,
    /// Who gets notices.
    pub(super) owners: Owners,
    pub(super) waiters: DeliveryWaiters,
    /// Rights to answer that taps brought before the answer was there.
    pub(super) late: Late,
    /// Rung when somebody has decided about a call: one that runs may have asked.
    pub(crate) decided: Notify,
    /// Rung when a task was woken by what became of a delivery.
    pub(super) woken: Notify,
    pub(super) queues: PartQueues,
}

/// An outbox, and a queue for each account's delivery worker.
pub struct OpenOutbox {
    pub(crate) outbox: Arc<Outbox>,
    pub(crate) queues: HashMap<AccountId, PartQueue>,
}

impl Outbox {
    /// Opens it, and a queue for each account; copies of files lie below `cache_dir`.
    pub fn open(
        context: &Context,
        settings: Settings,
        post_files: Arc<PostFiles>,
        cache_dir: &Path,
    ) -> OpenOutbox {
        let Context { runtime, storage, accounts, owners } = context.clone();
        let (senders, queues) = PartQueues::for_accounts(accounts.ids());
        let outbox = Self {
            runtime,
            storage,
            accounts,
            settings: Live::of(settings),
            files: OutgoingFiles::below(cache_dir),
            post_files,
            owners,
            waiters: DeliveryWaiters::default(),
            late: Late::default(),
            decided: Notify::new(),
            woken: Notify::new(),
            queues: senders,
        };
        OpenOutbox { outbox: Arc::new(outbox), queues }
    }

    /// Renders text for a conversation; it may use up `window`. `None` when it shows nothing or its
    /// channel is gone.
    pub fn draft(
        &self,
        conversation: &ConversationId,
        markdown: &str,
        quote: Option<MessageRef>,
        window: Option<ReplyWindow>,
    ) -> Option<Draft> {
        let outbound = Outbound::text(conversation.clone(), markdown).quoting(quote).within(window);
        self.rendered(outbound)
    }

    /// Renders anything for a conversation, quoting nothing. `None` when it shows nothing or its channel
    /// is gone.
    pub fn draft_of(&self, conversation: &ConversationId, body: Body) -> Option<Draft> {
        self.rendered(Outbound::new(conversation.clone(), body))
    }

    /// Renders something said. `None` when it shows nothing or its channel is gone.
    pub fn rendered(&self, outbound: Outbound) -> Option<Draft> {
        let account = self.accounts.of(&outbound.conversation)?;
        let outbound = outbound.said(self.runtime.clock.now()).numbered(self.runtime.nonce());
        let mut parts = rendered(&account.channel, &outbound, &self.runtime.redactor);
        let asks = matches!(outbound.body, Body::Question(_) | Body::QuestionWithFile { .. });
        parts.iter_mut().for_each(|part| part.asks = asks);
        // Half a question asks nothing: its buttons go out when all before them has arrived.
        parts.iter_mut().skip(1).filter(|part| part.asks).for_each(|part| part.follows = true);
        let expires_at =
            Some(after(self.runtime.clock.now(), self.settings.now().outbox.answer_expires));
        let month = month(&account.channel, self.runtime.clock.now());
        (!parts.is_empty()).then_some(Draft { outbound, parts, expires_at, month })
    }

    /// Renders an answer to a message; in a group it quotes the message.
    pub fn draft_to(&self, inbound: &Inbound, markdown: &str) -> Option<Draft> {
        let among_others = inbound.audience == Audience::Group;
        let quote = among_others.then(|| inbound.message.clone()).flatten();
        self.draft(&inbound.conversation, markdown, quote, self.right([inbound]))
    }

    /// Returns the newest right to answer that these messages brought and that still lives.
    pub fn window<'a>(&self, heard: impl IntoIterator<Item = &'a Inbound>) -> Option<ReplyWindow> {
        let now = self.runtime.clock.now();
        let windows = heard.into_iter().filter_map(|inbound| inbound.reply_window.as_ref());
        windows.filter(|window| window.until > now).max_by_key(|window| window.until).cloned()
    }

    /// Returns the newest right to answer that these messages brought, or the last one that may yet be
    /// taken though nobody promises it.
    pub fn right<'a>(&self, heard: impl IntoIterator<Item = &'a Inbound>) -> Option<ReplyWindow> {
        let windows = heard.into_iter().filter_map(|inbound| inbound.reply_window.as_ref());
        let newest = windows.max_by_key(|window| window.until).cloned();
        newest.filter(|window| self.runtime.clock.now() < window.until + WORTH_TRYING)
    }

    /// Goes by other settings from now on.
    pub fn put_settings(&self, settings: Settings) {
        self.settings.put(settings);
    }

    /// Whom the config wants told of an outage.
    pub fn tell_outages(&self) -> TellOutages {
        self.settings.now().outbox.outages
    }

    /// Returns the copies of files on their way out.
    pub fn files(&self) -> &OutgoingFiles {
        &self.files
    }

    /// Watches an outbound from now on: call it before [`Outbox::send`].
    pub fn watch(&self, outbound: OutboundId) -> watch::Receiver<DeliveryState> {
        self.waiters.watch(outbound)
    }

    /// Has held answers looked at: one of them may be the next to expire.
    pub fn look_at_held(&self) {
        self.late.held.notify_one();
    }

    /// Tells the dispatcher that a task was woken.
    pub fn wake(&self) {
        self.woken.notify_one();
    }

    /// Waits until a task was woken by what became of a delivery.
    pub async fn woken(&self) {
        self.woken.notified().await;
    }

    /// Begins to queue for an account.
    pub fn open_queue(&self, account: AccountId) -> PartQueue {
        self.queues.open(account)
    }

    /// Queues for an account no more.
    pub fn close_queue(&self, account: &AccountId) {
        self.queues.close(account);
    }

    /// Whether something is on its way to an account's delivery worker.
    pub fn has_underway(&self, account: &AccountId) -> bool {
        self.queues.has_underway(account)
    }

    /// Gives stored parts to the delivery worker of their account.
    pub fn send(&self, queued: QueuedOutbound) {
        self.queues.send(queued);
    }

    /// Says something once for ever under `key`; `true` when this was the once.
    pub async fn say_once(self: &Arc<Self>, key: &str, draft: Draft) -> bool {
        let (outbox, key) = (Arc::clone(self), key.to_owned());
        let said = async move {
            match outbox.storage.ledger.say_once(&key, draft).await {
                Ok(Some(queued)) => {
                    outbox.send(queued);
                    true
                }
                Ok(None) => false,
                Err(error) => {
                    outbox.storage.trouble(&error);
                    false
                }
            }
        };
        self.runtime.to_the_end(said).await
    }

    /// Tells the first owner something in private, once a day for each `key`.
    pub async fn notice(self: &Arc<Self>, key: &str, text: &str) {
        let day = self.runtime.now().format("%Y-%m-%d");
        self.tell_owner(&format!("notice:{key}:{day}"), text).await;
    }

    /// Lets a place that goes on under another id keep its rights, and tells the owner, once for ever,
    /// which id belongs into the config.
    pub async fn follow(self: &Arc<Self>, account: &Account, old: &PlaceId, new: &PlaceId) {
        if account.alias(old, new) {
            self.storage.moved.notify_one();
            let key = format!("{}.{}", account.channel.name, account.channel.allow_keys.places);
            let text = messages::moved(&key, old.key(), new.key());
            self.tell_owner(&format!("moved:{}:{}", old.full(), new.key()), &text).await;
        }
    }

    /// Tells the first owner who can be reached something in private, once for ever under `key`.
    pub async fn tell_owner(self: &Arc<Self>, key: &str, text: &str) {
        self.ask_owner(key, Body::Text { markdown: self.runtime.redactor.clean(text) }).await;
    }

    /// The same with buttons.
    pub async fn ask_owner(self: &Arc<Self>, key: &str, body: Body) {
        let Some(draft) = self.reach(&[]).and_then(|private| self.draft_of(&private, body)) else {
            tracing::warn!(key, "there is no owner to tell: add `owners` to the config");
            return;
        };
        self.say_once(key, draft).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::testing;

    #[test]
    fn the_newest_right_to_answer_that_still_lives_is_taken() {
        let outbox = testing::desk().outbox;
        let now = outbox.runtime.clock.now();
        let with = |token: &str, seconds| {
            let window = ReplyWindow {
                token: token.to_owned(),
                until: now + TimeDelta::seconds(seconds),
                calls: 1,
                hold_at: None,
            };
            Inbound { reply_window: Some(window), ..testing::message("tg:1", "hi") }
        };
        let token = |heard: &[Inbound]| outbox.window(heard).map(|window| window.token);
        let heard = [with("older", 5), with("newest", 9), testing::message("tg:1", "none")];
        assert_eq!(token(&heard).as_deref(), Some("newest"));
        assert_eq!(token(&[with("dead", -1)]), None);
        let draft = outbox.draft_to(&with("live", 9), "hello").unwrap();
        assert_eq!(draft.outbound.reply_window.unwrap().token, "live");
    }
}
