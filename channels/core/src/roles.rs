//! The narrow roles a channel plays: receiver, sender, address.

use std::time::Duration;

use async_trait::async_trait;
use tokio::io::AsyncWrite;
use tokio_util::sync::CancellationToken;

use crate::{
    AccountId, Attachment, ConversationId, CredentialCheck, Delivery, ExaminationReport, Examine,
    Features, Inbound, Lookup, MessageRef, Outbound, Part, PersonId, PlaceId, Quote,
};

/// Hears a platform.
#[async_trait]
pub trait Receiver: Send + Sync {
    /// Listens until `stop`, handing every event to `inbox` and acknowledging it only after
    /// [`Inbox::accept`] returned. Survives every fault but a refused credential. Is called again, minutes later,
    /// when it returned without being asked to.
    async fn listen(&self, inbox: &dyn Inbox, stop: CancellationToken) -> ListenEnd;

    /// Tells the platform the bot's commands, where its apps offer them to people. Asked once after each
    /// start, beside the listening; they work without.
    ///
    /// # Errors
    /// In words for a log: what failed; never holds a secret.
    async fn offer(&self, commands: &[OfferedCommand]) -> Result<(), String> {
        let _ = commands;
        Ok(())
    }

    /// Lists the public addresses (https) at which the platform reaches the bot; none where the bot goes to the platform.
    /// Asked seldom.
    ///
    /// # Errors
    /// When the platform does not tell, in words for a log; never holds a secret.
    async fn reached_at(&self) -> Result<Vec<String>, String> {
        Ok(Vec::new())
    }

    /// Streams an attachment into `sink`, at most `max_bytes` of it.
    ///
    /// # Errors
    /// In words for a person: what failed and what can be done; never holds a secret.
    async fn fetch(
        &self,
        attachment: &Attachment,
        max_bytes: u64,
        sink: Sink<'_>,
    ) -> Result<u64, String>;

    /// Fetches what was said in a conversation before `before` (see [`Inbound::order`]): the newest
    /// `limit` messages, oldest first, with the one that began it; for one that begins with `before` what
    /// was said around it, where it is not the whole place. Nothing where the platform tells nothing, and
    /// without asking it when nothing can be there. What failed is asked again, within seconds.
    ///
    /// # Errors
    /// When nothing was to be had, in words for a log: what failed and what can be done; never holds a
    /// secret.
    async fn backfill(
        &self,
        conversation: &ConversationId,
        before: i64,
        limit: usize,
    ) -> Result<Earlier, String> {
        let _ = (conversation, before, limit);
        Ok(Earlier::default())
    }
}

/// A command that people may be offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OfferedCommand {
    /// Without the slash: lower-case letters, digits and `_`.
    pub name: &'static str,
    /// What it does, in a few words.
    pub help: &'static str,
    /// It makes sense in groups, too.
    pub in_groups: bool,
}

/// What was said before.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Earlier {
    /// The lines, oldest first.
    pub lines: Vec<Inbound>,
    /// Why some of them are missing, in words for a log; never holds a secret.
    pub missing: Option<String>,
}

/// Where an attachment's bytes go.
pub type Sink<'a> = &'a mut (dyn AsyncWrite + Send + Unpin);

/// Why listening ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListenEnd {
    /// The daemon asked for it.
    Stopped,
    /// The platform refuses this credential for sure, and says so itself, or the address where it would be heard
    /// is taken: the daemon tells the owner and listens again some minutes later. In words: what was refused and
    /// what to do.
    Refused(String),
}

/// Where receivers put what they hear.
#[async_trait]
pub trait Inbox: Send + Sync {
    /// Stores a batch and the cursor behind it in one transaction. May only be acknowledged to the
    /// platform when this returned `Ok`.
    ///
    /// # Errors
    /// When nothing was stored (disk full, read-only): do not acknowledge, wait, ask again.
    async fn accept(&self, batch: Vec<Inbound>, cursor: Option<Cursor>) -> Result<(), InboxBroken>;

    /// Returns the account's cursor and how long ago it moved.
    ///
    /// # Errors
    /// When the store cannot be read.
    async fn cursor(&self, account: &AccountId) -> Result<Option<(Cursor, Duration)>, InboxBroken>;

    /// Returns what is stored of a message that somebody quotes, ours or heard: for platforms whose quotes
    /// bring an id alone. Nothing where nothing is stored of it.
    ///
    /// # Errors
    /// When the store cannot be read.
    async fn quoted(
        &self,
        conversation: &ConversationId,
        message: &MessageRef,
    ) -> Result<Option<Quote>, InboxBroken> {
        let _ = (conversation, message);
        Ok(None)
    }

    /// Tells the owner something once: the same `key` is said once per day at most.
    async fn notice(&self, account: &AccountId, key: &str, text: &str);

    /// Notes a sign of life of the receiver.
    fn pulse(&self, account: &AccountId, pulse: Pulse);
}

/// A sign of life of a receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pulse {
    /// A round trip with the platform was completed just now (proof of receipt).
    Heard,
    /// Its loop turns, whatever the platform does, and turns again within this time.
    Turns(Duration),
}

/// The platform's position in its stream of events (Telegram's next `offset`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cursor {
    /// Whose stream.
    pub account: AccountId,
    /// In the channel's own words.
    pub value: String,
}

