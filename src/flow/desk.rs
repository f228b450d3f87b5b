//! What every part of flow needs: the ledger, the accounts, the time, and how trouble is told.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use selkie_channel_core::{
    AccountId, Audience, Body, ConversationId, Inbound, MessageRef, Outbound, PersonId, PlaceId,
    Redactor, ReplyWindow,
};
use tokio::sync::{Notify, watch};
use tokio_util::task::TaskTracker;

use crate::domain::chance::Chance;
use crate::domain::clock::SharedClock;
use crate::domain::crash::Crash;
use crate::domain::happening::Happenings;
use crate::domain::ids::{Boot, TaskId};
use crate::domain::span::Span;
use crate::domain::task::Lane;
use crate::flow::account::{Account, ChannelState};
use crate::flow::health::Health;
use crate::flow::limits::Limits;
use crate::flow::listen::Pauses;
use crate::flow::policy::Policy;
use crate::flow::post::{Letterbox, Post};
use crate::flow::settings::Settings;
use crate::flow::spool::Spool;
use crate::flow::standings::Standings;
use crate::flow::terminal::Terminal;
use crate::flow::workspace::Workspaces;
use crate::flow::{Parts, Stop, terminal, words};
use crate::store::{Draft, Ledger, Queued, StoreError};
use crate::tools::paths::Ours;
use crate::tools::ports::Pictures;
use crate::tools::shell::Processes;

/// How long after its promised life a right to answer is worth trying.
const WORTH_TRYING: TimeDelta = TimeDelta::minutes(20);

/// What every part of flow needs.
pub(super) struct Desk {
    pub(super) ledger: Arc<dyn Ledger>,
    pub(super) settings: Settings,
    pub(super) clock: SharedClock,
    pub(super) chance: Arc<dyn Chance>,
    pub(super) crash: Arc<Crash>,
    pub(super) happenings: Happenings,
    pub(super) boot: Boot,
    pub(super) owners: Vec<PersonId>,
    pub(super) accounts: HashMap<AccountId, Arc<Account>>,
    pub(super) post: Post,
    pub(super) standings: Standings,
    /// Rights to answer that taps brought before the answer was there, by the task.
    pub(super) late: Mutex<HashMap<TaskId, ReplyWindow>>,
    /// Rung when held answers should be looked at.
    pub(super) held: Notify,
    pub(super) spool: Spool,
    pub(super) health: Health,
    pub(super) tracker: TaskTracker,
    pub(super) stop: Stop,
    pub(super) state_dir: PathBuf,
    pub(super) cache_dir: PathBuf,
    pub(super) ours: Ours,
    pub(super) redactor: Redactor,
    pub(super) processes: Arc<Processes>,
    /// The model sees: where pictures of people are made ready for it.
    pub(super) sees: Option<Arc<dyn Pictures>>,
    /// Rung when a task was woken by what became of a delivery.
    pub(super) woken: Notify,
    /// Limits that are reached.
    pub(super) limits: Limits,
    pub(super) version: &'static str,
    /// How long a platform that refuses is left alone.
    pub(super) pauses: Pauses,
    /// Why no channel will ever work, when that is so.
    pub(super) hopeless: watch::Sender<Option<String>>,
}

impl Desk {
    /// Puts the shared part together, and a letterbox for each account's courier.
    pub(super) fn of(
        parts: Parts,
        terminal: &Arc<Terminal>,
    ) -> (Arc<Self>, HashMap<AccountId, Letterbox>) {
        let channels = parts.channels.into_iter().chain([terminal.channel()]);
        let accounts: HashMap<_, _> = channels
            .map(|channel| (channel.account.clone(), Arc::new(Account::new(channel))))
            .collect();
        let (post, letterboxes) = Post::for_accounts(accounts.keys().cloned());
        let now = parts.clock.now();
        let desk = Self {
            ledger: parts.ledger,
            settings: parts.settings,
            clock: parts.clock,
            chance: parts.chance,
            crash: parts.crash,
            happenings: parts.happenings,
            boot: parts.boot,
            owners: parts.owners,
            accounts,
            post,
            late: Mutex::default(),
            standings: Standings::default(),
            held: Notify::new(),
            spool: Spool::below(&parts.cache_dir),
            health: Health::default(),
            limits: Limits::new(now),
            tracker: TaskTracker::new(),
            stop: Stop::default(),
            state_dir: parts.state_dir,
            cache_dir: parts.cache_dir,
            ours: parts.ours,
            redactor: parts.redactor,
            processes: parts.processes,
            sees: parts.sees,
            woken: Notify::new(),
            version: parts.version,
            pauses: Pauses::default(),
            hopeless: watch::Sender::new(None),
        };
        (Arc::new(desk), letterboxes)
    }

    /// Returns what decides about workspaces.
    pub(super) fn workspaces(&self) -> Workspaces {
        Workspaces {
            settings: self.settings.workspace.clone(),
            state_dir: self.state_dir.clone(),
            cache_dir: self.cache_dir.clone(),
            ours: self.ours.clone(),
        }
    }

