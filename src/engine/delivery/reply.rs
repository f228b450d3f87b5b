//! Speaks for tools into the conversation of their task: stored first, then sent, then answered for.

use std::ffi::OsStr;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use selkie_channel_core::{Body, ConversationId, Outbound, PlaceId, PostedBy};
use tokio::sync::watch;

use crate::delivery::checked;
use crate::delivery::messages;
use crate::delivery::moments::after;
use crate::delivery::month::month;
use crate::delivery::outbox::Outbox;
use crate::delivery::outgoing::NoCopy;
use crate::delivery::posts::{self, TOOLS_TURN};
use crate::delivery::rendered::rendered;
use crate::delivery::waiters;
use selkie_agent::prompt;
use selkie_domain::crash::CrashPoint;
use selkie_domain::facts::{Facts, Trigger, Where};
use selkie_domain::ids::OutboundId;
use selkie_domain::task::Claim;
use selkie_domain::transcript::Item;
use selkie_store::{DeliveryState, Draft, PostNotice, Relay, SayResult, TaskClaim};
use selkie_tools::ToolError;
use selkie_tools::ports::{Poster, RelayOutcome, RelayRequest, Reply, SayOutcome};

/// How long a tool waits for the platform's receipt.
const TIMEOUT: Duration = Duration::from_secs(20);

/// How long it may take a platform to tell who posts.
const ASKS: Duration = Duration::from_secs(5);
/// How long a tool waits for the receipt of a post, after it has asked who posts: together no longer than for a message.
const POST_TIMEOUT: Duration = Duration::from_secs(15);

/// The reply of one task.
pub struct TaskReply {
    outbox: Arc<Outbox>,
    claim: Claim,
    conversation: ConversationId,
    place: PlaceId,
    spoken: AtomicBool,
}

/// Something said, as far as it has come.
enum ReplyState {
    /// The delivery worker has it.
    Sent(OutboundId, watch::Receiver<DeliveryState>),
    /// It was said before.
    Known(OutboundId, DeliveryState),
}

impl TaskReply {
    pub(crate) fn new(outbox: Arc<Outbox>, claimed: &TaskClaim) -> Self {
        Self {
            outbox,
            claim: claimed.claim.clone(),
            conversation: claimed.conversation.clone(),
            place: claimed.place.clone(),
            spoken: AtomicBool::new(false),
        }
    }

    /// Whether anything was said through it that was not refused.
    pub fn has_spoken(&self) -> bool {
        self.spoken.load(Ordering::Relaxed)
    }

    fn draft(&self, conversation: ConversationId, body: Body) -> Result<Draft, ToolError> {
        let Some(account) = self.outbox.accounts.of(&conversation) else {
            return Err(ToolError::tell("this conversation's channel is no longer configured"));
        };
        // The right to answer, where there is one, belongs to the answer itself.
        let outbound = Outbound::new(conversation, body);
        let outbound =
            outbound.said(self.outbox.runtime.clock.now()).numbered(self.outbox.runtime.nonce());
        let parts = rendered(&account.channel, &outbound, &self.outbox.runtime.redactor);
        if parts.is_empty() {
            return Err(ToolError::tell("there is nothing in it that could be shown here"));
        }
        let expires = self.outbox.settings.now().outbox.answer_expires;
        Ok(Draft {
            outbound,
            parts,
            expires_at: Some(after(self.outbox.runtime.clock.now(), expires)),
            month: month(&account.channel, self.outbox.runtime.clock.now()),
        })
    }

    /// Stores what is said and gives it to the delivery worker; a call that is known finds what became of it. No part
    /// names the `copy` of a file when it was said before, or not at all. Done even when the call's time ends.
    async fn store(
        &self,
        call: &str,
        draft: Result<Draft, ToolError>,
        copy: Option<PathBuf>,
    ) -> Result<ReplyState, ToolError> {
        let public = draft.as_ref().is_ok_and(|draft| draft.month.is_some());
        let (outbox, claim, call) = (Arc::clone(&self.outbox), self.claim.clone(), call.to_owned());
        let stored = async move {
            let said = match draft {
                Ok(draft) => {
                    outbox.storage.ledger.say(&claim, &call, draft).await.map_err(|error| {
                        outbox.storage.trouble(&error);
                        ToolError::Abort(error.to_string())
                    })
                }
                Err(error) => Err(error),
            };
            if let Some(copy) = copy.filter(|_| !matches!(said, Ok(SayResult::New(_)))) {
                outbox.files.remove(&copy);
            }
            Ok(match said? {
                SayResult::New(queued) => {
                    outbox.runtime.crash.hit(CrashPoint::AfterSaid);
                    let (outbound, watch) =
                        (queued.outbound, outbox.waiters.watch(queued.outbound));
                    if public {
                        posts::follow(&outbox, outbound, TOOLS_TURN);
                    }
                    outbox.send(queued);
                    ReplyState::Sent(outbound, watch)
                }
                SayResult::Known(outbound, standing) => ReplyState::Known(outbound, standing),
                SayResult::Lost => {
                    return Err(ToolError::Abort("the claim of this task is lost".to_owned()));
                }
            })
        };
        self.outbox.runtime.to_the_end(stored).await
    }

