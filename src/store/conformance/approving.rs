//! Laws of approvals: sought with the park, decided once and in time by who was asked, consumed once.

use super::*;
use crate::{ApprovalRequest, CommandEffect, Decision, InCallEnd, Outcome};
use selkie_domain::approval::{
    ApprovalState, Approvers, MAX_OPEN, MAX_OPEN_OF_ALL, MAX_RECENT, MAX_RECENT_OF_ALL, MuteOf,
    Request, Verdict,
};
use selkie_domain::facts::Mode;
use selkie_domain::ids::InboxId;
use selkie_domain::question::Person;
use selkie_domain::task::ParkedOn;

laws![
    approval_is_sought_with_its_park,
    approval_is_given_once_by_who_was_asked,
    a_decision_row_is_carried_out_once,
    approval_is_used_once_and_for_its_hash_alone,
    a_call_that_failed_is_noted_with_its_approval,
    a_request_expires_and_the_decision_is_late,
    an_approval_that_was_given_holds_after_a_restart,
    a_stop_takes_requests_back,
    plan_mode_takes_requests_back,
    nobody_to_ask_wakes_its_task,
    a_refused_request_wakes_its_task,
    few_requests_of_one_person_are_open,
    what_was_approved_counts_no_more,
    few_requests_of_all_others_wait_for_one_owner,
    an_owner_is_asked_for_others_so_often_an_hour,
    who_is_muted_asks_no_more,
    words_mean_a_request_by_its_code_or_its_message,
    half_a_request_decides_nothing,
    a_running_task_asks_and_keeps_its_claim,
    what_a_call_asked_ends_with_the_call_and_its_process,
];

/// The owner's private conversation.
pub const OWNERS: i64 = 90;

fn request() -> Request {
    Request {
        v: Request::VERSION,
        call: "c1.0".to_owned(),
        tool: "write_file".to_owned(),
        words: "running a command".to_owned(),
        preview: "create a.txt".to_owned(),
        unseen: Vec::new(),
        place: String::new(),
        reasons: vec!["asks first".to_owned()],
        of: Approvers::Owners,
        hash: "h1".to_owned(),
    }
}

fn owner() -> Person {
    Person { id: PersonId::new("tg:9"), name: "Ada".to_owned() }
}

/// A request that the owner is asked for.
pub fn sought(key: &str) -> ApprovalRequest {
    let requester = Some(Person { id: PersonId::new("tg:1"), name: "Ann".to_owned() });
    let asked = vec![(owner(), draft(OWNERS, 1))];
    let expires_at = at(3600);
    let unasked = None;
    ApprovalRequest {
        key: key.to_owned(),
        request: request(),
        requester,
        asked,
        unasked,
        expires_at,
    }
}

fn park(sought: ApprovalRequest) -> Advance {
    Advance::Park {
        append: vec![said("I ask")],
        header: "{}".to_owned(),
        on: ParkedOn::Approval { key: sought.key.clone() },
        wake_at: Some(sought.expires_at),
        ask: None,
        seek: Some(Box::new(sought)),
        usage: Usage::default(),
        hand_over: false,
        now: at(1),
    }
}

/// A task of conversation `n` that waits for its request.
pub async fn parked(ledger: &dyn Ledger, n: i64, sought: ApprovalRequest) -> TaskClaim {
    let claimed = started(ledger, n, n * 10).await;
    let committed = ledger.commit(&claimed.claim, park(sought)).await.unwrap();
    assert!(matches!(committed, CommitResult::Ended { .. }), "{committed:?}");
    claimed
}

fn decision(key: &str, verdict: Verdict) -> Decision {
    let by = Some((account(), owner().id));
    Decision { row: None, key: Some(key.to_owned()), verdict, by, name: "Ada".to_owned() }
}

async fn done(ledger: &dyn Ledger, decision: Decision) -> bool {
    ledger.decide(decision).await.unwrap().is_some_and(|decided| decided.done)
}

async fn state(ledger: &dyn Ledger, key: &str) -> ApprovalState {
    ledger.approval(key).await.unwrap().unwrap().state
}

async fn awake(ledger: &dyn Ledger, n: i64) -> Option<TaskClaim> {
    ledger.claim(&lane(n), &instance("a"), at(1)).await.unwrap()
}

fn step() -> Advance {
    Advance::Step {
        append: Vec::new(),
        header: r#"{"started":true}"#.to_owned(),
        facts: None,
        usage: Usage::default(),
        durable: true,
    }
}

