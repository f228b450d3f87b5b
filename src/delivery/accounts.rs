//! The accounts of this daemon, by their ids, and who of them carries what.

use std::collections::HashMap;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use selkie_channel_core::{AccountId, Channel, ConversationId, PersonId, PlaceId};

use crate::delivery::account::{Account, ChannelState};
use crate::domain::task::Lane;

/// The accounts of this daemon.
pub(crate) struct Accounts(HashMap<AccountId, Arc<Account>>);

impl Accounts {
    /// Listens to somebody on every channel from now on: an id is of one platform.
    pub(crate) fn let_in(&self, person: &PersonId) {
        self.all().for_each(|account| account.let_in(person));
    }

    /// Listens to somebody no more, unless the config says so.
    pub(crate) fn shut_out(&self, person: &PersonId) {
        self.all().for_each(|account| account.shut_out(person));
    }

    /// One account for each channel.
    pub(crate) fn of_channels(channels: impl IntoIterator<Item = Channel>) -> Self {
        let account = |channel: Channel| (channel.account.clone(), Arc::new(Account::new(channel)));
        Self(channels.into_iter().map(account).collect())
    }

    /// The same accounts, and one for each of these channels.
    pub(crate) fn and(&self, channels: impl IntoIterator<Item = Channel>) -> Self {
        let Self(mut all) = Self::of_channels(channels);
        all.extend(self.0.iter().map(|(id, account)| (id.clone(), Arc::clone(account))));
        Self(all)
    }

    /// Returns the account of a conversation; `None` when its channel is not configured any more.
    pub(crate) fn of(&self, conversation: &ConversationId) -> Option<&Arc<Account>> {
        self.get(conversation.account())
    }

    /// Returns the place that a conversation belongs to: the same for every thread of it.
    pub(crate) fn place(&self, conversation: &ConversationId) -> PlaceId {
        match self.of(conversation) {
            Some(account) => account.channel.address.place(conversation),
            None => PlaceId::new(conversation.account().clone(), conversation.key()),
        }
    }

    /// Returns the account with this id.
    pub(crate) fn get(&self, id: &AccountId) -> Option<&Arc<Account>> {
        self.0.get(id)
    }

    /// Lists the ids.
    pub(crate) fn ids(&self) -> impl Iterator<Item = AccountId> {
        self.0.keys().cloned()
    }

    /// Lists the accounts.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Arc<Account>> {
        self.0.values()
    }

    /// Reads a conversation as whichever channel knows it by that name.
    pub(crate) fn parse(&self, text: &str) -> Option<ConversationId> {
        self.all().find_map(|account| account.channel.address.parse(text))
    }

    /// Returns the public conversation with this key.
    pub(crate) fn public(&self, key: &str) -> Option<ConversationId> {
        let mut public: Vec<_> =
            self.all().filter(|account| account.channel.posting.is_some()).collect();
        public.sort_by(|a, b| a.channel.account.cmp(&b.channel.account));
        public.iter().find_map(|account| account.channel.address.parse(key))
    }

    /// Returns the private conversation with a person.
    pub(crate) fn private(&self, person: &PersonId) -> Option<ConversationId> {
        self.parse(person.as_str())
    }

    /// Whether this process answers in a lane: what waits for a channel that is not here waits for a
    /// process that has it, as its parts do.
    pub(crate) fn carries(&self, lane: &Lane) -> bool {
        lane.account().is_none_or(|account| self.0.contains_key(&AccountId::new(account)))
    }

    /// Tells how every channel stands, in order of their accounts.
    pub(crate) fn states(&self, now: DateTime<Utc>) -> Vec<ChannelState> {
        let mut states: Vec<_> = self.all().map(|account| account.state(now)).collect();
        states.sort_by(|a, b| a.account.cmp(&b.account));
        states
    }
}