    async fn outcome(&self, stored: ReplyState, within: Duration) -> Result<SayOutcome, ToolError> {
        let standing = match stored {
            ReplyState::Sent(_, mut watch) => {
                let settled = waiters::settled(&mut watch);
                tokio::time::timeout(within, settled).await.unwrap_or(DeliveryState::Open)
            }
            ReplyState::Known(_, standing) => standing,
        };
        let spoken = spoken(standing);
        if !matches!(spoken, SayOutcome::Refused(_)) {
            self.spoken.store(true, Ordering::Relaxed);
        }
        Ok(spoken)
    }
}

impl TaskReply {
    /// Writes what is said in another conversation, and what stands in the history there: on whose behalf, and the words.
    fn relay(&self, passing: RelayRequest) -> Result<Relay, ToolError> {
        let RelayRequest { to, text, by, person, trust, taint, .. } = passing;
        let text = self.outbox.runtime.redactor.clean(&text);
        let draft = self.draft(to.clone(), Body::Text { markdown: text.clone() })?;
        let features = self.outbox.accounts.of(&to).map(|a| a.channel.address.features(&to));
        let gone = || ToolError::tell("the channel of that conversation is no longer configured");
        let whose = person.as_ref().map(|person| prompt::person(&by, person.as_str()));
        let place = Where::Channel(features.ok_or_else(gone)?);
        let facts = Facts {
            taint: taint.written(),
            trigger: Trigger::Relayed,
            ..Facts::of(place, person, trust, self.outbox.runtime.clock.now())
        };
        let note = Item::Noted { text: messages::said_for(whose.as_deref()) };
        Ok(Relay { draft, facts, items: vec![note, Item::said(text, taint)] })
    }

    /// The tool tells what became of a post: nobody else does.
    async fn know(&self, outbound: OutboundId) {
        let ledger = &self.outbox.storage.ledger;
        if let Err(error) = ledger.tell_post(outbound, PostNotice::default()).await {
            self.outbox.storage.trouble(&error);
        }
    }
}

impl ReplyState {
    fn outbound(&self) -> OutboundId {
        match self {
            Self::Sent(outbound, _) | Self::Known(outbound, _) => *outbound,
        }
    }
}

#[async_trait]
impl Reply for TaskReply {
    async fn say(&self, call: &str, body: Body) -> Result<SayOutcome, ToolError> {
        let draft = self.draft(self.conversation.clone(), body);
        let stored = self.store(call, draft, None).await?;
        self.outcome(stored, TIMEOUT).await
    }

    async fn post(&self, call: &str, to: &str, body: Body) -> Result<SayOutcome, ToolError> {
        let nowhere = || ToolError::tell(format!("there is no account that posts to {to} now"));
        let to = self.outbox.accounts.public(to).ok_or_else(nowhere)?;
        let draft = self.draft(to, body);
        let stored = self.store(call, draft, None).await?;
        let outbound = stored.outbound();
        let spoken = self.outcome(stored, POST_TIMEOUT).await?;
        if spoken != SayOutcome::Queued {
            self.know(outbound).await;
        }
        Ok(spoken)
    }