fn starts(key: &str, hash: &str) -> Advance {
    Advance::Consume { key: key.to_owned(), hash: hash.to_owned(), with: Box::new(step()) }
}

async fn approval_is_sought_with_its_park(bed: &dyn Fixture) {
    let ledger = bed.open();
    let claimed = parked(ledger.as_ref(), 1, sought("a1")).await;
    let row = ledger.approval("a1").await.unwrap().unwrap();
    assert_eq!(
        (row.task, row.state, row.request),
        (claimed.claim.task, ApprovalState::Open, request())
    );
    assert_eq!(row.conversation, conversation(1));
    assert_eq!(row.asked[0].person, owner());
    assert_eq!(
        row.asked[0].conversation,
        conversation(OWNERS),
        "in private, not where it was asked for"
    );
    assert!(awake(ledger.as_ref(), 1).await.is_none(), "it waits");
    assert_eq!(ledger.due(&account(), &instance("a")).await.unwrap().len(), 1);
}

async fn approval_is_given_once_by_who_was_asked(bed: &dyn Fixture) {
    let ledger = bed.open();
    parked(ledger.as_ref(), 1, sought("a1")).await;
    let stranger = Decision {
        by: Some((account(), PersonId::new("tg:1"))),
        ..decision("a1", Verdict::Approve)
    };
    assert!(!done(ledger.as_ref(), stranger).await, "who asked for it does not allow it");
    let other = Decision {
        by: Some((AccountId::new("tg:7"), owner().id)),
        ..decision("a1", Verdict::Approve)
    };
    assert!(!done(ledger.as_ref(), other).await, "nor does another account's person");
    assert!(done(ledger.as_ref(), decision("a1", Verdict::Approve)).await);
    assert!(!done(ledger.as_ref(), decision("a1", Verdict::Deny)).await, "the first one counts");
    assert_eq!(state(ledger.as_ref(), "a1").await, ApprovalState::Approved);
    let awake = awake(ledger.as_ref(), 1).await.unwrap();
    assert_eq!(awake.approval.unwrap().by, "Ada");
}

async fn a_decision_row_is_carried_out_once(bed: &dyn Fixture) {
    let ledger = bed.open();
    parked(ledger.as_ref(), 1, sought("a1")).await;
    let mut inbound = message(OWNERS, 5);
    inbound.what =
        What::Tap { question: "a1".into(), choice: "approve".into(), handle: "h".into() };
    let row =
        push(ledger.as_ref(), arrival(inbound, Disposition::Tap), no_fuse()).await.commands[0].0;
    let tap = |row: InboxId| Decision { row: Some(row), ..decision("a1", Verdict::Approve) };
    assert!(done(ledger.as_ref(), tap(row)).await);
    assert!(ledger.decide(tap(row)).await.unwrap().is_none(), "redelivered");
}

async fn half_a_request_decides_nothing(bed: &dyn Fixture) {
    let ledger = bed.open();
    let other = Person { id: PersonId::new("tg:8"), name: "Ben".to_owned() };
    let asked = vec![(owner(), draft(OWNERS, 3)), (other.clone(), draft(OWNERS + 1, 2))];
    parked(ledger.as_ref(), 1, ApprovalRequest { asked, ..sought("a1") }).await;
    let due = ledger.due(&account(), &instance("a")).await.unwrap();
    let part = |n: i64, place: usize| {
        due.iter().filter(|due| due.part.conversation == conversation(n)).nth(place).unwrap().id
    };
    let sent = || Outcome::Sent(Receipt::default());
    let refused = || Outcome::Refused { reason: "too long".to_owned(), close: false };
    let by = |person: &Person| Decision {
        by: Some((account(), person.id.clone())),
        ..decision("a1", Verdict::Approve)
    };
    let whole = async || {
        let row = ledger.approval("a1").await.unwrap().unwrap();
        row.asked.iter().map(|one| one.whole).collect::<Vec<_>>()
    };
    assert!(!done(ledger.as_ref(), by(&owner())).await, "nothing has arrived yet");
    ledger.settle(part(OWNERS, 0), sent()).await.unwrap();
    ledger.settle(part(OWNERS, 1), refused()).await.unwrap();
    ledger.settle(part(OWNERS, 2), sent()).await.unwrap();
    assert!(!done(ledger.as_ref(), by(&owner())).await, "its middle was refused");
    assert!(!done(ledger.as_ref(), by(&other)).await, "its beginning has not arrived");
    assert_eq!(whole().await, [false, false]);
    assert_eq!(state(ledger.as_ref(), "a1").await, ApprovalState::Open, "the other copy stands");
    ledger.settle(part(OWNERS + 1, 0), sent()).await.unwrap();
    assert_eq!(whole().await, [false, true]);
    assert!(done(ledger.as_ref(), by(&other)).await);
}