/// Nothing was stored.
#[derive(Clone, Debug, thiserror::Error)]
#[error("the inbox cannot store: {0}")]
pub struct InboxBroken(pub String);

/// What it comes to that the bot speaks where nobody has just spoken to it. Reasons are in words for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UnpromptedCost {
    /// Nothing.
    Free,
    /// The platform counts each message as so many, of a number that is paid for by the month.
    Counted(u64),
    /// They are used up for now, and why.
    Spent(String),
    /// The bot does not do it, and why.
    Never(String),
}

/// Speaks on a platform.
#[async_trait]
pub trait Sender: Send + Sync {
    /// Turns what is said into platform calls, in order. Pure: no I/O, no clock. Never empty for a
    /// body that has something to show; every text part has a plain fallback proven to fit.
    fn render(&self, outbound: &Outbound) -> Vec<Part>;

    /// Makes one call.
    async fn deliver(&self, part: &Part) -> Delivery;

    /// Asks the platform whether an unclear part arrived. Platforms that cannot tell say `Unknown`.
    async fn lookup(&self, part: &Part) -> Lookup;

    /// Returns the part with a visible mark that it may stand there twice; unchanged where nothing may be
    /// repeated on a doubt.
    fn marked(&self, part: &Part) -> Part;

    /// Tells what it comes to that the bot speaks in a conversation where nobody has just spoken to it. Where the
    /// platform does not answer, delivery finds out.
    async fn unasked(&self, conversation: &ConversationId) -> UnpromptedCost {
        let _ = conversation;
        UnpromptedCost::Free
    }

    /// Whether it keeps the platform's limits itself, because they are of methods: what of them is not for the whole
    /// account holds nothing else back then, in its place or elsewhere.
    fn keeps_limits(&self) -> bool {
        false
    }

    /// How long its own brake holds a call back, for what the platform has limited before: no call is made then, and no
    /// try is used up.
    fn held(&self, part: &Part) -> Option<Duration> {
        let _ = part;
        None
    }

    /// Whether it sends pictures of this machine ([`Body::Photo`](crate::Body::Photo)); else they are named in words.
    fn sends_pictures(&self) -> bool {
        false
    }

    /// Names the login by which it posts in public, and tells nothing of it; `None` where nothing is posted.
    fn login(&self) -> Option<String> {
        None
    }

    /// Asks for the platform's id of the account that posts in public; `None` where the platform does not tell.
    async fn posts_as(&self) -> Option<String> {
        None
    }

    /// Asks for the name that people know this account by: `@selkie`; `None` where the platform does not tell.
    async fn handle(&self) -> Option<String> {
        None
    }

    /// Asks the platform whether the credential is taken and what is in the way, for `selkie doctor`. It changes
    /// nothing there, sends nobody anything, and may be given up at any moment.
    async fn examine(&self, what: Examine<'_>) -> ExaminationReport {
        let _ = what;
        ExaminationReport::default()
    }

    /// Asks the platform alone whether it takes the credential, by its own "who am I": before a channel that works makes
    /// way for this one. It changes nothing there, and may be given up at any moment.
    async fn check_credential(&self) -> CredentialCheck {
        CredentialCheck::Unknown
    }

    /// Returns a part that follows another for the message which that one made. Asked before every
    /// attempt and look-up; doing it twice changes nothing.
    fn following(&self, part: &Part, _before: &MessageRef) -> Part {
        part.clone()
    }

    /// Returns the part for the place's new id. A channel whose calls name the place rewrites the
    /// call and its fallback too; for others the new conversation is enough.
    fn readdressed(&self, part: &Part, to: &PlaceId) -> Part {
        let conversation = ConversationId::new(to.account().clone(), to.key());
        Part { conversation, ..part.clone() }
    }
}

/// Reads and explains the platform's ids.
pub trait Address: Send + Sync {
    /// Reads what a person or a model wrote for a conversation (`-100123`, `tg:-100123`).
    fn parse(&self, text: &str) -> Option<ConversationId>;

    /// Tells what can be done in a conversation, from its id alone.
    fn features(&self, conversation: &ConversationId) -> Features;

    /// Whether a command that is given here is for the whole place, its threads too: `message` is the one that
    /// gave it, where it was one.
    fn covers(&self, conversation: &ConversationId, message: Option<&MessageRef>) -> bool {
        let _ = (conversation, message);
        false
    }

    /// Whether a command that reaches the bot can be meant for no other one: a wrong name is told then.
    fn owns_commands(&self) -> bool {
        false
    }

    /// Returns the longest text that people can send in one message, in UTF-16 units: apps send longer ones in pieces.
    /// `None` where they do not.
    fn longest_text(&self) -> Option<usize> {
        None
    }

    /// Whether this is the id of one person of the platform: a chat that speaks in its own name is none, and nor is
    /// somebody whom the platform does not tell.
    fn is_person(&self, speaker: &PersonId) -> bool {
        let _ = speaker;
        true
    }

    /// Returns the place that owns a conversation. A channel with several conversations in one place
    /// (topics, threads) reads it from the key; for others the key is the place's.
    fn place(&self, conversation: &ConversationId) -> PlaceId {
        PlaceId::new(conversation.account().clone(), conversation.key())
    }
}