    /// Returns the account of a conversation; `None` when its channel is not configured any more.
    pub(super) fn account(&self, conversation: &ConversationId) -> Option<&Arc<Account>> {
        self.accounts.get(conversation.account())
    }

    /// Whether this process answers in a lane: what waits for a channel that is not here waits for a
    /// process that has it, as its parts do.
    pub(super) fn carries(&self, lane: &Lane) -> bool {
        lane.account().is_none_or(|account| self.accounts.contains_key(&AccountId::new(account)))
    }

    /// Reads the rules of an account as they are now.
    pub(super) fn policy<T>(&self, account: &Account, read: impl FnOnce(&Policy<'_>) -> T) -> T {
        account.with_allowed(|allow| {
            read(&Policy {
                owners: &self.owners,
                allow,
                groups: &self.settings.groups,
                record_untriggered: self.settings.record_untriggered,
                debounce: self.settings.debounce,
                while_busy: self.settings.while_busy,
                mode: self.settings.group_trigger_mode,
                address: &*account.channel.address,
                now: self.clock.now(),
            })
        })
    }

    /// Tells how every channel stands, in order of their accounts.
    pub(super) fn channel_states(&self) -> Vec<ChannelState> {
        let now = self.clock.now();
        let mut states: Vec<_> = self.accounts.values().map(|a| a.state(now)).collect();
        states.sort_by(|a, b| a.account.cmp(&b.account));
        states
    }

    /// Renders text for a conversation; it may use up `window`. `None` when it shows nothing or its
    /// channel is gone.
    pub(super) fn draft(
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
    pub(super) fn draft_of(&self, conversation: &ConversationId, body: Body) -> Option<Draft> {
        self.rendered(Outbound::new(conversation.clone(), body))
    }

    /// Renders something said. `None` when it shows nothing or its channel is gone.
    pub(super) fn rendered(&self, outbound: Outbound) -> Option<Draft> {
        let account = self.account(&outbound.conversation)?;
        let outbound = outbound.said(self.clock.now()).numbered(self.nonce());
        let parts = account.channel.mouth.render(&outbound);
        let expires_at = Some(after(self.clock.now(), self.settings.outbox.answer_expires));
        (!parts.is_empty()).then_some(Draft { outbound, parts, expires_at })
    }

    /// Renders an answer to a message; in a group it quotes the message.
    pub(super) fn draft_to(&self, inbound: &Inbound, markdown: &str) -> Option<Draft> {
        // Several may sit in one folder, as several speak in a group: who asked is who hears.
        let among_others =
            inbound.audience == Audience::Group || terminal::is_here(&inbound.conversation);
        let quote = among_others.then(|| inbound.message.clone()).flatten();
        self.draft(&inbound.conversation, markdown, quote, self.right([inbound]))
    }

    /// Returns the newest right to answer that these messages brought and that still lives.
    pub(super) fn window<'a>(
        &self,
        heard: impl IntoIterator<Item = &'a Inbound>,
    ) -> Option<ReplyWindow> {
        let now = self.clock.now();
        let windows = heard.into_iter().filter_map(|inbound| inbound.reply_window.as_ref());
        windows.filter(|window| window.until > now).max_by_key(|window| window.until).cloned()
    }

    /// Returns the newest right to answer that these messages brought, or the last one that may yet be
    /// taken though nobody promises it.
    pub(super) fn right<'a>(
        &self,
        heard: impl IntoIterator<Item = &'a Inbound>,
    ) -> Option<ReplyWindow> {
        let windows = heard.into_iter().filter_map(|inbound| inbound.reply_window.as_ref());
        let newest = windows.max_by_key(|window| window.until).cloned();
        newest.filter(|window| self.clock.now() < window.until + WORTH_TRYING)
    }

    /// The rights to answer that taps brought.
    pub(super) fn late(&self) -> MutexGuard<'_, HashMap<TaskId, ReplyWindow>> {
        self.late.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a number that sets one outbound apart from others that say the same.
    pub(super) fn nonce(&self) -> u64 {
        // 53 bits: what a fraction between 0 and 1 carries.
        (self.chance.unit() * (1u64 << 53) as f64) as u64
    }

    /// Whether the daemon ends: what runs may end, and no task is begun.
    pub(super) fn is_draining(&self) -> bool {
        self.stop.receivers.is_cancelled() || self.stop.work.is_cancelled()
    }

    /// Gives stored parts to the courier of their account.
    pub(super) fn send(&self, queued: Queued) {
        self.post.send(queued);
    }

    /// Says something once for ever under `key`; `true` when this was the once.
    pub(super) async fn say_once(self: &Arc<Self>, key: &str, draft: Draft) -> bool {
        let (desk, key) = (Arc::clone(self), key.to_owned());
        let said = async move {
            match desk.ledger.say_once(&key, draft).await {
                Ok(Some(queued)) => {
                    desk.send(queued);
                    true
                }
                Ok(None) => false,
                Err(error) => {
                    desk.trouble(&error);
                    false
                }
            }
        };
        self.to_the_end(said).await
    }

