//! What became of a post is told to whoever asked for it, once: when it is settled, or at the next start.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use selkie_channel_core::ConversationId;
use tokio::time::{Instant, sleep_until};

use crate::delivery::messages::posts::{self as messages, About};
use crate::delivery::outbox::Outbox;
use crate::delivery::waiters;
use selkie_domain::command_line;
use selkie_domain::ids::{OutboundId, ScheduleId};
use selkie_domain::schedule::ScheduleState;
use selkie_store::{DeliveryState, Occurrence, PostNotice, PostRow};

/// A tool waits for the receipt of what it posts and tells it itself: it has so long.
pub const TOOLS_TURN: Duration = Duration::from_secs(25);
/// So many refusals for its words in a row, and a series waits.
const REFUSALS: usize = 3;
/// So many of a series' newest times are looked through for them.
const LATEST: usize = 50;

/// Waits in the background until a post is settled, and tells it. Call it before the delivery worker gets its parts.
pub fn follow(outbox: &Arc<Outbox>, outbound: OutboundId, not_before: Duration) {
    let not_before = Instant::now() + not_before;
    let mut watch = outbox.waiters.watch(outbound);
    let (outbox, stop) = (Arc::clone(outbox), outbox.runtime.stop.work.clone());
    let tracker = outbox.runtime.tracker.clone();
    tracker.spawn(async move {
        let settled = async {
            // It may have been settled before anybody watched.
            let row = outbox.storage.insist(|ledger| ledger.post_of(outbound)).await;
            if row.flatten().is_some_and(|row| row.standing == DeliveryState::Open) {
                waiters::settled(&mut watch).await;
            }
            sleep_until(not_before).await;
        };
        tokio::select! {
            // Who ends now tells it at the next start.
            () = stop.cancelled() => return,
            () = settled => {}
        }
        tell(&outbox, outbound).await;
    });
}

/// Goes on with what an earlier process has not told.
pub async fn resume(outbox: Arc<Outbox>) {
    let Some(untold) = outbox.storage.insist(|ledger| ledger.untold_posts()).await else { return };
    for outbound in untold {
        let row = outbox.storage.insist(|ledger| ledger.post_of(outbound)).await.flatten();
        if let Some(row) = row.as_ref().filter(|row| waits_for_login(&outbox, row)) {
            tell_waits(&outbox, row).await;
        }
        let of_task = row.is_some_and(|row| row.of.is_none());
        // The task that posted it may go on, and tell it itself.
        follow(&outbox, outbound, if of_task { TOOLS_TURN } else { Duration::ZERO });
    }
}

/// Whether a post is to go out by an account that is not configured any more: nobody sends it until it is again.
pub fn waits_for_login(outbox: &Outbox, row: &PostRow) -> bool {
    let is_gone = outbox.accounts.of(&row.said.conversation).is_none();
    is_gone && row.standing == DeliveryState::Open
}

/// Tells whoever asked for a post, and the owner, that it waits for its account; once for ever.
async fn tell_waits(outbox: &Arc<Outbox>, row: &PostRow) {
    let key = format!("post:{}:waits", row.outbound.0);
    let text = messages::waits(row.outbound, &row.said);
    outbox.tell_owner(&key, &text).await;
    let owner = outbox.reach(&[]);
    let Some(hears) = hears(outbox, row).filter(|hears| Some(hears) != owner.as_ref()) else {
        return;
    };
    let text = outbox.runtime.redactor.clean(&text);
    if let Some(draft) = outbox.draft(&hears, &text, None, None) {
        outbox.say_once(&format!("{key}:here"), draft).await;
    }
}

/// Removes copies of files that no post and no schedule needs any more.
pub async fn sweep_files(outbox: Arc<Outbox>) {
    let files = Arc::clone(&outbox.post_files);
    if files.is_unused() {
        return;
    }
    let named = match outbox.storage.ledger.post_files().await {
        Ok(named) => named.into_iter().map(PathBuf::from).collect(),
        Err(error) => {
            tracing::warn!(%error, "copies of posts' files stay: nobody knows which are needed");
            return;
        }
    };
    let now = outbox.runtime.now();
    tokio::task::spawn_blocking(move || files.sweep(&named, now)).await.ok();
}

