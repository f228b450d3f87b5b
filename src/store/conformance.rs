//! What every ledger must do: one suite over the ports alone, run against each implementation.
//!
//! A test here gets a [`Fixture`], which opens the same store again and again, as restarts do. An
//! implementation runs the whole of it with [`run_all`].

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use selkie_channel_core::{
    AccountId, AddressReason, Aside, Audience, ConversationId, Cursor, Features, Inbound,
    MessageRef, Outbound, Part, PersonId, PlaceId, Receipt, Speaker, What,
};

use crate::Gathering;
pub(crate) use crate::NextPiece;
use crate::{
    AcceptResult, Advance, Arrival, CommitResult, Disposition, Draft, End, Fuse, Ledger, NewTask,
    QueuedOutbound, TaskClaim,
};
use selkie_domain::cause::Cause;
use selkie_domain::choice::Pick;
use selkie_domain::facts::{Facts, Mode, Trigger, Trust, Where};
use selkie_domain::ids::Instance;
use selkie_domain::taint::Taint;
use selkie_domain::task::{Claim, Lane};
use selkie_domain::transcript::Item;
use selkie_domain::usage::Usage;

mod absorbing;
mod answering;
mod approving;
mod asking;
mod choosing;
mod copying;
mod delivering;
mod forgetting;
mod gathering;
mod gating;
mod hearing;
mod holding;
mod interrupting;
mod late;
mod meeting;
mod pairing;
mod parenting;
mod posting;
mod random;
mod reading;
mod remembering;
mod reminding;
mod requesting;
mod scheduling;
mod spending;
mod summing;
mod unsending;
mod voicing;
mod working;

/// A store that can be opened many times, one after another.
pub trait Fixture: Send + Sync {
    /// Opens the store of this bed; the one opened before was dropped.
    fn open(&self) -> Arc<dyn Ledger>;
}

/// One law.
pub type Case = for<'a> fn(&'a dyn Fixture) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

/// Every law, by name.
pub fn all_laws() -> Vec<(&'static str, Case)> {
    [
        hearing::LAWS,
        late::LAWS,
        forgetting::LAWS,
        copying::LAWS,
        gathering::LAWS,
        gating::LAWS,
        absorbing::LAWS,
        interrupting::LAWS,
        working::LAWS,
        parenting::LAWS,
        asking::LAWS,
        answering::LAWS,
        approving::LAWS,
        delivering::LAWS,
        holding::LAWS,
        reading::LAWS,
        requesting::LAWS,
        scheduling::LAWS,
        reminding::LAWS,
        remembering::LAWS,
        posting::LAWS,
        meeting::LAWS,
        spending::LAWS,
        summing::LAWS,
        pairing::LAWS,
        unsending::LAWS,
        voicing::LAWS,
        choosing::LAWS,
    ]
    .concat()
}

/// Runs every law, each on a bed of its own, and the random histories.
pub async fn run_all(make: impl Fn() -> Box<dyn Fixture>) {
    for (name, law) in all_laws() {
        eprintln!("law: {name}");
        law(make().as_ref()).await;
    }
}

pub use random::{histories_agree, random_histories};
pub use scheduling::new as new_schedule;

/// Names laws: `laws![a, b]` is a list of their names and functions.
macro_rules! laws {
    ($($law:ident),* $(,)?) => {
        pub const LAWS: &[(&str, $crate::conformance::Case)] =
            &[$((stringify!($law), |bed| Box::pin($law(bed)))),*];
    };
}
pub(crate) use laws;

/// The account of all events here.
pub fn account() -> AccountId {
    AccountId::new("tg:8")
}

/// A conversation by its number; its place has the same key.
pub fn conversation(n: i64) -> ConversationId {
    ConversationId::new(account(), format!("tg:-{n}"))
}

/// A place by its number.
pub fn place(n: i64) -> PlaceId {
    PlaceId::new(account(), format!("tg:-{n}"))
}

/// The lane of a conversation.
pub fn lane(n: i64) -> Lane {
    Lane::of(&conversation(n))
}

/// A instance by its name.
pub fn instance(name: &str) -> Instance {
    Instance(name.to_owned())
}

/// So many seconds after the start of the test.
pub fn at(seconds: i64) -> DateTime<Utc> {
    DateTime::from_timestamp(1_800_000_000, 0).unwrap() + TimeDelta::seconds(seconds)
}

/// Claims nothing.
pub fn no_fuse() -> Fuse {
    fuse(0)
}

/// Claims so many for instance `a`.
pub fn fuse(permits: usize) -> Fuse {
    Fuse { permits, instance: instance("a"), now: at(0) }
}

