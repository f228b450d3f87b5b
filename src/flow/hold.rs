//! Answers that come too late for their right to answer: a button is offered in time, the answer is held,
//! and goes out on the right that the tap brings.

use std::convert::Infallible;
use std::sync::Arc;

use selkie_channel_core::{
    Body, Choice, ConversationId, Inbound, Outbound, Part, Question, ReplyWindow,
};

use crate::domain::crash::CrashPoint;
use crate::domain::ids::{InboxId, OutboundId, TaskId};
use crate::domain::task::Claim;
use crate::flow::desk::{Desk, until};
use crate::flow::words;
use crate::store::{Claimed, Draft, FetchEffect, HeldAnswer, Offer, Queued, Standing, StoreError};

/// Names the one choice of the button.
const CHOICE: &str = "get";

/// Waits until the task's right to answer runs out and spends it on a button. Never returns: dropped with
/// the work it stands beside.
pub(super) async fn offer(desk: &Arc<Desk>, claimed: &Claimed) -> Infallible {
    let window = window(desk, claimed);
    if let Some(window) = window
        && let Some(at) = window.hold_at
    {
        tokio::time::sleep(until(at, desk.clock.now())).await;
        let (claim, conversation) = (claimed.claim.clone(), claimed.conversation.clone());
        let spent = Arc::clone(desk);
        // The work beside may end at any moment: a button that is stored has to be sent.
        desk.to_the_end(async move { spend(&spent, &claim, &conversation, window).await }).await;
    }
    std::future::pending().await
}

/// Returns the newest right to answer that a task has: of its messages, or of what answered its question.
fn window(desk: &Desk, claimed: &Claimed) -> Option<ReplyWindow> {
    desk.window(heard(claimed))
}

/// Returns the right to answer that a task's words use up: one that lives, which a tap may have brought, else
/// the last one that it had. The platform may still take that, and trying costs nothing.
pub(super) fn right(desk: &Desk, claimed: &Claimed) -> Option<ReplyWindow> {
    let now = desk.clock.now();
    let tapped = desk.late().get(&claimed.claim.task).cloned();
    let tapped = tapped.filter(|window| window.hold_at.is_some_and(|at| at > now));
    tapped.or_else(|| desk.right(heard(claimed)))
}

fn heard(claimed: &Claimed) -> impl Iterator<Item = &Inbound> {
    let heard = claimed.heard.iter().map(|(_, inbound)| inbound);
    heard.chain(claimed.settled.iter().filter_map(|settled| settled.by.as_ref()))
}

/// Spends the right to answer of a message whose task still waits in its lane on a button, when its time
/// runs out.
pub(super) async fn offer_waiting(desk: Arc<Desk>, row: InboxId, inbound: Inbound) {
    let Some(window) = desk.window([&inbound]) else { return };
    let Some(at) = window.hold_at else { return };
    tokio::select! {
        () = tokio::time::sleep(until(at, desk.clock.now())) => {}
        () = desk.stop.work.cancelled() => return,
    }
    let key = format!("h{:x}", desk.nonce());
    let Some(draft) = button(&desk, &inbound.conversation, (&key, window)) else { return };
    let offer = Offer { key, draft };
    let offered = desk.insist(|| desk.ledger.hold_waiting(row, offer.clone())).await;
    if let Some(Some(queued)) = offered {
        tracing::info!(%row, "its answer will be fetched by a button");
        send(&desk, queued);
    }
}

/// Looks after the rights to answer of tasks that wait since before the start.
pub(super) async fn offer_again(desk: Arc<Desk>) {
    let waiting = desk.insist(|| desk.ledger.rights_waiting()).await;
    for (row, inbound) in waiting.unwrap_or_default() {
        desk.tracker.spawn(offer_waiting(Arc::clone(&desk), row, inbound));
    }
}

/// Gives a button to the courier; one that was refused already lets the answer go.
fn send(desk: &Desk, queued: Queued) {
    let refused_already = queued.parts.is_empty();
    desk.send(queued);
    if refused_already {
        desk.held.notify_one();
    }
}

/// Keeps the right that a tap brought for the answer, which may come in time; else it is spent on the next
/// button.
async fn keep(desk: Arc<Desk>, kept: Kept) {
    let Kept { row, task, key, conversation, window } = kept;
    let Some(at) = window.hold_at else { return };
    tokio::select! {
        () = tokio::time::sleep(until(at, desk.clock.now())) => {}
        () = desk.stop.work.cancelled() => return,
    }
    let newest = {
        let mut late = desk.late();
        let ours = late.get(&task).is_some_and(|kept| kept.token == window.token);
        ours && late.remove(&task).is_some()
    };
    let answer = desk.insist(|| desk.ledger.held(&conversation, &key)).await;
    // Ready: it was written while the tap came, and waits for another one.
    let waits = matches!(answer, Some(Some(HeldAnswer::Working(_) | HeldAnswer::Ready(_))));
    if !newest || !waits {
        return;
    }
    if let Some(draft) = button(&desk, &conversation, (&key, window)) {
        desk.say_once(&format!("held:{row}"), draft).await;
    }
}

/// A tap that came too early.
struct Kept {
    row: InboxId,
    task: TaskId,
    key: String,
    conversation: ConversationId,
    window: ReplyWindow,
}

