//! Laws of posts: counted by the month, told once, tried again where they have not arrived.

use selkie_channel_core::{Body, Post, PostPicture};

use super::scheduling::{firing, kept, new};
use super::*;
use crate::{
    Change, DeliveryState, FiringResult, Month, OccurrenceAction, OnceMore, Outcome, PostNotice,
    PostOf, PostRow, PostedAgain, ScheduleRow,
};
use selkie_domain::ids::OutboundId;
use selkie_domain::schedule::Action;

laws![
    a_post_of_a_schedule_is_told_once_to_whoever_asked,
    a_month_lets_so_many_be_posted,
    a_month_counts_what_is_tried_again,
    what_has_not_arrived_is_tried_again,
    what_waits_is_withdrawn,
    what_is_on_its_way_keeps_its_schedule_as_it_is,
    a_refused_series_waits,
    a_file_is_needed_while_something_names_it,
];

/// A post of so many parts in conversation 2, of a month with so many.
fn post(parts: usize, most: u32) -> Draft {
    let month = Month { since: at(-60), most, over: "used up".to_owned() };
    let mut draft = draft(2, parts);
    draft.parts.iter_mut().skip(1).for_each(|part| part.follows = true);
    Draft { month: Some(month), ..draft }
}

/// Posts at one time of a schedule that was made in conversation 1.
async fn posted(ledger: &dyn Ledger, row: &ScheduleRow, due: i64, draft: Draft) -> QueuedOutbound {
    let firing = firing(row, due, Some(due + 60), OccurrenceAction::Say(Box::new(draft)));
    match ledger.fire(firing, no_fuse()).await.unwrap() {
        FiringResult::Said(queued) => queued,
        other => panic!("it should have been posted: {other:?}"),
    }
}

/// Tries the draft's calls once more.
async fn once_more(ledger: &dyn Ledger, outbound: OutboundId, draft: Draft) -> PostedAgain {
    let Draft { parts, month, .. } = draft;
    let once_more = OnceMore { parts, expires_at: Some(at(999)), month };
    ledger.post_again(outbound, once_more).await.unwrap()
}

async fn row_of(ledger: &dyn Ledger, outbound: OutboundId) -> PostRow {
    ledger.post_of(outbound).await.unwrap().unwrap()
}

fn sent(id: &str) -> Outcome {
    Outcome::Sent(Receipt { message: Some(MessageRef::new(id)), ..Receipt::default() })
}

fn never(why: &str) -> Outcome {
    Outcome::Refused { reason: why.to_owned(), close: false }
}

async fn a_post_of_a_schedule_is_told_once_to_whoever_asked(bed: &dyn Fixture) {
    let ledger = bed.open();
    let made = kept(ledger.as_ref(), new("a", 1, 60)).await;
    let queued = posted(ledger.as_ref(), &made, 60, post(1, 9)).await;
    let row = row_of(ledger.as_ref(), queued.outbound).await;
    assert_eq!((row.asked.clone(), row.told), (Some(conversation(1)), false));
    assert_eq!(row.of, Some(PostOf { schedule: made.id(), at: at(60) }));
    assert_eq!((row.standing, row.missing), (DeliveryState::Open, vec![0]));
    ledger.settle(queued.parts[0].id, sent("17")).await.unwrap();
    drop(ledger);
    let ledger = bed.open();
    assert_eq!(ledger.untold_posts().await.unwrap(), [queued.outbound], "over a restart");
    let telling = || PostNotice { draft: Some(draft(1, 1)), pause: None };
    let told = ledger.tell_post(queued.outbound, telling()).await.unwrap().unwrap();
    assert_eq!((told.queued.unwrap().parts.len(), told.paused), (1, false));
    assert!(ledger.tell_post(queued.outbound, telling()).await.unwrap().is_none(), "once");
    assert!(ledger.untold_posts().await.unwrap().is_empty());
    let row = row_of(ledger.as_ref(), queued.outbound).await;
    assert_eq!(row.standing, DeliveryState::Delivered { message: Some(MessageRef::new("17")) });
    assert_eq!(ledger.posts(9).await.unwrap(), [row]);
}

