//! Laws of tasks that come from no message: made once for their cause, with words that live and go as a message's do;
//! and of what is typed at the command line to what exists already.

use super::asking::{asking, park};
use super::*;
use crate::read::{Chain, Origin};
use crate::{CommandEffect, Location, RequestResult, Since, StopAnswers, TaskRequest};
use selkie_domain::ids::TaskId;
use selkie_domain::question::{QuestionResult, QuestionState};
use selkie_domain::task::TaskState;
use selkie_domain::transcript::UserMessage;
use selkie_domain::words::Words;

laws![
    a_cause_makes_one_task_with_its_words,
    words_outlive_a_kill_and_are_read_again,
    words_become_history_until_a_reset,
    words_go_with_their_age_and_their_cause_is_still_known,
    a_request_waits_for_its_lane_and_its_time,
    a_hook_makes_one_task_of_a_delivery_and_no_more_than_may_wait,
    a_typed_stop_ends_what_runs,
    a_typed_answer_is_given_once,
];

fn location(n: i64) -> Location {
    Location { conversation: conversation(n), place: place(n), title: format!("Folder {n}") }
}

/// What is asked in conversation `n` at the command line, by its id.
fn request(n: i64, id: &str) -> TaskRequest {
    let facts = Facts { trust: Trust::Owner, ..facts() };
    TaskRequest {
        location: location(n),
        order: 1,
        task: NewTask::new(Cause::CommandLine { id: id.to_owned() }, facts),
        words: Words {
            person: PersonId::new("cli:local"),
            name: "Ann".to_owned(),
            at: at(3),
            text: format!("words {id}"),
            note: String::new(),
            fixed: false,
            agent: None,
        },
    }
}

async fn requested(ledger: &dyn Ledger, n: i64, id: &str, permits: usize) -> RequestResult {
    ledger.request(request(n, id), fuse(permits)).await.unwrap()
}

fn words(chain: &Chain) -> (&str, &Words) {
    match &chain.origin {
        Origin::Words { cause, words, .. } => (cause, words),
        other => panic!("no words: {other:?}"),
    }
}

async fn a_cause_makes_one_task_with_its_words(bed: &dyn Fixture) {
    let ledger = bed.open();
    let ledger = ledger.as_ref();
    let first = requested(ledger, 1, "a", 1).await;
    let claimed = first.claimed.unwrap();
    assert_eq!((first.is_new, first.task), (true, claimed.claim.task));
    assert_eq!((claimed.heard.len(), claimed.words.as_ref()), (0, Some(&request(1, "a").words)));
    assert_eq!((claimed.conversation.clone(), claimed.place), (conversation(1), place(1)));
    let again = requested(ledger, 1, "a", 1).await;
    assert_eq!((again.is_new, again.task, again.claimed.is_none()), (false, first.task, true));
    let other = requested(ledger, 2, "b", 1).await;
    assert!(other.task != first.task && other.claimed.is_some(), "another cause");
    let queued = finished(ledger, &claimed.claim, finish("yes", vec![draft(1, 1)])).await;
    let arrived = crate::Outcome::Sent(receipt("77"));
    ledger.settle(queued[0].parts[0].id, arrived).await.unwrap();
    assert!(!requested(ledger, 1, "a", 1).await.is_new, "it has ended, and is not made anew");
    let listed = ledger.tasks(Some(&conversation(1)), 9).await.unwrap();
    assert_eq!((listed.len(), listed[0].asked.as_str()), (1, "words a"));
    assert_eq!(ledger.conversations(9).await.unwrap().len(), 2);
    assert_eq!(ledger.counts().await.unwrap().inbox, 0, "no message stands for it");
    for name in [first.task.to_string().as_str(), "ask:a", "77"] {
        let chains = ledger.trace(name).await.unwrap();
        assert_eq!(chains.len(), 1, "{name}");
        assert_eq!(words(&chains[0]), ("ask:a", &request(1, "a").words));
        assert_eq!(chains[0].task.as_ref().unwrap().row.id, first.task);
        assert_eq!(chains[0].outbounds[0].parts[0].state, "sent");
    }
}

async fn words_outlive_a_kill_and_are_read_again(bed: &dyn Fixture) {
    let ledger = bed.open();
    let task = requested(ledger.as_ref(), 1, "a", 1).await.task;
    drop(ledger);
    let ledger = bed.open();
    assert_eq!(ledger.reclaim(&instance("b"), at(4)).await.unwrap(), 1);
    let again = ledger.claim(&lane(1), &instance("b"), at(4)).await.unwrap().unwrap();
    assert_eq!((again.claim.task, again.attempts), (task, 2));
    assert_eq!(again.words, Some(request(1, "a").words));
    finished(ledger.as_ref(), &again.claim, finish("yes", vec![])).await;
}

