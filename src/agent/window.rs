//! How much of a conversation's history is sent. It is cut in steps that are stored: between two of them every request
//! begins with the same bytes, which is what providers keep of a prompt.
//!
//! At 80 % of what there is room for it is cut down to 50 %: first the long answers of tools in older tasks, then, where that is
//! not enough, the oldest tasks.

use crate::{earlier, history};
use selkie_domain::tokens;
use selkie_domain::transcript::{Answer, Item, Turn};
use selkie_store::{HistoryStart, Past};

/// Tasks of a history at most: the ledger gives no more (`store/verbs/history.rs`), and its oldest is not to go unnoticed.
const TASKS: usize = 32;
/// Bytes that a history has in the ledger at most, stubs counted as what they stand for: all of it is read for each
/// message.
const STORED: usize = 2 * 1024 * 1024;
/// So many of the newest tasks keep their long answers: it is them that people come back to.
const WHOLE: usize = 2;

/// The part of a conversation's history that is sent.
#[derive(Debug)]
pub struct Window {
    tasks: Vec<SizedTask>,
    /// The first task that is sent, and the first that is sent whole.
    from: usize,
    short: usize,
    has_moved: bool,
    at_first: usize,
}

/// A task with what it takes.
#[derive(Debug)]
struct SizedTask {
    finish: i64,
    stored: usize,
    /// As it is sent whole.
    turns: Vec<Turn>,
    whole: usize,
    short: usize,
}

impl SizedTask {
    fn of(task: &Past) -> Self {
        let turns = history::past(task, false);
        let whole = history::size(&turns);
        let short = match task.items.iter().any(earlier::is_shortened) {
            true => history::size(&history::past(task, true)),
            false => whole,
        };
        let stored = task.items.iter().map(stored).sum();
        Self { finish: task.finish, stored, turns, whole, short }
    }
}

/// What may be taken up to: tasks, bytes in the ledger, bytes of the request.
#[derive(Clone, Copy, Debug)]
struct Bounds {
    tasks: usize,
    stored: usize,
    sent: usize,
}

impl Bounds {
    /// What there is for a history in so many tokens.
    fn of(tokens: u64) -> Self {
        Self { tasks: TASKS, stored: STORED, sent: tokens::bytes(tokens) }
    }

    /// A part of it, in percent.
    fn part(self, percent: usize) -> Self {
        let of = |all: usize| all / 100 * percent + all % 100 * percent / 100;
        Self { tasks: of(self.tasks), stored: of(self.stored), sent: of(self.sent) }
    }

    fn holds(self, needed: Self) -> bool {
        needed.tasks <= self.tasks && needed.stored <= self.stored && needed.sent <= self.sent
    }
}

impl Window {
    /// Looks at a history as it was stored.
    pub fn of(history: &[Past]) -> Self {
        let short = history.iter().take_while(|task| task.is_short).count();
        let tasks = history.iter().map(SizedTask::of).collect();
        let mut window = Self { tasks, from: 0, short, has_moved: false, at_first: 0 };
        window.at_first = window.size();
        window
    }

    /// Cuts down to half of `tokens`, if more than four fifths of them are taken.
    pub fn fit(&mut self, tokens: u64) {
        let all = Bounds::of(tokens);
        if !all.part(80).holds(self.needed()) {
            self.cut(all.part(50));
        }
    }

    /// Cuts down to half of what the task's own `own` bytes leave of `tokens`, if there is not room for all.
    pub fn squeeze(&mut self, tokens: u64, own: usize) {
        let all = Bounds::of(tokens);
        let left = Bounds { sent: all.sent.saturating_sub(own), ..all };
        if !left.holds(self.needed()) {
            self.cut(left.part(50));
        }
    }

    /// Returns what is to be stored, when it was cut.
    pub fn cut_now(&self) -> Option<HistoryStart> {
        let last = self.tasks.last()?.finish;
        let at = |index: usize| self.tasks.get(index).map_or(last + 1, |task| task.finish);
        self.has_moved
            .then(|| HistoryStart { from: at(self.from), short: at(self.short.max(self.from)) })
    }

    /// Returns the turns of what is sent.
    pub fn turns(&self, history: &[Past]) -> Vec<Turn> {
        let tasks = self.tasks.iter().zip(history).enumerate().skip(self.from);
        let turns = tasks.flat_map(|(n, (seen, task))| match n < self.short {
            true if seen.short < seen.whole => history::past(task, true),
            _ => seen.turns.clone(),
        });
        turns.collect()
    }

    /// Returns how many of the first tasks are sent short.
    pub fn short(&self) -> usize {
        self.short
    }

    /// Estimates the bytes of the history before it was cut in this task.
    pub fn at_first(&self) -> usize {
        self.at_first
    }

    /// Estimates the bytes that are sent.
    fn size(&self) -> usize {
        self.needed().sent
    }