/// A message of conversation `n` with the platform's number `order`.
pub fn message(n: i64, order: i64) -> Inbound {
    Inbound {
        v: Inbound::VERSION,
        key: format!("tg:8:-{n}:{order}"),
        conversation: conversation(n),
        place: place(n),
        title: format!("Group {n}"),
        order,
        at: at(order),
        speaker: Speaker {
            id: PersonId::new("tg:1"),
            name: "Ann".to_owned(),
            username: None,
            is_bot: false,
        },
        audience: Audience::Group,
        what: What::Message,
        message: Some(MessageRef::new(order.to_string())),
        addressed: AddressReason::Mention,
        text: format!("text {order}"),
        command: None,
        quote: None,
        thread: None,
        forwarded: false,
        origin: None,
        aside: Aside::Nothing,
        attachments: Vec::new(),
        album: None,
        reply_window: None,
    }
}

/// Facts of any task.
pub fn facts() -> Facts {
    Facts {
        v: Facts::VERSION,
        place: Where::Channel(Features {
            channel: "telegram".to_owned(),
            kind: "group".to_owned(),
            audience: Audience::Group,
            speaking: Vec::new(),
            style: String::new(),
        }),
        speaker: Some(PersonId::new("tg:1")),
        trust: Trust::Allowed,
        taint: Taint::Clean,
        trigger: Trigger::Asked,
        mode: Mode::Normal,
        message: None,
        opened: Vec::new(),
        passed: None,
        summoned: Vec::new(),
        narrowed: Vec::new(),
        parent: None,
        reports: 0,
        pick: Pick::default(),
        at: at(0),
    }
}

/// The cause that a message is.
pub fn cause(message: &Inbound) -> Cause {
    Cause::Message { account: message.conversation.account().clone(), key: message.key.clone() }
}

/// With what a message of Ada's is one request.
pub fn gathering(within: TimeDelta, next: NextPiece) -> Gathering {
    Gathering { word: "say:tg:1".to_owned(), within, next }
}

/// An arrival that starts a task.
pub fn task(inbound: Inbound) -> Arrival {
    let gathers = inbound.album.as_ref().map(|_| gathering(TimeDelta::zero(), NextPiece::Expected));
    let new = NewTask { gathers, ..NewTask::new(cause(&inbound), facts()) };
    Arrival::new(inbound, Disposition::Task(new))
}

/// An arrival with another disposition.
pub fn arrival(inbound: Inbound, disposition: Disposition) -> Arrival {
    Arrival::new(inbound, disposition)
}

/// Stores one arrival.
pub async fn push(ledger: &dyn Ledger, arrival: Arrival, fuse: Fuse) -> AcceptResult {
    ledger.accept(vec![arrival], None, fuse).await.unwrap()
}

/// Stores a message that is a task and claims it at once.
pub async fn started(ledger: &dyn Ledger, n: i64, order: i64) -> TaskClaim {
    push(ledger, task(message(n, order)), fuse(1)).await.claimed.remove(0)
}

/// A draft of `parts` parts in conversation `n`.
pub fn draft(n: i64, parts: usize) -> Draft {
    let outbound = Outbound::text(conversation(n), "hello");
    let part = |i: usize| Part {
        v: Part::VERSION,
        conversation: conversation(n),
        call: serde_json::json!({ "text": format!("hello {i}") }),
        fallback: None,
        shown: format!("hello {i}"),
        repeatable: false,
        asks: false,
        follows: false,
    };
    Draft { outbound, parts: (0..parts).map(part).collect(), expires_at: None, month: None }
}

/// The model's last word.
pub fn said(text: &str) -> Item {
    Item::said(text, Taint::Clean)
}

/// A finish that says `say`.
pub fn finish(text: &str, say: Vec<Draft>) -> Advance {
    Advance::Finish {
        append: vec![said(text)],
        header: "{}".to_owned(),
        facts: None,
        end: End::Done,
        say,
        usage: Usage {
            calls: 1,
            input: 100,
            cached: 10,
            output: 5,
            micro_usd: 7,
            ..Usage::default()
        },
        set_aside: false,
        unheard: false,
        cut: None,
        departs: false,
        hand_over: false,
        now: at(0),
    }
}

/// Finishes and returns what is to be sent.
pub async fn finished(ledger: &dyn Ledger, claim: &Claim, advance: Advance) -> Vec<QueuedOutbound> {
    match ledger.commit(claim, advance).await.unwrap() {
        CommitResult::Ended { queued, .. } => queued,
        other => panic!("the task should have ended: {other:?}"),
    }
}

/// A receipt of the message `id`.
pub fn receipt(id: &str) -> Receipt {
    Receipt { message: Some(MessageRef::new(id)), note: None, ..Receipt::default() }
}

/// A cursor.
pub fn cursor(value: &str) -> Cursor {
    Cursor { account: account(), value: value.to_owned() }
}
