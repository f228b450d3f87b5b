//! Laws of agents: begun with the park of their parent, which wakes once, when the last has ended; they end with a parent
//! that is stopped or fails, and what nobody has waited for is told once.

use super::hearing::command;
use super::*;
use crate::{AgentRow, CommandEffect, Location, NewChild, SeenMarks, TaskRequest};
use selkie_domain::ids::TaskId;
use selkie_domain::parent::{Parent, agent_conversation};
use selkie_domain::task::{ParkedOn, TaskState};
use selkie_domain::words::Words;

laws![
    a_parent_wakes_when_its_last_agent_has_ended,
    agents_beyond_the_number_wait_for_their_turn,
    an_agent_is_begun_once_whatever_dies,
    agents_end_with_a_parent_that_fails_and_outlive_one_that_is_done,
    what_nobody_waited_for_is_told_once,
    what_is_told_can_be_taken_in,
    a_stop_ends_agents_too,
    a_reset_makes_agents_forget,
    what_is_not_done_in_time_is_stopped,
    an_agent_is_in_the_mode_of_its_parent_and_uses_what_is_left_to_it,
    an_agent_is_known_until_it_was_over_for_long,
    an_agent_is_stopped_by_its_name,
];

fn agent(name: &str) -> ConversationId {
    agent_conversation(&conversation(1), name)
}

fn lane_of(name: &str) -> Lane {
    Lane::of(&agent(name))
}

fn child(parent: &TaskClaim, name: &str, awaited: bool) -> NewChild {
    let by = Parent {
        task: parent.claim.task,
        key: conversation(1).key().to_owned(),
        name: name.to_owned(),
        until: at(900),
        schema: None,
    };
    let facts = Facts { parent: Some(Box::new(by)), ..facts() };
    let cause = Cause::Child { parent: parent.claim.task, call: format!("c1.0/{name}") };
    let location = Location { conversation: agent(name), place: place(1), title: String::new() };
    let words = Words {
        agent: Some("main".to_owned()),
        ..Words::said(PersonId::new("tg:1"), at(1), format!("look, {name}"))
    };
    let request = TaskRequest { location, order: 1, task: NewTask::new(cause, facts), words };
    NewChild { request, awaited, fresh: true, joins: false }
}

fn waits() -> Advance {
    Advance::Park {
        append: vec![said("I let agents work")],
        header: "{}".to_owned(),
        on: ParkedOn::Children,
        ask: None,
        seek: None,
        wake_at: Some(at(900)),
        usage: Usage { calls: 1, input: 10, ..Usage::default() },
        hand_over: false,
        now: at(0),
    }
}

fn spawn(children: Vec<NewChild>, side_by_side: u32) -> Advance {
    Advance::Spawn { children, side_by_side, until: at(900), with: Box::new(waits()) }
}

/// Parks a task on agents of these names; returns the lanes that may start.
async fn parked(ledger: &dyn Ledger, parent: &TaskClaim, names: &[&str], most: u32) -> Vec<Lane> {
    let children = names.iter().map(|name| child(parent, name, true)).collect();
    let done = ledger.commit(&parent.claim, spawn(children, most)).await.unwrap();
    let CommitResult::Ended { ready, .. } = done else { panic!("{done:?}") };
    ready
}

async fn claim(ledger: &dyn Ledger, lane: &Lane) -> Option<TaskClaim> {
    ledger.claim(lane, &instance("a"), at(2)).await.unwrap()
}

/// Runs an agent to its end; returns the lanes that may start then.
async fn ended(ledger: &dyn Ledger, name: &str, text: &str) -> Vec<Lane> {
    let task = claim(ledger, &lane_of(name)).await.expect(name);
    let done = ledger.commit(&task.claim, finish(text, vec![])).await.unwrap();
    let CommitResult::Ended { ready, .. } = done else { panic!("{done:?}") };
    ready
}