async fn approval_is_used_once_and_for_its_hash_alone(bed: &dyn Fixture) {
    let ledger = bed.open();
    parked(ledger.as_ref(), 1, sought("a1")).await;
    assert!(done(ledger.as_ref(), decision("a1", Verdict::Approve)).await);
    let claim = awake(ledger.as_ref(), 1).await.unwrap().claim;
    let other = ledger.commit(&claim, starts("a1", "h2")).await.unwrap();
    assert!(matches!(other, CommitResult::NotApproved { .. }), "for something else: {other:?}");
    let first = ledger.commit(&claim, starts("a1", "h1")).await.unwrap();
    assert!(matches!(first, CommitResult::Continue { .. }));
    let again = ledger.commit(&claim, starts("a1", "h1")).await.unwrap();
    assert!(matches!(again, CommitResult::NotApproved { .. }));
    assert_eq!(state(ledger.as_ref(), "a1").await, ApprovalState::Consumed);
}

async fn a_call_that_failed_is_noted_with_its_approval(bed: &dyn Fixture) {
    let ledger = bed.open();
    parked(ledger.as_ref(), 1, sought("a1")).await;
    assert!(done(ledger.as_ref(), decision("a1", Verdict::Approve)).await);
    let claim = awake(ledger.as_ref(), 1).await.unwrap().claim;
    ledger.commit(&claim, starts("a1", "h1")).await.unwrap();
    let Advance::Consume { with, .. } = starts("a1", "h1") else { panic!("another advance") };
    let failed = Advance::Forgo { key: "a1".to_owned(), why: "no room".to_owned(), with };
    ledger.commit(&claim, failed).await.unwrap();
    let row = ledger.approval("a1").await.unwrap().unwrap();
    assert_eq!((row.state, row.why.as_deref()), (ApprovalState::Consumed, Some("no room")));
    assert!(row.has_failed());
}

async fn a_request_expires_and_the_decision_is_late(bed: &dyn Fixture) {
    let ledger = bed.open();
    let past = at(0);
    parked(ledger.as_ref(), 1, ApprovalRequest { expires_at: past, ..sought("a1") }).await;
    assert!(
        !done(ledger.as_ref(), decision("a1", Verdict::Approve)).await,
        "before its task has woken"
    );
    let awake = awake(ledger.as_ref(), 1).await.unwrap();
    assert_eq!(awake.approval.unwrap().state, ApprovalState::Expired);
    assert!(!done(ledger.as_ref(), decision("a1", Verdict::Approve)).await);
}

async fn an_approval_that_was_given_holds_after_a_restart(bed: &dyn Fixture) {
    let ledger = bed.open();
    parked(ledger.as_ref(), 1, sought("a1")).await;
    assert!(done(ledger.as_ref(), decision("a1", Verdict::Approve)).await);
    awake(ledger.as_ref(), 1).await.unwrap();
    drop(ledger);
    let ledger = bed.open();
    ledger.reclaim(&instance("b"), at(1)).await.unwrap();
    let again = ledger.claim(&lane(1), &instance("b"), at(1)).await.unwrap().unwrap();
    assert_eq!(again.approval.as_ref().unwrap().state, ApprovalState::Approved);
    let begun = ledger.commit(&again.claim, starts("a1", "h1")).await.unwrap();
    assert!(matches!(begun, CommitResult::Continue { .. }));
}

async fn a_stop_takes_requests_back(bed: &dyn Fixture) {
    let ledger = bed.open();
    let claimed = parked(ledger.as_ref(), 1, sought("a1")).await;
    let command = arrival(message(1, 99), Disposition::Command);
    let row = push(ledger.as_ref(), command, no_fuse()).await.commands[0].0;
    let reset = CommandEffect::Reset(draft(1, 1));
    let ended = ledger.command(row, reset).await.unwrap().unwrap();
    assert_eq!(ended.stopping, [claimed.claim.task]);
    assert_eq!(state(ledger.as_ref(), "a1").await, ApprovalState::Withdrawn);
    assert!(!done(ledger.as_ref(), decision("a1", Verdict::Approve)).await);
}

