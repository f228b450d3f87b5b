//! What health checks and Prometheus are told of the running daemon.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use tokio::time::timeout;

use crate::status::{ChannelStatus, Reception, Rows, Status, StatusDesk};
use selkie_console::Health;
use selkie_domain::config_drift::NotInForce;
use selkie_domain::metrics::{Now, Value};
use selkie_schedule::words::moment;
use selkie_schedule::zone::Zone;

/// Whoever asks for health does not wait for a store that stands still.
const TIMEOUT: Duration = Duration::from_secs(2);
/// A platform that has been silent for longer is no proof of reception.
const RECENT: Duration = Duration::from_secs(300);

/// Tells it.
pub struct HealthDesk(pub Arc<StatusDesk>);

impl HealthDesk {
    async fn look(&self) -> Result<Status, String> {
        match timeout(TIMEOUT, self.0.look()).await {
            Ok(looked) => looked.map_err(|error| format!("the store cannot be read: {error}")),
            Err(_) => Err(format!("the store has not answered for {} s", TIMEOUT.as_secs())),
        }
    }
}

#[async_trait]
impl Health for HealthDesk {
    fn alive(&self) -> Vec<String> {
        let still = self.0.still();
        still.into_iter().map(|name| format!("{name} has stalled")).collect()
    }

    async fn ready(&self) -> Vec<String> {
        match self.look().await {
            Ok(status) => missing(&status, self.0.app.clock.now()),
            Err(why) => vec![why],
        }
    }

    async fn not_in_force(&self) -> NotInForce {
        self.0.not_in_force().await
    }

    async fn metrics(&self) -> Result<String, fmt::Error> {
        let looked = self.look().await.ok();
        self.0.app.metrics.text(now(looked.as_ref(), self.0.app.clock.now()))
    }
}

/// What is missing for a daemon that answers people.
fn missing(status: &Status, now: DateTime<Utc>) -> Vec<String> {
    if let Some(restored) = status.restored() {
        let zone = status.zone.unwrap_or(Zone::UTC);
        return vec![restored.says(&moment(restored.made_at, zone))];
    }
    let still = status.still.iter().map(|name| format!("{name} has stalled"));
    let store = status.store.trouble.iter().map(|why| format!("store: {why}"));
    let channels = status.channels.iter().filter_map(|channel| {
        let why = match channel.state {
            Reception::Off => return None,
            Reception::Refused => "is refused",
            Reception::Listening if channel.heard_at.is_none() => "waits for its first answer",
            Reception::Listening if is_heard(channel, now) => return None,
            Reception::Listening => "does not answer",
        };
        Some(format!("{} {why}", channel.name))
    });
    still.chain(store).chain(channels).collect()
}

fn is_heard(channel: &ChannelStatus, now: DateTime<Utc>) -> bool {
    channel.heard_at.is_some_and(|at| (now - at).to_std().unwrap_or_default() <= RECENT)
}

/// What stands at this moment; without a look at the store, that it does not answer.
fn now(status: Option<&Status>, now: DateTime<Utc>) -> Vec<Now> {
    let up = status.is_some_and(|status| status.store.trouble.is_none());
    let mut all = vec![
        one("store_up", "Whether the store can be read and written", f64::from(u8::from(up))),
        one("resident_bytes", "Memory of the process that is in use", resident()),
    ];
    let Some(status) = status else { return all };
    let Some(rows) = &status.rows else { return all };
    all.extend(of_rows(rows));
    all.extend(of_channels(status, now));
    all.extend([
        one("open_approvals", "Calls that wait for approval", rows.approvals as f64),
        one(
            "limits_reached",
            "Limits that people and conversations have reached",
            status.limits.len() as f64,
        ),
        one("loops_still", "Loops that have stalled", status.still.len() as f64),
        one("store_syncs", "Durable commits since the start", status.store_syncs as f64),
        one(
            "cost_today_dollars",
            "What models have cost today",
            rows.today.usage.micro_usd as f64 / 1e6,
        ),
        one("start_time_seconds", "Start time in Unix seconds", status.since.timestamp() as f64),
    ]);
    if let Some(bytes) = status.store.bytes {
        all.push(one("store_bytes", "Size of the database file", bytes as f64));
    }
    all
}

/// What is open, by state.
fn of_rows(rows: &Rows) -> [Now; 2] {
    let counts = &rows.counts;
    let states =
        [("waiting", counts.waiting), ("running", counts.running), ("parked", counts.parked)];
    let parts =
        [("queued", counts.queued), ("sending", counts.sending), ("unclear", counts.unclear)];
    let by_state = |values: [(&str, u64); 3]| -> Vec<Value> {
        let value = |(name, count): (&str, u64)| Value {
            label: Some(("state", name.to_owned())),
            value: count as f64,
        };
        values.map(value).into()
    };
    [
        Now {
            name: "open_tasks",
            help: "Tasks that have not ended, by state",
            values: by_state(states),
        },
        Now {
            name: "open_parts",
            help: "Parts that have not arrived, by state",
            values: by_state(parts),
        },
    ]
}