async fn a_parent_wakes_when_its_last_agent_has_ended(bed: &dyn Fixture) {
    let ledger = bed.open();
    let ledger = ledger.as_ref();
    let parent = started(ledger, 1, 1).await;
    let ready = parked(ledger, &parent, &["ada", "bob"], 4).await;
    assert_eq!(ready, [lane_of("ada"), lane_of("bob")]);
    assert!(claim(ledger, &lane(1)).await.is_none(), "it waits for both");
    let ada = claim(ledger, &lane_of("ada")).await.unwrap();
    assert_eq!((&ada.conversation, &ada.lane), (&conversation(1), &lane_of("ada")));
    assert!(ada.is_awaited && ada.words.is_some());
    let done = ledger.commit(&ada.claim, finish("a is one", vec![])).await.unwrap();
    assert!(matches!(done, CommitResult::Ended { ready, .. } if ready.is_empty()));
    assert!(claim(ledger, &lane(1)).await.is_none(), "it waits for the other");
    assert_eq!(ended(ledger, "bob", "b is two").await, [lane(1)]);
    let parent = claim(ledger, &lane(1)).await.unwrap();
    let ends: Vec<_> =
        parent.children.iter().map(|end| (&*end.call, end.state, &*end.text)).collect();
    let done = TaskState::Done;
    assert_eq!(ends, [("c1.0/ada", done, "a is one"), ("c1.0/bob", done, "b is two")]);
    finished(ledger, &parent.claim, finish("one and two", vec![])).await;
    assert!(ledger.ready(at(1000), 9).await.unwrap().is_empty(), "nobody tells it again");
}

async fn agents_beyond_the_number_wait_for_their_turn(bed: &dyn Fixture) {
    let ledger = bed.open();
    let ledger = ledger.as_ref();
    let parent = started(ledger, 1, 1).await;
    let names = ["ada", "bob", "cyd", "dan"];
    assert_eq!(parked(ledger, &parent, &names, 2).await, [lane_of("ada"), lane_of("bob")]);
    assert!(claim(ledger, &lane_of("cyd")).await.is_none());
    assert_eq!(ended(ledger, "bob", "b").await, [lane_of("cyd")]);
    assert!(claim(ledger, &lane_of("dan")).await.is_none());
    assert_eq!(ended(ledger, "cyd", "c").await, [lane_of("dan")]);
    assert!(ended(ledger, "ada", "a").await.is_empty());
    assert_eq!(ended(ledger, "dan", "d").await, [lane(1)]);
}

async fn an_agent_is_begun_once_whatever_dies(bed: &dyn Fixture) {
    let ledger = bed.open();
    let parent = started(ledger.as_ref(), 1, 1).await;
    parked(ledger.as_ref(), &parent, &["ada"], 4).await;
    let late = ledger.commit(&parent.claim, spawn(vec![child(&parent, "ada", true)], 4)).await;
    assert!(matches!(late.unwrap(), CommitResult::Lost));
    drop(ledger);
    let ledger = bed.open();
    let ledger = ledger.as_ref();
    ledger.reclaim(&instance("b"), at(1)).await.unwrap();
    assert_eq!(ledger.ready(at(1), 9).await.unwrap(), [lane_of("ada")]);
    assert_eq!(ended(ledger, "ada", "a").await, [lane(1)]);
    assert_eq!(claim(ledger, &lane(1)).await.unwrap().children.len(), 1);
}

async fn agents_end_with_a_parent_that_fails_and_outlive_one_that_is_done(bed: &dyn Fixture) {
    let ledger = bed.open();
    let ledger = ledger.as_ref();
    for (order, end, outlives) in [
        (1, End::Done, true),
        (2, End::Failed { why: "a defect".to_owned() }, false),
        (3, End::Stopped, false),
    ] {
        let names = [format!("a{order}"), format!("b{order}")];
        let parent = started(ledger, 1, order).await;
        let children = names.iter().map(|name| child(&parent, name, false)).collect();
        let done = ledger.commit(&parent.claim, spawn(children, 4)).await.unwrap();
        let CommitResult::Ended { ready, .. } = done else { panic!("{done:?}") };
        assert_eq!(ready.len(), 3, "nothing is awaited: {ready:?}");
        let runs = claim(ledger, &lane_of(&names[0])).await.unwrap();
        let parent = claim(ledger, &lane(1)).await.unwrap();
        let over = over_by(end);
        let done = ledger.commit(&parent.claim, over).await.unwrap();
        let CommitResult::Ended { stopping, .. } = done else { panic!("{done:?}") };
        let stopped = if outlives { Vec::new() } else { vec![runs.claim.task] };
        assert_eq!(stopping, stopped, "task {order}");
        assert_eq!(claim(ledger, &lane_of(&names[1])).await.is_some(), outlives, "task {order}");
    }
}

