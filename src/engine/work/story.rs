//! The one line of the log that tells a task from its message to its receipt, without a word of anybody.

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use selkie_channel_core::ConversationId;
use tokio::time::{Instant, timeout_at};

use crate::delivery::context::Context;
use crate::delivery::outbox::Outbox;
use crate::delivery::waiters;
use selkie_agent::DriveOutcome;
use selkie_domain::course::{Course, Sum};
use selkie_domain::ids::{OutboundId, TaskId};
use selkie_domain::traces::TaskTrace;
use selkie_domain::usage::Usage;
use selkie_store::{DeliveryState, End, TaskClaim};

/// So long the line waits for the last receipt: an outage of a platform may last for days.
const TIMEOUT: Duration = Duration::from_secs(60);

/// What is told of a task.
#[derive(Debug)]
pub struct Story {
    task: TaskId,
    conversation: ConversationId,
    /// When it was asked for.
    asked_at: Option<DateTime<Utc>>,
    /// When its end was stored.
    ended_at: DateTime<Utc>,
    outcome: &'static str,
    attempts: u32,
    course: Course,
    usage: Usage,
}

impl Story {
    /// Of a task that ends; `None` for what was not begun because nobody may ask for it, who decide how often they do.
    pub fn of(claimed: &TaskClaim, ending: &DriveOutcome) -> Option<Self> {
        if matches!(&ending.end, End::Failed { why } if why.starts_with("ignored: ")) {
            return None;
        }
        Some(Self {
            task: claimed.claim.task,
            conversation: claimed.conversation.clone(),
            // Platforms date messages by whole seconds, and schedules by the minute.
            asked_at: Some(claimed.facts.at),
            ended_at: DateTime::UNIX_EPOCH,
            outcome: ending.end.state().name(),
            attempts: claimed.attempts,
            course: ending.course.clone(),
            usage: Usage::default(),
        })
    }

    /// Adds what it has cost in all, and when its end was stored.
    pub fn costs(self, usage: Usage, ended_at: DateTime<Utc>) -> Self {
        Self { usage, ended_at, ..self }
    }

    /// Tells it when all that it said is settled, or after a minute. To be called before that is sent.
    pub fn told_when_sent(self, context: &Context, outbox: &Arc<Outbox>, said: &[OutboundId]) {
        let channel = context.accounts.of(&self.conversation);
        let channel = channel.map_or("none", |account| account.channel.name);
        if said.is_empty() {
            return self.tell(context, channel, "nothing", Duration::ZERO);
        }
        let mut watches: Vec<_> = said.iter().map(|row| outbox.watch(*row)).collect();
        let began = Instant::now();
        let stop = context.runtime.stop.work.clone();
        let shared = context.clone();
        context.runtime.tracker.spawn(async move {
            let mut sent = "sent";
            for watch in &mut watches {
                let settled = timeout_at(began + TIMEOUT, waiters::settled(watch));
                let settled = stop.run_until_cancelled(settled).await;
                let standing = settled.and_then(Result::ok).unwrap_or(DeliveryState::Open);
                if !matches!(standing, DeliveryState::Delivered { .. }) {
                    sent = waiters::name(&standing);
                }
            }
            self.tell(&shared, channel, sent, began.elapsed());
        });
    }

    fn tell(self, context: &Context, channel: &'static str, sent: &'static str, sending: Duration) {
        let Self { task, conversation, asked_at, ended_at, outcome, attempts, course, usage } =
            self;
        let waited = asked_at.zip(course.since).map(|(asked, since)| since - asked);
        let wait_ms = waited.map_or(0, |span| span.num_milliseconds().max(0));
        let models = course.models();
        let tools = course.tools();
        let millis = |sum: Sum| u64::try_from(sum.took.as_millis()).unwrap_or(u64::MAX);
        let send_ms = u64::try_from(sending.as_millis()).unwrap_or(u64::MAX);
        #[expect(clippy::cast_precision_loss, reason = "money below 2^53 millionths is exact")]
        let cost_usd = usage.micro_usd as f64 / 1e6;
        let names = course.tool_names().join(",");
        tracing::info!(
            %task,
            channel,
            %conversation,
            outcome,
            attempts,
            wait_ms,
            model_calls = usage.calls,
            model_ms = millis(models),
            tool_calls = tools.calls,
            tools = names,
            tool_ms = millis(tools),
            tokens_in = usage.input,
            tokens_cached = usage.cached,
            tokens_out = usage.output,
            cost_usd,
            sent,
            send_ms,
            "a task has ended"
        );
        let trace = || TaskTrace {
            task,
            channel,
            outcome,
            asked_at,
            ended_at,
            course,
            usage,
            sent,
            sending,
        };
        context.runtime.traces.tell(trace);
    }
}