    async fn pass(&self, passing: RelayRequest) -> Result<RelayOutcome, ToolError> {
        let key = passing.key.clone();
        let relay = self.relay(passing)?;
        let (outbox, claim) = (Arc::clone(&self.outbox), self.claim.clone());
        let stored = async move {
            let said = outbox.storage.ledger.relay(&claim, &key, relay).await;
            let said = said.map_err(|error| {
                outbox.storage.trouble(&error);
                ToolError::Abort(error.to_string())
            })?;
            Ok::<_, ToolError>(match said {
                SayResult::New(queued) => {
                    outbox.runtime.crash.hit(CrashPoint::AfterSaid);
                    let watch = outbox.waiters.watch(queued.outbound);
                    outbox.send(queued);
                    Ok(watch)
                }
                SayResult::Known(_, standing) => Err(standing),
                SayResult::Lost => {
                    return Err(ToolError::Abort("the claim of this task is lost".to_owned()));
                }
            })
        };
        Ok(match self.outbox.runtime.to_the_end(stored).await? {
            Ok(mut watch) => {
                let settled = waiters::settled(&mut watch);
                let standing = tokio::time::timeout(TIMEOUT, settled).await;
                let standing = standing.unwrap_or(DeliveryState::Open);
                RelayOutcome { spoken: spoken(standing), is_known: false }
            }
            Err(standing) => {
                let spoken = spoken(standing);
                // What was refused has reached nobody, whether it was tried before or not.
                let is_known = !matches!(spoken, SayOutcome::Refused(_));
                RelayOutcome { spoken, is_known }
            }
        })
    }

    async fn poster(&self, to: &str) -> Option<Poster> {
        let to = self.outbox.accounts.public(to)?;
        let account = self.outbox.accounts.of(&to)?;
        let login = account.channel.sender.login()?;
        let handle = tokio::time::timeout(ASKS, account.channel.sender.handle()).await;
        let known = handle.ok().flatten();
        Some(Poster { account: known.unwrap_or_else(|| to.account().as_str().to_owned()), login })
    }

    async fn posted_by(&self, to: &str) -> Option<PostedBy> {
        let to = self.outbox.accounts.public(to)?;
        let account = self.outbox.accounts.of(&to)?;
        let login = account.channel.sender.login()?;
        let asks = account.channel.sender.posts_as();
        let id = tokio::time::timeout(ASKS, asks).await.ok().flatten();
        Some(PostedBy { login, id })
    }

    async fn send(&self, call: &str, mut body: Body, file: File) -> Result<SayOutcome, ToolError> {
        let Some(path) = path_of(&mut body) else { return self.say(call, body).await };
        let outgoing = &self.outbox.files;
        let name = Path::new(&*path).file_name().and_then(OsStr::to_str).unwrap_or("file");
        let redactor = &self.outbox.runtime.redactor;
        // Where a file is shown by the name that it has, it is this one.
        let name = &*redactor.clean(name);
        let copy = outgoing.take(self.claim.task, name, file, redactor.search()).await.map_err(
            |none| {
                ToolError::tell(match none {
                    NoCopy::Secret => format!("refusing to send {name}: {}", checked::WHY),
                    NoCopy::Broken(error) => {
                        format!("the file could not be copied for sending: {error}")
                    }
                })
            },
        )?;
        *path = copy.to_string_lossy().into_owned();
        let draft = self.draft(self.conversation.clone(), body);
        let stored = self.store(call, draft, Some(copy)).await?;
        self.outcome(stored, TIMEOUT).await
    }

    fn is_here(&self, written: &str) -> Option<bool> {
        let account = self.outbox.accounts.of(&self.conversation)?;
        let named = account.channel.address.parse(written)?;
        let same_bot = named.account() == self.place.account();
        Some(named == self.conversation || (same_bot && named.key() == self.place.key()))
    }
}

/// Where the file of a body lies.
fn path_of(body: &mut Body) -> Option<&mut String> {
    match body {
        Body::File { path, .. }
        | Body::Photo { path, .. }
        | Body::Voice { path, .. }
        | Body::QuestionWithFile { path, .. } => Some(path),
        Body::Text { .. }
        | Body::Post(_)
        | Body::Reaction { .. }
        | Body::Question(_)
        | Body::Held(_)
        | Body::Status { .. }
        | Body::Revision { .. }
        | Body::Withdrawal { .. }
        | Body::TapAnswer { .. }
        | Body::Typing => None,
    }
}

fn spoken(standing: DeliveryState) -> SayOutcome {
    match standing {
        DeliveryState::Open => SayOutcome::Queued,
        DeliveryState::Delivered { message } => SayOutcome::Sent(message),
        DeliveryState::Partly { reason } | DeliveryState::Refused { reason } => {
            SayOutcome::Refused(reason)
        }
        DeliveryState::Unclear => SayOutcome::Unclear,
        DeliveryState::Cancelled => {
            SayOutcome::Refused("it was withdrawn before it was sent".to_owned())
        }
        DeliveryState::Expired => SayOutcome::Refused("it could not be sent in time".to_owned()),
    }
}
