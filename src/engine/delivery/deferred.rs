//! Answers that come too late for their right to answer: a button is offered in time, the answer is held,
//! and goes out on the right that the tap brings.

use std::convert::Infallible;
use std::sync::Arc;

use selkie_channel_core::{
    Body, Choice, ConversationId, Inbound, Outbound, Part, Question, ReplyWindow,
};

use crate::delivery::messages;
use crate::delivery::outbox::Outbox;
use crate::delivery::rendered::rendered;
use selkie_domain::crash::CrashPoint;
use selkie_domain::ids::{InboxId, OutboundId, TaskId};
use selkie_domain::task::Claim;
use selkie_store::{
    DeliveryState, Draft, FetchEffect, HeldAnswer, Offer, QueuedOutbound, StoreError, TaskClaim,
};

/// Names the one choice of the button.
const CHOICE: &str = "get";

/// Waits until the task's right to answer runs out and spends it on a button. Never returns: dropped with
/// the work it stands beside.
pub async fn offer(outbox: &Arc<Outbox>, claimed: &TaskClaim) -> Infallible {
    let window = window(outbox, claimed);
    if let Some(window) = window
        && let Some(at) = window.hold_at
    {
        outbox.runtime.until(at).await;
        let (claim, conversation) = (claimed.claim.clone(), claimed.conversation.clone());
        let spent = Arc::clone(outbox);
        // The work beside may end at any moment: a button that is stored has to be sent.
        outbox
            .runtime
            .to_the_end(async move { spend(&spent, &claim, &conversation, window).await })
            .await;
    }
    std::future::pending().await
}

/// Returns the newest right to answer that a task has: of its messages, or of what answered its question or request.
fn window(outbox: &Outbox, claimed: &TaskClaim) -> Option<ReplyWindow> {
    outbox.window(heard(claimed))
}

/// Takes the right to answer that a task's words use up: one that lives, which a tap may have brought, else
/// the last one that it had. The platform may still take that, and trying costs nothing. What a tap brought is
/// gone then: the next button must not be offered on it, too.
pub fn right(outbox: &Outbox, claimed: &TaskClaim) -> Option<ReplyWindow> {
    let now = outbox.runtime.clock.now();
    let task = claimed.claim.task;
    let lives = |window: &ReplyWindow| window.hold_at.is_some_and(|at| at > now);
    let tapped = {
        let mut rights = outbox.late.rights();
        let lives = rights.get(&task).is_some_and(lives);
        if lives { rights.remove(&task) } else { None }
    };
    tapped.or_else(|| outbox.right(heard(claimed)))
}

/// Whether something that a task answers brought a right to answer, living or not.
pub fn is_due(claimed: &TaskClaim) -> bool {
    heard(claimed).any(|inbound| inbound.reply_window.is_some())
}

fn heard(claimed: &TaskClaim) -> impl Iterator<Item = &Inbound> {
    let heard = claimed.heard.iter().map(|(_, inbound)| inbound);
    let settled = claimed.settled.iter().filter_map(|settled| settled.by.as_ref());
    heard.chain(settled).chain(claimed.decided_by.as_deref())
}

/// Spends the right to answer of a message whose task still waits in its lane on a button, when its time
/// runs out.
pub async fn offer_waiting(outbox: Arc<Outbox>, row: InboxId, inbound: Inbound) {
    let Some(window) = outbox.window([&inbound]) else { return };
    let Some(at) = window.hold_at else { return };
    tokio::select! {
        () = outbox.runtime.until(at) => {}
        () = outbox.runtime.stop.work.cancelled() => return,
    }
    let key = format!("h{:x}", outbox.runtime.nonce());
    let Some(draft) = button(&outbox, &inbound.conversation, &key, window) else { return };
    let offer = Offer { key, draft };
    let offered = outbox.storage.insist(|ledger| ledger.hold_waiting(row, offer.clone())).await;
    if let Some(Some(queued)) = offered {
        tracing::info!(%row, "its answer will be fetched by a button");
        send(&outbox, queued);
    }
}