async fn a_month_lets_so_many_be_posted(bed: &dyn Fixture) {
    let ledger = bed.open();
    let ledger = ledger.as_ref();
    let say = async |key: &str, parts| ledger.say_once(key, post(parts, 3)).await.unwrap().unwrap();
    let first = say("a", 2).await;
    assert_eq!(first.parts.len(), 2);
    let over = say("b", 2).await;
    assert!(over.parts.is_empty(), "nothing of it is sent");
    let why = DeliveryState::Refused { reason: "used up".to_owned() };
    assert_eq!(row_of(ledger, over.outbound).await.standing, why);
    assert!(row_of(ledger, over.outbound).await.told, "nobody asked in a conversation");
    assert_eq!(say("c", 1).await.parts.len(), 1, "what was refused does not count");
    assert!(say("d", 1).await.parts.is_empty());
    ledger.settle(first.parts[0].id, never("no")).await.unwrap();
    assert_eq!(say("e", 1).await.parts.len(), 1, "nor does what the platform refuses");
}

async fn a_month_counts_what_is_tried_again(bed: &dyn Fixture) {
    let ledger = bed.open();
    let ledger = ledger.as_ref();
    let say = async |key: &str| ledger.say_once(key, post(1, 1)).await.unwrap().unwrap();
    let first = say("a").await;
    ledger.settle(first.parts[0].id, never("no")).await.unwrap();
    let second = say("b").await;
    let again = async |draft| once_more(ledger, first.outbound, draft).await;
    let over = again(post(1, 1)).await;
    assert!(matches!(&over, PostedAgain::Over(why) if why == "used up"), "{over:?}");
    let why = DeliveryState::Refused { reason: "no".to_owned() };
    assert_eq!(row_of(ledger, first.outbound).await.standing, why, "nothing was written");
    ledger.settle(second.parts[0].id, never("no")).await.unwrap();
    let PostedAgain::Queued(queued) = again(post(1, 1)).await else { panic!("there is room") };
    assert!(say("c").await.parts.is_empty(), "what is tried again counts");
    let doubt = Outcome::Unclear { decide_at: at(1), why: "cut".to_owned() };
    ledger.sending(queued.parts[0].id, &instance("a")).await.unwrap();
    ledger.settle(queued.parts[0].id, doubt).await.unwrap();
    ledger.settle(queued.parts[0].id, Outcome::LeftUnclear).await.unwrap();
    let mut later = post(1, 0);
    later.month.as_mut().unwrap().since = at(999);
    let over = again(later).await;
    assert!(matches!(over, PostedAgain::Over(_)), "in another month it counts anew");
    assert!(matches!(again(post(1, 1)).await, PostedAgain::Queued(_)), "in its own only once");
}

async fn what_has_not_arrived_is_tried_again(bed: &dyn Fixture) {
    let ledger = bed.open();
    let ledger = ledger.as_ref();
    let made = kept(ledger, new("a", 1, 60)).await;
    let thread = post(3, 9);
    let queued = posted(ledger, &made, 60, thread.clone()).await;
    let again = async || once_more(ledger, queued.outbound, thread.clone()).await;
    assert!(matches!(again().await, PostedAgain::Nothing), "it is under way");
    ledger.settle(queued.parts[0].id, sent("1")).await.unwrap();
    for part in &queued.parts[1..] {
        ledger.settle(part.id, never("no")).await.unwrap();
    }
    ledger.tell_post(queued.outbound, PostNotice::default()).await.unwrap().unwrap();
    let PostedAgain::Queued(once_more) = again().await else { panic!("it is missing") };
    let ids: Vec<_> = once_more.parts.iter().map(|part| part.id).collect();
    assert_eq!(ids, [queued.parts[1].id, queued.parts[2].id], "from the part that is missing");
    assert_eq!(once_more.parts[0].expires_at, Some(at(999)));
    let row = row_of(ledger, queued.outbound).await;
    assert_eq!((row.standing, row.told), (DeliveryState::Open, false), "it is told anew");
    assert!(ledger.sending(once_more.parts[0].id, &instance("a")).await.unwrap());
    for (part, id) in once_more.parts.iter().zip(["2", "3"]) {
        ledger.settle(part.id, sent(id)).await.unwrap();
    }
    assert!(row_of(ledger, queued.outbound).await.missing.is_empty());
    assert!(matches!(again().await, PostedAgain::Nothing), "all of it is there");
}

async fn what_waits_is_withdrawn(bed: &dyn Fixture) {
    let ledger = bed.open();
    let ledger = ledger.as_ref();
    let queued = ledger.say_once("a", post(2, 9)).await.unwrap().unwrap();
    ledger.settle(queued.parts[0].id, sent("1")).await.unwrap();
    assert!(ledger.withdraw_post(queued.outbound).await.unwrap());
    assert!(!ledger.withdraw_post(queued.outbound).await.unwrap(), "once");
    assert!(!ledger.sending(queued.parts[1].id, &instance("a")).await.unwrap());
}