async fn plan_mode_takes_requests_back(bed: &dyn Fixture) {
    let ledger = bed.open();
    parked(ledger.as_ref(), 1, sought("a1")).await;
    ledger.set_mode(&conversation(1), Mode::Plan).await.unwrap();
    assert_eq!(state(ledger.as_ref(), "a1").await, ApprovalState::Withdrawn);
    assert!(awake(ledger.as_ref(), 1).await.is_some(), "its task goes on and is told");
}

async fn nobody_to_ask_wakes_its_task(bed: &dyn Fixture) {
    let ledger = bed.open();
    parked(ledger.as_ref(), 1, ApprovalRequest { asked: Vec::new(), ..sought("a1") }).await;
    let awake = awake(ledger.as_ref(), 1).await.unwrap();
    let approval = awake.approval.unwrap();
    assert_eq!(approval.state, ApprovalState::NotAsked);
    assert!(approval.why.unwrap().contains("can be reached"));
}

async fn a_refused_request_wakes_its_task(bed: &dyn Fixture) {
    let ledger = bed.open();
    parked(ledger.as_ref(), 1, sought("a1")).await;
    let due = ledger.due(&account(), &instance("a")).await.unwrap();
    let refused = crate::Outcome::Refused { reason: "blocked".to_owned(), close: false };
    ledger.settle(due[0].id, refused).await.unwrap();
    let approval = awake(ledger.as_ref(), 1).await.unwrap().approval.unwrap();
    assert_eq!(approval.state, ApprovalState::NotAsked);
    assert!(approval.why.unwrap().contains("blocked"));
}

async fn few_requests_of_one_person_are_open(bed: &dyn Fixture) {
    let ledger = bed.open();
    let most = i64::from(MAX_OPEN);
    for n in 1..=most {
        parked(ledger.as_ref(), n, sought(&format!("a{n}"))).await;
    }
    parked(ledger.as_ref(), most + 1, sought("more")).await;
    let approval = awake(ledger.as_ref(), most + 1).await.unwrap().approval.unwrap();
    assert_eq!(approval.state, ApprovalState::NotAsked);
    assert!(approval.why.unwrap().contains("waiting already"));
    assert!(approval.asked.is_empty(), "the owner is not told of it");
}

/// Requests `from` up to `to`, each decided before the next.
async fn decided(ledger: &dyn Ledger, from: u32, to: u32, verdict: Verdict) {
    for n in from..=to {
        let key = format!("a{n}");
        parked(ledger, i64::from(n), sought(&key)).await;
        sent(ledger).await;
        assert!(done(ledger, decision(&key, verdict)).await, "{key}");
    }
}

/// What waits has arrived.
async fn sent(ledger: &dyn Ledger) {
    for due in ledger.due(&account(), &instance("a")).await.unwrap() {
        ledger.settle(due.id, Outcome::Sent(Receipt::default())).await.unwrap();
    }
}

/// The same request for somebody else.
fn sought_by(key: &str, person: &str) -> ApprovalRequest {
    let requester = Some(Person { id: PersonId::new(person), name: String::new() });
    ApprovalRequest { requester, ..sought(key) }
}

async fn what_was_approved_counts_no_more(bed: &dyn Fixture) {
    let ledger = bed.open();
    let ledger = ledger.as_ref();
    let first = MAX_RECENT + 1;
    decided(ledger, 1, MAX_RECENT, Verdict::Approve).await;
    decided(ledger, first, first + MAX_RECENT - 1, Verdict::Deny).await;
    let next = i64::from(first + MAX_RECENT);
    parked(ledger, next, sought("more")).await;
    let row = ledger.approval("more").await.unwrap().unwrap();
    assert_eq!(row.state, ApprovalState::NotAsked, "{MAX_RECENT} were denied");
    assert!(row.why.unwrap().contains("within an hour"));
    parked(ledger, next + 1, sought_by("other", "tg:2")).await;
    assert_eq!(state(ledger, "other").await, ApprovalState::Open, "of somebody else");
}