/// Looks after the rights to answer of tasks that wait since before the start.
pub async fn offer_again(outbox: Arc<Outbox>) {
    let waiting = outbox.storage.insist(|ledger| ledger.rights_waiting()).await;
    for (row, inbound) in waiting.unwrap_or_default() {
        outbox.runtime.tracker.spawn(offer_waiting(Arc::clone(&outbox), row, inbound));
    }
}

/// Gives a button to the delivery worker; one that was refused already lets the answer go.
fn send(outbox: &Outbox, queued: QueuedOutbound) {
    let refused_already = queued.parts.is_empty();
    outbox.send(queued);
    if refused_already {
        outbox.late.held.notify_one();
    }
}

/// Keeps the right that a tap brought for the answer, which may come in time; else it is spent on the next
/// button.
async fn keep(outbox: Arc<Outbox>, kept: EarlyTap) {
    let EarlyTap { row, task, key, conversation, window } = kept;
    let Some(at) = window.hold_at else { return };
    tokio::select! {
        () = outbox.runtime.until(at) => {}
        () = outbox.runtime.stop.work.cancelled() => return,
    }
    let newest = {
        let mut late = outbox.late.rights();
        let ours = late.get(&task).is_some_and(|kept| kept.token == window.token);
        ours && late.remove(&task).is_some()
    };
    let answer = outbox.storage.insist(|ledger| ledger.held(&conversation, &key)).await;
    // Ready: it was written while the tap came, and waits for another one.
    let waits = matches!(answer, Some(Some(HeldAnswer::Working(_) | HeldAnswer::Ready(_))));
    if !newest || !waits {
        return;
    }
    if let Some(draft) = button(&outbox, &conversation, &key, window) {
        outbox.say_once(&format!("held:{row}"), draft).await;
    }
}

/// A tap that came too early.
struct EarlyTap {
    row: InboxId,
    task: TaskId,
    key: String,
    conversation: ConversationId,
    window: ReplyWindow,
}

async fn spend(
    outbox: &Arc<Outbox>,
    claim: &Claim,
    conversation: &ConversationId,
    window: ReplyWindow,
) {
    let key = format!("h{:x}", outbox.runtime.nonce());
    let Some(draft) = button(outbox, conversation, &key, window) else { return };
    let offer = Offer { key, draft };
    let offered = outbox.storage.insist(|ledger| ledger.hold(claim, offer.clone())).await;
    let Some(Some(queued)) = offered else { return };
    tracing::info!(task = %claim.task, "its answer will be fetched by a button");
    send(outbox, queued);
}

/// The button by which the answer is fetched; `None` where the channel shows none.
fn button(
    outbox: &Outbox,
    conversation: &ConversationId,
    key: &str,
    window: ReplyWindow,
) -> Option<Draft> {
    let account = outbox.accounts.of(conversation)?;
    let label = messages::GET_THE_ANSWER.to_owned();
    let choice = Choice { id: CHOICE.to_owned(), label, description: String::new() };
    let question = Question {
        key: key.to_owned(),
        markdown: messages::STILL_WORKING.to_owned(),
        choices: vec![choice],
        free_text: false,
        placeholder: String::new(),
    };
    let expires_at = Some(window.until);
    let outbound = Outbound::new(conversation.clone(), Body::Held(question)).within(Some(window));
    let outbound = outbound.numbered(outbox.runtime.nonce());
    let parts = rendered(&account.channel, &outbound, &outbox.runtime.redactor);
    (!parts.is_empty()).then_some(Draft { outbound, parts, expires_at, month: None })
}

