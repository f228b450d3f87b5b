//! What is counted and timed of a run of the daemon, for whoever scrapes it: Prometheus' text. Labels are bounded: names of
//! channels, of tools, of hooks, of states, never a person, a chat or a word.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use prometheus_client::encoding::text::{encode_eof, encode_registry};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Metric, Registry, Unit};

use crate::usage::Usage;

/// One label.
type Label = [(&'static str, String); 1];
/// Two labels.
type Labels = [(&'static str, String); 2];

/// What a task's time goes into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// From its message to its claim.
    Wait,
    /// Its model writes.
    Model,
    /// Its tools work.
    Tools,
    /// A voice message is written down.
    Listen,
    /// A platform takes a part of what it said.
    Send,
}

impl Phase {
    const fn name(self) -> &'static str {
        match self {
            Self::Wait => "wait",
            Self::Model => "model",
            Self::Tools => "tools",
            Self::Listen => "listen",
            Self::Send => "send",
        }
    }
}

/// The outcome of a part that a platform does not take.
const REFUSED: &str = "refused";

/// What is counted and timed.
pub struct Metrics {
    registry: Registry,
    received: Family<Label, Counter>,
    parts: Family<Labels, Counter>,
    refused: AtomicU64,
    tasks: Family<Label, Counter>,
    seconds: Family<Label, Histogram>,
    answers: Family<Label, Counter>,
    tokens: Family<Label, Counter>,
    dollars: Counter<f64, AtomicU64>,
    calls: Family<Labels, Counter>,
    voice: Family<Label, Counter>,
    webhooks: Family<Labels, Counter>,
    lateness: Histogram,
    lost_traces: Counter,
}

/// From a millisecond to four minutes.
fn seconds() -> Histogram {
    Histogram::new([0.001, 0.005, 0.02, 0.1, 0.5, 1.0, 2.0, 5.0, 15.0, 60.0, 240.0])
}

impl Default for Metrics {
    fn default() -> Self {
        let mut registry = Registry::with_prefix("selkie");
        let all = &mut registry;
        let of_channels =
            "Events of a platform that were stored (messages, taps, edits), by channel";
        let of_traces = "Traces of tasks that the collector did not accept (telemetry.otlp)";
        Self {
            received: metric(all, "events_received", of_channels),
            parts: metric(
                all,
                "parts",
                "Attempts to deliver a part of a message, by channel and outcome",
            ),
            tasks: metric(all, "tasks", "Tasks that have ended, by state"),
            seconds: {
                let seconds = Family::new_with_constructor(seconds as fn() -> Histogram);
                let help = "Where the time of tasks goes, by phase";
                all.register_with_unit("task", help, Unit::Seconds, seconds.clone());
                seconds
            },
            answers: metric(all, "model_requests", "Requests to language models, by outcome"),
            tokens: metric(all, "tokens", "Tokens, by kind: input, cached (of input), output"),
            dollars: metric(all, "cost_dollars", "Cost of models, as far as prices are known"),
            calls: metric(all, "tool_calls", "Calls of tools, by tool and outcome"),
            voice: metric(all, "voice_messages", "Voice messages to the bot, by outcome"),
            webhooks: metric(all, "webhooks", "Calls of webhooks, by hook and outcome"),
            lateness: {
                let lateness = seconds();
                let help = "How late schedules were carried out";
                all.register_with_unit("schedule_lateness", help, Unit::Seconds, lateness.clone());
                lateness
            },
            lost_traces: metric(all, "traces_dropped", of_traces),
            refused: AtomicU64::new(0),
            registry,
        }
    }
}

/// Makes a metric that the registry knows by this name.
fn metric<M: Metric + Clone + Default>(registry: &mut Registry, name: &str, help: &str) -> M {
    let metric = M::default();
    registry.register(name, help, metric.clone());
    metric
}

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Metrics")
    }
}

fn label(name: &'static str, value: &str) -> Label {
    [(name, value.to_owned())]
}

impl Metrics {
    /// An event was stored.
    pub fn received(&self, channel: &str) {
        self.received.get_or_create(&label("channel", channel)).inc();
    }

