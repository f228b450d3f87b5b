//! An answer while it is written: one message that is changed as far as the text has come, and that the whole answer
//! takes over.
//!
//! The message is noted before it is sent, so that a task that goes on after a crash takes it up. It holds the first
//! part of the answer and never a part of its own: what is said, is said by the outbox alone.

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use selkie_channel_core::{
    Body, ConversationId, Delivery, GrowingText, MessageRef, Outbound, Part, PersonId, locked,
};
use tokio::sync::{Notify, oneshot};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::delivery::account::Account;
use crate::delivery::doubt::{Doubt, LookupResult};
use crate::delivery::outbox::Outbox;
use crate::delivery::settings::StreamMode;
use crate::delivery::standing::{PreviewMessage, SentPreview, ShownText};
use crate::delivery::status_calls::{MAX_GAP, SOON, Stand, StatusCalls, Turn};
use selkie_domain::ids::TaskId;
use selkie_domain::written::TextProgress;
use selkie_store::{StatusChange, StatusNote, TaskClaim};

/// More than the first message of an answer holds on any platform, bytes.
const MAX_SHOWN: usize = 32 * 1024;
/// Stands behind what is not all.
const GOES_ON: &str = " …";

/// The answer of one task, as long as one claim of it lasts.
pub struct StreamedAnswer {
    shared: Arc<StreamState>,
}

struct StreamState {
    outbox: Arc<Outbox>,
    task: TaskId,
    conversation: ConversationId,
    quote: Option<MessageRef>,
    /// Who asked.
    reader: Option<PersonId>,
    /// It may be shown.
    is_wanted: bool,
    /// An earlier claim may have left a message.
    resumed: bool,
    state: Mutex<State>,
    bell: Notify,
    /// Somebody has stopped it where it is shown.
    stopped: CancellationToken,
}

#[derive(Default)]
struct State {
    /// As far as this answer of the model is written.
    text: String,
    /// How many pieces it came in.
    pieces: u32,
    /// When the first of them came.
    began: Option<Instant>,
    /// How many answers the model has begun.
    answers: u32,
    has_ended: bool,
    /// Tells where the message stands when nothing changes it any more.
    shows: Option<oneshot::Receiver<PreviewMessage>>,
}

/// What the end of a task finds of its answer.
pub struct StreamRemainder<'a> {
    answer: &'a StreamedAnswer,
    /// Where it stands.
    message: Option<MessageRef>,
    /// It may stand somewhere.
    doubt: Option<Doubt>,
    /// The answer may take its place: whoever reads it is still looking.
    is_looked_at: bool,
}

impl StreamedAnswer {
    /// Takes up a claimed task. Costs nothing until a model writes. `may`: people are to read along.
    pub fn of(
        outbox: &Arc<Outbox>,
        claimed: &TaskClaim,
        quote: Option<MessageRef>,
        may: bool,
    ) -> Self {
        let is_wanted = may && outbox.settings.now().progress.stream == StreamMode::Auto;
        let shared = StreamState {
            outbox: Arc::clone(outbox),
            task: claimed.claim.task,
            conversation: claimed.conversation.clone(),
            quote,
            reader: claimed.facts.speaker.clone(),
            is_wanted,
            resumed: claimed.attempts > 1 || !claimed.transcript.is_empty(),
            state: Mutex::default(),
            bell: Notify::new(),
            stopped: CancellationToken::new(),
        };
        Self { shared: Arc::new(shared) }
    }

    /// Takes what the model writes.
    pub fn wrote(&self, written: TextProgress<'_>) {
        if !self.shared.is_wanted {
            return;
        }
        let mut state = self.shared.state();
        match written {
            TextProgress::Begun => {
                (state.pieces, state.began) = (0, None);
                state.text.clear();
                state.answers += 1;
            }
            TextProgress::More(piece) => {
                state.pieces += 1;
                state.began.get_or_insert_with(Instant::now);
                if state.text.len() < MAX_SHOWN {
                    state.text.push_str(piece);
                }
                // One that comes in one piece is whole as soon as it can be shown.
                if state.pieces > 1 && state.shows.is_none() {
                    state.shows = self.shared.show();
                }
                drop(state);
                self.shared.bell.notify_one();
            }
        }
    }

    /// Waits until somebody stops it where it is shown.
    pub async fn stopped(&self) {
        self.shared.stopped.cancelled().await;
    }

    /// Returns what is written so far.
    pub fn text(&self) -> String {
        self.shared.state().text.trim_end().to_owned()
    }