    /// Tells the first owner something in private, once a day for each `key`.
    pub(super) async fn notice(self: &Arc<Self>, key: &str, text: &str) {
        let day = self.clock.now().format("%Y-%m-%d");
        self.tell_owner(&format!("notice:{key}:{day}"), text).await;
    }

    /// Lets a place that goes on under another id keep its rights, and tells the owner, once for ever,
    /// which id belongs into the config.
    pub(super) async fn follow(self: &Arc<Self>, account: &Account, old: &PlaceId, new: &PlaceId) {
        if account.alias(old, new) {
            let text = words::moved(
                (account.channel.name, account.channel.allow_keys.places),
                old.key(),
                new.key(),
            );
            self.tell_owner(&format!("moved:{}:{}", old.full(), new.key()), &text).await;
        }
    }

    /// Tells the first owner something in private, once for ever under `key`.
    pub(super) async fn tell_owner(self: &Arc<Self>, key: &str, text: &str) {
        let owner = self.owners.first();
        let private = owner
            .and_then(|o| self.accounts.values().find_map(|a| a.channel.address.parse(o.as_str())));
        let text = self.redactor.clean(text);
        let Some(draft) = private.and_then(|c| self.draft(&c, &text, None, None)) else {
            tracing::warn!(key, "there is no owner to tell: {text} (add `owners` to the config)");
            return;
        };
        self.say_once(key, draft).await;
    }

    /// Notes what a verb of the store answered instead of doing it. A broken store is said once, and
    /// asked again until it takes writes.
    pub(super) fn trouble(self: &Arc<Self>, error: &StoreError) {
        if !matches!(error, StoreError::Broken(_)) {
            tracing::error!(%error, "the store refused a row");
            return;
        }
        if self.health.broke() {
            tracing::error!(%error, "nothing is acknowledged, run or sent until the store can write");
            let desk = Arc::clone(self);
            self.tracker.spawn(async move { desk.probe().await });
        }
    }

    /// Notes that the store took a write.
    pub(super) fn stored(&self) {
        if self.health.mended() {
            tracing::info!("the store can write again");
        }
    }

    /// Repeats a verb until the store takes it. `None` when the daemon stops first, or when the row
    /// is a defect that no repetition mends.
    pub(super) async fn insist<T, F, V>(self: &Arc<Self>, mut verb: F) -> Option<T>
    where
        F: FnMut() -> V,
        V: Future<Output = Result<T, StoreError>>,
    {
        loop {
            match verb().await {
                Ok(done) => return Some(done),
                Err(error @ StoreError::Broken(_)) => self.trouble(&error),
                Err(error) => {
                    self.trouble(&error);
                    return None;
                }
            }
            tokio::select! {
                () = self.health.whole() => {}
                () = self.stop.work.cancelled() => return None,
            }
        }
    }

    async fn probe(&self) {
        let mut wait = Duration::from_millis(500);
        while !self.health.is_whole() {
            tokio::select! {
                () = tokio::time::sleep(wait) => {}
                () = self.stop.work.cancelled() => return,
            }
            wait = (wait * 2).min(Duration::from_secs(30));
            if self.ledger.healthy().await.is_ok() {
                self.stored();
            }
        }
    }
}

/// Returns the moment `span` after `now`; the far future when the calendar ends before.
pub(super) fn after(now: DateTime<Utc>, span: Span) -> DateTime<Utc> {
    TimeDelta::from_std(span.0)
        .ok()
        .and_then(|d| now.checked_add_signed(d))
        .unwrap_or(DateTime::<Utc>::MAX_UTC)
}

/// Returns how long it is from `now` to `at`; zero when that is past.
pub(super) fn until(at: DateTime<Utc>, now: DateTime<Utc>) -> Duration {
    (at - now).to_std().unwrap_or(Duration::ZERO)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::testing;

    #[test]
    fn the_newest_right_to_answer_that_still_lives_is_taken() {
        let desk = testing::desk().desk;
        let now = desk.clock.now();
        let with = |token: &str, seconds| {
            let window = ReplyWindow {
                token: token.to_owned(),
                until: now + TimeDelta::seconds(seconds),
                calls: 1,
                hold_at: None,
            };
            Inbound { reply_window: Some(window), ..testing::message("tg:1", "hi") }
        };
        let token = |heard: &[Inbound]| desk.window(heard).map(|window| window.token);
        let heard = [with("older", 5), with("newest", 9), testing::message("tg:1", "none")];
        assert_eq!(token(&heard).as_deref(), Some("newest"));
        assert_eq!(token(&[with("dead", -1)]), None);
        let draft = desk.draft_to(&with("live", 9), "hello").unwrap();
        assert_eq!(draft.outbound.reply_window.unwrap().token, "live");
    }
}