    /// A part was tried.
    pub fn part(&self, channel: &str, outcome: &str) {
        let labels = [("channel", channel.to_owned()), ("outcome", outcome.to_owned())];
        self.parts.get_or_create(&labels).inc();
        if outcome == REFUSED {
            self.refused.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Returns how many parts platforms have refused.
    pub fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }

    /// A task has ended.
    pub fn task(&self, state: &str) {
        self.tasks.get_or_create(&label("state", state)).inc();
    }

    /// So long a task was busy with this.
    pub fn took(&self, phase: Phase, span: Duration) {
        self.seconds.get_or_create(&label("phase", phase.name())).observe(span.as_secs_f64());
    }

    /// A model has answered, or has not.
    pub fn model(&self, answered: bool, usage: Usage) {
        let outcome = if answered { "answered" } else { "failed" };
        self.answers.get_or_create(&label("outcome", outcome)).inc();
        let Usage { input, cached, output, micro_usd, .. } = usage;
        for (kind, count) in [("input", input), ("cached", cached), ("output", output)] {
            self.tokens.get_or_create(&label("kind", kind)).inc_by(count);
        }
        self.dollars.inc_by(micro_usd as f64 / 1e6);
    }

    /// A tool has answered.
    pub fn tool(&self, tool: &str, is_error: bool) {
        let outcome = if is_error { "error" } else { "ok" };
        self.calls
            .get_or_create(&[("tool", tool.to_owned()), ("outcome", outcome.to_owned())])
            .inc();
    }

    /// A voice message was written down, or was not.
    pub fn voice(&self, understood: bool) {
        let outcome = if understood { "understood" } else { "failed" };
        self.voice.get_or_create(&label("outcome", outcome)).inc();
    }

    /// A hook of the config was called.
    pub fn webhook(&self, hook: &str, outcome: &str) {
        let labels = [("hook", hook.to_owned()), ("outcome", outcome.to_owned())];
        self.webhooks.get_or_create(&labels).inc();
    }

    /// A time of a schedule was carried out so late.
    pub fn late(&self, span: Duration) {
        self.lateness.observe(span.as_secs_f64());
    }

    /// So many traces are gone.
    pub fn lost_traces(&self, traces: u64) {
        self.lost_traces.inc_by(traces);
    }

    /// Writes all, and what stands at this moment, as Prometheus reads it.
    ///
    /// # Errors
    /// Never: it is written into memory.
    pub fn text(&self, now: Vec<Now>) -> Result<String, fmt::Error> {
        let mut text = String::new();
        encode_registry(&mut text, &self.registry)?;
        encode_registry(&mut text, &gauges(now))?;
        encode_eof(&mut text)?;
        Ok(text)
    }
}

/// Something that stands at a moment.
#[derive(Clone, Debug, PartialEq)]
pub struct Now {
    /// Its name, behind `selkie_`.
    pub name: &'static str,
    /// What it is.
    pub help: &'static str,
    /// Each value, by its label.
    pub values: Vec<Value>,
}

/// One value of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Value {
    /// The label's name and what it says, where there are several.
    pub label: Option<(&'static str, String)>,
    /// The value.
    pub value: f64,
}

fn gauges(now: Vec<Now>) -> Registry {
    let mut registry = Registry::with_prefix("selkie");
    for Now { name, help, values } in now {
        if let [Value { label: None, value }] = values.as_slice() {
            let gauge = Gauge::<f64, AtomicU64>::default();
            gauge.set(*value);
            registry.register(name, help, gauge);
            continue;
        }
        let family = Family::<Label, Gauge<f64, AtomicU64>>::default();
        for Value { label, value } in values {
            // One of several without a label could not be told from the others.
            let Some(label) = label else { continue };
            family.get_or_create(&[label]).set(value);
        }
        registry.register(name, help, family);
    }
    registry
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_counted_is_written_as_prometheus_reads_it() {
        let metrics = Metrics::default();
        metrics.received("telegram");
        metrics.part("telegram", "sent");
        metrics.task("done");
        metrics.took(Phase::Model, Duration::from_millis(300));
        metrics.model(
            true,
            Usage { calls: 1, input: 10, cached: 4, output: 2, micro_usd: 250, ..Usage::default() },
        );
        metrics.tool("bash", true);
        metrics.late(Duration::from_secs(3));
        let up = Value { label: Some(("channel", "li\"ne\n".to_owned())), value: 1.0 };
        let up = Now { name: "channel_up", help: "Whether it listens", values: vec![up] };
        let text = metrics.text(vec![up]).unwrap();
        for line in [
            "selkie_events_received_total{channel=\"telegram\"} 1",
            "selkie_parts_total{channel=\"telegram\",outcome=\"sent\"} 1",
            "selkie_tasks_total{state=\"done\"} 1",
            "selkie_task_seconds_bucket{le=\"0.5\",phase=\"model\"} 1",
            "selkie_tokens_total{kind=\"cached\"} 4",
            "selkie_cost_dollars_total 0.00025",
            "selkie_tool_calls_total{tool=\"bash\",outcome=\"error\"} 1",
            "selkie_schedule_lateness_seconds_count 1",
            "selkie_channel_up{channel=\"li\\\"ne\\n\"} 1.0",
            "# EOF",
        ] {
            assert!(text.lines().any(|it| it == line), "{line}\n{text}");
        }
    }
}