/// Carries out a tap on a button of this kind, once. Returns what the person reads on the tap itself
/// (nothing when that is empty); `None` when the button is of another kind.
///
/// # Errors
/// When the store cannot be read or written.
pub async fn tap(
    outbox: &Arc<Outbox>,
    row: InboxId,
    inbound: &Inbound,
    key: &str,
) -> Result<Option<String>, StoreError> {
    let conversation = &inbound.conversation;
    let Some(mut answer) = outbox.storage.ledger.held(conversation, key).await? else {
        return Ok(None);
    };
    let window = outbox.window([inbound]);
    if let (HeldAnswer::Working(task), Some(window)) = (&answer, &window) {
        // First the right is there to be used, then it is seen whether the answer came without it.
        let task = *task;
        outbox.late.rights().insert(task, window.clone());
        let Some(now) = outbox.storage.ledger.held(conversation, key).await? else {
            return Ok(None);
        };
        if !matches!(now, HeldAnswer::Working(_)) {
            outbox.late.rights().remove(&task);
        }
        answer = now;
    }
    let mut kept = None;
    let (effect, word) = match (answer, window) {
        (HeldAnswer::Gone, _) => (FetchEffect::Say(None), messages::FETCHED_ALREADY.to_owned()),
        (HeldAnswer::Lost, _) => (FetchEffect::Say(None), messages::NOTHING_TO_FETCH.to_owned()),
        // Carried out too late, after a restart: the button is still there to be tapped again.
        (_, None) => (FetchEffect::Say(None), String::new()),
        (HeldAnswer::Working(task), Some(window)) => {
            let (key, conversation) = (key.to_owned(), inbound.conversation.clone());
            kept = Some(EarlyTap { row, task, key, conversation, window });
            (FetchEffect::Say(None), String::new())
        }
        (HeldAnswer::Ready(said), Some(window)) => {
            let parts = render(outbox, said, window);
            (FetchEffect::Release { key: key.to_owned(), parts }, String::new())
        }
    };
    outbox.runtime.crash.hit(CrashPoint::BeforeCommand);
    let fetched = outbox.storage.ledger.fetch(row, effect).await?;
    outbox.runtime.crash.hit(CrashPoint::AfterCommand);
    let Some(fetched) = fetched else {
        return Ok(Some(String::new()));
    };
    fetched.queued.into_iter().for_each(|queued| outbox.send(queued));
    if let Some(kept) = kept {
        outbox.runtime.tracker.spawn(keep(Arc::clone(outbox), kept));
    }
    Ok(Some(if fetched.done { word } else { messages::FETCHED_ALREADY.to_owned() }))
}

/// Renders what is held anew: its first words use up the tap's right, the others follow.
fn render(
    outbox: &Outbox,
    said: Vec<(OutboundId, Outbound)>,
    window: ReplyWindow,
) -> Vec<(OutboundId, Vec<Part>)> {
    let mut window = Some(window);
    let rendered = said.into_iter().filter_map(|(id, outbound)| {
        let account = outbox.accounts.of(&outbound.conversation)?;
        let outbound = outbound.within(window.take());
        Some((id, rendered(&account.channel, &outbound, &outbox.runtime.redactor)))
    });
    rendered.collect()
}

/// Expires what nobody fetches and lets go what nobody can fetch, until the daemon stops.
pub async fn sweep(outbox: Arc<Outbox>) {
    let stop = outbox.runtime.stop.work.clone();
    while !stop.is_cancelled() {
        let swept =
            outbox.storage.insist(|ledger| ledger.sweep_held(outbox.runtime.clock.now())).await;
        let Some(swept) = swept else { return };
        for outbound in swept.expired {
            tracing::warn!(%outbound, "a held answer expired: nobody fetched it");
            outbox.waiters.tell(outbound, &DeliveryState::Expired);
        }
        swept.released.into_iter().for_each(|queued| outbox.send(queued));
        let next = swept.next;
        tokio::select! {
            () = outbox.late.held.notified() => {}
            () = outbox.runtime.until(next.unwrap_or_default()), if next.is_some() => {}
            () = stop.cancelled() => {}
        }
    }
}
