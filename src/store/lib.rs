//! The ledger: what is written when, and what a crash may cost.
//!
//! The ports are VERBS, each one transaction. "Durable" verbs are synced before they return; "relaxed"
//! ones are committed and visible, survive `kill -9`, and can be lost only with the power. The law, the
//! states and the write plan stand in `src/README.md`; every implementation passes `conformance`.
//!
//! A verb is written once, in `verbs`, over the narrow transaction of `tx`; an engine (`sqlite`, `postgres`) runs it.

mod agents;
mod approval;
mod arrival;
#[cfg(any(test, feature = "testing"))]
pub mod conformance;
pub mod copy;
pub mod database;
mod delivery;
pub mod engine;
pub mod error;
mod gate;
mod hold;
mod inflow;
mod intake;
mod ledger;
mod memory;
mod met;
mod notes;
pub mod open;
mod pairing;
mod post;
#[cfg(feature = "postgres")]
pub mod postgres;
mod question;
pub mod read;
mod reminder;
pub mod restored;
mod schedule;
pub mod server;
pub mod settings;
mod skills;
pub mod snapshot;
mod spending;
pub mod spoken;
pub mod sql;
pub mod sqlite;
mod status;
mod summary;
pub mod tables;
pub mod tx;
mod unsent;
pub mod value;
mod verbs;
mod voice;
mod work;

pub use agents::{AgentRow, Agents, StopOutcome};
pub use approval::{
    ApprovalRequest, ApprovalRow, Approvals, AskedPerson, Decision, DecisionResult, InCallEnd,
};
pub use arrival::{
    Arrival, Disposition, Gathering, Location, NewChild, NewTask, NextPiece, TaskRequest,
};
pub use delivery::{Delivery, DeliveryState, Draft, DuePart, Month, Outcome, QueuedOutbound};
pub use error::{Result, StoreError};
pub use gate::{AtGate, Gate, GateVerdict};
pub use hold::{DeferredReplies, FetchEffect, FetchResult, HeldAnswer, Offer, Swept};
pub use inflow::{Inflow, SeenMarks, SeenTask, WaitingTask};
pub use intake::{
    AcceptResult, ChosenHere, CommandDone, CommandEffect, Fresh, Fuse, Intake, JoinedRequest,
    RequestResult, StopAnswers,
};
pub use ledger::Ledger;
pub use memory::{
    BarePiece, FileNote, IndexedFile, Memories, NearPiece, Piece, PieceVector, SoughtPieces,
    SoughtVector, SoughtWords,
};
pub use met::{Acquaintances, LookResult, NewlyMet, PrivateChat, SeenPerson};
pub use notes::{ChosenThere, Notes, Whose, Workplace, ZoneOf};
pub use open::{open, open_database};
pub use pairing::{PairedPerson, PairingOutcome, PairingRequest, Pairings, StrangersCode};
pub use post::{OnceMore, PostNotice, PostOf, PostRow, PostedAgain, Posts, ToldPost};
pub use question::{NewQuestion, QuestionAnswer, QuestionRow, Questions, TapDone, TapEffect};
pub use reminder::{ReminderRow, Reminders, Settle, SettleResult};
pub use restored::{ReleaseResult, RestoreOrigin, RestorePolicy as WaitingThen};
pub use schedule::{
    Change, DueSchedules, FiringRecord, FiringResult, KeepResult, LastTime, MissedTimes,
    NewSchedule, Occurrence, OccurrenceAction, ScheduleRow, Schedules, States, Turn, Usual,
    Version, Wait, Which,
};
pub use settings::Since;
pub use skills::{LoadedSkills, MAX_SKILLS};
pub use spending::UsageCounters;
pub use status::{StatusChange, StatusMessages, StatusNote, Stray};
pub use summary::{Day, SoughtTalk, Summaries, SummaryGap, SummaryMark, Talk};
pub use unsent::{UnsentFiles, UnsentMessage};
pub use voice::{HeardVoice, VoiceNotes};
pub use work::{
    Advance, ChildEnd, CommitResult, End, HistoryStart, Past, Relay, SayResult, StepForm,
    TaskClaim, Work, WritingCall,
};