/// An end that came about so.
fn over_by(end: End) -> Advance {
    match finish("over", vec![]) {
        Advance::Finish { append, header, say, usage, now, .. } => Advance::Finish {
            append,
            header,
            facts: None,
            end,
            say,
            usage,
            set_aside: false,
            unheard: false,
            cut: None,
            departs: false,
            hand_over: false,
            now,
        },
        other => other,
    }
}

fn report(child: &TaskClaim) -> Box<TaskRequest> {
    let cause = Cause::Report { child: child.claim.task };
    let words = Words {
        agent: Some("ada".to_owned()),
        ..Words::said(PersonId::new("tg:1"), at(5), "ada has ended")
    };
    let location =
        Location { conversation: conversation(1), place: place(1), title: String::new() };
    Box::new(TaskRequest { location, order: 5, task: NewTask::new(cause, facts()), words })
}

/// An agent at work that nobody waits for, whose parent is done.
async fn alone(ledger: &dyn Ledger) -> TaskClaim {
    let parent = started(ledger, 1, 1).await;
    ledger.commit(&parent.claim, spawn(vec![child(&parent, "ada", false)], 4)).await.unwrap();
    let parent = claim(ledger, &lane(1)).await.unwrap();
    finished(ledger, &parent.claim, finish("it works", vec![])).await;
    claim(ledger, &lane_of("ada")).await.unwrap()
}

async fn what_nobody_waited_for_is_told_once(bed: &dyn Fixture) {
    let ledger = bed.open();
    let ada = alone(ledger.as_ref()).await;
    assert!(!ada.is_awaited);
    let with = Box::new(finish("found", vec![]));
    let over = Advance::Report { request: report(&ada), with };
    let done = ledger.commit(&ada.claim, over.clone()).await.unwrap();
    assert!(matches!(done, CommitResult::Ended { ready, .. } if ready == [lane(1)]));
    assert!(matches!(ledger.commit(&ada.claim, over).await.unwrap(), CommitResult::Lost));
    drop(ledger);
    let ledger = bed.open();
    let ledger = ledger.as_ref();
    ledger.reclaim(&instance("b"), at(6)).await.unwrap();
    let told = ledger.claim(&lane(1), &instance("b"), at(6)).await.unwrap().unwrap();
    let words = told.words.as_ref().unwrap();
    assert_eq!((&*words.text, words.agent.as_deref()), ("ada has ended", Some("ada")));
    assert_eq!(told.history.len(), 1, "what it belongs to is there");
    finished(ledger, &told.claim, finish("told", vec![])).await;
    assert!(ledger.ready(at(1000), 9).await.unwrap().is_empty());
}

async fn what_is_told_can_be_taken_in(bed: &dyn Fixture) {
    let ledger = bed.open();
    let ledger = ledger.as_ref();
    let ada = alone(ledger).await;
    let runs = started(ledger, 1, 2).await;
    let over = Advance::Report { request: report(&ada), with: Box::new(finish("found", vec![])) };
    ledger.commit(&ada.claim, over).await.unwrap();
    let came = ledger.inflow(&runs.claim, at(7)).await.unwrap().waiting;
    let [told] = &came[..] else { panic!("{came:?}") };
    assert_eq!(told.words.as_ref().map(|words| &*words.text), Some("ada has ended"));
    let seen = SeenMarks { tasks: vec![told.seen()], edits: Vec::new(), step: 1 };
    let taken = Advance::Absorb { seen, with: Box::new(finish("I see", vec![])) };
    finished(ledger, &runs.claim, taken).await;
    assert!(ledger.ready(at(1000), 9).await.unwrap().is_empty(), "it is told once");
}