    fn needed(&self) -> Bounds {
        let kept = self.tasks.iter().enumerate().skip(self.from);
        let none = Bounds { tasks: 0, stored: 0, sent: 0 };
        kept.fold(none, |sum, (n, task)| Bounds {
            tasks: sum.tasks + 1,
            stored: sum.stored + task.stored,
            sent: sum.sent + if n < self.short { task.short } else { task.whole },
        })
    }

    /// Shortens older tasks, then leaves out the oldest, until it is as small; the newest task goes only when it alone
    /// takes more than there is room for.
    fn cut(&mut self, down_to: Bounds) {
        let before = (self.from, self.short);
        self.short = self.short.max(self.tasks.len().saturating_sub(WHOLE));
        while self.from + 1 < self.tasks.len() && !down_to.holds(self.needed()) {
            self.from += 1;
        }
        if !down_to.holds(self.needed()) {
            self.short = self.tasks.len();
        }
        if self.needed().sent > down_to.sent.saturating_mul(2) {
            self.from = self.tasks.len();
        }
        self.has_moved |= (self.from, self.short) != before;
    }
}

/// About how many bytes an item has in the ledger.
fn stored(item: &Item) -> usize {
    let answer = |answer: &Answer| answer.text.len() + 64;
    match item {
        Item::Received(heard) => heard.said().len() + 256,
        Item::Asked { text, calls, .. } => {
            text.len()
                + calls.iter().map(|call| call.arguments.to_string().len() + 64).sum::<usize>()
        }
        Item::Answered { answers } => answers.iter().map(answer).sum(),
        Item::Said { text, .. } | Item::Noted { text } => text.len() + 64,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use selkie_domain::taint::Taint;
    use selkie_domain::transcript::Call;

    fn task(finish: i64, answer: usize, said: usize) -> Past {
        let call = Call { id: "c1.0".into(), name: "grep".into(), arguments: json!({}) };
        let items = vec![
            Item::Asked { text: String::new(), calls: vec![call], taint: Taint::Clean },
            Item::Answered { answers: vec![Answer::words("c1.0", "a".repeat(answer))] },
            Item::said("b".repeat(said), Taint::Clean),
        ];
        Past { finish, is_short: false, items }
    }

    /// The history as the ledger gives it after a cut.
    fn stored_cut(history: &[Past], cut: HistoryStart) -> Vec<Past> {
        let kept = history.iter().filter(|task| task.finish >= cut.from).cloned();
        kept.map(|task| Past { is_short: task.finish < cut.short, ..task }).collect()
    }

    #[test]
    fn long_answers_go_first_and_the_newest_stay() {
        let history: Vec<Past> = (1..=10).map(|n| task(n, 9_000, 100)).collect();
        let mut window = Window::of(&history);
        window.fit(100_000);
        assert_eq!(window.cut_now(), None, "there is room");
        window.fit(30_000);
        assert_eq!(window.cut_now(), Some(HistoryStart { from: 1, short: 9 }), "short is enough");
        assert!(window.size() <= 45_000);
        window.fit(8_000);
        let cut = window.cut_now().unwrap();
        assert!(cut.from > 1, "{cut:?}");
        assert!(window.size() <= 24_000, "{}", window.size());
    }

    #[test]
    fn many_small_tasks_are_cut_before_the_ledger_leaves_one_out() {
        let history: Vec<Past> = (1..=200).map(|n| task(n, 1, 1)).collect();
        let mut window = Window::of(&history);
        window.fit(1_000_000);
        assert_eq!(window.cut_now().unwrap().from, 185);
    }

    #[test]
    fn a_task_that_fits_nowhere_is_left_out() {
        let mut window = Window::of(&[task(1, 10, 90_000)]);
        window.squeeze(1_000, 0);
        assert_eq!((window.size(), window.cut_now().unwrap().from), (0, 2));
    }

    proptest! {
        /// What is cut once stays as it is until the next step, and a step leaves room for many messages.
        #[test]
        fn a_stored_cut_holds(sizes in prop::collection::vec((0usize..20_000, 0usize..2_000), 1..80)) {
            let tokens = 20_000;
            let mut ledger: Vec<Past> = Vec::new();
            let mut cut = HistoryStart { from: 0, short: 0 };
            let mut before: Vec<Turn> = Vec::new();
            for (n, (answer, said)) in sizes.into_iter().enumerate() {
                let history = stored_cut(&ledger, cut);
                let mut window = Window::of(&history);
                window.fit(tokens);
                let sent = window.turns(&history);
                match window.cut_now() {
                    Some(new) => {
                        prop_assert!(new.from >= cut.from && new.short >= cut.short);
                        cut = new;
                    }
                    None => prop_assert!(sent.starts_with(&before), "the prefix slid"),
                }
                prop_assert!(window.size() <= tokens::bytes(20_000));
                let again = stored_cut(&ledger, cut);
                prop_assert_eq!(&Window::of(&again).turns(&again), &sent, "it is read as it was sent");
                before = sent;
                ledger.push(task(n as i64 + 1, answer, said));
            }
        }
    }
}