    /// Ends it and tells what stands of it; waits for a call that is being made.
    pub async fn end(&self) -> StreamRemainder<'_> {
        let shows = {
            let mut state = self.shared.state();
            state.has_ended = true;
            state.shows.take()
        };
        self.shared.bell.notify_one();
        let standing = match shows {
            Some(shows) => shows.await.ok(),
            None if self.shared.resumed => self.shared.recalled().await,
            None => None,
        };
        let mut left =
            StreamRemainder { answer: self, message: None, doubt: None, is_looked_at: true };
        let (Some(mut standing), Some(account)) = (standing, self.shared.account()) else {
            return left;
        };
        standing.look_for(&self.shared.calls(&account)).await;
        left.is_looked_at = standing.is_looked_at(self.shared.state().answers);
        left.doubt = standing.doubt;
        if let Stand::At(message) = standing.stand {
            left.message = Some(message);
        }
        left
    }
}

impl Drop for StreamedAnswer {
    /// What is noted is taken up by the next claim, or taken away at the next start.
    fn drop(&mut self) {
        self.shared.state().has_ended = true;
        self.shared.bell.notify_one();
    }
}

impl StreamRemainder<'_> {
    /// The message that the answer takes over.
    pub fn over(&self) -> Option<MessageRef> {
        self.message.clone().filter(|_| self.is_looked_at)
    }

    /// Takes away what the answer did not take over.
    pub fn withdraw(self) {
        let Self { answer, message, doubt, .. } = self;
        if message.is_none() && doubt.is_none() {
            return;
        }
        let shared = Arc::clone(&answer.shared);
        shared.outbox.runtime.tracker.clone().spawn(async move {
            let Some(account) = shared.account() else { return };
            let calls = shared.calls(&account);
            let gone = match (message, doubt) {
                (Some(message), _) => calls.settle(&Body::Withdrawal { message }).await,
                (None, Some(doubt)) => doubt.take_away(&calls).await,
                (None, None) => None,
            };
            if gone.is_some() {
                calls.forget(StatusChange::Answer, shared.task).await;
            }
        });
    }
}

impl StreamState {
    /// Begins to show it, where messages can be changed.
    fn show(self: &Arc<Self>) -> Option<oneshot::Receiver<PreviewMessage>> {
        let account = self.account()?;
        if !self.calls(&account).changes() {
            return None;
        }
        let (tells, told) = oneshot::channel();
        let shared = Arc::clone(self);
        self.outbox.runtime.tracker.spawn(async move {
            let standing = AnswerStream::new(&shared, &account).run().await;
            // A claim that was lost asks nobody.
            drop(tells.send(standing));
        });
        Some(told)
    }

    /// What an earlier claim left.
    async fn recalled(&self) -> Option<PreviewMessage> {
        let account = self.account()?;
        let noted = self.calls(&account).noted(StatusChange::Answer, self.task).await?;
        Some(PreviewMessage::recalled(noted))
    }

    fn account(&self) -> Option<Arc<Account>> {
        self.outbox.accounts.of(&self.conversation)
    }

    fn calls<'a>(&'a self, account: &'a Account) -> StatusCalls<'a> {
        StatusCalls { outbox: &self.outbox, account, conversation: &self.conversation }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        locked(&self.state)
    }
}

/// What shows one answer.
struct AnswerStream<'a> {
    shared: &'a StreamState,
    calls: StatusCalls<'a>,
    standing: PreviewMessage,
    /// The newest call and its words: what says the same is not said again.
    said: Option<ShownText>,
    gap: Duration,
    next: Instant,
}

/// What is to be shown now.
enum Look {
    /// So much is written.
    Words { text: String, answer: u32 },
    /// Nothing before this moment.
    At(Instant),
    /// Nothing until something is written.
    Nothing,
    /// Nothing any more.
    Ended,
}

impl<'a> AnswerStream<'a> {
    fn new(shared: &'a StreamState, account: &'a Account) -> Self {
        let calls = shared.calls(account);
        let (gap, next) = (calls.growth_gap(), Instant::now());
        let standing = PreviewMessage::of(Stand::Unsent);
        Self { shared, calls, standing, said: None, gap, next }
    }

    async fn run(mut self) -> PreviewMessage {
        if self.shared.resumed {
            match self.shared.recalled().await {
                Some(standing) => self.standing = standing,
                None => return self.standing,
            }
        }
        let stop = &self.shared.outbox.runtime.stop.work;
        loop {
            let again = match self.look() {
                Look::Ended => return self.standing,
                Look::Nothing => None,
                Look::At(moment) => Some(moment),
                Look::Words { text, answer } => self.show(&text, answer).await,
            };
            tokio::select! {
                () = self.shared.bell.notified() => {}
                () = tokio::time::sleep_until(again.unwrap_or(self.next)), if again.is_some() => {}
                () = stop.cancelled() => return self.standing,
            }
        }
    }

