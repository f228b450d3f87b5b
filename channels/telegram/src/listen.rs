//! The durable long poll: a batch is stored with its cursor, and only then the next poll acknowledges it.

use std::time::Duration;

use chrono::DateTime;
use selkie_channel_core::hash::fnv;
use selkie_channel_core::http::{Fault, Refusal};
use selkie_channel_core::{AccountId, Cursor, Inbound, Inbox, ListenEnd, Pulse};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use crate::api::{Answer, Api, CALL_LIMIT, ClientFactory};
use crate::hear::{self, Frame};
use crate::refusal::{Kind, kind};
use crate::whoami::Whoami;
use selkie_channel_core::Pauses;

/// How much longer than the poll itself the client waits.
const GRACE: Duration = Duration::from_secs(15);
/// Without a completed poll for so long the client is built anew.
const STALL: Duration = Duration::from_secs(120);
/// After a quiet week Telegram numbers updates anew, perhaps lower: an old offset is not sent.
const STALE: Duration = Duration::from_secs(6 * 24 * 3600);
/// The most that Telegram gives at once.
const BATCH: u32 = 100;
const KINDS: [&str; 4] = ["message", "edited_message", "callback_query", "my_chat_member"];
/// A token that was taken before and is refused so often in a row is refused for good: until then it may
/// be trouble on Telegram's side or before it.
const REFUSALS: u32 = 3;
/// A poll that waits for nothing must not spin: so many empty answers at once, then a breath.
const INSTANT: Duration = Duration::from_millis(50);
const INSTANT_EMPTY: u32 = 5;
const BREATH: Duration = Duration::from_millis(200);

/// What a poller needs.
pub struct Listener<'a> {
    /// Whose updates.
    pub account: &'a AccountId,
    /// Opens new connections.
    pub line: &'a ClientFactory,
    /// Who the bot is.
    pub whoami: &'a Whoami,
    /// Where batches go.
    pub inbox: &'a dyn Inbox,
    /// How long one poll waits.
    pub poll: Duration,
    /// How long to wait after failures.
    pub pauses: Pauses,
}

/// Listens until the credential is refused: at once before the first poll was answered, else when it is
/// refused again and again.
pub async fn listen(listener: Listener<'_>, api: Api) -> ListenEnd {
    let mut poller = Poller {
        listener,
        api,
        offset: None,
        completed: Instant::now(),
        filled: Instant::now(),
        fails: 0,
        refusals: 0,
        was_taken: false,
        batch: BATCH,
        instant_empty: 0,
        unnumbered: 0,
    };
    poller.start().await;
    loop {
        match poller.round().await {
            Ok(()) => {
                (poller.fails, poller.refusals) = (0, 0);
                poller.more();
            }
            Err(trouble) => {
                poller.fails = poller.fails.saturating_add(1);
                if let Some(end) = poller.handle(trouble).await {
                    return end;
                }
            }
        }
    }
}

struct Poller<'a> {
    listener: Listener<'a>,
    api: Api,
    /// The next update's number; sending it acknowledges all before it.
    offset: Option<i64>,
    /// When a poll was last completed.
    completed: Instant,
    /// When a poll last brought updates.
    filled: Instant,
    fails: u32,
    /// How often in a row the token was refused.
    refusals: u32,
    /// A poll was answered: the token is a good one.
    was_taken: bool,
    /// So many updates are asked for: fewer after a failure, for their answer may have been too long.
    batch: u32,
    instant_empty: u32,
    /// The hash of the updates without numbers that were told of last.
    unnumbered: u64,
}

enum Trouble {
    Platform(Fault),
    /// No update of a batch has a number: none can be acknowledged.
    Unnumbered,
    /// Nothing was stored: nothing may be acknowledged.
    Inbox(String),
}