async fn what_is_on_its_way_keeps_its_schedule_as_it_is(bed: &dyn Fixture) {
    let ledger = bed.open();
    let ledger = ledger.as_ref();
    let made = kept(ledger, new("a", 1, 60)).await;
    assert_eq!(ledger.post_on_its_way(made.id()).await.unwrap(), None);
    let queued = posted(ledger, &made, 60, post(1, 9)).await;
    assert_eq!(ledger.post_on_its_way(made.id()).await.unwrap(), Some(queued.outbound));
    let row = ledger.schedule_of(made.id()).await.unwrap().unwrap();
    let schedule = Box::new(row.schedule.clone());
    let amend = || Change::Amend { schedule: schedule.clone(), next_at: Some(at(180)) };
    for change in [amend(), Change::Withdraw] {
        assert_eq!(
            ledger.reschedule(made.version, change.clone()).await.unwrap(),
            None,
            "read before"
        );
        assert_eq!(ledger.reschedule(row.version, change).await.unwrap(), None, "it is on its way");
    }
    assert_eq!(ledger.schedule_of(made.id()).await.unwrap().unwrap(), row);
    ledger.settle(queued.parts[0].id, sent("17")).await.unwrap();
    assert_eq!(ledger.post_on_its_way(made.id()).await.unwrap(), None);
    let row = ledger.reschedule(row.version, amend()).await.unwrap().unwrap();
    assert_eq!(row.next_at, Some(at(180)));
    let row = ledger.reschedule(row.version, Change::Withdraw).await.unwrap().unwrap();
    assert_eq!(row.state.name(), "removed");
}

async fn a_refused_series_waits(bed: &dyn Fixture) {
    let ledger = bed.open();
    let ledger = ledger.as_ref();
    let made = kept(ledger, new("a", 1, 60)).await;
    let queued = posted(ledger, &made, 60, post(1, 9)).await;
    ledger.settle(queued.parts[0].id, never("no")).await.unwrap();
    let telling = PostNotice { draft: None, pause: Some("refused".to_owned()) };
    let told = ledger.tell_post(queued.outbound, telling).await.unwrap().unwrap();
    assert!(told.paused);
    let row = ledger.schedule_of(made.id()).await.unwrap().unwrap();
    assert_eq!((row.state.name(), row.why.as_str()), ("paused", "refused"));
    let times = ledger.occurrences(made.id(), 9).await.unwrap();
    let delivered = Some(DeliveryState::Refused { reason: "no".to_owned() });
    assert_eq!(times[0].delivered, delivered);
}

async fn a_file_is_needed_while_something_names_it(bed: &dyn Fixture) {
    let ledger = bed.open();
    let ledger = ledger.as_ref();
    let pictured = |path: &str| Post {
        texts: vec!["look".to_owned()],
        pictures: vec![PostPicture {
            path: path.to_owned(),
            name: "cat.png".to_owned(),
            mime: "image/png".to_owned(),
            bytes: 7,
            sha256: "00".to_owned(),
        }],
        ..Post::default()
    };
    let needed = async || {
        let mut files = ledger.post_files().await.unwrap();
        files.sort();
        files
    };
    let mut new = new("a", 1, 60);
    new.schedule.action = Action::Post { to: conversation(2), post: pictured("/kept/a") };
    let made = kept(ledger, new).await;
    assert_eq!(needed().await, ["/kept/a"]);
    let mut draft = post(1, 9);
    draft.outbound.body = Body::Post(pictured("/kept/b"));
    let queued = posted(ledger, &made, 60, draft).await;
    assert_eq!(needed().await, ["/kept/a", "/kept/b"]);
    ledger.settle(queued.parts[0].id, never("no")).await.unwrap();
    assert_eq!(needed().await, ["/kept/a", "/kept/b"], "it may be tried again");
    ledger.settle(queued.parts[0].id, sent("1")).await.unwrap();
    let row = ledger.schedule_of(made.id()).await.unwrap().unwrap();
    ledger.reschedule(row.version, Change::Remove).await.unwrap().unwrap();
    assert!(!needed().await.contains(&"/kept/a".to_owned()));
}
