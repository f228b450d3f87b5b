//! The accounts of this daemon, by their ids, and who of them carries what.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use chrono::{DateTime, Utc};
use selkie_channel_core::{AccountId, Channel, ConversationId, Inbound, PersonId, PlaceId};

use crate::delivery::account::{Account, ChannelState};
use selkie_domain::task::Lane;

/// The accounts of this daemon, as they are now: a reload of the config changes them.
#[derive(Default)]
pub struct Accounts {
    all: RwLock<HashMap<AccountId, Arc<Account>>>,
    /// One that is gone by now has worked.
    worked: AtomicBool,
}

impl Accounts {
    /// Listens to somebody on every channel from now on: an id is of one platform.
    pub fn let_in(&self, person: &PersonId) {
        self.all().for_each(|account| account.let_in(person));
    }

    /// Listens to somebody no more, unless the config says so.
    pub fn shut_out(&self, person: &PersonId) {
        self.all().for_each(|account| account.shut_out(person));
    }

    /// One account for each channel.
    pub fn of_channels(channels: impl IntoIterator<Item = Channel>) -> Self {
        let account = |channel: Channel| (channel.account.clone(), Arc::new(Account::new(channel)));
        let all = RwLock::new(channels.into_iter().map(account).collect());
        Self { all, worked: AtomicBool::new(false) }
    }

    /// The same accounts, and one for each of these channels.
    pub fn and(&self, channels: impl IntoIterator<Item = Channel>) -> Self {
        let more = Self::of_channels(channels);
        self.all().for_each(|account| more.put(account));
        more
    }

    /// Returns the account of a conversation; `None` when its channel is no longer configured.
    pub fn of(&self, conversation: &ConversationId) -> Option<Arc<Account>> {
        self.get(conversation.account())
    }

    /// Returns the place that a conversation belongs to: the same for every thread of it.
    pub fn place(&self, conversation: &ConversationId) -> PlaceId {
        match self.of(conversation) {
            Some(account) => account.channel.address.place(conversation),
            None => PlaceId::new(conversation.account().clone(), conversation.key()),
        }
    }

    /// Returns the account with this id.
    pub fn get(&self, id: &AccountId) -> Option<Arc<Account>> {
        self.read(|all| all.get(id).map(Arc::clone))
    }

    /// Lists the ids.
    pub fn ids(&self) -> impl Iterator<Item = AccountId> {
        self.read(|all| all.keys().cloned().collect::<Vec<_>>()).into_iter()
    }

    /// Lists the accounts.
    pub fn all(&self) -> impl Iterator<Item = Arc<Account>> + Clone + use<> {
        self.read(|all| all.values().map(Arc::clone).collect::<Vec<_>>()).into_iter()
    }

    /// Reads a conversation as whichever channel knows it by that name.
    pub fn parse(&self, text: &str) -> Option<ConversationId> {
        self.all().find_map(|account| account.channel.address.parse(text))
    }

    /// Returns the public conversation with this key.
    pub fn public(&self, key: &str) -> Option<ConversationId> {
        let mut public: Vec<_> =
            self.all().filter(|account| account.channel.posting.is_some()).collect();
        public.sort_by(|a, b| a.channel.account.cmp(&b.channel.account));
        public.iter().find_map(|account| account.channel.address.parse(key))
    }

    /// Returns the private conversation with a person.
    pub fn private(&self, person: &PersonId) -> Option<ConversationId> {
        self.parse(person.as_str())
    }

    /// Whether a person of the platform wrote it themselves, and not a chat or somebody unknown.
    pub fn is_person(&self, inbound: &Inbound) -> bool {
        let account = self.of(&inbound.conversation);
        account.is_some_and(|account| account.channel.address.is_person(&inbound.speaker.id))
    }

    /// Whether this process answers in a lane: what waits for a channel that is not here waits for a
    /// process that has it, as its parts do.
    pub fn carries(&self, lane: &Lane) -> bool {
        lane.account().is_none() || self.of_lane(lane).is_some_and(|account| !account.is_leaving())
    }

    /// Returns the account in whose name a lane's tasks are answered.
    pub fn of_lane(&self, lane: &Lane) -> Option<Arc<Account>> {
        lane.account().and_then(|account| self.get(&AccountId::new(account)))
    }

    /// Tells how every channel stands, in order of their accounts.
    pub fn states(&self, now: DateTime<Utc>) -> Vec<ChannelState> {
        let mut states: Vec<_> = self.all().map(|account| account.state(now)).collect();
        states.sort_by(|a, b| a.account.cmp(&b.account));
        states
    }

    /// Carries an account from now on, in the place of the one with its id.
    pub fn put(&self, account: Arc<Account>) {
        let id = account.channel.account.clone();
        self.write(|all| all.insert(id, account));
    }

    /// Carries an account no more; `false` when another has taken its place.
    pub fn let_go(&self, account: &Arc<Account>) -> bool {
        let id = &account.channel.account;
        self.worked.fetch_or(account.has_worked(), Ordering::Relaxed);
        self.write(|all| {
            let is_here = all.get(id).is_some_and(|here| Arc::ptr_eq(here, account));
            if is_here {
                all.remove(id);
            }
            is_here
        })
    }

    /// Whether one that is not carried any more has worked.
    pub fn has_worked_before(&self) -> bool {
        self.worked.load(Ordering::Relaxed)
    }

    fn read<T>(&self, read: impl FnOnce(&HashMap<AccountId, Arc<Account>>) -> T) -> T {
        read(&self.all.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn write<T>(&self, write: impl FnOnce(&mut HashMap<AccountId, Arc<Account>>) -> T) -> T {
        write(&mut self.all.write().unwrap_or_else(PoisonError::into_inner))
    }
}