impl Poller<'_> {
    /// Takes up the stored cursor, waiting for a store that cannot be read.
    async fn start(&mut self) {
        loop {
            match self.listener.inbox.cursor(self.listener.account).await {
                Ok(Some((cursor, age))) if age < STALE => {
                    self.offset = cursor.value.parse().ok();
                    return;
                }
                Ok(_) => return,
                Err(broken) => {
                    self.fails = self.fails.saturating_add(1);
                    tracing::warn!(error = %broken, "waiting for the inbox before the first poll");
                    self.rest(self.listener.pauses.after(self.fails)).await;
                }
            }
        }
    }

    /// Waits, and says for how long it will be still.
    async fn rest(&self, pause: Duration) {
        self.pulse(Pulse::Turns(pause));
        sleep(pause).await;
    }

    fn pulse(&self, pulse: Pulse) {
        self.listener.inbox.pulse(self.listener.account, pulse);
    }

    async fn round(&mut self) -> Result<(), Trouble> {
        if self.filled.elapsed() >= STALE {
            self.offset = None;
        }
        let begun = Instant::now();
        let limit = self.listener.poll + GRACE;
        self.pulse(Pulse::Turns(limit));
        let answer = self.api.call("getUpdates", &self.params(), limit).await;
        let answer = answer.map_err(Trouble::Platform)?;
        let updates = serde_json::from_str::<Vec<Box<RawValue>>>(answer.result.get());
        let updates = updates.map_err(|e| {
            Trouble::Platform(Fault::Unclear(format!("getUpdates answered no list: {e}")))
        })?;
        self.completed = Instant::now();
        self.was_taken = true;
        self.pulse(Pulse::Heard);
        if updates.is_empty() {
            self.breathe(begun).await;
            return Ok(());
        }
        self.filled = Instant::now();
        let before = self.offset;
        self.store(&answer, &updates).await?;
        if self.offset == before {
            // The same again, whatever was acknowledged.
            self.breathe(begun).await;
        } else {
            self.instant_empty = 0;
        }
        Ok(())
    }

    fn params(&self) -> Value {
        let mut params = json!({
            // The first is answered at once: it proves that the bot hears, which a quiet one would prove much later.
            "timeout": if self.was_taken { self.listener.poll.as_secs() } else { 0 },
            "limit": self.batch,
            "allowed_updates": KINDS,
        });
        if let Some(offset) = self.offset {
            params["offset"] = json!(offset);
        }
        params
    }

    /// Stores the batch with its cursor; moves on only when that is done.
    async fn store(&mut self, answer: &Answer, updates: &[Box<RawValue>]) -> Result<(), Trouble> {
        let me = self.listener.whoami.get().await;
        let received = answer.date.unwrap_or(DateTime::UNIX_EPOCH);
        let frame = Frame { account: self.listener.account, me: &me, received };
        let redactor = &self.listener.line.http.redactor;
        let batch: Vec<Inbound> =
            updates.iter().map(|raw| hear::read(raw.get(), redactor, frame)).collect();
        let last = updates.iter().filter_map(|raw| hear::update_id(raw.get())).max();
        self.tell_unnumbered(updates);
        let next = last.map(|id| id.saturating_add(1));
        let account = self.listener.account.clone();
        let cursor = next.map(|next| Cursor { account, value: next.to_string() });
        let count = batch.len();
        let stored = self.listener.inbox.accept(batch, cursor).await;
        stored.map_err(|broken| Trouble::Inbox(broken.to_string()))?;
        tracing::debug!(count, next, "stored a batch of updates");
        self.offset = next.or(self.offset);
        match next {
            Some(_) => Ok(()),
            None => Err(Trouble::Unnumbered),
        }
    }

    /// Says once of updates that they have no number; they are stored as they came, so their words stand in no log.
    fn tell_unnumbered(&mut self, updates: &[Box<RawValue>]) {
        let raw = updates.iter().map(|raw| raw.get());
        let without: Vec<&str> = raw.filter(|raw| hear::update_id(raw).is_none()).collect();
        let hash = fnv(without.concat().as_bytes());
        if !without.is_empty() && hash != self.unnumbered {
            self.unnumbered = hash;
            let count = without.len();
            let of = updates.len();
            tracing::error!(
                count,
                of,
                "updates came without a number: those that are messages are taken by their own number"
            );
        }
    }

    /// Asks for more at once: this answer came whole.
    fn more(&mut self) {
        self.batch = (self.batch * 2).min(BATCH);
    }

    async fn breathe(&mut self, begun: Instant) {
        let instant = begun.elapsed() < INSTANT;
        self.instant_empty = if instant { self.instant_empty.saturating_add(1) } else { 0 };
        if self.instant_empty > INSTANT_EMPTY {
            sleep(BREATH).await;
        }
    }

    async fn handle(&mut self, trouble: Trouble) -> Option<ListenEnd> {
        match trouble {
            Trouble::Inbox(error) => {
                tracing::error!(error, "updates are not acknowledged: the inbox cannot store them");
            }
            Trouble::Platform(Fault::Refused(refusal)) => match kind(&refusal) {
                Kind::Token => {
                    self.refusals += 1;
                    if !self.was_taken || self.refusals >= REFUSALS {
                        return Some(ListenEnd::Refused(refused(&refusal)));
                    }
                    let code = refusal.status;
                    let error = &refusal.words;
                    tracing::warn!(
                        code,
                        error,
                        "the token was refused, although it was accepted before"
                    );
                    self.rest(self.listener.pauses.after(self.refusals + 3)).await;
                }
                Kind::Conflict => self.conflict(&refusal).await,
                Kind::Limited => {
                    let asked = refusal.retry_after.unwrap_or_default();
                    let wait = Pauses::asked(asked);
                    tracing::warn!(?asked, ?wait, "Telegram asks us to poll more slowly");
                    self.rest(wait).await;
                }
                _ => {
                    tracing::warn!(
                        code = refusal.status,
                        error = refusal.words,
                        "a poll was refused"
                    )
                }
            },
            // Fewer would be those in front, which stay there, and hide what is behind them. Ask again, but not at once.
            Trouble::Unnumbered => {
                self.grumble("no update has a number");
                self.more();
            }
            Trouble::Platform(Fault::NotSent(why) | Fault::Unclear(why)) => {
                self.grumble(&why);
                self.batch = (self.batch / 4).max(1);
                if self.completed.elapsed() >= STALL {
                    self.reconnect();
                }
            }
        }
        self.rest(self.listener.pauses.after(self.fails)).await;
        None
    }

    /// Says that a poll failed: loudly at first and now and then, so that an outage fills no log.
    fn grumble(&self, error: &str) {
        let fails = self.fails;
        if fails <= 3 || fails.is_multiple_of(20) {
            tracing::warn!(error, fails, "a poll failed; trying again");
        } else {
            tracing::debug!(error, fails, "a poll failed; trying again");
        }
    }

    /// 409: a webhook stands in the way, or another poller has our token. Neither ends the listening.
    async fn conflict(&mut self, refusal: &Refusal) {
        let inbox = self.listener.inbox;
        let account = self.listener.account;
        if refusal.words.to_lowercase().contains("webhook") {
            let removed = self.api.call("deleteWebhook", &json!({}), CALL_LIMIT).await;
            tracing::warn!(removed = removed.is_ok(), "a webhook was set for this bot");
            inbox.notice(account, "telegram-webhook", WEBHOOK).await;
            return;
        }
        tracing::warn!(error = refusal.words, "another poller uses this token");
        inbox.notice(account, "telegram-conflict", CONFLICT).await;
        self.reconnect();
    }

    /// New client, new connections: a half-dead one may collide or stay silent for ever.
    fn reconnect(&mut self) {
        match self.listener.line.open() {
            Ok(api) => {
                self.api = api;
                self.completed = Instant::now();
                tracing::info!("opened new connections to Telegram");
            }
            Err(error) => tracing::error!(error, "kept the old connections"),
        }
    }
}

const CONFLICT: &str = "Another program polls Telegram with this bot's token, so messages may go \
    there. Stop the other one, or give it a token of its own. I keep trying.";
const WEBHOOK: &str = "A webhook was set for this bot, so Telegram sent messages there. I removed \
    the webhook and poll now. If another program set it, give that one a token of its own.";

fn refused(refusal: &Refusal) -> String {
    format!(
        "Telegram refuses the bot's token ({} {}). Ask @BotFather for the right token, put it into \
         telegram.bot_token_file or telegram.bot_token, check telegram.base_url, and start again.",
        refusal.status, refusal.words
    )
}