/// Whether channels that listen hear from their platforms.
fn of_channels(status: &Status, now: DateTime<Utc>) -> [Now; 2] {
    let each = |value: &dyn Fn(&ChannelStatus) -> Option<f64>| -> Vec<Value> {
        let listening = status.channels.iter().filter(|it| it.state != Reception::Off);
        let labelled = |it: &ChannelStatus| {
            Some(Value { label: Some(("channel", it.name.clone())), value: value(it)? })
        };
        listening.filter_map(labelled).collect()
    };
    let age = |it: &ChannelStatus| Some((now - it.heard_at?).as_seconds_f64().max(0.0));
    let is_up = |it: &ChannelStatus| Some(f64::from(u8::from(is_heard(it, now))));
    [
        Now {
            name: "channel_up",
            help: "Whether a platform has answered in the last five minutes",
            values: each(&is_up),
        },
        Now {
            name: "channel_silence_seconds",
            help: "Time since a platform last answered",
            values: each(&age),
        },
    ]
}

fn one(name: &'static str, help: &'static str, value: f64) -> Now {
    Now { name, help, values: vec![Value { label: None, value }] }
}

/// Memory in use, as the kernel tells; 0 where it does not.
fn resident() -> f64 {
    let told = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = told.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
    kilobytes.unwrap_or_default() * 1024.0
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::status::StoreStatus;
    use selkie_domain::metrics::{Metrics, Phase};
    use selkie_domain::usage::Usage;

    fn at(seconds: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(1_700_000_000 + seconds, 0).unwrap()
    }

    fn status(state: Reception, heard_at: Option<DateTime<Utc>>) -> Status {
        let channel = ChannelStatus {
            name: "telegram".to_owned(),
            account: "tg:7".to_owned(),
            state,
            why: None,
            heard_at,
        };
        Status {
            version: String::new(),
            pid: 1,
            since: at(0),
            channels: vec![channel],
            rows: Some(Rows::default()),
            store: StoreStatus { engine: "sqlite".to_owned(), bytes: Some(1), trouble: None },
            refused: 0,
            store_syncs: 3,
            backup: None,
            answers: String::new(),
            cut_prompts: Vec::new(),
            limits: Vec::new(),
            memory: None,
            still: Vec::new(),
            zone: None,
            config: NotInForce::default(),
            config_file: None,
        }
    }

    #[test]
    fn a_daemon_is_ready_when_its_platforms_answer() {
        let cases = [
            (Reception::Listening, Some(at(100)), ""),
            (Reception::Listening, None, "telegram waits for its first answer"),
            (Reception::Listening, Some(at(-900)), "telegram does not answer"),
            (Reception::Refused, Some(at(100)), "telegram is refused"),
            (Reception::Off, None, ""),
        ];
        for (state, heard_at, wanted) in cases {
            assert_eq!(missing(&status(state, heard_at), at(120)).join("; "), wanted);
        }
        let mut stuck = status(Reception::Off, None);
        stuck.store.trouble = Some("it is gone".to_owned());
        stuck.still.push("store".to_owned());
        assert_eq!(missing(&stuck, at(0)).join("; "), "store has stalled; store: it is gone");
    }

    /// Names of metrics that a text speaks of.
    fn names(text: &str) -> BTreeSet<&str> {
        let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
        words.filter(|word| word.len() > 7 && word.starts_with("selkie_")).collect()
    }

    #[test]
    fn the_dashboard_and_the_alerts_name_what_there_is() {
        let metrics = Metrics::default();
        metrics.received("telegram");
        metrics.part("telegram", "sent");
        metrics.task("done");
        metrics.took(Phase::Wait, Duration::ZERO);
        metrics.model(true, Usage::default());
        metrics.tool("bash", false);
        let standing = now(Some(&status(Reception::Listening, Some(at(0)))), at(9));
        let text = metrics.text(standing).unwrap();
        let there = names(&text);
        for (file, spoken) in [
            ("alerts.yml", include_str!("../packaging/alerts.yml")),
            ("grafana.json", include_str!("../packaging/grafana.json")),
            ("operating.md", include_str!("../docs/operating.md")),
        ] {
            let unknown: Vec<_> = names(spoken).difference(&there).copied().collect();
            assert!(unknown.is_empty(), "{file} names {unknown:?}\n{text}");
        }
        assert!(
            now(None, at(0)).iter().any(|now| now.name == "store_up" && now.values[0].value == 0.0)
        );
    }
}