async fn few_requests_of_all_others_wait_for_one_owner(bed: &dyn Fixture) {
    let ledger = bed.open();
    let ledger = ledger.as_ref();
    let most = i64::from(MAX_OPEN_OF_ALL);
    for n in 1..=most {
        parked(ledger, n, sought_by(&format!("a{n}"), &format!("tg:10{n}"))).await;
    }
    parked(ledger, most + 1, sought_by("more", "tg:200")).await;
    let row = ledger.approval("more").await.unwrap().unwrap();
    assert_eq!(
        (row.state, row.asked.len()),
        (ApprovalState::NotAsked, 0),
        "the owner is not told of it"
    );
    assert!(row.why.unwrap().contains("waiting for the owner"));
    assert!(awake(ledger, most + 1).await.is_some(), "its task goes on");
    let own = sought_by("own", owner().id.as_str());
    parked(ledger, most + 2, own).await;
    assert_eq!(
        state(ledger, "own").await,
        ApprovalState::Open,
        "others do not keep an owner from their own"
    );
    let another = Person { id: PersonId::new("tg:8"), name: "Ben".to_owned() };
    let asked = vec![(owner(), draft(OWNERS, 1)), (another.clone(), draft(OWNERS + 1, 1))];
    parked(ledger, most + 3, ApprovalRequest { asked, ..sought_by("both", "tg:201") }).await;
    let both = ledger.approval("both").await.unwrap().unwrap();
    let asked: Vec<&Person> = both.asked.iter().map(|one| &one.person).collect();
    assert_eq!((both.state, asked), (ApprovalState::Open, vec![&another]), "who has room is asked");
}

async fn an_owner_is_asked_for_others_so_often_an_hour(bed: &dyn Fixture) {
    let ledger = bed.open();
    let ledger = ledger.as_ref();
    let most = i64::from(MAX_RECENT_OF_ALL);
    for n in 1..=most {
        let key = format!("a{n}");
        parked(ledger, n, sought_by(&key, &format!("tg:10{n}"))).await;
        sent(ledger).await;
        assert!(done(ledger, decision(&key, Verdict::Deny)).await, "{key}");
    }
    parked(ledger, most + 1, sought_by("more", "tg:200")).await;
    let row = ledger.approval("more").await.unwrap().unwrap();
    assert_eq!(row.state, ApprovalState::NotAsked);
    assert!(row.why.unwrap().contains("within an hour"));
}

async fn who_is_muted_asks_no_more(bed: &dyn Fixture) {
    let ledger = bed.open();
    let ledger = ledger.as_ref();
    parked(ledger, 1, sought("a1")).await;
    let by_who_asks =
        Decision { by: Some((account(), PersonId::new("tg:1"))), ..decision("a1", Verdict::Mute) };
    assert!(!done(ledger, by_who_asks).await, "only who was asked mutes");
    assert!(done(ledger, decision("a1", Verdict::Mute)).await);
    assert!(!done(ledger, decision("a1", Verdict::Mute)).await, "once");
    let row = ledger.approval("a1").await.unwrap().unwrap();
    assert_eq!(
        (row.state, row.mute.map(|mute| mute.of)),
        (ApprovalState::Denied, Some(MuteOf::Person))
    );
    parked(ledger, 2, sought("a2")).await;
    let row = ledger.approval("a2").await.unwrap().unwrap();
    assert_eq!((row.state, row.asked.len()), (ApprovalState::NotAsked, 0));
    assert!(row.why.unwrap().contains("takes no requests for this person"));
    parked(ledger, 3, sought_by("a3", "tg:2")).await;
    assert_eq!(state(ledger, "a3").await, ApprovalState::Open, "somebody else's");
    assert_eq!(ledger.muted().await.unwrap().len(), 1);
    assert!(done(ledger, decision("a1", Verdict::Unmute)).await);
    assert!(!done(ledger, decision("a1", Verdict::Unmute)).await, "nobody is muted any more");
    assert_eq!(ledger.muted().await.unwrap().len(), 0);
    parked(ledger, 4, sought("a4")).await;
    assert_eq!(state(ledger, "a4").await, ApprovalState::Open);
}