async fn words_become_history_until_a_reset(bed: &dyn Fixture) {
    let ledger = bed.open();
    let ledger = ledger.as_ref();
    let first = requested(ledger, 1, "a", 1).await.claimed.unwrap();
    let Words { text, at: when, .. } = request(1, "a").words;
    let heard = UserMessage {
        inbox: None,
        at: when,
        local: String::new(),
        speaker: "cli:local".to_owned(),
        text,
        quote: None,
        forwarded: false,
        origin: String::new(),
        talk: false,
        relayed: false,
        agent: None,
        spoken: Vec::new(),
        files: Vec::new(),
        pictures: Vec::new(),
    };
    let items = vec![Item::Received(heard), said("yes")];
    let mut ending = finish("yes", vec![]);
    if let Advance::Finish { append, .. } = &mut ending {
        append.clone_from(&items);
    }
    finished(ledger, &first.claim, ending).await;
    let second = requested(ledger, 1, "b", 1).await.claimed.unwrap();
    assert_eq!(second.history, [items], "the second knows the first");
    assert_eq!(second.asked_by, Some(Trust::Owner));
    finished(ledger, &second.claim, finish("yes", vec![])).await;
    let reset = CommandEffect::Reset(draft(1, 1));
    let done = ledger.command_typed(location(1), reset).await.unwrap();
    assert_eq!(done.queued.unwrap().parts.len(), 1, "it is answered");
    let third = requested(ledger, 1, "c", 1).await.claimed.unwrap();
    assert!(third.history.is_empty(), "it began anew");
}

async fn words_go_with_their_age_and_their_cause_is_still_known(bed: &dyn Fixture) {
    let ledger = bed.open();
    let ledger = ledger.as_ref();
    let old = requested(ledger, 1, "a", 1).await.claimed.unwrap();
    let waits = requested(ledger, 1, "b", 0).await.task;
    finished(ledger, &old.claim, finish("yes", vec![])).await;
    let (never, later) = (DateTime::<Utc>::MIN_UTC, at(1_000_000));
    let words_only =
        Since { transcripts: never, inbox: later, outbox: never, keys: never, cache: never };
    while ledger.forget_old(words_only).await.unwrap() > 0 {}
    let chain = ledger.trace("ask:a").await.unwrap().remove(0);
    let (cause, left) = words(&chain);
    assert_eq!((cause, left.text.as_str(), left.name.as_str()), ("ask:a", "", ""));
    assert_eq!(ledger.tasks(None, 9).await.unwrap()[1].asked, "");
    let again = requested(ledger, 1, "a", 0).await;
    assert_eq!((again.is_new, again.task), (false, old.claim.task));
    let claimed = ledger.claim(&lane(1), &instance("a"), at(9)).await.unwrap().unwrap();
    assert_eq!((claimed.claim.task, claimed.words.unwrap().text.as_str()), (waits, "words b"));
    let everything = Since { transcripts: later, keys: later, ..words_only };
    while ledger.forget_old(everything).await.unwrap() > 0 {}
    assert!(ledger.trace("ask:a").await.unwrap().is_empty(), "nothing is left of it");
}

async fn a_request_waits_for_its_lane_and_its_time(bed: &dyn Fixture) {
    let ledger = bed.open();
    let ledger = ledger.as_ref();
    let message = started(ledger, 1, 5).await;
    let behind = requested(ledger, 1, "a", 1).await;
    assert!(behind.claimed.is_none() && behind.ready.is_none(), "its lane has a running task");
    let waiting = ledger.inflow(&message.claim, at(0)).await.unwrap().waiting;
    assert!(waiting.iter().all(|waiting| waiting.heard.is_empty()), "no message to steer with");
    finished(ledger, &message.claim, finish("yes", vec![])).await;
    let claimed = ledger.claim(&lane(1), &instance("a"), at(0)).await.unwrap().unwrap();
    assert_eq!(claimed.claim.task, behind.task);
    let mut later = request(2, "b");
    later.task.not_before = Some(at(50));
    let later = ledger.request(later, fuse(1)).await.unwrap();
    assert!(later.claimed.is_none() && later.ready.is_none());
    assert_eq!(
        (later.wake_at, ledger.next_wake(at(1)).await.unwrap()),
        (Some(at(50)), Some(at(50)))
    );
    assert!(ledger.claim(&lane(2), &instance("a"), at(50)).await.unwrap().is_some());
    let done = ledger.abandon(claimed.claim.task).await.unwrap();
    assert_eq!(done.stopping, [claimed.claim.task], "who asked has gone");
}