    fn look(&self) -> Look {
        let state = self.shared.state();
        let Some(began) = state.began else {
            return if state.has_ended { Look::Ended } else { Look::Nothing };
        };
        let after = began + self.shared.outbox.settings.now().progress.stream_after.0;
        match after.max(self.next) {
            _ if state.has_ended => Look::Ended,
            _ if self.standing.is_closed() => Look::Nothing,
            due if due > Instant::now() => Look::At(due),
            _ => {
                let redactor = &self.shared.outbox.runtime.redactor;
                let settled = &state.text[..redactor.settled(&state.text)];
                Look::Words { text: redactor.clean(settled.trim_end()), answer: state.answers }
            }
        }
    }

    /// Shows these words. Returns when to look again; `None` when only more of them changes anything.
    async fn show(&mut self, text: &str, answer: u32) -> Option<Instant> {
        if let Some(doubt) = self.standing.doubt.take() {
            return Some(self.look_for(doubt).await);
        }
        let part = self.part(text)?;
        if self.said.as_ref().is_some_and(|said| said.is(&part.call, text)) {
            return None;
        }
        if !self.calls.has_leave(Turn::AfterAll) {
            return Some(Instant::now() + SOON);
        }
        if self.standing.stand == Stand::Unsent {
            // Noted first: whatever comes between, there is never a second one.
            let noted = StatusNote { message: None, part: Some(part.clone()) };
            self.calls.note(StatusChange::Answer, self.shared.task, noted).await?;
            self.standing.sent = Some(SentPreview { at: Instant::now(), answer });
        }
        let delivery = self.calls.deliver(&part).await;
        self.settle(delivery, part, text).await;
        Some(self.next)
    }

    fn part(&self, text: &str) -> Option<Part> {
        if text.is_empty() {
            return None;
        }
        let over = match &self.standing.stand {
            Stand::At(message) => Some(message.clone()),
            Stand::Unsent | Stand::Gone => None,
        };
        let StreamState { conversation, quote, reader, .. } = self.shared;
        let said = Outbound::text(conversation.clone(), format!("{text}{GOES_ON}"));
        let growing = GrowingText { so_far: text.to_owned(), reader: reader.clone() };
        self.calls.part(said.quoting(quote.clone()).over(over).growing(growing))
    }

    async fn settle(&mut self, delivery: Delivery, part: Part, text: &str) {
        let is_first = self.standing.stand == Stand::Unsent;
        self.next = Instant::now() + self.gap;
        match delivery {
            Delivery::Sent(receipt) => {
                if receipt.stopped {
                    self.shared.stopped.cancel();
                }
                self.said = Some(ShownText { call: part.call, text: text.to_owned() });
                self.gap = self.calls.growth_gap();
                self.next = Instant::now() + self.gap;
                if is_first {
                    self.stands(receipt.message).await;
                }
            }
            Delivery::Retry { after, .. } => {
                self.gap = (self.gap * 2).clamp(SOON, MAX_GAP);
                self.next = Instant::now() + self.gap.max(after);
                if is_first {
                    // It is proven that nothing was sent.
                    self.forget().await;
                }
            }
            // It is gone, or it cannot be changed: the answer comes anew, and what may stand is taken away.
            Delivery::Refused { .. } | Delivery::Moved { .. } | Delivery::Instead { .. } => {
                self.standing.is_stuck = true;
                if is_first {
                    self.standing.stand = Stand::Gone;
                    self.forget().await;
                }
            }
            // It stays noted: it may be there.
            Delivery::Unclear { .. } => {
                self.standing.stand = Stand::Gone;
                self.standing.doubt = Some(Doubt::of(part)).filter(|_| is_first);
            }
        }
    }

    /// Looks where the message stands of which nobody knows. Returns when to look again.
    async fn look_for(&mut self, doubt: Doubt) -> Instant {
        match doubt.look(&self.calls).await {
            LookupResult::At(message) => self.stands(Some(message)).await,
            LookupResult::NotYet(doubt) => {
                self.gap = (self.gap * 2).clamp(SOON, MAX_GAP);
                self.standing.doubt = Some(doubt);
            }
            LookupResult::Never => {}
        }
        self.next = Instant::now() + self.gap;
        self.next
    }

    async fn stands(&mut self, message: Option<MessageRef>) {
        self.standing.stand = match message {
            Some(message) => {
                let noted = StatusNote::at(message.clone());
                self.calls.note(StatusChange::Answer, self.shared.task, noted).await;
                Stand::At(message)
            }
            None => Stand::Gone,
        };
    }

    async fn forget(&self) {
        self.calls.forget(StatusChange::Answer, self.shared.task).await;
    }
}
