//! What goes wrong on the way, evenly and by turns: each run meets the same trouble.

use std::collections::BTreeMap;

use selkie_playground::{Fault, FaultKind, Playground, Turn};

use crate::lanes::{Asked, Kind};
use crate::tally;

/// One polled batch in so many questions on Telegram.
const POLLS: usize = 400;
/// One of the sockets of Slack, and one of its looks at what stands in a channel.
const SOCKETS: usize = 1_500;
const LOOKS: usize = 500;
/// One answer of the model in so many questions.
const MODEL: usize = 100;

/// The trouble that was made so far.
#[derive(Default)]
pub struct Trouble {
    asked: BTreeMap<Kind, usize>,
    all: usize,
    /// By name.
    pub made: BTreeMap<String, usize>,
}

impl Trouble {
    /// Makes the trouble that is due with this question.
    pub fn at(&mut self, playground: &Playground, asked: &Asked) {
        self.all += 1;
        if let Some(turn) = due(self.all, MODEL) {
            self.model(playground, asked.number, turn);
        }
        let so_far = self.asked.entry(asked.kind).or_default();
        *so_far += 1;
        let so_far = *so_far;
        // A group is one queue: what holds up one answer holds up all behind it.
        let every = match asked.kind {
            Kind::Private | Kind::Slack => 50,
            Kind::Group | Kind::Line => 200,
        };
        if let Some(turn) = due(so_far, every) {
            self.sending(playground, asked, turn);
        }
        match asked.kind {
            Kind::Private => {
                if let Some(turn) = due(so_far, POLLS) {
                    let kind = poll_faults(turn);
                    self.note("getUpdates", &kind);
                    playground.telegram().fault(Fault::next("getUpdates", kind));
                }
            }
            Kind::Slack => self.slack(playground, so_far),
            Kind::Group | Kind::Line => {}
        }
    }

    fn sending(&mut self, playground: &Playground, asked: &Asked, turn: usize) {
        let kind = call_faults(turn);
        match (asked.kind, asked.chat) {
            (Kind::Slack, _) => {
                self.note("chat.postMessage", &kind);
                playground.slack().fault(Fault::next("chat.postMessage", kind));
            }
            (Kind::Line, _) => {
                self.note("reply", &kind);
                playground.line().fault(Fault::next("reply", kind));
            }
            (_, chat) => {
                self.note("sendMessage", &kind);
                let fault = Fault::next("sendMessage", kind);
                let fault = chat.map_or(fault.clone(), |chat| fault.in_chat(chat));
                playground.telegram().fault(fault);
            }
        }
    }

    fn slack(&mut self, playground: &Playground, so_far: usize) {
        if let Some(turn) = due(so_far, SOCKETS) {
            if turn.is_multiple_of(2) {
                self.count("Slack: sockets cut");
                playground.slack().cut_sockets();
            } else {
                self.count("Slack: sockets asked to go");
                playground.slack().disconnect("refresh_requested");
            }
        }
        if due(so_far, LOOKS).is_some() {
            let kind = FaultKind::Html { status: 500 };
            self.note("conversations.replies", &kind);
            playground.slack().fault(Fault::next("conversations.replies", kind));
        }
    }

    /// The model fails at this question alone: how often one is asked again is known.
    fn model(&mut self, playground: &Playground, number: usize, turn: usize) {
        let limited = Turn::Refuse {
            status: 429,
            message: "slow down".to_owned(),
            code: None,
            retry_after: Some(1),
        };
        let overloaded = || Turn::OkError { message: "overloaded".to_owned() };
        let breaks = || Turn::CutStream { text: "say it ba".to_owned() };
        let all: [(&str, Vec<Turn>); 8] = [
            ("500", vec![Turn::refuse(500, "trouble")]),
            ("429", vec![limited]),
            ("an error that says 200", vec![overloaded()]),
            ("breaks in the middle", vec![breaks()]),
            ("hangs up", vec![Turn::HangUp]),
            ("waits", vec![Turn::Usual.delayed(1_500)]),
            ("writes slowly", vec![Turn::Dripped { text: None, ms: 700 }]),
            ("fails, then breaks in the middle", vec![overloaded(), breaks()]),
        ];
        let (name, turns) = all[turn % all.len()].clone();
        self.count(&format!("model: {name}"));
        playground.model().script_for(&tally::word(number), turns);
    }

    fn note(&mut self, method: &str, kind: &FaultKind) {
        let name = match kind {
            FaultKind::TooMany { .. } => "429",
            FaultKind::Html { .. } => "5xx",
            FaultKind::CutBefore => "connection dropped before",
            FaultKind::CutAfter => "connection dropped after",
            FaultKind::Delay { .. } => "slow",
            FaultKind::Duplicate => "every update twice",
            FaultKind::Redeliver => "updates again",
            FaultKind::Truncate => "half an answer",
            _ => "garbage",
        };
        self.count(&format!("{method}: {name}"));
    }

    fn count(&mut self, name: &str) {
        *self.made.entry(name.to_owned()).or_default() += 1;
    }
}

/// Which turn of a trouble it is that comes once in so many; `None` between two.
fn due(so_far: usize, every: usize) -> Option<usize> {
    so_far.is_multiple_of(every).then(|| so_far / every)
}

/// What a call meets that says something.
fn call_faults(turn: usize) -> FaultKind {
    let kinds = [
        FaultKind::TooMany { retry_after: 1 },
        FaultKind::Html { status: 502 },
        FaultKind::CutBefore,
        FaultKind::CutAfter,
        FaultKind::Delay { ms: 1_200 },
        FaultKind::Truncate,
        FaultKind::Garbage,
    ];
    kinds[turn % kinds.len()].clone()
}

/// What a poll meets.
fn poll_faults(turn: usize) -> FaultKind {
    let kinds = [
        FaultKind::TooMany { retry_after: 1 },
        FaultKind::Html { status: 502 },
        FaultKind::CutBefore,
        FaultKind::CutAfter,
        FaultKind::Duplicate,
        FaultKind::Redeliver,
        FaultKind::Truncate,
        FaultKind::Garbage,
    ];
    kinds[turn % kinds.len()].clone()
}