async fn a_hook_makes_one_task_of_a_delivery_and_no_more_than_may_wait(bed: &dyn Fixture) {
    let ledger = bed.open();
    let called = |n: i64, hook: &str, delivery: &str| {
        let mut request = request(n, delivery);
        let (hook, delivery) = (hook.to_owned(), delivery.to_owned());
        request.task.cause = Cause::Webhook { hook, delivery };
        request.task.most_waiting = Some(2);
        request
    };
    let call = async |ledger: &dyn Ledger, n: i64, hook: &str, delivery: &str| {
        ledger.request(called(n, hook, delivery), fuse(0)).await.unwrap()
    };
    let first = call(ledger.as_ref(), 1, "git", "a").await;
    let second = call(ledger.as_ref(), 1, "git", "b").await;
    assert!(first.is_new && second.is_new && !second.is_full);
    let third = call(ledger.as_ref(), 1, "git", "c").await;
    assert!(third.is_full && !third.is_new);
    assert!(call(ledger.as_ref(), 1, "git-2", "c").await.is_new, "another hook");
    assert!(call(ledger.as_ref(), 2, "git", "c").await.is_new, "another conversation");
    drop(ledger);
    let ledger = bed.open();
    let again = call(ledger.as_ref(), 1, "git", "a").await;
    assert_eq!(
        (again.task, again.is_new, again.is_full),
        (first.task, false, false),
        "it is known"
    );
    let claimed = ledger.claim(&lane(1), &instance("a"), at(9)).await.unwrap().unwrap();
    assert!(call(ledger.as_ref(), 1, "git", "d").await.is_new, "there is room");
    assert!(call(ledger.as_ref(), 1, "git", "e").await.is_full);
    finished(ledger.as_ref(), &claimed.claim, finish("yes", vec![])).await;
    assert!(
        !call(ledger.as_ref(), 1, "git", "a").await.is_new,
        "it has ended, and is not made anew"
    );
}

async fn a_typed_stop_ends_what_runs(bed: &dyn Fixture) {
    let ledger = bed.open();
    let ledger = ledger.as_ref();
    let running = requested(ledger, 1, "a", 1).await.task;
    let stop = || {
        let [stopped, refused, finished, idle] = [1, 2, 3, 4].map(|parts| draft(1, parts));
        let answers = Box::new(StopAnswers { stopped, refused, finished, idle });
        CommandEffect::Stop { by: None, also: Vec::new(), answers }
    };
    let done = ledger.command_typed(location(1), stop()).await.unwrap();
    assert_eq!((done.stopping, done.queued.unwrap().parts.len()), (vec![running], 1));
    let idle = ledger.command_typed(location(2), stop()).await.unwrap();
    assert_eq!((idle.stopping, idle.queued.unwrap().parts.len()), (vec![], 4), "nothing ran there");
    let titles: Vec<String> =
        ledger.conversations(9).await.unwrap().into_iter().map(|row| row.title).collect();
    assert_eq!(titles.len(), 2, "{titles:?}");
}

async fn a_typed_answer_is_given_once(bed: &dyn Fixture) {
    let ledger = bed.open();
    let ledger = ledger.as_ref();
    let asked = requested(ledger, 1, "a", 1).await.claimed.unwrap();
    ledger.commit(&asked.claim, park(asking("q1", 1, true))).await.unwrap();
    let question = ledger.question(&account(), "q1").await.unwrap().unwrap();
    let given = |text: &str| QuestionResult::Words { text: text.to_owned() };
    let done = ledger.answer_typed(&question, given("milk")).await.unwrap();
    assert_eq!((done.done, done.ready), (true, Some(lane(1))));
    let late = ledger.answer_typed(&question, given("water")).await.unwrap();
    assert!(!late.done && late.ready.is_none());
    let woken = ledger.claim(&lane(1), &instance("a"), at(9)).await.unwrap().unwrap();
    let settled = woken.settled.unwrap();
    assert_eq!(settled.question.state, QuestionState::Answered);
    assert_eq!((settled.question.given, settled.by), (Some(given("milk")), None));
    finished(ledger, &woken.claim, finish("yes", vec![])).await;
    let detail = ledger.task(TaskId(woken.claim.task.0)).await.unwrap().unwrap();
    assert_eq!(detail.row.state, TaskState::Done);
}
