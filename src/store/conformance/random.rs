//! Random histories: whatever comes in whatever order, with the process dying in between, a lane never
//! has two running tasks, every message is answered once, in order, and nothing is lost.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde_json::Value;

use super::*;
use crate::Outcome;

/// Something that happens.
#[derive(Clone, Debug)]
enum Event {
    /// Messages arrive in these conversations, and so many may be claimed at once.
    Arrive(Vec<i64>, usize),
    /// The last batch comes again.
    Again,
    /// A worker looks for work.
    Claim,
    /// One of the claimed tasks makes a step.
    Step(usize),
    /// One of the claimed tasks ends.
    Finish(usize, bool),
    /// The delivery worker sends a part.
    Send,
    /// The process dies; a new instance starts.
    Die,
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        3 => (prop::collection::vec(1i64..4, 1..4), 0usize..3)
            .prop_map(|(lanes, permits)| Event::Arrive(lanes, permits)),
        1 => Just(Event::Again),
        3 => Just(Event::Claim),
        1 => (0usize..8).prop_map(Event::Step),
        3 => (0usize..8, any::<bool>()).prop_map(|(i, over)| Event::Finish(i, over)),
        3 => Just(Event::Send),
        1 => Just(Event::Die),
    ]
}

/// Plays many random histories, each on a bed of its own.
pub fn random_histories(make: impl Fn() -> Box<dyn Fixture>) {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let config = ProptestConfig { cases: 24, failure_persistence: None, ..Default::default() };
    TestRunner::new(config)
        .run(&prop::collection::vec(event(), 1..40), |events| {
            runtime.block_on(async { World::new(make()).play(events).await });
            Ok(())
        })
        .unwrap();
}

/// Plays the same random histories on two implementations, and compares what a reader sees of each after every event.
pub fn histories_agree(one: impl Fn() -> Box<dyn Fixture>, other: impl Fn() -> Box<dyn Fixture>) {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let config = ProptestConfig { cases: 12, failure_persistence: None, ..Default::default() };
    TestRunner::new(config)
        .run(&prop::collection::vec(event(), 1..30), |events| {
            runtime.block_on(async {
                let (mut one, mut other) = (World::new(one()), World::new(other()));
                for event in events {
                    one.happen(event.clone()).await;
                    other.happen(event.clone()).await;
                    assert_eq!(one.seen().await, other.seen().await, "after {event:?}");
                }
            });
            Ok(())
        })
        .unwrap();
}

/// Takes out the numbers that a database gives: where a number is left out, later ones are others.
fn without_ids(value: &mut Value) {
    match value {
        Value::Object(map) => {
            for (key, inner) in map.iter_mut() {
                let given = matches!(key.as_str(), "id" | "inbox" | "task" | "outbound");
                match inner {
                    Value::Number(number) if given => *number = 0.into(),
                    inner => without_ids(inner),
                }
            }
        }
        Value::Array(all) => all.iter_mut().for_each(without_ids),
        _ => {}
    }
}

/// What should be, beside what is.
struct World {
    bed: Box<dyn Fixture>,
    ledger: Option<Arc<dyn Ledger>>,
    boots: usize,
    last: Vec<Arrival>,
    next_order: i64,
    sent_in: BTreeMap<i64, Vec<i64>>,
    answered: BTreeMap<i64, Vec<i64>>,
    held: Vec<TaskClaim>,
    stale: Vec<TaskClaim>,
    parts: BTreeSet<i64>,
}

impl World {
    fn new(bed: Box<dyn Fixture>) -> Self {
        let ledger = Some(bed.open());
        Self {
            bed,
            ledger,
            boots: 0,
            last: Vec::new(),
            next_order: 1,
            sent_in: BTreeMap::new(),
            answered: BTreeMap::new(),
            held: Vec::new(),
            stale: Vec::new(),
            parts: BTreeSet::new(),
        }
    }

    fn ledger(&self) -> &dyn Ledger {
        self.ledger.as_deref().unwrap()
    }

    fn instance(&self) -> Instance {
        instance(&format!("instance {}", self.boots))
    }

    async fn play(mut self, events: Vec<Event>) {
        for event in events {
            self.happen(event).await;
            self.check().await;
        }
        self.drain().await;
        assert_eq!(self.answered, self.sent_in, "every message once, in order");
        let counts = self.ledger().counts().await.unwrap();
        assert_eq!((counts.waiting, counts.running, counts.queued), (0, 0, 0));
    }

    async fn happen(&mut self, event: Event) {
        match event {
            Event::Arrive(lanes, permits) => self.arrive(lanes, permits).await,
            Event::Again => {
                let again = self.ledger().accept(self.last.clone(), None, no_fuse()).await.unwrap();
                assert!(again.fresh.is_empty() && again.claimed.is_empty());
            }
            Event::Claim => self.claim().await,
            Event::Step(i) => self.step(i).await,
            Event::Finish(i, hand_over) => self.finish(i, hand_over).await,
            Event::Send => self.send().await,
            Event::Die => self.die().await,
        }
    }