async fn a_stop_ends_agents_too(bed: &dyn Fixture) {
    let ledger = bed.open();
    let ledger = ledger.as_ref();
    let parent = started(ledger, 1, 1).await;
    parked(ledger, &parent, &["ada", "bob", "cyd"], 2).await;
    let ada = claim(ledger, &lane_of("ada")).await.unwrap();
    let row = command(ledger, 1, 2).await;
    let stop = super::interrupting::stop_by(None);
    let done = ledger.command(row, stop).await.unwrap().unwrap();
    assert!(done.stopping.contains(&ada.claim.task) && done.stopping.contains(&parent.claim.task));
    assert_eq!(done.stopping.len(), 2, "the others have not begun");
    let told = ledger.commit(&ada.claim, waits()).await.unwrap();
    assert!(matches!(told, CommitResult::Continue { stop: true, .. }));
    finished(ledger, &ada.claim, over_by(End::Stopped)).await;
    assert!(ledger.ready(at(1000), 9).await.unwrap().is_empty(), "nothing is left to do");
}

async fn a_reset_makes_agents_forget(bed: &dyn Fixture) {
    let ledger = bed.open();
    let ledger = ledger.as_ref();
    let ada = alone(ledger).await;
    let over = Advance::Report { request: report(&ada), with: Box::new(finish("found", vec![])) };
    ledger.commit(&ada.claim, over).await.unwrap();
    assert_eq!(names(&known(ledger, 0).await), ["ada"]);
    let row = command(ledger, 1, 2).await;
    ledger.command(row, CommandEffect::Reset(draft(1, 1))).await.unwrap().unwrap();
    assert!(ledger.ready(at(1000), 9).await.unwrap().is_empty(), "its end is not told");
    assert!(known(ledger, 0).await.is_empty(), "nobody knows it any more");
}

async fn what_is_not_done_in_time_is_stopped(bed: &dyn Fixture) {
    let ledger = bed.open();
    let ledger = ledger.as_ref();
    let parent = started(ledger, 1, 1).await;
    parked(ledger, &parent, &["ada", "bob"], 1).await;
    let ada = claim(ledger, &lane_of("ada")).await.unwrap();
    assert_eq!(ledger.ready(at(899), 9).await.unwrap(), []);
    let late = ledger.claim(&lane(1), &instance("a"), at(900)).await.unwrap().unwrap();
    let ends: Vec<_> = late.children.iter().map(|end| end.state).collect();
    assert_eq!(ends, [TaskState::Running, TaskState::Stopped]);
    let told = ledger.commit(&ada.claim, waits()).await.unwrap();
    assert!(matches!(told, CommitResult::Continue { stop: true, .. }));
}

async fn an_agent_is_in_the_mode_of_its_parent_and_uses_what_is_left_to_it(bed: &dyn Fixture) {
    let ledger = bed.open();
    let ledger = ledger.as_ref();
    let parent = started(ledger, 1, 1).await;
    parked(ledger, &parent, &["ada", "bob"], 4).await;
    let ada = claim(ledger, &lane_of("ada")).await.unwrap();
    assert_eq!((ada.family.calls, ada.family.input), (1, 10), "its parent's");
    ledger.set_mode(&conversation(1), Mode::Plan).await.unwrap();
    let usage = Usage { calls: 2, input: 5, ..Usage::default() };
    let step = Advance::Step {
        append: vec![said("a step")],
        header: "{}".to_owned(),
        facts: None,
        usage,
        durable: false,
    };
    let done = ledger.commit(&ada.claim, step).await.unwrap();
    let CommitResult::Continue { mode, family, .. } = done else { panic!("{done:?}") };
    assert_eq!((mode, family.calls), (Mode::Plan, 1));
    let bob = claim(ledger, &lane_of("bob")).await.unwrap();
    assert_eq!((bob.facts.mode, bob.family.calls), (Mode::Plan, 3), "its parent's and ada's");
}