async fn words_mean_a_request_by_its_code_or_its_message(bed: &dyn Fixture) {
    let ledger = bed.open();
    parked(ledger.as_ref(), 1, sought("abc123ffff")).await;
    let due = ledger.due(&account(), &instance("a")).await.unwrap();
    let arrived = crate::Outcome::Sent(receipt("77"));
    ledger.settle(due[0].id, arrived).await.unwrap();
    let words = |text: &str, quote: Option<&str>| {
        let mut inbound = message(OWNERS, 5);
        inbound.audience = Audience::Direct;
        inbound.speaker.id = owner().id;
        inbound.text = text.to_owned();
        inbound.quote = quote.map(|message| selkie_channel_core::Quote {
            message: MessageRef::new(message),
            speaker: String::new(),
            text: String::new(),
            ours: true,
            attachments: Vec::new(),
        });
        inbound
    };
    let meant = async |inbound: &Inbound| ledger.approval_meant(inbound).await.unwrap().is_some();
    assert!(meant(&words("approve abc123", None)).await);
    assert!(meant(&words("yes", Some("77"))).await);
    for (text, quote) in
        [("yes", None), ("1", Some("77")), ("yes", Some("78")), ("approve abc124", None)]
    {
        assert!(!meant(&words(text, quote)).await, "{text} {quote:?}");
    }
    let anothers = Inbound { forwarded: true, ..words("approve abc123", None) };
    assert!(!meant(&anothers).await, "forwarded, or quoted as a whole");
    let mut somebody = words("approve abc123", None);
    somebody.speaker.id = PersonId::new("tg:1");
    assert!(!meant(&somebody).await);
    let in_a_group = Inbound { audience: Audience::Group, ..words("approve abc123", None) };
    assert!(!meant(&in_a_group).await);
}

async fn a_running_task_asks_and_keeps_its_claim(bed: &dyn Fixture) {
    let ledger = bed.open();
    let claimed = started(ledger.as_ref(), 1, 10).await;
    let queued = ledger.seek_in_call(&claimed.claim, sought("a1")).await.unwrap().unwrap();
    assert_eq!(queued.len(), 1);
    assert!(
        ledger.seek_in_call(&claimed.claim, sought("a1")).await.unwrap().unwrap().is_empty(),
        "once"
    );
    let end = async |end| ledger.end_in_call("a1", end).await.unwrap().unwrap().state;
    assert_eq!(end(InCallEnd::Used).await, ApprovalState::Open, "nobody has approved it");
    assert!(done(ledger.as_ref(), decision("a1", Verdict::Approve)).await);
    assert_eq!(end(InCallEnd::Late).await, ApprovalState::Approved, "too late for that");
    assert_eq!(end(InCallEnd::Used).await, ApprovalState::Consumed);
    assert_eq!(end(InCallEnd::CallEnded).await, ApprovalState::Consumed);
    let committed = ledger.commit(&claimed.claim, step()).await.unwrap();
    assert!(matches!(committed, CommitResult::Continue { .. }), "{committed:?}");
    ledger.seek_in_call(&claimed.claim, sought("a2")).await.unwrap().unwrap();
    let late = ledger.end_in_call("a2", InCallEnd::Late).await.unwrap().unwrap();
    assert_eq!(late.state, ApprovalState::Expired);
    assert!(!done(ledger.as_ref(), decision("a2", Verdict::Approve)).await);
    let lost = Claim { number: claimed.claim.number + 1, ..claimed.claim };
    assert!(ledger.seek_in_call(&lost, sought("a3")).await.unwrap().is_none());
    assert!(ledger.approval("a3").await.unwrap().is_none());
}

async fn what_a_call_asked_ends_with_the_call_and_its_process(bed: &dyn Fixture) {
    let ledger = bed.open();
    let claimed = started(ledger.as_ref(), 1, 10).await;
    ledger.seek_in_call(&claimed.claim, sought("a1")).await.unwrap();
    let ended = ledger.end_in_call("a1", InCallEnd::CallEnded).await.unwrap().unwrap();
    assert_eq!(
        (ended.state, ended.why.as_deref()),
        (ApprovalState::Withdrawn, Some("the call has ended"))
    );
    ledger.seek_in_call(&claimed.claim, sought("a2")).await.unwrap();
    parked(ledger.as_ref(), 2, sought("parked")).await;
    ledger.reclaim(&claimed.claim.instance, at(2)).await.unwrap();
    assert_eq!(state(ledger.as_ref(), "a2").await, ApprovalState::Open, "it runs in this process");
    ledger.reclaim(&instance("b"), at(3)).await.unwrap();
    assert_eq!(state(ledger.as_ref(), "a2").await, ApprovalState::Withdrawn);
    assert_eq!(
        state(ledger.as_ref(), "parked").await,
        ApprovalState::Open,
        "a parked one waits on"
    );
    assert!(ledger.unshown_approvals().await.unwrap().iter().any(|row| row.key == "a2"));
    let again = ledger.claim(&lane(1), &instance("b"), at(4)).await.unwrap().unwrap();
    ledger.seek_in_call(&again.claim, sought("a3")).await.unwrap();
    ledger.commit(&again.claim, Advance::Release).await.unwrap();
    assert_eq!(state(ledger.as_ref(), "a3").await, ApprovalState::Withdrawn);
}