    async fn arrive(&mut self, lanes: Vec<i64>, permits: usize) {
        let mut batch = Vec::new();
        for lane in lanes {
            batch.push(task(message(lane, self.next_order)));
            self.sent_in.entry(lane).or_default().push(self.next_order);
            self.next_order += 1;
        }
        self.last = batch.clone();
        let fuse = Fuse { instance: self.instance(), ..fuse(permits) };
        let accepted = self.ledger().accept(batch, None, fuse).await.unwrap();
        assert!(accepted.claimed.len() <= permits);
        self.held.extend(accepted.claimed);
    }

    async fn claim(&mut self) {
        for lane in self.ledger().ready(at(0), 1).await.unwrap() {
            let claimed = self.ledger().claim(&lane, &self.instance(), at(0)).await.unwrap();
            self.held.push(claimed.expect("a ready lane has work"));
        }
    }

    async fn step(&mut self, i: usize) {
        let Some(claimed) = self.held.get(i % self.held.len().max(1)) else { return };
        let step = Advance::Step {
            append: vec![said("a step")],
            header: "{}".to_owned(),
            facts: None,
            usage: Usage::default(),
            durable: false,
        };
        let go_on = self.ledger().commit(&claimed.claim, step).await.unwrap();
        assert!(matches!(go_on, CommitResult::Continue { stop: false, .. }));
    }

    async fn finish(&mut self, i: usize, over: bool) {
        if self.held.is_empty() {
            return;
        }
        let claimed = self.held.remove(i % self.held.len());
        let inbound = &claimed.heard[0].1;
        let n: i64 = inbound.conversation.key()["tg:-".len()..].parse().unwrap();
        let mut advance = finish("yes", vec![draft(n, 1)]);
        if let Advance::Finish { hand_over, .. } = &mut advance {
            *hand_over = over;
        }
        let ended = self.ledger().commit(&claimed.claim, advance).await.unwrap();
        let CommitResult::Ended { queued, next, .. } = ended else { panic!("a held claim holds") };
        self.answered.entry(n).or_default().push(inbound.order);
        for part in &queued[0].parts {
            assert!(self.parts.insert(part.id.0), "a part's row is new");
        }
        self.held.extend(next.map(|n| *n));
    }

    async fn send(&mut self) {
        let due = self.ledger().due(&account(), &self.instance()).await.unwrap();
        let Some(part) = due.first() else { return };
        assert!(self.ledger().sending(part.id, &self.instance()).await.unwrap());
        self.ledger().settle(part.id, Outcome::Sent(receipt("1"))).await.unwrap();
        assert!(self.parts.remove(&part.id.0), "sent once");
    }

    async fn die(&mut self) {
        // The old one is gone before the new one opens: a real process would have lost its lock.
        self.ledger = None;
        self.ledger = Some(self.bed.open());
        self.boots += 1;
        self.stale.append(&mut self.held);
        let running = self.ledger().counts().await.unwrap().running;
        assert_eq!(self.ledger().reclaim(&self.instance(), at(0)).await.unwrap(), running);
    }

    async fn check(&self) {
        let counts = self.ledger().counts().await.unwrap();
        assert_eq!(counts.running as usize, self.held.len());
        let lanes: BTreeSet<_> = self.held.iter().map(|c| c.conversation.clone()).collect();
        assert_eq!(lanes.len(), self.held.len(), "a lane never has two running tasks");
        let all: usize = self.sent_in.values().map(Vec::len).sum();
        let answered: usize = self.answered.values().map(Vec::len).sum();
        assert_eq!(counts.waiting as usize, all - answered - self.held.len(), "nothing is lost");
        assert_eq!(counts.queued as usize, self.parts.len());
        if let Some(stale) = self.stale.last() {
            let late = self.ledger().commit(&stale.claim, finish("late", vec![])).await.unwrap();
            assert!(matches!(late, CommitResult::Lost));
        }
    }

    /// What a reader sees: all counts, lists, and what became of every message.
    async fn seen(&self) -> Value {
        let ledger = self.ledger();
        let mut chains = Vec::new();
        for order in 1..self.next_order {
            chains.push(ledger.trace(&order.to_string()).await.unwrap());
        }
        let mut seen = serde_json::json!({
            "counts": ledger.counts().await.unwrap(),
            "conversations": ledger.conversations(50).await.unwrap(),
            "tasks": ledger.tasks(None, 50).await.unwrap(),
            "chains": chains,
        });
        without_ids(&mut seen);
        seen
    }

    async fn drain(&mut self) {
        loop {
            self.claim().await;
            if self.held.is_empty() {
                break;
            }
            self.finish(0, true).await;
        }
        while !self.parts.is_empty() {
            self.send().await;
        }
    }
}