async fn known(ledger: &dyn Ledger, since: i64) -> Vec<AgentRow> {
    ledger.agents(&conversation(1), at(since)).await.unwrap()
}

fn names(rows: &[AgentRow]) -> Vec<&str> {
    rows.iter().map(|row| row.name.as_str()).collect()
}

async fn an_agent_is_known_until_it_was_over_for_long(bed: &dyn Fixture) {
    let ledger = bed.open();
    let ledger = ledger.as_ref();
    assert!(known(ledger, 0).await.is_empty());
    let parent = started(ledger, 1, 1).await;
    parked(ledger, &parent, &["ada", "bob"], 4).await;
    let rows = known(ledger, 0).await;
    assert_eq!(names(&rows), ["bob", "ada"]);
    assert_eq!((rows[1].state, &*rows[1].text), (TaskState::Waiting, "look, ada"));
    assert!(rows[1].facts.is_some() && rows[1].ended_at.is_none());
    ended(ledger, "ada", "a").await;
    let now = i64::from(u32::MAX);
    assert_eq!(names(&known(ledger, now).await), ["bob"], "it has ended before");
    let rows = known(ledger, 0).await;
    assert_eq!((names(&rows), rows[1].state), (vec!["bob", "ada"], TaskState::Done));
    ended(ledger, "bob", "b").await;
    let parent = claim(ledger, &lane(1)).await.unwrap();
    let again = NewChild { fresh: false, ..child(&parent, "ada", true) };
    let again = with_call(again, &parent, "c2.0/ada");
    ledger.commit(&parent.claim, spawn(vec![again], 4)).await.unwrap();
    let ada = claim(ledger, &lane_of("ada")).await.unwrap();
    assert_eq!(ada.history.len(), 1, "it knows what it did");
    finished(ledger, &ada.claim, finish("again", vec![])).await;
    let parent = claim(ledger, &lane(1)).await.unwrap();
    let calls: Vec<&str> = parent.children.iter().map(|end| &*end.call).collect();
    assert_eq!(calls, ["c2.0/ada"], "what was answered before is not told again");
    let fresh = with_call(child(&parent, "ada", true), &parent, "c3.0/ada");
    ledger.commit(&parent.claim, spawn(vec![fresh], 4)).await.unwrap();
    let ada = claim(ledger, &lane_of("ada")).await.unwrap();
    assert!(ada.history.is_empty(), "a new one has its name alone");
}

fn with_call(mut child: NewChild, parent: &TaskClaim, call: &str) -> NewChild {
    let cause = Cause::Child { parent: parent.claim.task, call: call.to_owned() };
    child.request.task.cause = cause;
    child
}

async fn an_agent_is_stopped_by_its_name(bed: &dyn Fixture) {
    let ledger = bed.open();
    let ledger = ledger.as_ref();
    let parent = started(ledger, 1, 1).await;
    parked(ledger, &parent, &["ada", "bob"], 4).await;
    let ada = claim(ledger, &lane_of("ada")).await.unwrap();
    let other = PersonId::new("tg:2");
    let stopped = ledger.stop_agent(&conversation(1), "ada", Some(&other)).await.unwrap();
    assert_eq!(stopped.tasks, Vec::<TaskId>::new(), "it works for somebody else");
    let stopped = ledger.stop_agent(&conversation(1), "ada", None).await.unwrap();
    assert_eq!(stopped.tasks, [ada.claim.task]);
    let stopped = ledger.stop_agent(&conversation(1), "eve", None).await.unwrap();
    assert_eq!(stopped.tasks, Vec::<TaskId>::new());
    finished(ledger, &ada.claim, over_by(End::Stopped)).await;
    let stopped = ledger.stop_agent(&conversation(1), "bob", None).await.unwrap();
    assert_eq!((stopped.tasks.len(), stopped.ready), (1, vec![lane(1)]), "nobody is left");
    let parent = claim(ledger, &lane(1)).await.unwrap();
    let states: Vec<_> = parent.children.iter().map(|end| end.state).collect();
    assert_eq!(states, [TaskState::Stopped, TaskState::Stopped]);
}
