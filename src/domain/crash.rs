//! The crash points: every edge of the ledger where the process may die, as ONE enum.
//!
//! A test iterates [`CrashPoint::ALL`], starts the built daemon with `debug.crash_at: <point>`, and sees
//! a real SIGKILL there. A new edge is one variant here and one `crash.hit(…)` where it lies.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::named::named;

named! {
    /// An edge of the ledger.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum CrashPoint {
        /// An update was received and not stored.
        BeforeAccept = "before_accept",
        /// The update is stored and not acknowledged.
        AfterAccept = "after_accept",
        /// The gate has decided and the decision is not stored.
        AfterGate = "after_gate",
        /// The gate's decision is stored, its task waits.
        AfterJudged = "after_judged",
        /// A command row is stored and its effect is not.
        BeforeCommand = "before_command",
        /// A command's effect and answer are stored.
        AfterCommand = "after_command",
        /// The task is claimed and nothing was done.
        AfterClaim = "after_claim",
        /// The model answered and the answer is not stored.
        AfterModel = "after_model",
        /// The answer with its calls is stored, no tool has started.
        AfterCallsStored = "after_calls_stored",
        /// A tool has done its work and the result is not stored.
        AfterTool = "after_tool",
        /// A speaking tool's outbound is stored, its call is not answered.
        AfterSaid = "after_said",
        /// The results are stored.
        AfterResults = "after_results",
        /// The run is parked on a question, which is queued.
        AfterPark = "after_park",
        /// The run is parked on its agents, which wait in their lanes.
        AfterSpawn = "after_spawn",
        /// A tap or an answer is stored and its effect is not.
        BeforeAnswer = "before_answer",
        /// The question is answered, its task waits in its lane.
        AfterAnswer = "after_answer",
        /// The answer is rendered and the task not finished.
        BeforeFinish = "before_finish",
        /// The task is finished, its parts are queued, or the first is marked as being sent.
        AfterFinish = "after_finish",
        /// The part is marked as being sent, the request has not left.
        AfterSending = "after_sending",
        /// The platform has answered, the receipt is not stored.
        AfterDeliver = "after_deliver",
        /// The receipt is stored.
        AfterReceipt = "after_receipt",
    }
}

/// Where this process is to die, if anywhere.
#[derive(Debug, Default)]
pub struct Crash {
    at: Option<(CrashPoint, fn())>,
    passes: AtomicU32,
}

impl Crash {
    /// Dies by `kill` when `point` is passed for the `nth` time (1 = the first).
    pub fn at(point: CrashPoint, nth: u32, kill: fn()) -> Self {
        Self { at: Some((point, kill)), passes: AtomicU32::new(nth.max(1)) }
    }

    /// Marks that the process passes `point`.
    pub fn hit(&self, point: CrashPoint) {
        let Some((at, kill)) = self.at else { return };
        if at == point && self.passes.fetch_sub(1, Ordering::SeqCst) == 1 {
            kill();
        }
    }
}