async fn spend(
    desk: &Arc<Desk>,
    claim: &Claim,
    conversation: &ConversationId,
    window: ReplyWindow,
) {
    let key = format!("h{:x}", desk.nonce());
    let Some(draft) = button(desk, conversation, (&key, window)) else { return };
    let offer = Offer { key, draft };
    let offered = desk.insist(|| desk.ledger.hold(claim, offer.clone())).await;
    let Some(Some(queued)) = offered else { return };
    tracing::info!(task = %claim.task, "its answer will be fetched by a button");
    send(desk, queued);
}

/// The button by which the answer is fetched; `None` where the channel shows none.
fn button(
    desk: &Desk,
    conversation: &ConversationId,
    (key, window): (&str, ReplyWindow),
) -> Option<Draft> {
    let account = desk.account(conversation)?;
    let label = words::GET_THE_ANSWER.to_owned();
    let choice = Choice { id: CHOICE.to_owned(), label, description: String::new() };
    let question = Question {
        key: key.to_owned(),
        markdown: words::still_working(),
        choices: vec![choice],
        free_text: false,
        placeholder: String::new(),
    };
    let expires_at = Some(window.until);
    let outbound = Outbound::new(conversation.clone(), Body::Held(question)).within(Some(window));
    let outbound = outbound.numbered(desk.nonce());
    let parts = account.channel.mouth.render(&outbound);
    (!parts.is_empty()).then_some(Draft { outbound, parts, expires_at })
}

/// Carries out a tap on a button of this kind, once. Returns what the person reads on the tap itself
/// (nothing when that is empty); `None` when the button is of another kind.
///
/// # Errors
/// When the store cannot be read or written.
pub(super) async fn tap(
    desk: &Arc<Desk>,
    row: InboxId,
    (inbound, key): (&Inbound, &str),
) -> Result<Option<String>, StoreError> {
    let conversation = &inbound.conversation;
    let Some(mut answer) = desk.ledger.held(conversation, key).await? else { return Ok(None) };
    let window = desk.window([inbound]);
    if let (HeldAnswer::Working(task), Some(window)) = (&answer, &window) {
        // First the right is there to be used, then it is seen whether the answer came without it.
        let task = *task;
        desk.late().insert(task, window.clone());
        let Some(now) = desk.ledger.held(conversation, key).await? else { return Ok(None) };
        if !matches!(now, HeldAnswer::Working(_)) {
            desk.late().remove(&task);
        }
        answer = now;
    }
    let mut kept = None;
    let (effect, word) = match (answer, window) {
        (HeldAnswer::Gone, _) => (FetchEffect::Say(None), words::fetched_already()),
        (HeldAnswer::Lost, _) => (FetchEffect::Say(None), words::nothing_to_fetch()),
        // Carried out too late, after a restart: the button is still there to be tapped again.
        (_, None) => (FetchEffect::Say(None), String::new()),
        (HeldAnswer::Working(task), Some(window)) => {
            let (key, conversation) = (key.to_owned(), inbound.conversation.clone());
            kept = Some(Kept { row, task, key, conversation, window });
            (FetchEffect::Say(None), String::new())
        }
        (HeldAnswer::Ready(said), Some(window)) => {
            let parts = render(desk, said, window);
            (FetchEffect::Release { key: key.to_owned(), parts }, String::new())
        }
    };
    desk.crash.hit(CrashPoint::BeforeCommand);
    let fetched = desk.ledger.fetch(row, effect).await?;
    desk.crash.hit(CrashPoint::AfterCommand);
    let Some(fetched) = fetched else {
        return Ok(Some(String::new()));
    };
    fetched.queued.into_iter().for_each(|queued| desk.send(queued));
    if let Some(kept) = kept {
        desk.tracker.spawn(keep(Arc::clone(desk), kept));
    }
    Ok(Some(if fetched.done { word } else { words::fetched_already() }))
}

/// Renders what is held anew: its first words use up the tap's right, the others follow.
fn render(
    desk: &Desk,
    said: Vec<(OutboundId, Outbound)>,
    window: ReplyWindow,
) -> Vec<(OutboundId, Vec<Part>)> {
    let mut window = Some(window);
    let rendered = said.into_iter().filter_map(|(id, outbound)| {
        let account = desk.account(&outbound.conversation)?;
        let outbound = outbound.within(window.take());
        Some((id, account.channel.mouth.render(&outbound)))
    });
    rendered.collect()
}

/// Expires what nobody fetches and lets go what nobody can fetch, until the daemon stops.
pub(super) async fn sweep(desk: Arc<Desk>) {
    let stop = desk.stop.work.clone();
    while !stop.is_cancelled() {
        let swept = desk.insist(|| desk.ledger.sweep_held(desk.clock.now())).await;
        let Some(swept) = swept else { return };
        for outbound in swept.expired {
            tracing::warn!(%outbound, "a held answer expired: nobody fetched it");
            desk.standings.tell(outbound, &Standing::Expired);
        }
        swept.released.into_iter().for_each(|queued| desk.send(queued));
        let wait = swept.next.map(|at| until(at, desk.clock.now()));
        tokio::select! {
            () = desk.held.notified() => {}
            () = tokio::time::sleep(wait.unwrap_or_default()), if wait.is_some() => {}
            () = stop.cancelled() => {}
        }
    }
}