/// Tells what became of a post.
async fn tell(outbox: &Arc<Outbox>, outbound: OutboundId) {
    let row = outbox.storage.insist(|ledger| ledger.post_of(outbound)).await.flatten();
    let Some(row) = row.filter(|row| !row.told && row.standing != DeliveryState::Open) else {
        return;
    };
    let of_account = is_of_account(outbox, &row);
    let pause = match row.of {
        Some(of) if of_account => held(outbox, of.schedule).await,
        Some(of) if is_for_words(outbox, &row, &row.standing) => {
            pause(outbox, &row, of.schedule).await
        }
        _ => None,
    };
    let text = outbox.runtime.redactor.clean(&words(outbox, &row, pause.as_deref()));
    let hears = hears(outbox, &row);
    let draft = hears.as_ref().and_then(|hears| outbox.draft(hears, &text, None, None));
    let telling = PostNotice { draft, pause: pause.clone() };
    let told =
        outbox.storage.insist(|ledger| ledger.tell_post(outbound, telling.clone())).await.flatten();
    if messages::has_pictures(&row.said) {
        outbox.runtime.tracker.spawn(sweep_files(Arc::clone(outbox)));
    }
    let Some(told) = told else { return };
    if let Some(queued) = told.queued {
        outbox.send(queued);
    }
    let owner = outbox.reach(&[]);
    if (told.paused || of_account) && hears != owner {
        outbox.tell_owner(&format!("post:{}", outbound.0), &text).await;
    }
}

/// Who is told: the conversation that asked, for the command line the first owner.
fn hears(outbox: &Outbox, row: &PostRow) -> Option<ConversationId> {
    let asked = row.asked.clone().filter(|asked| *asked != row.said.conversation)?;
    if !command_line::is_at(&asked) {
        return Some(asked);
    }
    outbox.reach(&[])
}

/// Whether the platform refused it for what it says: a login, a limit or a month are no fault of the series.
fn is_for_words(outbox: &Outbox, row: &PostRow, standing: &DeliveryState) -> bool {
    let DeliveryState::Refused { reason } = standing else { return false };
    let account = outbox.accounts.of(&row.said.conversation);
    let posting = account.and_then(|account| account.channel.posting);
    posting.is_some_and(|posting| (posting.data.of_words)(reason))
}

/// Whether it was refused because it was meant for another account.
fn is_of_account(outbox: &Outbox, row: &PostRow) -> bool {
    let DeliveryState::Refused { reason } = &row.standing else { return false };
    let account = outbox.accounts.of(&row.said.conversation);
    let posting = account.and_then(|account| account.channel.posting);
    posting.is_some_and(|posting| (posting.data.of_account)(reason))
}

/// Why a series waits from now on whose posts were meant for another account; one that is over waits for nothing.
async fn held(outbox: &Outbox, schedule: ScheduleId) -> Option<String> {
    let of = outbox.storage.insist(|ledger| ledger.schedule_of(schedule)).await.flatten()?;
    let comes = of.state == ScheduleState::Active;
    comes.then(|| "its posts were approved for another account".to_owned())
}

/// Why a series waits from now on, if it does: its newest posts were all refused for their words, since somebody last
/// let it go on.
async fn pause(outbox: &Outbox, row: &PostRow, schedule: ScheduleId) -> Option<String> {
    let of = outbox.storage.insist(|ledger| ledger.schedule_of(schedule)).await.flatten()?;
    let newest = outbox.storage.insist(|ledger| ledger.occurrences(schedule, LATEST)).await?;
    let since = newest.iter().filter(|time| time.fired_at >= of.counts_from);
    let arrived = |time: &&Occurrence| {
        let delivered = &time.delivered;
        matches!(delivered, Some(DeliveryState::Delivered { .. } | DeliveryState::Partly { .. }))
    };
    let refused = |time: &&Occurrence| {
        time.delivered.as_ref().is_some_and(|standing| is_for_words(outbox, row, standing))
    };
    let in_a_row = since.take_while(|time| !arrived(time)).filter(refused).count();
    (in_a_row >= REFUSALS)
        .then(|| format!("{REFUSALS} of its posts in a row were refused for their words"))
}

fn words(outbox: &Outbox, row: &PostRow, pause: Option<&str>) -> String {
    let posting = outbox.accounts.of(&row.said.conversation).and_then(|a| a.channel.posting);
    let url = match &row.standing {
        DeliveryState::Delivered { message: Some(id) } => posting.map(|p| (p.data.url)(id)),
        _ => None,
    };
    let about = About {
        outbound: row.outbound,
        schedule: row.of.map(|of| of.schedule),
        said: &row.said,
        of_words: is_for_words(outbox, row, &row.standing),
        of_account: is_of_account(outbox, row),
    };
    messages::told(about, &row.standing, url.as_deref(), pause)
}
